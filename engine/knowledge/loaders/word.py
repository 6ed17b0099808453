"""Word documents: headings, paragraphs, lists, tables, text boxes and footnotes, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import Contents, Outline, document_title
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.office import checked_package
from engine.knowledge.loaders.tables import table_text
from engine.messages import N_

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
_DEEPEST_STYLE = 12
_BODY_TEXT = 9
"""The outline level that means no heading."""
_CONTENTS = -1
"""Stands for a line of a table of contents, which says nothing of its own."""


def load_word(name: str, data: bytes, _hidden: bool = False) -> Contents:
    """Sections by heading styles; raises ``SourceDamaged`` for what Word would repair."""
    package = checked_package(name, data, ".docx")
    import docx

    try:
        document = docx.Document(package)
        return _Walk(document).contents()
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # the parser has no errors of its own
        raise SourceDamaged.named(name=name, found=N_("its main part is missing or broken")) from error


class _Walk:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._levels = _style_levels(document)
        self._list: list[str] = []
        body = document.element.body
        tops = [paragraph for paragraph in body.iter(f"{_W}p") if self._level(paragraph) == 1]
        # One heading of the first level is the title; several divide the document.
        self._outline = Outline(title_level=1 if len(tops) == 1 else 0)
        self._blocks(body)
        self._end_list()
        self._footnotes()

    def contents(self) -> Contents:
        sections = self._outline.sections()
        title = document_title(without_control(self._document.core_properties.title or ""))
        return Contents(self._outline.title or title, sections)

    def _blocks(self, parent: Any) -> None:
        for element in parent:
            if element.tag == f"{_W}p":
                self._paragraph(element)
            elif element.tag == f"{_W}tbl":
                self._end_list()
                self._table(element)
            elif element.tag == f"{_W}sdt" and not _is_contents(element):
                for inner in element.findall(f"{_W}sdtContent"):
                    self._blocks(inner)
            elif element.tag in (f"{_W}ins", f"{_W}smartTag", f"{_W}customXml"):
                self._blocks(element)

    def _paragraph(self, element: Any) -> None:
        text = _text(element)
        level = self._level(element)
        if level == _CONTENTS:
            return
        if level is not None and text.strip():
            self._end_list()
            self._outline.heading(level, text)
        elif text.strip():
            place = element.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
            if place is None and element.find(f"{_W}pPr/{_W}numPr") is None and not self._listed(element):
                self._end_list()
                self._outline.text(text.strip())
            else:
                depth = _number(place)
                self._list.append(f"{'  ' * min(depth, 8)}- {text.strip()}")
        for box in element.iter(f"{_W}txbxContent"):
            # A box inside a box is met again with the paragraph that it hangs on.
            own = next(box.iterancestors(f"{_W}p")) is element
            if own and not any(above.tag == _FALLBACK for above in box.iterancestors()):
                self._end_list()
                self._blocks(box)

    def _listed(self, element: Any) -> bool:
        return (_style(element) or "") in self._levels.lists

    def _end_list(self) -> None:
        self._outline.text("\n".join(self._list))
        self._list.clear()

    def _level(self, element: Any) -> int | None:
        """The level of a heading, 0 for the document's title; None for other text."""
        own = element.find(f"{_W}pPr/{_W}outlineLvl")
        if own is not None:
            return _number(own) + 1 if _number(own) < _BODY_TEXT else None
        return self._levels.headings.get(_style(element) or "")

    def _table(self, element: Any) -> None:
        rows = [list(_cells(row)) for row in _rows(element)]
        if max((len(row) for row in rows), default=0) <= 1:  # a frame around text
            for cell in element.iter(f"{_W}tc"):
                if next(cell.iterancestors(f"{_W}tbl")) is element:  # those of a table inside it come with their own
                    self._blocks(cell)
            return
        _repeat_merged(rows)
        first = next(_rows(element), None)
        headed = first is not None and first.find(f"{_W}trPr/{_W}tblHeader") is not None
        self._outline.text(table_text([[text or "" for text in row] for row in rows], headed))

    def _footnotes(self) -> None:
        from lxml import etree

        for relation in self._document.part.rels.values():
            if relation.reltype == _FOOTNOTES and not relation.is_external:
                root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False))
                notes = [_text(paragraph).strip() for paragraph in root.iter(f"{_W}p")]
                for text in filter(None, notes):
                    self._outline.text(text)


