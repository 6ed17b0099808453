"""Make paragraphs of drawn lines: running heads left out, wrapped lines joined, sentences kept across pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from statistics import median

from engine.knowledge.loaders.wrapping import joined


@dataclass(frozen=True, slots=True)
class Line:
    """One drawn line; lengths in points, from the left and the top of the page."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    visible: bool = True

    @property
    def size(self) -> float:
        return max(self.bottom - self.top, 1.0)


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    """From 1."""
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the outline."""

    level: int
    title: str
    page: int
    top: float
    """Distance from the top of the page."""


@dataclass(slots=True)
class _Part:
    """Text of one page under one heading."""

    path: tuple[str, ...]
    page: int
    lines: list[Line] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    begins_paragraph: bool = True
    """Its first line is the first of a paragraph, as far as its place tells."""


_LEAST_REPEATED = 3
_SHARE_REPEATED = 0.4
"""Of the pages; odd and even pages may have heads of their own."""
_MARGIN_LINES = 2
_LONGEST_HEAD = 120
_NUMBER = re.compile(r"[0-9]{1,6}")
_MOST_NUMBERS = 3
_SENTENCE_END = re.compile(r"[。！？；…!?]|[.:：;](?=\s|$)")
_ENDED = re.compile(r"[。！？；：…!?.:;][”’」』）】)\"']*$")
_ITEM = re.compile(
    r"[•●○▪◦■□◆▶➢✓·*–—-]\s*\S|\(?\d{1,3}[.)、．]\s*\D|[(（]?[一二三四五六七八九十]{1,3}[)）、．.]|[(（]\d{1,3}[)）]|第.{1,4}[章节条款篇]"
)
_WIDE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")
_LONGEST_CARRIED = 400
"""Characters of a sentence that are taken over from the next page."""


def read_pages(pages: Sequence[Page], outline: Sequence[Entry]) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Heading path, page and text of everything that the pages say, in order."""
    repeated = _running_heads(pages)
    hyphenated = _hyphenated(pages)
    parts = [part for page in pages for part in _parts(page, outline, repeated)]
    for part in parts:
        part.paragraphs = [joined(lines, hyphenated) for lines in _paragraphs(part)]
        if part.path and len(part.paragraphs) > 1 and _same(part.paragraphs[0], part.path[-1]):
            part.paragraphs = part.paragraphs[1:]
    _carry_sentences(parts, hyphenated)
    for part in parts:
        text = "\n\n".join(part.paragraphs)
        if text:
            yield part.path, part.page, text


_Mark = tuple[str, int]


def _running_heads(pages: Sequence[Page]) -> set[_Mark]:
    """Find lines at the same height on the edges of many pages, page numbers included."""
    seen: Counter[_Mark] = Counter()
    for page in pages:
        seen.update({mark for line in _margin(page) for mark in _marks(line, page.number)})
    least = max(_LEAST_REPEATED, _SHARE_REPEATED * len(pages))
    return {mark for mark, count in seen.items() if count >= least}


def running_heads(pages: Sequence[Page]) -> int:
    """Count the repeated lines at page edges that :func:`read_pages` leaves out."""
    repeated = _running_heads(pages)
    return sum(len(_heads(page, repeated)) for page in pages)


def _heads(page: Page, repeated: set[_Mark]) -> set[int]:
    return {id(line) for line in _margin(page) if not repeated.isdisjoint(_marks(line, page.number))}


def _margin(page: Page) -> list[Line]:
    ordered = sorted(page.lines, key=lambda line: line.top)
    edge = [*ordered[:_MARGIN_LINES], *ordered[-_MARGIN_LINES:]]
    return [line for line in edge if len(line.text) <= _LONGEST_HEAD]


def _marks(line: Line, page: int) -> list[_Mark]:
    """The line's text at its height, each of its first numbers as it is or as its distance from the page's own.

    ``Chapter 2 · 17`` on page 19 is the same head as ``Chapter 2 · 18`` on page 20, and no other.
    """
    height = round(line.top / 4)
    pieces = _NUMBER.split(line.text, maxsplit=_MOST_NUMBERS)
    found = _NUMBER.findall(line.text)[:_MOST_NUMBERS]
    marks = []
    for counted in product((False, True), repeat=len(found)):
        text = pieces[0]
        for number, along, piece in zip(found, counted, pieces[1:], strict=True):
            text += (f"\x00{int(number) - page}\x00" if along else number) + piece
        marks.append((text, height))
    return marks


def _hyphenated(pages: Sequence[Page]) -> set[str]:
    # Tried at the first letter of a word only: a word of many thousand letters would be read again from each of them.
    words = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)+")
    return {found.group().lower() for page in pages for line in page.lines for found in words.finditer(line.text)}


