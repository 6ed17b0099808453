"""OpenDocument texts, tables and presentations, as LibreOffice and others write them."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import (
    Allowance,
    Contents,
    Outline,
    Section,
    counted,
    document_title,
    heading,
    lowered,
    named,
    note,
    raised,
    struck,
)
from engine.knowledge.loaders.drawings import picture_text
from engine.knowledge.loaders.equations import equation
from engine.knowledge.loaders.numbering import BULLET, TICKED, number_text
from engine.knowledge.loaders.office import Container
from engine.knowledge.loaders.tables import Span, spread, table_lines, table_text
from engine.knowledge.loaders.word import PAGE_WORDS
from engine.messages import N_
from engine.model.values import SourceNote

MOST_ROWS = 50_000
_MANIFEST = "META-INF/manifest.xml"
_DEEPEST = 60
_MOST_REPEATED = 1_000
"""Columns that one cell with words fills."""
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SHOW = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_ABOUT = (f"{_SVG}desc", f"{_SVG}title")
_HEADS = tuple(f"{_STYLE}{kind}{which}" for kind in ("header", "footer") for which in ("", "-left", "-first"))
_CONTENTS = frozenset(f"{_TEXT}{kind}" for kind in ("table-of-content", "alphabetical-index", "illustration-index"))
_HEADINGS = "headings"
"""Stands for the list style by which headings count themselves."""
_FORMS = {
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "一, 二, 三, ...": "chineseCounting",
    "壹, 贰, 叁, ...": "chineseLegalSimplified",
    "甲, 乙, 丙, ...": "ideographTraditional",
}
"""Names that Word has for numbers as OpenDocument writes them."""
_LEFT_OUT = {
    f"{_OFFICE}annotation": "comments",
    f"{_TEXT}deletion": "deletions",
    f"{_DRAW}image": "pictures_not_read",
    f"{_DRAW}object": "objects_not_read",
    f"{_DRAW}object-ole": "objects_not_read",
}
"""Parts that are only counted, with the code of their note."""


def load_open_document(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Sections by headings, sheets or slides; raises ``SourceDamaged`` where none can be read."""
    parts = Container(name, data)
    with parts.guarded("parts_broken"):
        if _MANIFEST in parts and b"encryption-data" in parts.stored(_MANIFEST):
            raise SourceError.encrypted(name=name)
    roots = {part: parts.xml(part) for part in ("content.xml", "styles.xml", "meta.xml") if part in parts}
    content, styles, meta = (roots.get(part) for part in ("content.xml", "styles.xml", "meta.xml"))
    body = None if content is None else next(content.iterfind(f"{_OFFICE}body/*"), None)
    if body is None:
        raise SourceDamaged.named(name=name, found=N_("its main part is missing or broken"))
    reading = _Reading(parts, Allowance(name, len(data)), [content, *([] if styles is None else [styles])], hidden)
    sections = (*reading.sections(body), *reading.page_heads(body))
    title = "" if meta is None else next((item.text or "" for item in meta.iter("{*}title")), "")
    return Contents(document_title(title) or reading.title, sections, notes=reading.notes(), read=dict(+parts.read))


