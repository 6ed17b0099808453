"""HTML: headings, paragraphs, lists and tables of the main text; nothing is fetched and no script is run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from engine.errors import SourceDamaged, SourceEmpty
from engine.knowledge.loaders.contents import Contents, Outline, Section, heading
from engine.knowledge.loaders.encoding import Decoded, read_text
from engine.knowledge.loaders.markdown import encoding_notes
from engine.knowledge.loaders.tables import Cell, Span, joined_header, spread, table_text
from engine.knowledge.loaders.wrapping import joined_lines
from engine.messages import N_

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_HEAD = 4096
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_UNREAD = frozenset(
    "script style noscript template button select option input textarea iframe object embed svg canvas audio video map"
    " link meta base head".split()
)
_AROUND = frozenset("nav menu dialog".split())
_FRAME = frozenset("header footer aside".split())
"""Around a page left out, unless they hold its only title; inside an article part of it."""
_ROLES = frozenset("navigation banner contentinfo search complementary menu menubar dialog alert".split())
_BLOCKS = frozenset(
    "p div section article main header footer aside address blockquote figure figcaption dl dt dd details summary form"
    " fieldset center body html ul ol hr tr td th table caption menu nav dialog".split()
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BREAK, _INDENT = "\u2028", "\u2029"
"""Marks that white space is not folded into."""
_MARK = re.compile(r"-|\d+\.")
_ALL = 1000
"""Columns that a cell reaches over at most."""
_SHARE_OF_MAIN = 0.4


def load_html(name: str, data: bytes, _hidden: bool = False) -> Contents:
    """Sections by heading; the title is the page's own, else its first heading."""
    root, decoded = _parsed(name, data)
    titles = [text for text in root.xpath("//head/title/text()|//title/text()") if text.strip()]
    walk = _Walk(root, whole=False)
    sections = walk.sections()
    if not sections:  # the page is made of what usually stands around one
        walk = _Walk(root, whole=True)
        sections = walk.sections()
    title = heading(titles[0]) if titles else ""
    return Contents(title or walk.outline.title, sections, notes=encoding_notes(decoded), encoding=decoded.encoding)


def html_tables(name: str, data: bytes, most_rows: int, most_columns: int) -> list[list[Sequence[Cell]]]:
    """Rows of each table of data, in the order of the page, several rows of header as one; spans fill their places.

    One row and one column more than allowed are given where there are more. Raises as :func:`load_html`.
    """
    root, _ = _parsed(name, data)
    return [_grid(table, most_rows + 1, most_columns + 1) for table in root.iter("table") if _is_data(table)]


def _grid(table: HtmlElement, most_rows: int, most_columns: int) -> list[Sequence[Cell]]:
    cells, heads = _rows(table, most_columns)
    rows = [row[:most_columns] for row in spread(cells[: most_rows + len(heads or ())])]
    top = next((number for number in range(len(rows)) if number not in (heads or ())), 0)
    header: list[Sequence[Cell]] = [joined_header(rows[:top])] if top else []
    return [*header, *rows[top:]][:most_rows]