def _parts(page: Page, outline: Sequence[Entry], repeated: set[_Mark]) -> Iterator[_Part]:
    """The lines of a page under the headings that the outline puts above them."""
    margin = _heads(page, repeated)
    lines = [line for line in page.lines if id(line) not in margin]
    starts = _starts(lines, [entry for entry in outline if entry.page == page.number])
    paths = [_path(outline, page.number, begun) for begun in range(len(starts) + 1)]
    part: _Part | None = None
    for number, line in enumerate(lines):
        path = paths[bisect_right(starts, number)]
        if part is None or path != part.path:
            if part is not None:
                yield part
            part = _Part(path, page.number)
        part.lines.append(line)
    if part is not None:
        yield part


def _starts(lines: Sequence[Line], entries: Sequence[Entry]) -> list[int]:
    """Find for each entry of a page the line that it begins at: the one with its words, else the first at its height.

    Both in reading order, for on a page of two columns the second begins above the headings of the first.
    """
    starts: list[int] = []
    for entry in entries:
        least = starts[-1] if starts else 0
        after = range(least, len(lines))
        named = (number for number in after if _same(lines[number].text, entry.title))
        below = (number for number in after if lines[number].bottom >= entry.top)
        starts.append(next(named, next(below, least)))
    return starts


def path_at(outline: Sequence[Entry], page: int) -> tuple[str, ...]:
    """Headings in force at the end of a page."""
    return _path(outline, page, len(outline))


def _path(outline: Sequence[Entry], page: int, begun: int) -> tuple[str, ...]:
    """Headings in force on a page below the first ``begun`` entries that point into it."""
    path: list[tuple[int, str]] = []
    for entry in outline:
        if entry.page > page:
            continue
        if entry.page == page:
            if begun == 0:
                continue
            begun -= 1
        while path and path[-1][0] >= entry.level:
            path.pop()
        path.append((entry.level, entry.title))
    return tuple(title for _, title in path)


def _paragraphs(part: _Part) -> list[list[str]]:
    """Lines that belong to one paragraph, by their distance, indent, size and fullness."""
    lines = part.lines
    steps = [below.bottom - above.bottom for above, below in pairwise(lines)]
    usual = median([step for step in steps if step > 0] or [0.0])
    left, right = _edges(lines)
    groups: list[list[str]] = []
    for number, line in enumerate(lines):
        above = lines[number - 1] if number else None
        if above is None:
            part.begins_paragraph = line.left > left[number] + 1.2 * line.size or bool(_ITEM.match(line.text))
        headed = number == 1 and bool(part.path) and _same(lines[0].text, part.path[-1])
        if above is None or headed or _breaks(above, line, usual, left[number], right[number - 1]):
            groups.append([])
        groups[-1].append(line.text)
    return groups


def _edges(lines: Sequence[Line]) -> tuple[list[float], list[float]]:
    """Find for each line the left and right edge of its column, from its neighbours."""
    left, right = [], []
    for number, line in enumerate(lines):
        near = [
            other
            for other in lines[max(0, number - 4) : number + 5]
            # A line may be of no width: only itself is always near.
            if other is line
            or (other.left < line.right and line.left < other.right and abs(other.left - line.left) < 3 * line.size)
        ]
        left.append(min(other.left for other in near))
        right.append(max(other.right for other in near))
    return left, right


def _breaks(above: Line, line: Line, usual: float, left: float, right: float) -> bool:
    step = line.bottom - above.bottom
    if abs(line.size - above.size) > 0.15 * max(line.size, above.size):
        return True
    if usual and step > 1.4 * usual:
        return True
    if _ITEM.match(line.text) or line.left > left + 1.2 * line.size:
        return True
    missing = right - above.right
    if _WIDE.match(above.text[-1]) or _WIDE.match(line.text[0]):
        return missing > 2.2 * above.size
    return missing > 0.15 * max(right - left, 1.0) and bool(_ENDED.search(above.text) or not line.text[0].islower())


def _same(paragraph: str, title: str) -> bool:
    return "".join(paragraph.split()) == "".join(title.split())


def _carry_sentences(parts: list[_Part], hyphenated: Container[str]) -> None:
    """Let a sentence that continues on the next page end where it began."""
    for part, following in pairwise(parts):
        goes_on = following.page == part.page + 1 and following.path == part.path and not following.begins_paragraph
        if not (goes_on and part.paragraphs and following.paragraphs) or _ENDED.search(part.paragraphs[-1]):
            continue
        end = _SENTENCE_END.search(following.paragraphs[0])
        if end is None or end.end() > _LONGEST_CARRIED:
            continue
        carried, rest = following.paragraphs[0][: end.end()], following.paragraphs[0][end.end() :].lstrip()
        part.paragraphs[-1] = joined([part.paragraphs[-1], carried], hyphenated)
        following.paragraphs = [rest, *following.paragraphs[1:]] if rest else following.paragraphs[1:]