class _Reading:
    """Goes through a document, and counts what it reads and what it leaves out."""

    def __init__(self, parts: Container, allowance: Allowance, roots: list[Any], hidden: bool) -> None:
        self.title = ""
        self.read, self.left_out = parts.read, parts.lost
        self._left_out_at = defaultdict[str, list[str]](list)
        """Names of sheets and numbers of slides by the code of the note that says why."""
        self._cut = 0
        self._after_table: list[str] | None = None
        """Footnotes of the table that is being read."""
        self._numbers: dict[str, dict[int, int]] = {}
        """Of each list style: how far each of its levels has counted."""
        self._parts, self._allowance = parts, allowance
        self._hidden = hidden
        self._styles = {
            item.get(f"{_STYLE}name"): item for root in reversed(roots) for item in root.iter(f"{_STYLE}style")
        }
        self._lists = {
            item.get(f"{_STYLE}name"): item for root in reversed(roots) for item in root.iter(f"{_TEXT}list-style")
        }
        self._lists[_HEADINGS] = next((item for root in roots for item in root.iter(f"{_TEXT}outline-style")), ())
        self._roots = roots
        self._in_margin = False

    def notes(self) -> tuple[SourceNote, ...]:
        notes = [*counted(self.left_out), *named(self._left_out_at)]
        notes += [note("rows_beyond", count=self._cut, kept=MOST_ROWS)] if self._cut else []
        return tuple(sorted(notes, key=lambda item: item.code))

    def sections(self, body: Any) -> tuple[Section, ...]:
        if body.tag == f"{_OFFICE}spreadsheet":
            return tuple(filter(None, map(self._sheet, body.iterchildren(f"{_TABLE}table"))))
        if body.tag == f"{_OFFICE}presentation":
            pages = enumerate(body.iterchildren(f"{_DRAW}page"), 1)
            return tuple(section for number, page in pages if (section := self._slide(number, page)) is not None)
        outline = Outline()
        for block in self._blocks(body):
            if isinstance(block, tuple):
                outline.heading(*block)
            else:
                outline.text(block)
        self.title = outline.title
        return outline.sections()

    def page_heads(self, body: Any) -> tuple[Section, ...]:
        """The different texts at the head and foot of the pages of a text, without numbers of pages."""
        heads = [item for root in self._roots for item in root.iter(*_HEADS) if item.get(f"{_STYLE}display") != "false"]
        if body.tag != f"{_OFFICE}text":
            self.left_out["page_heads_not_read"] += sum(bool("".join(item.itertext()).strip()) for item in heads)
            return ()
        self._in_margin = True
        said = dict.fromkeys("\n".join(filter(None, map(_words, self._blocks(item)))) for item in heads)
        said = {text: None for text in said if not PAGE_WORDS.fullmatch(text)}
        self.read["headers and footers"] += len(said)
        return (Section(("Headers and footers",), "\n".join(said)),) if said else ()

    def _property(self, style: str | None, name: str) -> str:
        """A property of a style or of the one it is derived from, ``text-position`` or ``display``."""
        for _ in range(20):
            item = self._styles.get(style)
            if item is None:
                return ""
            for properties in item:
                for key, value in properties.attrib.items():
                    if key.endswith(f"}}{name}"):
                        return str(value)
            style = item.get(f"{_STYLE}parent-style-name")
        return ""

    def _blocks(self, parent: Any, depth: int = 0, listed: bool = False) -> Iterator[str | tuple[int, str]]:
        """Paragraphs, lists and tables as texts, headings as their level and words; ``listed`` ones have a number."""
        for item in parent:
            if item.tag in (f"{_TEXT}h", f"{_TEXT}p"):
                after: list[str] = []
                words = self._line(item, after)
                self.read["paragraphs"] += bool(words)
                level = _whole(item, f"{_TEXT}outline-level")
                if item.tag == f"{_TEXT}p":
                    yield words
                elif listed or item.get(f"{_TEXT}is-list-header") == "true":
                    yield min(9, level), words
                else:
                    yield min(9, level), self._label(_HEADINGS, level - 1, item) + words
                yield from after
            elif item.tag == f"{_TEXT}list":
                for heads, lines in groupby(self._items(item, "", 0), lambda line: isinstance(line, tuple)):
                    held = list(lines)
                    yield from held if heads else ["\n".join(map(str, held))]
            elif item.tag == f"{_TABLE}table":
                yield self._table(item)
            elif item.tag in _CONTENTS:
                self.left_out["contents_lines"] += sum(
                    bool("".join(line.itertext())) for line in item.iter(f"{_TEXT}p")
                )
            elif item.tag in (*_LEFT_OUT, *_ABOUT):
                yield self._drawn(item)
            elif item.tag == f"{_TEXT}section" and item.get(f"{_TEXT}display") == "none" and not self._hidden:
                self.left_out["hidden_text"] += 1
            elif isinstance(item.tag, str) and self._opens(item, depth):
                yield from self._blocks(item, depth + 1)

    def _line(self, item: Any, after: list[str]) -> str:
        """The words of a paragraph; footnotes and text boxes in it go into ``after``."""
        words = "".join(self._pieces(item, after, 0)).strip()
        return self._allowance.line(self._styled(item.get(f"{_TEXT}style-name"), words))

    def _pieces(self, item: Any, after: list[str], depth: int) -> Iterator[str]:
        yield item.text or ""
        for child in item:
            yield from self._piece(child, after, depth)
            yield child.tail or ""

    def _piece(self, item: Any, after: list[str], depth: int) -> Iterator[str]:
        kind = item.tag.removeprefix(_TEXT) if isinstance(item.tag, str) else ""
        if item.tag in (*_LEFT_OUT, *_ABOUT):
            yield self._drawn(item)
        elif kind in ("page-number", "page-count") and self._in_margin:
            return
        elif kind == "s":
            yield " " * min(100, _whole(item, f"{_TEXT}c"))
        elif kind == "tab":
            yield " "
        elif kind == "line-break":
            yield "\n"
        elif kind == "note":
            mark = "".join(item.findtext(f"{_TEXT}note-citation") or "")
            words = " ".join(block for block in self._blocks(item.find(f"{_TEXT}note-body")) if isinstance(block, str))
            self.read["footnotes"] += 1
            mark = f"[{item.get(f'{_TEXT}note-class', 'footnote').capitalize()} {mark}]"
            (after if self._after_table is None else self._after_table).append(f"{mark} {words}")
            yield mark
        elif item.tag == f"{_DRAW}text-box" or kind in ("p", "h", "list"):
            after.extend(map(_words, self._blocks(item if kind == item.tag else [item])))
        elif kind == "ruby":
            yield from self._pieces(item.find(f"{_TEXT}ruby-base"), after, depth + 1)
        elif isinstance(item.tag, str) and self._opens(item, depth):
            words = "".join(self._pieces(item, after, depth + 1))
            address = (item.get(_LINK) or "").removeprefix("mailto:").rstrip("/") if kind == "a" else ""
            self.left_out["addresses_not_read"] += not address.startswith("#") and address not in words
            yield self._styled(item.get(f"{_TEXT}style-name"), words) if kind == "span" else words

    def _drawn(self, item: Any) -> str:
        """An equation or the description of a picture; what is neither is counted."""
        before = item.getprevious()
        if item.tag in _ABOUT:
            described = item.tag == _ABOUT[1] and item.getparent().find(_ABOUT[0]) is not None
            return "" if described else f" {picture_text({'descr': item.text or ''})} ".strip()
        if item.tag == f"{_DRAW}object":
            path = posixpath.normpath(f"{item.get(_LINK) or ''}/content.xml")
            root = self._parts.xml(path) if path in self._parts else next(iter(item), None)
            if root is not None and str(root.tag).endswith("}math"):
                self.read["equations"] += 1
                return equation(root)
        # An object is followed by a picture of itself.
        if item.tag != f"{_DRAW}image" or before is None or before.tag not in _LEFT_OUT:
            self.left_out[_LEFT_OUT[item.tag]] += 1
        return ""

    def _styled(self, style: str | None, words: str) -> str:
        if self._property(style, "display") == "none" and words.strip() and not self._hidden:
            self.left_out["hidden_text"] += 1
            return ""
        line = self._property(style, "text-line-through-style") or self._property(style, "text-line-through-type")
        if line not in ("", "none") and "~~" not in words:
            words = struck(words)
        position = self._property(style, "text-position").split(" ")[0]
        if position == "super" or (position.rstrip("%").isdecimal() and position != "0%"):
            return raised(words)
        return lowered(words) if position == "sub" or position.startswith("-") else words

    def _opens(self, item: Any, depth: int) -> bool:
        """Return whether an element is looked into, which is not so deeply inside of others."""
        if depth >= _DEEPEST:
            self.left_out["blocks_broken"] += bool("".join(item.itertext()).strip())
        return depth < _DEEPEST

    def _items(self, item: Any, style: str, level: int) -> Iterator[str | tuple[int, str]]:
        style = item.get(f"{_TEXT}style-name") or style
        if not level and item.get(f"{_TEXT}continue-numbering") != "true" and not item.get(f"{_TEXT}continue-list"):
            self._numbers.pop(style, None)
        for child in item if self._opens(item, level) else ():
            counts = child.tag == f"{_TEXT}list-item" and len(child) and child[0].tag != f"{_TEXT}list"
            mark = self._label(style, level, child) if counts else "  "
            for inner in child:
                if inner.tag == f"{_TEXT}list":
                    yield from self._items(inner, style, level + 1)
                    continue
                for block in filter(None, self._blocks([inner], listed=True)):
                    if isinstance(block, tuple):
                        yield block[0], f"{mark.strip(' -')} {block[1]}".strip()
                    else:
                        yield f"{'  ' * level}{mark}{block}"
                    mark = "  "

    def _label(self, style: str, level: int, item: Any) -> str:
        """Return the prefix of the next item or heading of a style: its number in the style's format, or a dash."""
        forms = {_whole(form, f"{_TEXT}level") - 1: form for form in self._lists.get(style, ())}
        form = forms.get(level)
        counts = self._numbers.setdefault(style, {})
        usual = counts.get(level, _whole(form, f"{_TEXT}start-value") - 1) + 1
        self._numbers[style] = counts = {at: count for at, count in counts.items() if at < level}
        counts[level] = _whole(item, f"{_TEXT}start-value", usual)
        if form is None or form.tag.endswith(("bullet", "image")):
            sign = "" if form is None else form.get(f"{_TEXT}bullet-char") or ""
            return "" if style == _HEADINGS else BULLET + TICKED.get(sign, "")
        shown = [
            number_text(counts.get(at, 1), _FORMS.get(forms[at].get(f"{_STYLE}num-format"), "decimal"))
            for at in range(max(0, level + 1 - _whole(form, f"{_TEXT}display-levels")), level + 1)
            if at in forms and forms[at].get(f"{_STYLE}num-format")
        ]
        label = f"{form.get(f'{_STYLE}num-prefix') or ''}{'.'.join(shown)}{form.get(f'{_STYLE}num-suffix') or ''}"
        return f"{label} " if label.strip() else ""

    def _rows(self, table: Any) -> Iterator[tuple[bool, list[Span]]]:
        """Return whether a row is a header, and its cells; hidden ones are counted."""
        hidden_columns = self._hidden_columns(table)
        left = MOST_ROWS
        for row in table.iter(f"{_TABLE}table-row"):
            if next(row.iterancestors(f"{_TABLE}table")) is not table:
                continue
            shown = row.get(f"{_TABLE}visibility") in (None, "visible") or self._hidden
            cells = self._cells(row, hidden_columns)
            if not any(cell.text for cell in cells) and not any(cell.columns > 1 for cell in cells):
                continue
            many = _whole(row, f"{_TABLE}number-rows-repeated")
            if not shown:
                self.left_out["rows_hidden"] += many
                continue
            for _ in range(min(many, left)):
                yield row.getparent().tag == f"{_TABLE}table-header-rows", cells
            self._cut += max(0, many - left)
            left -= min(many, left)

    def _hidden_columns(self, table: Any) -> set[int]:
        found, place = set[int](), 0
        for column in table.iter(f"{_TABLE}table-column"):
            many = min(_whole(column, f"{_TABLE}number-columns-repeated"), 16_384)
            if column.get(f"{_TABLE}visibility") not in (None, "visible") and not self._hidden:
                found |= set(range(place, place + many))
                self.left_out["columns_hidden"] += 1
            place += many
        return found

    def _cells(self, row: Any, hidden_columns: set[int]) -> list[Span]:
        cells, place = list[Span](), 0
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            many = _whole(cell, f"{_TABLE}number-columns-repeated")
            if cell.tag == f"{_TABLE}table-cell":
                words = self._cell(cell)
                wide, high = (_whole(cell, f"{_TABLE}number-{side}-spanned") for side in ("columns", "rows"))
                for _ in range(min(many, _MOST_REPEATED)):
                    if place not in hidden_columns:
                        cells.append(Span(words, high, wide))
            place += many
        while cells and not cells[-1].text and cells[-1].columns == 1:
            cells.pop()
        return cells

    def _cell(self, cell: Any) -> str:
        paragraphs = self.read["paragraphs"]
        blocks = filter(None, map(_words, self._blocks(cell)))
        words = self._styled(cell.get(f"{_TABLE}style-name"), "\n".join(blocks))
        self.read["paragraphs"] = paragraphs
        return words or str(cell.get(f"{_OFFICE}value") or cell.get(f"{_OFFICE}string-value") or "")

    def _table(self, table: Any) -> str:
        self.read["tables"] += 1
        outer, self._after_table = self._after_table, []
        rows = list(self._rows(table))
        notes, self._after_table = self._after_table, outer
        heads = {number for number, (head, _) in enumerate(rows) if head}
        text = table_text([cells for _, cells in rows], bool(heads), heads or (0,))
        if outer is None:
            return "\n\n".join((text, *notes))
        outer += notes
        return text

    def _sheet(self, table: Any) -> Section | None:
        title = heading(table.get(f"{_TABLE}name") or "")
        if self._property(table.get(f"{_TABLE}style-name"), "display") == "false" and not self._hidden:
            self._left_out_at["sheets_hidden"].append(title)
            return None
        lines = table_lines(spread([cells for _, cells in self._rows(table)]))
        text = "\n".join(self._allowance.lines(lines))
        self.read["sheets"] += bool(text)
        if not text:
            self._left_out_at["sheets_empty"].append(title)
        return Section((title,), text) if text else None

    def _slide(self, number: int, page: Any) -> Section | None:
        if self._property(page.get(f"{_DRAW}style-name"), "visibility") == "hidden" and not self._hidden:
            self._left_out_at["slides_hidden"].append(str(number))
            return None
        title, parts = "", list[str]()
        for shape in page:
            text = "\n\n".join(filter(None, map(_words, self._blocks([shape]))))
            if shape.get(f"{_SHOW}class") == "title" and not title:
                title = heading(text)
            elif text:
                parts.append(f"Notes: {text}" if shape.tag == f"{_SHOW}notes" else text)
        self.title = self.title or title
        text = "\n\n".join(parts) or title
        self.read["slides"] += bool(text)
        if not text:
            self._left_out_at["slides_without_text"].append(str(number))
        return Section((f"Slide {number} · {title}" if title else f"Slide {number}",), text) if text else None


def _words(block: str | tuple[int, str]) -> str:
    return block if isinstance(block, str) else block[1]


def _whole(item: Any, name: str, usual: int = 1) -> int:
    stated = "" if item is None else item.get(name) or ""
    return int(stated) if stated.isdecimal() and len(stated) < 10 else usual
