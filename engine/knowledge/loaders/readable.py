"""Markdown as a reader sees it: the words without the signs, code as code, each line with its number in the file."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.knowledge.loaders.directives import Line, without_directives
from engine.knowledge.loaders.tags import closed_names, tag_words, without_tags

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_READ = 2_000_000
"""Characters of a file whose markup is read; what is longer is a dump rather than a document, and stays as it is."""
_LONGEST_LINE = 20_000
"""Likewise of a line."""

_ATTRIBUTES = re.compile(
    r"[ \t]?\{:?[ \t]*[#.][\w:.-]+(?:[ \t]+(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"\n]*\"|[\w-]+)))*[ \t]*\}"
    r"|[ \t]?\{:?[ \t]*[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*')(?:[ \t]+[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'))*[ \t]*\}"
)
_ADDRESS = re.compile(r"[/.#:@]")
_FOOTNOTE = re.compile(r"\[\^[\w-]+\](?::[ \t]*)?")
_WIKI = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\W\d][^\[\]|,\n]*)\]\]")
_SHORTCODE = re.compile(r"\{\{[<%][^\n}]*[>%]\}\}|\{%[^\n}]*%\}|\{[*!][^\n}]*[*!]\}")
_TEXT_IN_BRACES = re.compile(r"\{\{[ \t]*(['\"])([^'\"{}\n]*)\1[ \t]*\}\}")
_STRESS = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_LANGUAGE = re.compile(r"[\w+#.-]*")
_CODE_NOTE = re.compile(r"[ \t]?(?://|#|<!--|/\*)[ \t]*(?:\[!code [^\]\n]*\]|highlight-(?:next-line|start|end)).*$")
_DRAWN = re.compile(r"</?(?:font|span|u|b|i)\b[^<>\n]{0,300}>", re.IGNORECASE)
_COLOURED = re.compile(r"<(?:font|span)\s+(?:color|style)=", re.IGNORECASE)
"""Output of a terminal that was coloured for a web page."""
_BARS = re.compile(r"[ \t]*\|")


def readable(lines: Sequence[Line]) -> list[Line]:
    """The lines without markup: links as their words, images as their descriptions, HTML gone, tables and code kept.

    A line without markup stays as it is, to the last space.
    """
    if max(map(len, (line.text for line in lines)), default=0) > _LONGEST_LINE:
        return list(lines)
    given = without_directives(lines)
    made: dict[int, str | None] = {}
    environment: dict[str, dict[str, dict[str, list[int]]]] = {}
    source = [line.text for line in given]
    whole = "\n".join(source)
    closed = closed_names(whole)
    tokens = _parser().parse(whole, environment)
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "inline":
            made.update(_prose(tokens, place, source, closed))
        elif token.type == "fence":
            made.update(_code(token, source))
        elif token.type == "html_block":
            made.update(_html(token))
        elif token.type == "hr":
            made[token.map[0]] = None
    for reference in environment.get("references", {}).values():
        # A line such as "[Dose]: 5 mg" has the form of a reference, and no address in it.
        if _ADDRESS.search(str(reference.get("href", ""))):
            made.update(dict.fromkeys(range(*reference.get("map", (0, 0))), None))
    return list(_joined(given, made))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def _joined(given: Sequence[Line], made: dict[int, str | None]) -> Iterator[Line]:
    """The lines as they became; where some are gone, at most one blank one is left."""
    blank = gone = True
    for place, line in enumerate(given):
        text = made.get(place, "") if place in made else _bare(line.text)
        if text is None or (not text and place not in made and ((gone and blank) or not line.number)):
            gone = True
            if not blank:
                yield Line("", line.number)
            blank = True
            continue
        yield from (Line(part, line.number) for part in text.split("\n"))
        blank = not text.strip()
        gone = gone and blank


def _bare(line: str) -> str:
    # Of a line that belongs to no text only quotation marks can be left.
    return "" if line.strip() and not line.strip("> \t") else line


def _prose(
    tokens: Sequence[Token], place: int, source: Sequence[str], closed: frozenset[str]
) -> Iterator[tuple[int, str | None]]:
    token, before = tokens[place], tokens[place - 1]
    assert token.map is not None
    first, end = token.map
    if before.type in ("th_open", "td_open"):
        if tokens[place - 2].type == "tr_open":
            yield first, _row(tokens, place, source[first], closed)
        return
    said = _words(token.children or [], closed)
    if before.type == "heading_open":
        words = said.replace("`", "").replace("\n", " ").strip().rstrip("*").strip()
        same = words == token.content and before.markup.startswith("#")
        yield first, source[first] if same else f"{'#' * int(before.tag[1:])} {words}".rstrip()
        yield from ((line, None) for line in range(first + 1, end + (not before.markup.startswith("#"))))
        return
    was, now = token.content.split("\n"), said.split("\n")
    if len(was) != len(now):
        lead = _lead(source[first], was[0])
        joined = " ".join(part.strip() for part in now if part.strip())
        yield first, f"{lead}{joined}" if joined else None
        yield from ((line, None) for line in range(first + 1, end))
        return
    for line, (old, new) in enumerate(zip(was, now, strict=True), first):
        if line >= end:
            return
        lead = _lead(source[line], old)
        kept = source[line] if old == new and not _QUOTED.match(source[line]) else f"{lead}{new}".rstrip()
        yield line, kept if new.strip() else None


def _lead(line: str, content: str) -> str:
    """What stands before the words of a line: indent and the sign of a list item, without signs of quotation."""
    at = line.find(content.strip()) if content.strip() else -1
    lead = line[:at] if at > 0 else ""
    return _QUOTED.sub("", lead) if ">" in lead else lead


def _row(tokens: Sequence[Token], place: int, line: str, closed: frozenset[str]) -> str:
    cells: list[str] = []
    same = True
    for token in tokens[place:]:
        if token.type == "tr_close":
            break
        if token.type == "inline":
            said = _words(token.children or [], closed).replace("\n", " ")
            same = same and said == token.content
            cells.append(said.strip())
    return line if same and _BARS.match(line) else f"| {' | '.join(cells)} |"


def _words(children: Sequence[Token], closed: frozenset[str]) -> str:
    made: list[str] = []
    closing = apart = False
    for number, token in enumerate(children):
        said = _word(token, closed) or _times(token, made, children[number + 1 :])
        tag = token.type == "html_inline" and not said
        if said:
            # Two neighbouring elements would run into one word.
            made.append(f" {said}" if apart and made and _in_word(made[-1][-1]) and _in_word(said[0]) else said)
        apart = tag and (apart or (closing and not token.content.startswith("</")))
        closing = tag and (closing or token.content.startswith("</"))
    return "".join(made)


def _times(token: Token, before: Sequence[str], after: Sequence[Token]) -> str:
    """The asterisks of emphasis that stands between digits: there they multiply."""
    if token.type not in ("em_open", "em_close", "strong_open", "strong_close"):
        return ""
    following = next((item.content for item in after if item.content), "")
    return token.markup if before and before[-1][-1:].isdigit() and following[:1].isdigit() else ""


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "`"


def _word(token: Token, closed: frozenset[str]) -> str:
    match token.type:
        case "text" | "text_special":
            return _plain(token.content)
        case "code_inline":
            return f"{token.markup}{token.content}{token.markup}"
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return _words(token.children or [], closed)
        case "html_inline":
            return tag_words(token.content, closed)
        case "s_open" | "s_close":
            # What is struck out must not read as if it held.
            return "~~"
        case _:
            return ""


def _plain(text: str) -> str:
    # Emphasis next to Chinese punctuation is none by the rules of CommonMark, and is meant all the same.
    text = _STRESS.sub(r"\1", text) if "**" in text else text
    if "[" in text:
        text = _WIKI.sub(r"\1", _FOOTNOTE.sub("", text))
    return _ATTRIBUTES.sub("", _SHORTCODE.sub("", _TEXT_IN_BRACES.sub(r"\2", text))) if "{" in text else text


def _code(token: Token, source: Sequence[str]) -> Iterator[tuple[int, str | None]]:
    """A block of code between plain fences: its language stays, what a web page would mark in it goes."""
    assert token.map is not None
    first, end = token.map
    language = _LANGUAGE.match(token.info.strip())
    yield first, f"{token.markup}{language.group() if language and '=' not in token.info.split(' ')[0] else ''}"
    inside = token.content.split("\n")[:-1]
    drawn = _COLOURED.search(token.content) is not None
    for line, text in enumerate(inside, first + 1):
        plain = without_tags(_DRAWN.sub("", text)) if drawn else _CODE_NOTE.sub("", text)
        plain = _TEXT_IN_BRACES.sub(r"\2", plain) if token.info.split(" ")[0].endswith("-vue") else plain
        yield line, plain.rstrip() if drawn else plain
    last = first + 1 + len(inside)
    if last < end:
        yield last, token.markup
        yield from ((line, None) for line in range(last + 1, end))


def _html(token: Token) -> Iterator[tuple[int, str | None]]:
    assert token.map is not None
    first, end = token.map
    lines = without_tags(token.content, entities=False).split("\n")
    kept = _preformatted(token.content.split("\n"))
    for line in range(first, end):
        text = lines[line - first] if line - first < len(lines) else ""
        if line - first in kept:
            opens, closes = line - first == kept.start, line - first == kept.stop - 1
            plain = html.unescape(text).rstrip()
            yield line, "\n".join([*(["```"] if opens else []), plain, *(["```"] if closes else [])])
            continue
        said = _words(_parser().parseInline(text.strip())[0].children or [], frozenset()) if text.strip() else ""
        yield line, said.strip(" |") or None


def _preformatted(lines: Sequence[str]) -> range:
    """The lines of the first ``<pre>`` of a block of HTML."""
    start = next((number for number, line in enumerate(lines) if "<pre" in line.lower()), -1)
    if start < 0:
        return range(0)
    ends = (number for number, line in enumerate(lines) if number >= start and "</pre" in line.lower())
    return range(start, next(ends, len(lines) - 1) + 1)
