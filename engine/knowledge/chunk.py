"""Cut a document into passages: one a section, split by sentences where a section is too long.

Sizes are in tokens, estimated without a model: a Chinese, Japanese or Korean character counts one, other text a quarter
of a token a character. Nothing is left out; a long section's pieces share one sentence. A table or a block of code that
fits into a passage stays whole; a piece from inside a table, a list item or a definition says what it continues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.knowledge.load import Document
from engine.knowledge.loaders.contents import Section, ending
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.language import CHARS_PER_TOKEN, language_of, tokens
from engine.model.values import PassageId
from engine.roles import StoredPassage

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIST = re.compile(r"\s*(?:[-*+•]\s|\d{1,3}[.)、]\s?)")
_TABLE = re.compile(r"\s*\|")
_RULE = re.compile(r"\s*\|?[\s:|=-]*-[\s:|=-]*")
_DEFINES = re.compile(r" {0,3}:[ \t]+\S")
_MOST_PARENTS = 3
_LONGEST_CONTEXT = 300
"""Characters of a header row, a term or the start of a list item."""
_SENTENCE_END = re.compile(
    # Closing quotes and brackets belong to the sentence they close; "3.5" and "e.g. x" hold no end, for an end in
    # Latin script needs white space and then something that can begin a sentence.
    r"(?<=[。！？；…])(?![。！？；…”’」』）】])|(?<=[。！？；…][”’」』）】])(?![”’」』）】。！？；…，、])"
    r"|(?<=[。！？；…][”’」』）】]{2})(?![”’」』）】。！？；…，、])"
    r"|(?<=[.!?])(?=\s+[^\sa-z])|(?<=[.!?][\"')\]])(?=\s+[^\sa-z])|(?<=\n)"
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A piece that is never divided: a sentence, a list item, a line of code. Concatenated, units give the text."""

    text: str
    tokens: float
    prose: bool


Kind = Literal["prose", "list", "table", "code"]


def chunk(document: Document, options: ChunkOptions = DEFAULT_CHUNKS, added_at: str = "") -> list[StoredPassage]:
    """Passages of a document in order, ``ordinal`` from 1 and id ``<source>#<ordinal>``.

    A section of at most ``most_tokens`` is one passage, unchanged but for white space around it; a longer one is split
    near ``target_tokens``, between sentences, list items or lines. ``meta["chunks"]`` says the options where they are
    not the defaults.
    """
    passages: list[StoredPassage] = []
    for section in document.sections:
        standing = Standing(section.text)
        for text, lines, begins in _placed(section, split(section.text, options)):
            ordinal = len(passages) + 1
            meta = {"content_hash": document.content_hash, "language": language_of(text)}
            if document.kind != "vector":
                meta["kind"] = document.kind
            if options.key:
                meta["chunks"] = options.key
            if added_at:
                meta["added_at"] = added_at
            if begins and (continued := standing.at(begins)):
                meta["context"] = continued
            if lines:
                meta["lines"] = lines
            passages.append(
                StoredPassage(
                    id=PassageId(f"{document.source}#{ordinal}"),
                    source=document.source,
                    text=text,
                    section=ending(section.path),
                    title=document.title,
                    ordinal=ordinal,
                    meta=meta,
                )
            )
    return passages


