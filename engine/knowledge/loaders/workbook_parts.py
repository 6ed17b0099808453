"""The parts of an Excel workbook, each read by itself: one that is odd or broken costs no other.

Elements are known by their names without namespaces, so that Strict Open XML reads as the usual kind does.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from engine.knowledge.loaders.contents import marked
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.number_format import BUILT_IN, general, shown, shown_text
from engine.knowledge.loaders.numbering import whole_number
from engine.knowledge.loaders.office import PART_FAULTS, Package, addresses_unsaid, check_memory
from engine.knowledge.loaders.tables import Cell

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

Found = TypeVar("Found")
LAST_COLUMN = 16_384
"""Of a sheet in Excel."""
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_FIRST_DAY = datetime.datetime(1899, 12, 30)
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^<>]*?ref\s*=\s*[\"']([^\"']+)[\"']")
_PAGE_HEAD = re.compile(rb"<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)>[^<]")
_ROW = re.compile(rb"<(?:\w+:)?row\b")
_ROW_NUMBER = re.compile(rb"[^<>]*?\sr\s*=\s*[\"'](\d{1,7})[\"']")
_SAYS = re.compile(rb"<(?:\w+:)?(?:v|is)>")
_FILES = ("oleObject", "package")
_TRUE = ("1", "true", "on")

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, all from 1."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    """From 1."""
    hidden: bool
    cells: dict[int, Cell]
    """What is shown in each column, from 1."""


@dataclass(slots=True)
class Sheet:
    """One sheet, and what was noticed when its rows were read."""

    title: str
    path: str
    hidden: bool
    merged: list[Range] = field(default_factory=list)
    hidden_columns: list[range] = field(default_factory=list)
    filtered: bool = False
    """A filter hides rows."""
    broken: bool = False
    """It ends where its part cannot be read further."""


_UNMARKED = ("", False)


@dataclass(frozen=True, slots=True)
class _Style:
    code: str = "General"
    mark: tuple[str, bool] = _UNMARKED
    """Where all of it stands, and whether it is struck out."""


class Parts:
    """A workbook whose parts are read one by one; what is left out is counted in ``lost``."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self.lost, self.read = package.lost, package.read
        self.formulas: list[str] = []
        """Cells with a formula whose value was not saved."""
        self._tree = package.tree
        self.title = package.title
        self.broken: list[str] = []
        """Those of the parts for all sheets that cannot be read: ``workbook``, ``texts``, ``formats``."""
        # By the last word of their kind.
        self._shared = {link.kind: link.target for link in package.relations(package.main).values()}
        book = self._guarded("workbook", lambda: self._tree(package.main), None)
        # Programs that compute nothing write 0 for each formula, and ask for the values to be worked out on opening.
        self._uncomputed = book is not None and any(_is(item, "fullCalcOnLoad") for item in book.iter("{*}calcPr"))
        self.since_1904 = book is not None and any(_is(item, "date1904") for item in book.iter("{*}workbookPr"))
        self.sheets = self._sheets(book)
        self._texts = self._guarded("texts", self._strings, list[str]())
        self._styles = self._guarded("formats", self._formats, list[_Style]())

    def rows(self, sheet: Sheet, hidden: bool) -> Iterator[Row]:
        """Rows with anything in them, in the order of the file; ``hidden``: values that a format hides are shown."""
        from lxml import etree

        data = self._guarded("", lambda: self._package.part(sheet.path), b"")
        tail = data[data.rfind(b"sheetData>") :]
        sheet.merged = list(filter(None, (_range(match.decode("latin-1")) for match in _MERGED.findall(tail))))
        sheet.filtered = b"filterColumn" in tail
        self.lost["page_heads_not_read"] += len(_PAGE_HEAD.findall(tail))
        sheet.broken = not data
        number = 0
        try:
            for _, element in etree.iterparse(
                io.BytesIO(data), tag=("{*}col", "{*}row"), resolve_entities=False, no_network=True
            ):
                if element.tag.endswith("col"):
                    if _is_hidden(element, "width"):
                        last = min(whole_number(element.get("max")), LAST_COLUMN)
                        sheet.hidden_columns.append(range(whole_number(element.get("min")), last + 1))
                    continue
                number = whole_number(element.get("r")) or number + 1
                cells = self._cells(element, number, sheet, hidden)
                if cells:
                    yield Row(number, _is_hidden(element, "ht"), cells)
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            check_memory(error)
            sheet.broken = True

    def drawn(self, sheet: Sheet) -> list[str]:
        """Texts of the boxes that are drawn on a sheet; counts comments, charts, pictures and files there."""
        texts: list[str] = []
        links = self._package.relations(sheet.path).values()
        self.lost["files_not_read"] += sum(link.kind in _FILES and not link.external for link in links)
        for tree in self._package.related(sheet.path, "comments"):
            self.lost["comments"] += sum(1 for _ in tree.iter("{*}comment"))  # one for a thread, too
        for tree in self._package.related(sheet.path, "drawing"):
            for instead in list(tree.iter("{*}Fallback")):  # what older versions of Excel would draw
                instead.clear()
            self.lost["charts_not_read"] += sum(1 for _ in tree.iter("{*}graphicFrame"))
            self.lost["pictures_not_read"] += sum(1 for _ in tree.iter("{*}pic"))
            bodies = (["".join(line.itertext()) for line in body.iter("{*}p")] for body in tree.iter("{*}txBody"))
            texts += filter(None, ("\n".join(filter(None, map(_clean, lines))) for lines in bodies))
        return texts

    def rows_from(self, sheet: Sheet, first: int) -> int:
        """Count the non-empty rows from this number on, without parsing them."""
        number = count = 0
        for row in _ROW.split(self._package.part(sheet.path))[1:]:
            stated = _ROW_NUMBER.match(row)
            number = int(stated[1]) if stated else number + 1
            count += number >= first and _SAYS.search(row) is not None
        return count

    def addresses(self, sheet: Sheet, text: str) -> int:
        return addresses_unsaid(self._package.relations(sheet.path), text)

    def _sheets(self, book: Element | None) -> list[Sheet]:
        if book is None:
            paths = sorted(name for name in self._package.paths() if re.search(r"worksheets/[^/]+\.xml$", name))
            return [Sheet(posixpath.basename(path).removesuffix(".xml"), path, False) for path in paths]
        links = self._package.relations(self._package.main)
        sheets = []
        for number, item in enumerate(book.iter("{*}sheet"), 1):
            key = next((str(value) for name, value in item.attrib.items() if str(name).endswith("}id")), "")
            path = links[key].target if key in links else f"xl/worksheets/sheet{number}.xml"
            sheets.append(Sheet(_clean(item.get("name")), path, item.get("state", "visible") != "visible"))
        return sheets

    def _strings(self) -> list[str]:
        path = self._shared.get("sharedStrings", "xl/sharedStrings.xml")
        return [_rich(item) for item in self._tree(path).iter("{*}si")]

    def _formats(self) -> list[_Style]:
        tree = self._tree(self._shared.get("styles", "xl/styles.xml"))
        named = ((whole_number(item.get("numFmtId")), item.get("formatCode")) for item in tree.iter("{*}numFmt"))
        codes = {**BUILT_IN, **{number: code for number, code in named if code}}
        fonts = [_mark(font) for font in tree.iterfind("{*}fonts/{*}font")]
        styles = []
        for item in tree.iterfind("{*}cellXfs/{*}xf"):
            font = whole_number(item.get("fontId"))
            mark = fonts[font] if font < len(fonts) else _UNMARKED
            styles.append(_Style(codes.get(whole_number(item.get("numFmtId")), "General"), mark))
        return styles

    def _cells(self, row: Element, number: int, sheet: Sheet, hidden: bool) -> dict[int, Cell]:
        cells: dict[int, Cell] = {}
        column = 0
        for cell in row:
            column = _column(cell.get("r") or "") or column + 1
            style = self._style(cell.get("s"))
            kind = cell.get("t", "n")
            value = formula = inline = None
            for part in cell:
                tag = str(part.tag)
                if tag.endswith("}v"):
                    value = part.text
                elif tag.endswith("}f"):
                    formula = part
                elif tag.endswith("}is"):
                    inline = part
            if formula is not None and self._uncomputed and value == "0":
                value = None
            if formula is not None and value is None and kind != "str":
                text = f"={_clean(formula.text)}" if formula.text else ""
                self.formulas.append(f"{sheet.title}!{cell.get('r') or number}")
            elif inline is not None:
                text = shown_text(_rich(inline), style.code)
            elif value is None:
                continue
            else:
                text = self._value(value, kind, style.code, hidden)
            if text:
                cells[column] = marked([(style.mark, text)])
        return cells

    def _value(self, value: str, kind: str, code: str, hidden: bool) -> str:
        try:
            if kind == "s":
                return shown_text(self._texts[int(value)], code)
            if kind == "b":
                return "TRUE" if value.strip() in _TRUE else "FALSE"
            if kind == "d":
                since = datetime.datetime.fromisoformat(value.strip().removesuffix("Z")) - _FIRST_DAY
                return shown(since / datetime.timedelta(days=1), code)
            if kind == "str" and "DISPIMG(" in value:
                self.lost["pictures_not_read"] += 1  # as WPS puts them into cells
                return ""
            if kind != "n":
                return shown_text(_clean(value), code)
            number = float(value)
            text = shown(number, code, self.since_1904)
            if text or not number:
                return text
            self.lost["values_not_shown"] += not hidden
            return general(number) if hidden else ""
        except (ValueError, LookupError, OverflowError):
            self.lost["cells_unreadable"] += 1
            return _clean(value) if kind != "s" else ""

    def _style(self, place: str | None) -> _Style:
        number = int(place) if place and place.isdecimal() else 0
        return self._styles[number] if number < len(self._styles) else _PLAIN

    def _guarded(self, what: str, read: Callable[[], Found], instead: Found) -> Found:
        """Return the result of ``read``, or ``instead`` if the part is missing or broken."""
        try:
            return read()
        except PART_FAULTS as error:
            if isinstance(error, KeyError) and what in ("texts", "formats"):  # many programs write neither
                return instead
        if what:
            self.broken.append(what)
        return instead


