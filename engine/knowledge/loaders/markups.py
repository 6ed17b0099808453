"""Text with headings in three markups other than Markdown, and subtitles."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from engine.knowledge.loaders.contents import Contents, Outline, Section, counted, heading, of_text

Heading = tuple[int, int, int, str]
"""Where it begins and ends in the text, its level from 1, and its words."""

_ADOC = re.compile(r"^(={1,6})[ \t]+(\S.*)$|^(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})(?:(?<=`)[\w+#-]*)?[ \t]*$", re.MULTILINE)
_ADOC_COMMENT = re.compile(r"^/{4,}$.*?^/{4,}$", re.MULTILINE | re.DOTALL)
_ABOVE = re.compile(r"[ \t].*|\.\.(?:[ \t].*)?|//.*|:[^:\s][^:]*:.*|\[.*\]|")
"""A line that may stand above a document's title: comments, labels, attributes, and what is indented below them."""
_MARK = r"([!-/:-@\[-`{-~])"
_RST = re.compile(rf"^(?:(?P<over>{_MARK}\2+)\n)?(?P<words>.*\S)\n(?P<under>{_MARK}\5+)$", re.MULTILINE)
_TEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX = re.compile(rf"\\({'|'.join(_TEX_LEVELS)})\*?(?:\[[^\]\n]*\])?\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}")
_TEX_TITLE = re.compile(r"\\title\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEX_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_CUE = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,]\d{3}[ \t]+-->.*")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]+)>")
_CUE_TAG = re.compile(r"</?[a-zA-Z0-9][^<>]*>|\{\\[^}]*\}")
_SECTION_S = 120
"""Seconds of subtitles under one heading, which is the time of its first cue."""


@of_text
def load_asciidoc(_name: str, text: str, _hidden: bool) -> Contents:
    return _outlined(text, _adoc_headings)


@of_text
def load_restructured(_name: str, text: str, _hidden: bool) -> Contents:
    return _outlined(text, _rst_headings)


@of_text
def load_tex(_name: str, text: str, _hidden: bool) -> Contents:
    """Sections by LaTeX's sectioning commands; comments are left out and counted, other commands stay."""
    text, comments = _TEX_COMMENT.subn(r"\1", text)
    contents = _outlined(text, _tex_headings, title_level=0)
    title = _TEX_TITLE.search(text)
    named = heading(re.sub(r"\\[a-zA-Z]+|[{}]|\\\\", " ", title[1])) if title else ""
    return replace(contents, title=named, notes=counted({"comments": comments}))


@of_text
def load_subtitles(_name: str, text: str, _hidden: bool) -> Contents:
    """The words of SubRip and WebVTT, two minutes a section; a line that a rolling caption repeats stands once."""
    sections, comments, cues, last = list[tuple[int, str, list[str]]](), 0, 0, ""
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip().split("\n")
        timed = next(((at, found) for at, line in enumerate(lines[:2]) if (found := _CUE.match(line.strip()))), None)
        if timed is None:
            if re.match(r"(NOTE|STYLE|REGION|WEBVTT)\b", lines[0]):
                comments += not lines[0].startswith("WEBVTT") or len(lines) > 1
                continue
            words = lines
        else:
            at, found = timed
            words, cues = lines[at + 1 :], cues + 1
            hours, minutes, seconds = (int(part or 0) for part in found.groups())
            second = hours * 3600 + minutes * 60 + seconds
            if not sections or second // _SECTION_S != sections[-1][0]:
                sections.append((second // _SECTION_S, f"{hours:02}:{minutes:02}:{seconds:02}", []))
        for line in words:
            spoken = html.unescape(_CUE_TAG.sub("", _VOICE.sub(r"\1: ", line))).strip()
            if spoken and spoken != last:
                if not sections:
                    sections.append((-1, "", []))
                sections[-1][2].append(spoken)
                last = spoken
    made = tuple(Section((time,) if time else (), "\n".join(lines)) for _, time, lines in sections if lines)
    return Contents("", made, notes=counted({"comments": comments}), read={"cues": cues})


def _outlined(text: str, headings: Callable[[str], Iterable[Heading]], title_level: int = 1) -> Contents:
    text = "\n".join(map(str.rstrip, text.split("\n")))
    outline, at = Outline(title_level), 0
    for start, end, level, words in headings(text):
        outline.text(text[at:start])
        first = not at and level <= title_level
        named = first and all(map(_ABOVE.fullmatch, _ADOC_COMMENT.sub("", text[:start]).split("\n")))
        outline.heading(level, words, titled=named or None)
        at = end
    outline.text(text[at:])
    return Contents(outline.title, outline.sections())


def _adoc_headings(text: str) -> Iterator[Heading]:
    block = ""
    for found in _ADOC.finditer(text):
        if found[3]:
            block = "" if block == found[3] else block or found[3]
        elif not block:
            yield found.start(), found.end(), len(found[1]), found[2]


def _rst_headings(text: str) -> Iterator[Heading]:
    """Levels follow the order in which kinds of underlines first come, as docutils has it."""
    styles: list[tuple[str, bool]] = []
    for found in _RST.finditer(text):
        over, words, under = found["over"] or "", found["words"], found["under"]
        after_blank = found.start() < 2 or text.endswith("\n\n", 0, found.start())
        whole = len(under) >= min(4, len(words.strip())) and len(under) > 1 and not re.fullmatch(_MARK + r"\1*", words)
        if not after_blank or not whole or (over and over != under) or (not over and words[0].isspace()):
            continue
        style = (under[0], bool(over))
        if style not in styles:
            styles.append(style)
        yield found.start(), found.end(), styles.index(style) + 1, words


def _tex_headings(text: str) -> Iterator[Heading]:
    for found in _TEX.finditer(text):
        yield found.start(), found.end(), _TEX_LEVELS.index(found[1]) + 1, found[2]