def _parsed(name: str, data: bytes) -> tuple[HtmlElement, Decoded]:
    from lxml import etree, html

    head = data[:_HEAD]
    declared = _META.search(head) or _XML.search(head)
    decoded = read_text(name, data, declared.group(1).decode() if declared else "")
    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        # As bytes: text that declares an encoding would be refused.
        root = html.document_fromstring(decoded.text.encode(errors="ignore"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        if not decoded.text.strip():
            raise SourceEmpty(name=name) from error
        raise SourceDamaged.named(name=name, found=N_("it holds no HTML")) from error
    return root, decoded


def _main(root: HtmlElement) -> HtmlElement:
    """The element that holds the main text: ``<main>`` or the only ``<article>`` where most text is inside it."""
    candidates = root.xpath("//main|//*[@role='main']") or root.xpath("//article")
    if len(candidates) != 1:
        return root
    scripts = sum(len(element.text or "") for element in root.iter("script", "style"))
    whole = max(len(root.text_content()) - scripts, 1)
    return candidates[0] if len(candidates[0].text_content()) >= _SHARE_OF_MAIN * whole else root


class _Walk:
    """Goes through a page without recursion, for tags may be nested thousands deep."""

    def __init__(self, root: HtmlElement, whole: bool) -> None:
        self._many_titles = len(root.xpath("//h1")) > 1
        self.outline = Outline(title_level=0 if self._many_titles else 1)
        self._whole = whole
        self._line: list[str] = []
        self._lists: list[list[str]] = []
        """Of the lists that are open: the mark of each, its number counted up."""
        self._items: list[str] = []
        self._inside = 0
        """Articles that are open."""
        start = root if whole else _main(root)
        self._go(start)
        self._end_line()
        self._end_items()

    def sections(self) -> tuple[Section, ...]:
        return self.outline.sections()

    def _go(self, root: HtmlElement) -> None:
        pending: list[tuple[str, Any]] = [("open", root)]
        while pending:
            step, item = pending.pop()
            if step == "text":
                self._line.append(item)
            elif step == "close":
                self._close(item)
            elif isinstance(item.tag, str) and not self._left_out(item) and self._open(item):
                pending.append(("close", item))
                for child in reversed(item):
                    if child.tail:
                        pending.append(("text", child.tail))
                    pending.append(("open", child))
                if item.text:
                    pending.append(("text", item.text))

    def _left_out(self, element: HtmlElement) -> bool:
        tag = element.tag
        if tag in _UNREAD:
            return True
        if self._whole:
            return False
        if element.get("hidden") is not None or _HIDDEN.search(element.get("style") or ""):
            return True
        if tag in _FRAME or element.get("role") in _ROLES:
            title = tag == "header" and not self._many_titles and element.find(".//h1") is not None
            return not self._inside and not title
        return tag in _AROUND or element.get("aria-hidden") == "true"

    def _open(self, element: HtmlElement) -> bool:
        """Begin an element; whether what is inside it must still be walked."""
        tag = element.tag
        if tag == "br":
            self._line.append(_BREAK)
        elif tag in ("table", "pre"):
            self._end_line()
            text = _table(element) if tag == "table" else _preformatted(element)
            if text is not None:
                self._end_items()
                self.outline.text(text)
                return False
        elif tag in _HEADINGS:
            self._end_line()
            self._end_items()
        elif tag in _BLOCKS or tag == "li":
            self._end_line()
        if tag in ("ul", "ol"):
            self._lists.append(["1" if tag == "ol" else "-"])
        if tag == "article":
            self._inside += 1
        if tag == "li":
            self._line.append(self._mark())
        return True

    def _close(self, element: HtmlElement) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            words = _joined(self._line)
            self._line.clear()
            self.outline.heading(_HEADINGS.index(tag) + 1, words)
        elif tag in _BLOCKS or tag == "li":
            self._end_line()
        if tag == "li" and _MARK.fullmatch(_joined(self._line)):
            self._line.clear()
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            if not self._lists:
                self._end_items()
        if tag == "article":
            self._inside -= 1

    def _mark(self) -> str:
        if not self._lists:
            return "- "
        mark = self._lists[-1][0]
        if mark != "-":
            self._lists[-1][0] = str(int(mark) + 1)
            mark += "."
        return f"{_INDENT * (len(self._lists) - 1)}{mark} "

    def _end_line(self) -> None:
        text = _joined(self._line)
        if self._line and text == _joined(self._line[:1]) and _MARK.fullmatch(text):
            return  # the mark waits for a paragraph inside its item
        indent = len(self._line[0]) - len(self._line[0].lstrip(_INDENT)) if self._line else 0
        self._line.clear()
        if not text:
            return
        if self._lists:
            self._items.append("  " * min(indent, 8) + text)
        else:
            self.outline.text(text)

    def _end_items(self) -> None:
        self.outline.text("\n".join(self._items))
        self._items.clear()


def _joined(pieces: Sequence[str]) -> str:
    """Text as a browser flows it, but for line breaks between Chinese characters, which mean nothing there."""
    lines = "".join(pieces).replace(_INDENT, "").split(_BREAK)
    return "\n".join(joined_lines(line).strip() for line in lines).strip()


def _table(table: HtmlElement) -> str | None:
    """The rows of a table of data; None for one that only lays out a page."""
    if not _is_data(table):
        return None
    rows, headers = _rows(table)
    caption = table.find("caption")
    above = joined_lines(caption.text_content()).strip() if caption is not None else ""
    text = table_text(rows, headers is not None, headers or ())
    return f"{above}\n{text}" if above else text


def _is_data(table: HtmlElement) -> bool:
    if any(table.find(f".//{tag}") is not None for tag in ("table", "ul", "ol", *_HEADINGS)):
        return False
    return max((len(_cells(row)) for row in table.iter("tr")), default=0) >= 2


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _rows(table: HtmlElement, most_columns: int | None = None) -> tuple[list[list[Span]], set[int] | None]:
    """The cells of a table, and which rows are its headers: None where the page does not say."""
    rows: list[list[Span]] = []
    heads, marked = set[int](), False
    for group, members in groupby(table.iter("tr"), key=lambda line: line.getparent()):
        lines = list(members)
        for place, line in enumerate(lines):
            cells = _cells(line)[:most_columns]
            names = sum(cell.tag == "th" for cell in cells)
            alone = names == len(cells) == 1
            down = len(lines) - place
            rows.append(
                [Span(_words(cell), _span(cell, "rowspan", down), _span(cell, "colspan", _ALL)) for cell in cells]
                if not alone
                else [Span(_words(cells[0]), columns=_ALL)]
            )
            if names and not alone:
                marked = marked or bool(names == len(cells) or (cells[0].tag == "th" and rows[-1][0].text))
            if cells and (names == len(cells) > 1 or group.tag == "thead"):
                heads.add(len(rows) - 1)
    return rows, heads if heads or marked else None


def _words(cell: HtmlElement) -> str:
    return joined_lines(cell.text_content()).strip()


def _span(cell: HtmlElement, name: str, most: int) -> int:
    """How many places a cell reaches over, at most ``most``; 0 rows mean all that are left of the group."""
    stated = (cell.get(name) or "1").strip()
    reach = int(stated) if stated.isascii() and stated.isdecimal() and len(stated) < 10 else 1
    return min(most, reach) or (most if name == "rowspan" else 1)


def _preformatted(element: HtmlElement) -> str:
    text = element.text_content().strip("\n")
    return f"```\n{text}\n```" if "\n" in text else text