def _placed(section: Section, pieces: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Each piece with the lines of the file that it comes from (``12-30``, or empty), and where it begins."""
    # Nothing is searched or counted twice: a section may be all of a large file, and its pieces tens of thousands.
    at = first = counted = 0
    for piece in pieces:
        found = section.text.find(piece, at)
        if found < 0:
            yield piece, "", 0
            continue
        at = found + 1  # the next one may begin with the last sentence of this one
        ends = list[int]()
        if section.lines:
            first += section.text.count("\n", counted, found)
            counted = found
            numbers = [number for number in section.lines[first : first + piece.count("\n") + 1] if number]
            ends = sorted({min(numbers), max(numbers)}) if numbers else []
        yield piece, "-".join(map(str, ends)), found


class Standing:
    """What the pieces of a text continue, asked for in their order; every line is looked at once."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._next = self._place = 0
        self._above: list[tuple[int, str]] = []
        """Depth and text of each line that the next one may stand under, ever deeper."""
        self._rows = 0
        """Of the table that is open."""
        self._first = self._header = self._fence = ""

    def at(self, begins: int) -> str:
        """The header row of the table that a piece continues, else the items and terms that it stands under.

        A line each, outermost first; empty where the piece stands by itself, and inside code between fences.
        """
        while self._next < len(self._lines) and self._place + len(self._lines[self._next]) <= begins:
            self._read(self._lines[self._next])
            self._place += len(self._lines[self._next])
            self._next += 1
        line = self._lines[self._next] if self._next < len(self._lines) else ""
        if self._fence:
            return ""
        if _TABLE.match(line):
            return self._header if self._rows else ""
        depth = _depth(line)
        return "\n".join(text for above, text in self._above if above < depth)

    def _read(self, line: str) -> None:
        mark = _FENCE.match(line.lstrip())
        if mark or self._fence:
            closes = bool(mark and self._fence and mark.group(1).startswith(self._fence))
            self._fence = "" if closes else self._fence or (mark.group(1) if mark else "")
        elif _TABLE.match(line):
            self._rows += 1
            if self._rows == 1:
                self._first, self._header = line, ""
            elif self._rows == 2 and _RULE.fullmatch(line.rstrip("\n")):
                self._header = _shortened(self._first.strip())
        else:
            self._rows = 0
            if line.strip():
                depth = _depth(line)
                above = [item for item in self._above if item[0] < depth]
                self._above = [*above, (depth, _shortened(line.strip()))][-_MOST_PARENTS:]


def _depth(line: str) -> int:
    """How far a line is indented; a definition stands under its term, which is in the line above it."""
    spread = line.expandtabs(4)
    return len(spread) - len(spread.lstrip()) + bool(_DEFINES.match(line))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_CONTEXT else f"{text[:_LONGEST_CONTEXT].rstrip()}…"


def split(text: str, options: ChunkOptions = DEFAULT_CHUNKS) -> list[str]:
    """The text in pieces of at most ``most_tokens``, without white space around them; blank text gives none."""
    whole = text.strip()
    if not whole:
        return []
    most = options.most_tokens
    if tokens(whole) <= most:
        return [whole]
    units = [part for unit in _units(whole, most) for part in _bounded(unit, most)]
    return [
        piece for piece in ("".join(unit.text for unit in group).strip() for group in _groups(units, options)) if piece
    ]


def _groups(units: Sequence[_Unit], options: ChunkOptions) -> Iterator[list[_Unit]]:
    """Neighbouring units in groups near the target size, each beginning with the last sentence of the one before.

    A sentence longer than the overlap is not repeated: it would fill the next passage with what the last one said. One
    that leads to what comes next moves on with it.
    """
    target, most = options.target_tokens, options.most_tokens
    group: list[_Unit] = []
    fresh = size = 0.0
    left = sum(unit.tokens for unit in units)
    for unit in units:
        # A short rest is better part of this passage than a passage of its own.
        full = size + unit.tokens > most or (size + unit.tokens / 2 > target and left > most - size)
        if fresh and full:
            lead = _lead_in(group, most - unit.tokens)
            yield group[: len(group) - len(lead)]
            last = group[-1]
            shared = min(options.overlap_tokens, most - unit.tokens)
            repeated = last.prose and last.tokens <= shared and len(group) > 1
            group = lead or ([last] if repeated else [])
            size = sum(item.tokens for item in group)
            fresh = 0.0
        group.append(unit)
        size += unit.tokens
        fresh += unit.tokens
        left -= unit.tokens
    if fresh:
        yield group


def _lead_in(group: Sequence[_Unit], room: float) -> list[_Unit]:
    """The sentence at the end of a group that leads on ("Run this:"), where there is room for it in the next one."""
    at = len(group) - 1
    while at > 0 and not group[at].text.strip():
        at -= 1
    lead = list(group[at:])
    leads = at > 0 and group[at].prose and group[at].text.rstrip().endswith((":", "："))
    return lead if leads and sum(unit.tokens for unit in lead) <= room else []


def _units(text: str, most: int) -> Iterator[_Unit]:
    """Sentences of prose; list items; tables and code, whole where they fit, else their lines.

    Blank lines stay with what comes before them.
    """
    for block, kind in _blocks(text):
        if kind in ("table", "code") and tokens(block) <= most:
            yield _Unit(block, tokens(block), prose=False)
            continue
        pieces = _SENTENCE_END.split(block) if kind == "prose" else block.splitlines(keepends=True)
        for piece in pieces:
            if piece:
                yield _Unit(piece, tokens(piece), prose=kind in ("prose", "list"))


def _blocks(text: str) -> Iterator[tuple[str, Kind]]:
    """Lines joined into runs of one kind; code between fences is kept with its fences."""
    fence, run = "", list[str]()
    kind: Kind = "prose"
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        opens = bool(mark) and not fence
        line_kind: Kind = "code" if fence or opens else _kind_of(line)
        if not line.strip() and run and not fence:
            line_kind = kind
        if run and line_kind != kind:
            yield "".join(run), kind
            run = []
        kind = line_kind
        run.append(line)
        if mark:
            closes = bool(fence) and mark.group(1)[0] == fence[0] and len(mark.group(1)) >= len(fence)
            fence = mark.group(1) if opens else "" if closes else fence
            if closes:
                yield "".join(run), "code"
                run = []
    if run:
        yield "".join(run), kind


def _kind_of(line: str) -> Kind:
    if _TABLE.match(line):
        return "table"
    return "list" if _LIST.match(line) else "prose"


def _bounded(unit: _Unit, most: int) -> Iterator[_Unit]:
    """The unit itself, or, where it alone is too long for a passage, its parts cut at commas, spaces or anywhere."""
    if unit.tokens <= most:
        yield unit
        return
    # Only a window is looked at: a file of one line may have millions of characters.
    place, window = 0, most * CHARS_PER_TOKEN + 1
    while place < len(unit.text):
        near = unit.text[place : place + window]
        end = place + (len(near) if tokens(near) <= most else _cut(near, most))
        piece = unit.text[place:end]
        yield _Unit(piece, tokens(piece), prose=False)
        place = end


def _cut(text: str, most: int) -> int:
    """Find a cut that leaves at most ``most`` tokens in front: after a comma, else at a space, else anywhere."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= most else (low, middle - 1)
    for signs in ("，、,;；:：", " \t\n"):
        place = max(text.rfind(sign, low // 2, low) for sign in signs)
        if place > 0:
            return place + 1
    return low
