"""From a document to passages: one a section, split by sentences where a section is too long.

Sizes are in tokens, estimated without a model: a Chinese, Japanese or Korean character counts one, other text a quarter
of a token a character. Nothing is left out; a long section's pieces share one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.knowledge.load import Document
from engine.language import language_of
from engine.roles import StoredPassage
from engine.values import PassageId

TARGET_TOKENS = 200
MOST_TOKENS = 320
LONGEST_OVERLAP_TOKENS = 60
"""A sentence longer than this is not repeated: it would fill the next passage with what the last one said."""

_LONGEST_SECTION = 2000
"""Bytes of UTF-8 of a section's headings; of longer ones the innermost are kept."""

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\uff00-\uffef\u3000-\u303f]")
_CHARS_PER_TOKEN = 4
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIST_OR_TABLE = re.compile(r"\s*(?:[-*+•]\s|\d{1,3}[.)、]\s?|\|)")
_SENTENCE_END = re.compile(
    # Closing quotes and brackets belong to the sentence they close; "3.5" and "e.g. x" hold no end, for an end in
    # Latin script needs white space and then something that can begin a sentence.
    r"(?<=[。！？；…])(?![。！？；…”’」』）】])|(?<=[。！？；…][”’」』）】])"
    r"|(?<=[.!?])(?=\s+[^\sa-z])|(?<=[.!?][\"')\]])(?=\s+[^\sa-z])|(?<=\n)"
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A piece that is never divided: a sentence, a list item, a line of code. Concatenated, units give the text."""

    text: str
    tokens: float
    prose: bool


def chunk(
    document: Document, target: int = TARGET_TOKENS, most: int = MOST_TOKENS, added_at: str = ""
) -> list[StoredPassage]:
    """Passages of a document in order, ``ordinal`` from 1 and id ``<source>#<ordinal>``.

    A section of at most ``most`` tokens is one passage, unchanged but for white space around it; a longer one is split
    near ``target`` tokens, between sentences, list items or lines.
    """
    passages: list[StoredPassage] = []
    for section in document.sections:
        heading = " > ".join(section.path)
        for text in split(section.text, target, most):
            ordinal = len(passages) + 1
            meta = {"content_hash": document.content_hash, "language": language_of(text)}
            if document.kind != "vector":
                meta["kind"] = document.kind
            if added_at:
                meta["added_at"] = added_at
            passages.append(
                StoredPassage(
                    id=PassageId(f"{document.source}#{ordinal}"),
                    source=document.source,
                    text=text,
                    section=_ending(heading),
                    title=document.title,
                    ordinal=ordinal,
                    meta=meta,
                )
            )
    return passages


def split(text: str, target: int = TARGET_TOKENS, most: int = MOST_TOKENS) -> list[str]:
    """The text in pieces of at most ``most`` tokens, without white space around them; blank text gives none."""
    whole = text.strip()
    if not whole:
        return []
    if tokens(whole) <= most:
        return [whole]
    units = [part for unit in _units(whole) for part in _bounded(unit, most)]
    return [
        piece
        for piece in ("".join(unit.text for unit in group).strip() for group in _groups(units, target, most))
        if piece
    ]


def tokens(text: str) -> float:
    """Estimated tokens of a text."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) / _CHARS_PER_TOKEN


def _ending(heading: str) -> str:
    """As much of the end of a heading path as the store holds, whatever script it is in."""
    return heading[-600:].encode()[-_LONGEST_SECTION:].decode(errors="ignore")


def _groups(units: Sequence[_Unit], target: int, most: int) -> Iterator[list[_Unit]]:
    """Neighbouring units in groups near the target size, each beginning with the last sentence of the one before."""
    group: list[_Unit] = []
    fresh = size = 0.0
    left = sum(unit.tokens for unit in units)
    for unit in units:
        # A short rest is better part of this passage than a passage of its own.
        full = size + unit.tokens > most or (size + unit.tokens / 2 > target and left > most - size)
        if fresh and full:
            yield group
            last = group[-1]
            repeated = last.prose and last.tokens <= min(LONGEST_OVERLAP_TOKENS, most - unit.tokens) and len(group) > 1
            group = [last] if repeated else []
            size = sum(item.tokens for item in group)
            fresh = 0.0
        group.append(unit)
        size += unit.tokens
        fresh += unit.tokens
        left -= unit.tokens
    if fresh:
        yield group


def _units(text: str) -> Iterator[_Unit]:
    """Sentences of prose; lines of code, lists and tables; blank lines stay with what comes before them."""
    for block, code in _blocks(text):
        pieces = block.splitlines(keepends=True) if code or _LIST_OR_TABLE.match(block) else _SENTENCE_END.split(block)
        for piece in pieces:
            if piece:
                yield _Unit(piece, tokens(piece), prose=not code)


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Lines joined into runs of one kind: code between fences (kept with its fences), list lines, prose."""
    lines = text.splitlines(keepends=True)
    fence, run, kind = "", list[str](), ""
    for line in lines:
        mark = _FENCE.match(line)
        opens = bool(mark) and not fence
        line_kind = "code" if fence or opens else "list" if _LIST_OR_TABLE.match(line) else "prose"
        if not line.strip() and run and not fence:
            line_kind = kind
        if run and line_kind != kind:
            yield "".join(run), kind == "code"
            run = []
        kind = line_kind
        run.append(line)
        if mark:
            closes = bool(fence) and mark.group(1)[0] == fence[0] and len(mark.group(1)) >= len(fence)
            fence = mark.group(1) if opens else "" if closes else fence
            if closes:
                yield "".join(run), True
                run, kind = [], ""
    if run:
        yield "".join(run), kind == "code"


def _bounded(unit: _Unit, most: int) -> Iterator[_Unit]:
    """The unit itself, or, where it alone is too long for a passage, its parts cut at commas, spaces or anywhere."""
    if unit.tokens <= most:
        yield unit
        return
    rest = unit.text
    while tokens(rest) > most:
        cut = _cut(rest, most)
        yield _Unit(rest[:cut], tokens(rest[:cut]), prose=False)
        rest = rest[cut:]
    if rest:
        yield _Unit(rest, tokens(rest), prose=False)


def _cut(text: str, most: int) -> int:
    """Where to cut so that the front has at most ``most`` tokens: after a comma, else at a space, else anywhere."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= most else (low, middle - 1)
    for signs in ("，、,;；:：", " \t\n"):
        place = max(text.rfind(sign, low // 2, low) for sign in signs)
        if place > 0:
            return place + 1
    return low