def _is(element: Element, name: str) -> bool:
    return (element.get(name) or "").lower() in _TRUE


def _is_hidden(element: Element, size: str) -> bool:
    stated = element.get(size)
    return _is(element, "hidden") or (bool(stated) and not str(stated).strip("0."))


@lru_cache(maxsize=LAST_COLUMN)
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number if number <= LAST_COLUMN else 0


def _column(reference: str) -> int:
    """Column of a cell such as ``B2``, from 1; 0 where it names none."""
    letters = reference.rstrip("0123456789")
    return _column_number(letters) if letters.isascii() and letters.isalpha() and len(letters) < 4 else 0


def _range(text: str) -> Range | None:
    corners = [_REFERENCE.fullmatch(part) for part in text.split(":")]
    places = [(int(found[2]), _column_number(found[1])) for found in corners if found]
    return (*places[0], *places[1]) if len(corners) == len(places) == 2 else None


def _clean(text: str | None) -> str:
    return without_control(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), text or "")).strip()


def _rich(item: Element) -> str:
    """The words of a text, marked where they are raised, lowered or struck; without the reading above them."""
    pieces = []
    for part in item:
        tag = str(part.tag)
        if tag.endswith("}t"):
            pieces.append((_UNMARKED, part.text or ""))
        elif tag.endswith("}r"):
            look = part.find("{*}rPr")
            pieces.append((_UNMARKED if look is None else _mark(look), part.findtext("{*}t") or ""))
    return _clean(marked(pieces))


def _mark(font: Element) -> tuple[str, bool]:
    strike, level = font.find("{*}strike"), font.find("{*}vertAlign")
    return "" if level is None else level.get("val") or "", strike is not None and strike.get("val", "1") in _TRUE


_PLAIN = _Style()