class _Levels:
    """Style ids that stand for headings (with their level), for lists, and for lines of a table of contents."""

    def __init__(self) -> None:
        self.headings: dict[str, int] = {}
        self.lists: set[str] = set()


def _style_levels(document: Any) -> _Levels:
    found = _Levels()
    styles = {style.get(f"{_W}styleId"): style for style in document.styles.element.findall(f"{_W}style")}
    for key in styles:
        for style in _with_bases(styles, key):
            name = (style.find(f"{_W}name").get(f"{_W}val") if style.find(f"{_W}name") is not None else "").lower()
            level = style.find(f"{_W}pPr/{_W}outlineLvl")
            if name.startswith("toc ") and name[4:].isdigit():
                found.headings[key] = _CONTENTS
            elif name in ("title", "标题"):
                found.headings[key] = 0
            elif name.startswith(("heading ", "标题 ")) and name.split()[-1].isdigit():
                found.headings[key] = int(name.split()[-1])
            elif level is not None and _number(level) < _BODY_TEXT:
                found.headings[key] = _number(level) + 1
            elif name.startswith("list ") or style.find(f"{_W}pPr/{_W}numPr") is not None:
                found.lists.add(key)
                continue
            else:
                continue
            break
    return found


def _with_bases(styles: dict[str, Any], key: str) -> Iterator[Any]:
    for _ in range(_DEEPEST_STYLE):
        style = styles.get(key)
        if style is None:
            return
        yield style
        base = style.find(f"{_W}basedOn")
        key = base.get(f"{_W}val") if base is not None else ""


def _style(element: Any) -> str | None:
    style = element.find(f"{_W}pPr/{_W}pStyle")
    return None if style is None else style.get(f"{_W}val")


def _number(element: Any) -> int:
    value = "" if element is None else element.get(f"{_W}val") or ""
    return int(value) if value.isdigit() else 0


def _is_contents(element: Any) -> bool:
    gallery = element.find(f"{_W}sdtPr/{_W}docPartObj/{_W}docPartGallery")
    return gallery is not None and gallery.get(f"{_W}val") == "Table of Contents"


def _text(paragraph: Any) -> str:
    """Words of a paragraph; inserted ones count, deleted ones and those of text boxes do not."""
    parts: list[str] = []
    pending = list(reversed(paragraph))
    while pending:
        element = pending.pop()
        if element.tag == f"{_W}t":
            parts.append(element.text or "")
        elif element.tag == f"{_W}tab":
            parts.append(" ")
        elif element.tag in (f"{_W}br", f"{_W}cr"):
            parts.append("\n")
        elif element.tag == f"{_W}noBreakHyphen":
            parts.append("-")
        elif element.tag not in (f"{_W}txbxContent", f"{_W}pPr", f"{_W}rPr", f"{_W}del", f"{_W}moveFrom", _FALLBACK):
            pending.extend(reversed(element))
    return without_control("".join(parts))


def _rows(table: Any) -> Iterator[Any]:
    for element in table:
        if element.tag == f"{_W}tr":
            yield element
        elif element.tag == f"{_W}sdt":
            for inner in element.findall(f"{_W}sdtContent"):
                yield from _rows(inner)


def _cells(row: Any) -> Iterator[str | None]:
    """Text of each column; None for a cell that the one above reaches into."""
    for cell in row.iter(f"{_W}tc"):
        if next(cell.iterancestors(f"{_W}tr")) is not row:
            continue  # of a table inside a cell, whose words are in that cell's text
        merged = cell.find(f"{_W}tcPr/{_W}vMerge")
        reached = merged is not None and merged.get(f"{_W}val") != "restart"
        yield None if reached else " ".join(filter(None, (_text(item).strip() for item in cell.iter(f"{_W}p"))))
        for _ in range(min(_number(cell.find(f"{_W}tcPr/{_W}gridSpan")), 100) - 1):
            yield ""


def _repeat_merged(rows: list[list[str | None]]) -> None:
    for above, row in pairwise(rows):
        for column, text in enumerate(row):
            if text is None:
                row[column] = above[column] if column < len(above) else ""
