"""PowerPoint presentations: a section for each slide, with its tables, charts, diagrams and speaker's notes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import Contents, Section, counted, document_title, heading, marked, named
from engine.knowledge.loaders.drawings import DRAWING as A
from engine.knowledge.loaders.drawings import DRAWN, drawn_text, picture_text, plain_text
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.equations import MATH, linear
from engine.knowledge.loaders.numbering import whole_number
from engine.knowledge.loaders.office import RELATION, Package, Relation, addresses_unsaid
from engine.knowledge.loaders.symbols import symbol_text
from engine.knowledge.loaders.tables import Span, table_text
from engine.messages import N_

MOST_SLIDES = 2000
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_ON = ("1", "true")
_SHAPES = frozenset(f"{_P}{name}" for name in ("sp", "grpSp", "pic", "graphicFrame", "cxnSp", "contentPart"))
_MASTER = re.compile(r"(?i).*/slide(?:Layout|Master)s/[^/]*\.xml")
_TITLES = ("title", "ctrTitle")
_LEFT_OUT = frozenset({"sldNum", "dt", "hdr", "sldImg"})
"""Placeholders that say nothing of the slide: its number, a date, its own picture."""


def load_slides(name: str, data: bytes, hidden: bool = False) -> Contents:
    """One section a slide, called ``Slide 3 · title``; raises ``SourceDamaged`` where nothing can be read.

    ``hidden``: whether hidden slides and shapes go in. What is missing or broken costs itself alone.
    """
    package = Package(name, data, ".pptx")
    root = package.xml(package.main)
    listed = [] if root is None else root.findall(f"{_P}sldIdLst/{_P}sldId")
    if root is None or root.tag != f"{_P}presentation":
        raise SourceDamaged.named(name=name, found=N_("its slides are missing or broken"))
    if len(listed) > MOST_SLIDES:
        raise SourceError.too_many_pages(name=name, pages=len(listed), limit=MOST_SLIDES)
    deck = _Deck(package, hidden)
    links = package.relations(package.main)
    for number, entry in enumerate(listed, 1):
        deck.add(number, links.get(entry.get(f"{RELATION}id") or ""))
    if deck.left_out["slides_unreadable"] and not deck.sections:
        raise SourceDamaged.named(name=name, found=N_("its slides are missing or broken"))
    return deck.contents()


class _Deck:
    """Reads slides one after the other; counts what was read and what was left out."""

    def __init__(self, package: Package, hidden: bool) -> None:
        self._package, self._hidden = package, hidden
        self._lost, self._read = package.lost, package.read
        self._title = document_title(package.title())
        self.sections: list[Section] = []
        self.left_out: dict[str, list[int]] = defaultdict(list)
        """Slides that were left out by the code of the note that says why."""
        self._feet: set[str] = set()
        """What stands at the foot of slides."""
        self._links: dict[str, Relation] = {}

    def add(self, number: int, link: Relation | None) -> None:
        """Read the slide with this number, from 1."""
        root = None if link is None else self._package.xml(link.target)
        tree = None if root is None else root.find(f"{_P}cSld/{_P}spTree")
        if link is None or tree is None:
            self.left_out["slides_unreadable"].append(number)
        elif tree.getroottree().getroot().get("show") in ("0", "false") and not self._hidden:
            self.left_out["slides_hidden"].append(number)
        else:
            self._read["slides"] += 1
            self._links = self._package.relations(link.target)
            title, text = self._slide(tree, link.target)
            self._lost["addresses_not_read"] += addresses_unsaid(self._links, text)
            if number == 1 and not self._title:
                self._title = title
            if text or title:
                path = f"Slide {number} · {title}" if title else f"Slide {number}"
                self.sections.append(Section((path,), text or title))
            else:
                self.left_out["slides_without_text"].append(number)

    def contents(self) -> Contents:
        self._lost["masters_not_read"] += sum(map(self._is_written_on, self._package.paths()))
        notes = (*named(dict(sorted(self.left_out.items()))), *counted(self._lost))
        return Contents(self._title, tuple(self.sections), notes=notes, read=dict(+self._read))

    def _slide(self, tree: Any, path: str) -> tuple[str, str]:
        """The title of a slide and its other text."""
        shapes = list(_shapes(tree))
        titled = next((shape for shape in shapes if _kind(shape) in _TITLES), None)
        title = "" if titled is None else heading(" ".join(self._lines(titled)))
        parts: list[str] = []
        for shape in shapes:
            if shape is not titled:
                with self._package.guarded("blocks_broken"):
                    parts += self._shape(shape)
        for notes in self._package.related(path, "notesSlide"):
            spoken = [shape for shape in notes.iter(f"{_P}sp") if _kind(shape) not in (*_LEFT_OUT, "ftr")]
            said = "\n".join(line for shape in spoken for line in self._lines(shape))
            parts += [f"Notes: {said}"] if said else []
            self._read["notes"] += bool(said)
        for comments in self._package.related(path, "comments"):
            self._lost["comments"] += sum(1 for _ in comments.iter("{*}cm", "{*}reply"))
        return title, "\n\n".join(filter(None, parts))

    def _is_written_on(self, path: str) -> bool:
        """Return whether a part is a master or a layout with words of its own; places to fill in have none."""
        root = self._package.xml(path) if _MASTER.fullmatch(path) else None
        return root is not None and any(plain_text(shape) for shape in root.iter(f"{_P}sp") if not _kind(shape))

    def _shape(self, shape: Any) -> Iterator[str]:
        about: Any = next(shape.iter(f"{_P}cNvPr"), {})
        if about.get("hidden") in _ON and not self._hidden:
            self._lost["shapes_hidden"] += 1
            return
        kind = _kind(shape)
        if shape.tag == f"{_P}grpSp":
            yield picture_text(about)
            for inner in _shapes(shape):
                with self._package.guarded("blocks_broken"):
                    yield from self._shape(inner)
        elif shape.tag in (f"{_P}pic", f"{_P}contentPart"):
            moving = shape.find(f".//{A}videoFile") is not None or shape.find(f".//{A}audioFile") is not None
            self._lost["files_not_read" if moving else "pictures_not_read"] += 1
            yield picture_text(about)
        elif shape.tag == f"{_P}graphicFrame":
            yield self._frame(shape) or picture_text(about)
        elif kind not in _LEFT_OUT:
            text = "\n".join(self._lines(shape))
            # What stands at the foot of every slide is read once.
            if kind != "ftr" or text not in self._feet:
                self._feet.add(text)
                yield text or picture_text(about)

    def _frame(self, frame: Any) -> str:
        """A table, a chart, a diagram or an object of another program."""
        data = frame.find(f"{A}graphic/{A}graphicData")
        content = None if data is None else next(iter(data), None)
        if content is None:
            return ""
        if content.tag == f"{A}tbl":
            return self._table(content)
        if content.tag in DRAWN:
            return drawn_text(self._package, self._links, content)
        self._lost["charts_not_read" if "chartex" in (data.get("uri") or "") else "files_not_read"] += 1
        return ""

    def _table(self, table: Any) -> str:
        self._read["tables"] += 1
        properties = table.find(f"{A}tblPr")
        rows = [[self._cell(cell) for cell in row.findall(f"{A}tc")] for row in table.findall(f"{A}tr")]
        placed = [[cell for cell in row if cell is not None] for row in rows]
        return table_text(placed, properties is not None and properties.get("firstRow") in _ON)

    def _cell(self, cell: Any) -> Span | None:
        """None for a place that another cell reaches into."""
        if cell.get("hMerge") in _ON or cell.get("vMerge") in _ON:
            return None
        rows, columns = (max(whole_number(cell.get(name)), 1) for name in ("rowSpan", "gridSpan"))
        return Span("\n".join(self._lines(cell)), rows, columns)

    def _lines(self, shape: Any) -> Iterator[str]:
        body = next(shape.iter(f"{_P}txBody", f"{A}txBody"), None)
        for paragraph in () if body is None else body.findall(f"{A}p"):
            properties = paragraph.find(f"{A}pPr")
            text = without_control(self._words(paragraph)).strip()
            if text:
                depth = 0 if properties is None else min(whole_number(properties.get("lvl")), 8)
                numbered = properties is not None and properties.find(f"{A}buAutoNum") is not None
                self._lost["list_numbers"] += numbered
                yield f"{'  ' * (depth - (not numbered))}{'- ' * (numbered or bool(depth))}{text}"

    def _words(self, paragraph: Any) -> str:
        return marked((_mark(piece.find(f"{A}rPr")), text) for piece, text in self._pieces(paragraph))

    def _pieces(self, parent: Any) -> Iterator[tuple[Any, str]]:
        for element in parent:
            if element.tag == f"{A}br":
                yield element, "\n"
            elif element.tag == f"{A}r" or (element.tag == f"{A}fld" and element.get("type") != "slidenum"):
                font = element.find(f"{A}rPr/{A}sym")
                name = "" if font is None else font.get("typeface") or ""
                yield element, symbol_text(element.findtext(f"{A}t") or "", name, self._lost).replace("\v", "\n")
            elif element.tag == f"{MATH}oMath":
                self._read["equations"] += 1
                yield element, linear(element)
            elif element.tag == _ALTERNATIVES:
                yield from self._pieces(next(iter(element), ()))
            elif isinstance(element.tag, str) and not element.tag.endswith(("pPr", "endParaRPr", "fld")):
                yield from self._pieces(element)


def _shapes(tree: Any) -> Iterator[Any]:
    """The shapes of a slide or a group; where they may be drawn in several ways, the first."""
    for element in tree:
        if element.tag == _ALTERNATIVES:
            yield from _shapes(next(iter(element), ()))
        elif element.tag in _SHAPES:
            yield element


def _kind(shape: Any) -> str:
    """Return the purpose of a placeholder; empty for other shapes."""
    place = shape.find(f"*/{_P}nvPr/{_P}ph")
    return "" if place is None else place.get("type") or ("title" if place.get("idx", "0") == "0" else "obj")


def _mark(properties: Any) -> tuple[str, bool]:
    """Return whether words are raised or lowered, and whether they are struck out."""
    if properties is None:
        return "", False
    offset = (properties.get("baseline") or "").rstrip("%")
    place = "" if not offset.strip("-0") else "subscript" if offset.startswith("-") else "superscript"
    return place, (properties.get("strike") or "noStrike") != "noStrike"
