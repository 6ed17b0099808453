"""What a text says of one thing after the other: terms with what they mean below them, and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["text", "row", "code"]

_ROW = re.compile(r"\s*\|(?P<cells>.*\S.*?)\|?\s*$")
_RULE = re.compile(r"\s*\|?(?=.*-)[\s:|=+-]+$")
_BAR = re.compile(r"(?<!\\)\|")
_DEFINES = re.compile(r" {0,3}[:~][ \t]+(?=\S)")
"""Begins what a term means, below the term."""
_INDENTED = re.compile(r" {2,}|\t")
_CODE = re.compile(r" {4}|\t")
_ITEM = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)])\s")
_LEADS_TO_CODE = re.compile(r"[.:。：!?)）]\s*$")
_LONGEST_TERM = 160
"""Characters of a line that is a term."""
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>\S.*?)[ \t#]*$")
_NAME = r"`?(?P<name>[@$\w-]+(?:[.:/][@$\w*-]+)+(?:\(\))?|[a-z]+[A-Z]\w*(?:\(\))?|\w+_\w+(?:\(\))?|--[\w-]+)`?"
_ENTRY = re.compile(rf"(?:\w+[:：]\s*)?{_NAME}(?:\s+\w+)?", re.ASCII)
"""A heading that is a name in code: server.port, useState, max_age, --force, Extension: hard_line_breaks."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of a text that belong together."""

    kind: Kind
    lines: tuple[str, ...]
    """The cells of a row; else lines without the indentation that they share."""
    entry: str = ""
    """The term that they define."""
    header: tuple[str, ...] = ()
    """The header cells above a row."""
    heading: str = ""
    """The heading in the text that it stands under."""


def name_in(heading: str) -> str:
    """The name in code that a heading consists of; empty where it is none."""
    found = _ENTRY.fullmatch(heading.strip())
    return found["name"] if found else ""


def stretches(lines: Sequence[str], context: str = "") -> Iterator[Stretch]:
    """The rows, definitions and other stretches of a text; ``context`` is what its first line stands under."""
    heading, start = "", 0
    for at, line in enumerate(lines):
        if found := _HEADING.match(line):
            yield from (replace(item, heading=heading) for item in _entries(lines[start:at], context))
            heading, start, context = found["text"], at + 1, ""
    yield from (replace(item, heading=heading) for item in _entries(lines[start:], context))


def _entries(lines: Sequence[str], context: str) -> Iterator[Stretch]:
    above = [line for line in context.split("\n") if line.strip()]
    header = _cells(above[-1]) if above and _ROW.match(above[-1]) else ()
    entry = _term_of(above)
    plain: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if _ROW.match(line):
            yield from _split("", plain)
            plain, entry = [], ""
            end = next((n for n in range(at, len(lines)) if not _ROW.match(lines[n])), len(lines))
            yield from _rows(lines[at:end], header)
            at, header = end, ()
        elif _DEFINES.match(line) or (entry and at == 0):
            name = _term(plain) or entry
            yield from _split("", plain)
            end = _definition_end(lines, at)
            own = [_DEFINES.sub("", line), *map(_dedented, lines[at + 1 : end])]
            yield from (replace(item, entry=item.entry or name) for item in _entries(own, ""))
            plain, entry, at = [], name, end
        else:
            plain.append(line)
            at += 1
    yield from _split("", plain)


def _rows(lines: Sequence[str], header: Sequence[str]) -> Iterator[Stretch]:
    if len(lines) > 1 and _RULE.match(lines[1]):
        header, lines = _cells(lines[0]), lines[2:]
        if not lines:
            yield Stretch("row", tuple(header))
    for line in lines:
        if not _RULE.match(line):
            yield Stretch("row", _cells(line), header=tuple(header))


def _cells(line: str) -> tuple[str, ...]:
    found = _ROW.match(line)
    return tuple(cell.strip() for cell in _BAR.split(found["cells"])) if found else ()


def _term(plain: list[str]) -> str:
    """The paragraph right above a definition, taken off the lines before it; empty where it is no term."""
    end = len(plain)
    while end and not plain[end - 1].strip():
        end -= 1
    start = end
    while start and plain[start - 1].strip():
        start -= 1
    term = " ".join(line.strip() for line in plain[start:end])
    if not term or len(term) > _LONGEST_TERM:
        return ""
    del plain[start:]
    return term


def _term_of(above: Sequence[str]) -> str:
    """The term among the lines that a text stands under: it stands above the line that begins its definition."""
    if not above or _ROW.match(above[-1]):
        return ""
    if _DEFINES.match(above[-1]):
        return above[-2].strip() if len(above) > 1 and not _DEFINES.match(above[-2]) else ""
    return "" if _ITEM.match(above[-1]) else above[-1].strip()


def _definition_end(lines: Sequence[str], at: int) -> int:
    for end in range(at + 1, len(lines)):
        line = lines[end]
        apart = line.strip() and not lines[end - 1].strip() and not _INDENTED.match(line)
        if apart or _DEFINES.match(line):
            return end
    return len(lines)


def _dedented(line: str) -> str:
    """A line without one level of indentation."""
    return line[min(4, len(line) - len(line.lstrip())) :]


def _split(entry: str, lines: Sequence[str]) -> Iterator[Stretch]:
    """The text and the indented code of some lines."""
    text: list[str] = []
    code: list[str] = []
    listed, said = False, ""
    for at, line in enumerate(lines):
        indented = _CODE.match(line) is not None
        opens = not listed and _LEADS_TO_CODE.search(said) is not None and not lines[at - 1].strip() if at else False
        if indented and (code or opens):
            code.append(_dedented(line))
            continue
        if code and not line.strip():
            code.append("")
            continue
        if code:
            yield Stretch("text", tuple(text), entry)
            yield Stretch("code", tuple(code))
            text, code = [], []
        text.append(line)
        if line.strip():
            listed = _ITEM.match(line) is not None or (listed and _INDENTED.match(line) is not None)
            said = line
    if text:
        yield Stretch("text", tuple(text), entry)
    if code:
        yield Stretch("code", tuple(code))
