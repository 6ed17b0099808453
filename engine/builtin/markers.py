"""Markers in a text, as models write them: one grammar for whole texts and for such that grow (SC-07, GH-07).

``[1]``, ``[1, 3]``, ``[1-3]``, ``[^2]``, ``[Source 1]``, ``【1†guide】``, ``[[1]](#p1)``, ``(来源1)``, and
``[T1:B3]`` for the cell of a table. No markers are ``(1)``, ``a[0]`` of a variable, and what stands in code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.builtin.cells import CELL

_OPEN, _CLOSE = r"[\[【［]", r"[\]】］]"
LABEL = (
    r"(?:(?:(?i:sources?|passages?|docs?|documents?|refs?|references?|chunks?|citations?|contexts?|snippets?|see|cf)"
    r"|来源|片段|文档|文献|资料|段落|引用|参考|出处)[ \t.:：]*)*(?:[#^№][ \t]*)?"
)
_CODED = "\ue000"
"""Stands for every letter of code."""
_TO = r"[ \t]*(?:[-‐‑–—−~～至到]|to)[ \t]*"
_NUMBER = (
    rf"{LABEL}(?:\d{{1,3}}:(?=\d{{1,3}}†))?\d{{1,3}}(?:{_TO}{LABEL}\d{{1,3}})?(?:[ \t]*†[^\]】］\n`{_CODED}]{{0,80}})?"
)
_ONE = rf"(?:{CELL}|第\d{{1,3}}[段篇]|{_NUMBER})"
_BETWEEN = r"(?:[ \t]*(?:[,，、;；&和与及]|\band\b)[ \t]*|[ \t]+)"
_LIST = rf"{_ONE}(?:{_BETWEEN}{_ONE})*[ \t]*"
_TARGET = r"(?:\((?=[^\s()]*[#/.:]|\))[^\s()]{0,300}\))?"
"""Of a link that a marker was made into; it is what the model says, and is left out."""
_SPOKEN = r"[(（](?:(?i:sources?|passages?)|来源|片段)[ \t:：#]*\d{1,3}(?:[ \t]*[,，、;；&–-][ \t]*\d{1,3})*[ \t]*[)）]"
_MARKS = rf"\^*(?:(?:{_OPEN}{_OPEN}{_LIST}{_CLOSE}{_CLOSE}|{_OPEN}{_LIST}{_CLOSE}){_TARGET}|{_SPOKEN})"
_DEFINITION = re.compile(r"^[ \t]*\[\^?(\d{1,3})\]:(?=([^\n]*))", re.MULTILINE)
"""A line below a text that says what a footnote of Markdown is."""
_MARKER = re.compile(rf"(?P<lead>[ \t]*(?:[,，、;；][ \t]*)?)(?P<marks>{_MARKS})")
_PIECE = re.compile(
    rf"(?P<cell>{CELL})|(?P<pair>\d{{1,3}}:\d{{1,3}})(?=†)"
    rf"|(?P<first>\d{{1,3}})(?:{_TO}{LABEL}(?P<last>\d{{1,3}}))?(?:[ \t]*†.*)?"
)
_WIDEST = 50
"""Numbers that a marker may span."""
_INDEXED = re.compile(r"(?:(?<![\w'’.-])[a-z]|\$[A-Za-z_]\w*)\Z")
"""What a bracket directly behind it is an index of: a variable of one letter, or of a shell."""
_ASSIGNED = re.compile(r"[ \t]*(?:[-+*/|&]?=|\.[a-z_]\w*[(.=\[]|\+\+|--)")
_INDEX_BEGUN = re.compile(rf"(?<=\w){_OPEN}[^\]】］\n]{{0,120}}{_CLOSE}(?:[ \t]*[-+*/|&]?|\.\w*)\Z")
_MARKER_LIKE = re.compile(
    rf"{_OPEN}(?=\^?{LABEL}\d|[Tt]\d|第\d+[段篇])|[(（](?=(?:(?i:sources?|passages?)|来源|片段)[ \t:：#]*\d)"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_BRACKET_BEGUN = re.compile(rf"(?:{_OPEN}[^\]】］\n]{{0,120}}|(?<={_CLOSE})\([^\s()]{{0,300}})\Z")
_CODE_BEGUN = re.compile(r"`+[^`\n]*\Z")
_BEGUN = re.compile(
    rf"[ \t]*(?:[,，、;；][ \t]*)?(?:\^+|\^*{_OPEN}(?:{_OPEN}[^\]】］\n]{{0,120}}{_CLOSE}|[^\]】］\n]{{0,120}})"
    r"|\^*[(（](?:[PpSs][A-Za-z]{0,7}|来源?|片段?)?[ \t:：#\d,，、;；&–-]{0,40})\Z"
    rf"|(?<={_CLOSE})\([^\s()]{{0,300}}\Z"
    r"|[ \t]*[,，、;；][ \t]*\Z|[ \t]+\Z"
)
"""What may turn out to be a marker, or what stands before one, at the end of what has arrived."""
_CLOSING = r"(?:[”’」』）》】)\"']|[ \t]*(?:{_MARKS}){defined})*[ \t]*"
_STOP = re.compile(r"[。！？]+|[.!?]+(?=\s|$|[”’)\"\]\[【［^])|\n+")
_ABBREVIATED = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)|(?:^|\s)[A-Z])\.$"
)
_TAIL = re.compile(_CLOSING.format(_MARKS=_MARKS, defined=""))
_TAIL_OF_LINE = re.compile(_CLOSING.format(_MARKS=_MARKS, defined="(?!:)"))


@dataclass(frozen=True, slots=True)
class Marker:
    """One pair of brackets in a text, with all that it names."""

    start: int
    """Of the blanks, or the comma, before it."""
    end: int
    lead: str
    parts: tuple[str, ...]
    spans: bool = False
    """Whether some are only meant, as 2 in ``[1-3]``."""
    note: str | None = None
    """What the footnote of this number is, to the end of the line, where this begins its definition."""


def markers_in(text: str) -> Iterator[Marker]:
    """The markers of a text, code left out."""
    masked = _masked(text)
    for found in _MARKER.finditer(masked):
        if note := _DEFINITION.match(masked, found.start()):
            yield Marker(found.start(), note.end(), "", (note[1],), note=text[note.start(2) : note.end(2)])
        elif not _is_index(masked, found) and (parts := _parts(found["marks"])):
            named = len(_PIECE.findall(found["marks"].partition("](")[0]))
            yield Marker(found.start(), found.end(), found["lead"], parts, spans=len(parts) > named)


def settled(text: str) -> int:
    """Return the length of the part of a growing text whose markers are final."""
    text = _masked(text)
    begun = [
        item.start() for item in (_BEGUN.search(text), _CODE_BEGUN.search(text), _INDEX_BEGUN.search(text)) if item
    ]
    return min(begun, default=len(text))


def quoted(text: str) -> str:
    """A text of a source in which nothing is a marker: a blank stands behind the bracket of what would be one."""
    return _MARKER_LIKE.sub(r"\g<0> ", text)


def without_markers(text: str) -> str:
    """A text without its markers."""
    end, kept = 0, ""
    for marker in markers_in(text):
        kept, end = kept + text[end : marker.start], marker.end
    return kept + text[end:]


def _parts(marks: str) -> tuple[str, ...]:
    """Expand the numbers of a marker, ranges included; empty if it is none, such as ``[0-9]``."""
    parts: list[str] = []
    for piece in _PIECE.finditer(marks.partition("](")[0]):
        if piece["last"]:
            first, last = int(piece["first"]), int(piece["last"])
            if not 1 <= first <= last <= first + _WIDEST:
                return ()
            parts += map(str, range(first, last + 1))
        else:
            parts.append(piece["cell"] or piece["pair"] or piece["first"])
    return tuple(parts)


def _is_index(text: str, found: re.Match[str]) -> bool:
    """Return whether a bracket belongs to code that is not marked as such."""
    if found["lead"] or not text[found.start() : found.end()].startswith("["):
        return False
    word = text[max(0, found.start() - 60) : found.start()]
    return bool(word and (word[-1].isalnum() or word[-1] == "_")) and bool(
        _INDEXED.search(word) or _ASSIGNED.match(text, found.end())
    )


def _masked(text: str) -> str:
    """The text with as many letters in the place of code."""
    return _CODE.sub(lambda code: _CODED * len(code.group()), text)


def sentence_end(text: str) -> int | None:
    """Find the end of the first sentence with the markers behind it; None while more of it may come."""
    text = _masked(text)
    if note := _DEFINITION.match(text):
        line = re.compile(r"\n+").match(text, note.end(2))
        return line.end() if line and line.end() < len(text) else None
    marks = [(found.start(), found.end()) for found in _MARKER.finditer(text)]
    begun = [item.start() for item in (_CODE_BEGUN.search(text), _BRACKET_BEGUN.search(text)) if item]
    for stop in _STOP.finditer(text):
        if begun and stop.start() >= min(begun):
            return None
        if any(start < stop.start() < end - 1 for start, end in marks):
            continue
        latin = stop.group()[0] in ".!?"
        tail = (_TAIL_OF_LINE if stop.group()[0] == "\n" else _TAIL).match(text, stop.end())
        end = tail.end() if tail else stop.end()
        if end >= len(text) or _may_be_marker(text, end):
            return None
        marked = next(markers_in(text[stop.end() : end]), None) is not None
        if latin and ((text[end].islower() and not marked) or _ABBREVIATED.search(text[: stop.end()])):
            continue
        return end
    return None


def _may_be_marker(text: str, at: int) -> bool:
    begun = _BEGUN.match(text, at)
    return begun is not None and begun.end() == len(text)


def before_markers(text: str) -> int:
    """Return the length that can be sent: the text before anything that may be a marker or code."""
    found = min((marker.start for marker in markers_in(text)), default=None)
    text = _masked(text)[:found]
    begun = [item.start() for item in (_BEGUN.search(text), _CODE_BEGUN.search(text)) if item]
    return min(begun, default=len(text))
