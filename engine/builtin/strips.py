"""Passages in strips: a sentence, a list item, a table row or a block of code each, for refinement to keep or leave."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from engine.model.language import language_of
from engine.model.values import Around, Passage, PassageId, Sentence, Surrounding

Text = TypeVar("Text", Passage, Surrounding)

GAP = "…"
"""Stands for left-out strips in the text that a chat model reads."""
_BOUNDARY = re.compile(
    r"(?<=[。！？；])(?![”’」』）》】)\"'])|(?<=[.!?;])(?=[ \t])|(?<=\n)(?!\n)|(?<=[。！？；.!?][”’」』）》】)\"'])"
)
_OPEN_END = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)\.|(?:^|\s)[A-Z]\.)$"
)
_FULL_STOP = re.compile(r"[.!?…。！？；;:：]['\"”’）)】\]]*$")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_ROW = re.compile(r"^\s*\|")
_UNDER_HEADER = re.compile(r"^\s*\|[\s|:\-]*-[\s|:\-]*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"^\s*(?:[-*+•·]|\d{1,3}[.)、])\s")
_INDENTED = re.compile(r"^(?: {4}|\t)")
_WRAPPED_FROM = 30
"""Characters from which a line without a full stop is taken to have been broken for its width."""


def is_heading(strip: str) -> bool:
    """Return whether a strip is a Markdown heading."""
    return _HEADING.match(strip) is not None


def is_row(strip: str) -> bool:
    """Return whether a strip is of a table; its header is one too."""
    return _ROW.match(strip) is not None


def is_header(strip: str) -> bool:
    """Return whether a strip is the header of a table, with the line below it."""
    lines = strip.strip().splitlines()
    return len(lines) > 1 and is_row(lines[0]) and _UNDER_HEADER.match(lines[1]) is not None


def level_of(heading: str) -> int:
    """Return how deep a Markdown heading is, from 1."""
    text = heading.lstrip()
    return len(text) - len(text.lstrip("#"))


def under(strips: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Places of what stands under each heading, and under the header of each table, where anything does."""
    places = {at: tuple(_below(strips, at)) for at, strip in enumerate(strips) if _heads(strip)}
    return {at: found for at, found in places.items() if found}


def _below(strips: Sequence[str], at: int) -> Iterator[int]:
    for place in range(at + 1, len(strips)):
        strip = strips[place]
        if is_header(strips[at]):
            if not is_row(strip) or is_header(strip):
                return
        elif is_heading(strip) and level_of(strip) <= level_of(strips[at]):
            return
        if not _heads(strip):
            yield place


def _heads(strip: str) -> bool:
    return is_heading(strip) or is_header(strip)


def strips_of(text: str) -> list[str]:
    """The strips of a passage with all that stands between them: joined, they are the passage.

    A table without a header is one strip, for its rows mean nothing alone; so is a line broken for its width.
    """
    strips: list[str] = []
    for block in _blocks(text.splitlines(keepends=True)):
        for piece in _pieces(block):
            if strips and not any(map(str.isalnum, piece)):
                strips[-1] += piece
            else:
                strips.append(piece)
    return strips


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Code between fences, tables, and the text between them."""
    block = fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            block += line
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield block
                block = fence = ""
            continue
        if block and (mark or is_row(line) != is_row(block)):
            yield block
            block = ""
        block += line
        fence = mark.group(1) if mark else ""
    if block:
        yield block


def _pieces(block: str) -> Iterator[str]:
    if _FENCE.match(block):
        yield block
    elif is_row(block):
        yield from _rows(block.splitlines(keepends=True))
    else:
        yield from _sentences(block)


def _rows(lines: Sequence[str]) -> Iterator[str]:
    header = "".join(lines[:2])
    if not is_header(header):
        yield "".join(lines)
        return
    yield header
    yield from lines[2:]


def _sentences(text: str) -> list[str]:
    pieces: list[str] = []
    at = 0
    for boundary in [*_BOUNDARY.finditer(text), None]:
        end = boundary.end() if boundary else len(text)
        piece = text[at:end]
        at = end
        if not piece:
            continue
        if pieces and (not any(map(str.isalnum, piece)) or _goes_on(pieces[-1], piece)):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _goes_on(before: str, piece: str) -> bool:
    ended, rest = before.strip(), piece.lstrip()
    if not any(map(str.isalnum, ended)) or _OPEN_END.search(ended):
        return True
    if not before.endswith("\n"):
        # Of a list item all is one strip: what follows its name means nothing without it.
        return _ITEM.match(before) is not None
    if _HEADING.match(before) or _ITEM.match(piece):
        return False
    if _INDENTED.match(piece):
        return True
    wraps = rest[:1].islower() or (language_of(rest[:1]) == "zh" and language_of(ended[-1:]) == "zh")
    return wraps and not _FULL_STOP.search(ended) and len(ended.rsplit("\n", 1)[-1]) >= _WRAPPED_FROM


def picked(text: str, numbers: Collection[int], *, least: bool = True) -> tuple[Sentence, ...]:
    """The strips of a text, those of some numbers (from 1) kept; with ``least`` all where there are no numbers.

    Headings and headers of tables stay with what is kept under them.
    """
    strips = strips_of(text)
    places = {number - 1 for number in numbers} or {*range(len(strips) if least else 0)}
    places |= {at for at, below in under(strips).items() if not places.isdisjoint(below)}
    return tuple(Sentence(strip, float(at in places), kept=at in places) for at, strip in enumerate(strips))


def kept_text(passage: Passage | Surrounding, cut: Mapping[PassageId, tuple[Sentence, ...]], gap: str = "") -> str:
    """Return what a generator reads of a passage: its kept strips, or all of it if nothing was cut.

    ``gap`` stands where strips were left out; where all were, nothing is read.
    """
    if passage.id not in cut:
        return passage.text
    text = before = ""
    for item in cut[passage.id]:
        if item.kept and before and gap:
            text = _with_gap(text, gap) + ("\n" if before.endswith("\n") else " ") + item.text.lstrip(" ")
        elif item.kept:
            text += item.text
        before = "" if item.kept else item.text
    return (_with_gap(text, gap) if text and before and gap else text).strip()


def _with_gap(text: str, gap: str) -> str:
    return f"{text}{gap}" if not text or text[-1].isspace() else f"{text} {gap}"


def read_as(passage: Text, cut: Mapping[PassageId, tuple[Sentence, ...]], gap: str = "") -> Text:
    """Return a passage as a generator reads it."""
    return replace(passage, text=kept_text(passage, cut, gap)) if passage.id in cut else passage


def around_as(
    around: Mapping[PassageId, Around], cut: Mapping[PassageId, tuple[Sentence, ...]], gap: str = ""
) -> dict[PassageId, Around]:
    """Return what surrounds passages as a generator reads it."""
    return {
        name: Around(*(tuple(read_as(part, cut, gap) for part in parts) for parts in (item.before, item.after)))
        for name, item in around.items()
    }
