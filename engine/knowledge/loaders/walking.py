"""The words of HTML in the order of the page: one walk for pages, cells of tables and HTML between Markdown."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from itertools import groupby
from typing import Any

from engine.knowledge.loaders.contents import Outline, lowered, raised, struck
from engine.knowledge.loaders.equations import equation
from engine.knowledge.loaders.html_tables import HEADINGS, LISTS, is_data, reach, row_cells, table_rows
from engine.knowledge.loaders.numbering import number_text
from engine.knowledge.loaders.tables import Cell, Span, joined_header, spread, table_text
from engine.knowledge.loaders.wrapping import joined_lines

HIDES = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
BLOCKS = frozenset(
    "p div section article main header footer aside address blockquote figure figcaption dl dt dd details summary form"
    " fieldset legend center body html ul ol hr tr td th table caption menu nav dialog option optgroup search hgroup"
    " dir svg thead tbody tfoot li pre".split()
) | frozenset(HEADINGS)
RAISED, LOWERED, STRUCK = ("sup",), ("sub",), ("s", "del", "strike")
APART = "\ufdd2"
"""Stands between words that a page shows apart without a space; read as one where they would run together."""
KEPT = "\ufdd3"
"""A space that is not folded."""
_BREAK, _INDENT = "\ufdd0", "\ufdd1"
_RUN_TOGETHER = re.compile(rf"(?<=[\w`]){APART}+(?=[\w`])")
_NO_WORDS = frozenset("script style link meta base head title param source track map rt rp rtc".split())
_EMBEDDED = frozenset("iframe object embed canvas audio video applet".split())
_CONCEALED = frozenset("template noscript".split())
_AROUND = frozenset("nav menu dialog".split())
_FRAME = frozenset("header footer aside".split())
"""Around a page left out, unless they hold its only title; inside an article part of it."""
_ROLES = frozenset("navigation banner contentinfo search complementary menu menubar dialog".split())
_CONTROLS = frozenset("button select textarea input meter progress output text".split())
_BOX = re.compile(r"\[[ x]\]")
_MARK = re.compile(r"[-•]|(?:\d+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+|[一二三四五六七八九十百]+)\.|\[[ x]\]")
_NUMBERED = re.compile(
    r"list-style(?:-type)?\s*:[^;]*?(decimal-leading-zero|(?:lower|upper)-\w+|cjk-ideographic)", re.IGNORECASE
)
_FORMS = {
    **dict.fromkeys(("a", "lower-alpha", "lower-latin"), "lowerLetter"),
    **dict.fromkeys(("A", "upper-alpha", "upper-latin"), "upperLetter"),
    **dict.fromkeys(("i", "lower-roman"), "lowerRoman"),
    **dict.fromkeys(("I", "upper-roman"), "upperRoman"),
    "decimal-leading-zero": "decimalZero",
    "cjk-ideographic": "chineseCounting",
}
"""Kinds of numbers as pages name them and as Word does."""
_NOTE = re.compile(r"\bnoteref\b|\bfootnote-ref\b")
_MOST_NESTED = 3
"""Tables inside cells of tables that are read as such; deeper ones as the words in them."""
_FEW = 60
"""Pieces of a line that may be no more than a mark."""
_MARKS = {**dict.fromkeys(RAISED, raised), **dict.fromkeys(LOWERED, lowered), **dict.fromkeys(STRUCK, struck)}
_STYLES = (
    (re.compile(r"vertical-align\s*:\s*(?:super|text-top)", re.IGNORECASE), raised),
    (re.compile(r"vertical-align\s*:\s*sub", re.IGNORECASE), lowered),
    (re.compile(r"text-?decoration(?:-?line)?\s*:[^;]*line-through", re.IGNORECASE), struck),
)
_PLAIN = frozenset("a b big code em font i kbd small span strong tt u".split())
_PLAIN_KEYS: tuple[list[str], ...] = ([], ["href"], ["class"])
"""Elements and attributes that only change how words look, which most cells are made of."""
_DRAWN = _CONTROLS | {"br", "img"}
_APART_FROM_TEXT = _CONCEALED | _AROUND | _FRAME
_ALL = 1000
"""Columns that a cell reaches over at most."""


class Walk:
    """Goes through elements without recursion, for tags may be nested thousands deep."""

    def __init__(
        self, *, framed: bool = False, hidden: bool = False, numbered: bool = False, said: Callable[[str], str] = str
    ) -> None:
        """Begin without a page.

        ``framed``: leave out what stands around the main text. ``hidden``: read what the page hides. ``numbered``: keep
        line breaks, and the number of each line. ``said`` makes the words of a line from what is written there.
        """
        self.outline = Outline()
        self.lines: list[tuple[int, str]] = []
        """Where lines are numbered, each with its number, from 0."""
        self.read: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self._framed, self._hidden, self._numbered, self._said = framed, hidden, numbered, said
        self._many_titles = False
        self._cell: list[str] | None = None
        """Lines of the cell that is read, outside of one None."""
        self._line: list[str] = []
        self._numbers: list[int] = []
        self._at = 0
        self._marks: list[tuple[Callable[[str], str], int]] = []
        self._lists: list[tuple[str, int, int]] = []
        """Of the lists that are open: kind, number of the next item, step."""
        self._items: list[str] = []
        self._inside = self._code = self._depth = 0
        """Articles, preformatted texts and cells that are open."""

    def page(self, start: Any, many_titles: bool) -> None:
        """Walk through a page, from the element that holds the content; what is outside it is counted."""
        self._many_titles = many_titles
        self.outline = Outline(title_level=0 if many_titles else 1)
        inner = start
        for above in start.iterancestors():
            self.lost["page_frame"] += sum(
                isinstance(child.tag, str) and child is not inner and child.tag not in _NO_WORDS and _says(child)
                for child in above
            )
            inner = above
        self.block(start)

    def block(self, start: Any) -> None:
        self._go(start)
        self._end_line()
        self._end_items()

    def _go(self, root: Any) -> None:
        pending: list[tuple[str, Any]] = [("open", root)]
        while pending:
            step, item = pending.pop()
            if step == "text":
                self._text(item)
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

    def _left_out(self, element: Any) -> bool:
        tag = element.tag
        if self._numbered:
            self._at = int(element.get("line") or self._at)
        if tag in _NO_WORDS:
            if tag == "script" and "math/tex" in (element.get("type") or ""):
                self._equation(element)
            return str(tag) != "head"  # where the parser puts the words of a page that begins with an unknown element
        if tag in _EMBEDDED:
            self.lost["embedded_not_read"] += 1
            return True
        if tag == "button" and _only_controls(element):
            self.lost["page_frame"] += 1
            return True
        if tag not in _APART_FROM_TEXT and not element.keys():
            return False
        if not self._hidden and tag not in ("html", "body") and _is_hidden(element):
            # Pages with pictures of equations hide the equations themselves.
            if tag not in _CONCEALED and element.find(".//math") is not None:
                return False
            self.lost["hidden_text"] += _says(element)
            return True
        if element.get("aria-hidden") == "true":
            before = element.getprevious()
            if before is not None and (before.tag == "math" or before.find(".//math") is not None):
                return True  # how the equation before it is drawn
        return self._framed and self._is_frame(element)

    def _is_frame(self, element: Any) -> bool:
        tag = element.tag
        if tag in _FRAME or element.get("role") in _ROLES:
            title = tag == "header" and not self._many_titles and element.find(".//h1") is not None
            out = not self._inside and not title
        else:
            out = tag in _AROUND
        self.lost["page_frame"] += out and _says(element)
        return out

    def _open(self, element: Any) -> bool:
        """Begin an element; whether what is inside it must still be walked."""
        tag = element.tag
        if (tag == "table" and self._table(element)) or (tag == "math" and self._equation(element)):
            return False
        if tag in _DRAWN:
            self._drawn(element)
        elif tag in BLOCKS:
            self._end_line()
            if tag in HEADINGS:
                self._end_items()
            elif tag in LISTS:
                self._lists.append(_numbering(element))
            elif tag == "li":
                self._item(element)
            elif tag == "pre":
                self._clear()  # the mark of an item is no code
                self._code += 1
            self._inside += tag == "article"
        mark = _mark(element)
        if mark is not None:
            twice = mark is struck and any(outer is struck for outer, _ in self._marks)
            self._marks.append((str if twice else mark, len(self._line)))
        return True

    def _close(self, element: Any) -> None:
        tag = element.tag
        if self._marks and _mark(element) is not None:
            self._apply(*self._marks.pop())
        if tag in _CONTROLS:
            self._line.append(APART)
        if tag not in BLOCKS:
            return
        if tag == "pre":
            self._end_code(element)
        elif tag in HEADINGS and not self._code and self._cell is None and not self._numbered:
            words = _joined(self._line)
            self._clear()
            self.outline.heading(HEADINGS.index(tag) + 1, words)
        else:
            self._end_line()
        if tag == "li" and self._line and _MARK.fullmatch(_joined(self._line)):
            self._clear()
        if tag in LISTS and self._lists:
            self._lists.pop()
            if not self._lists:
                self._end_items()
        self._inside -= tag == "article"

    def _text(self, words: str) -> None:
        if not self._numbered or self._code:
            self._line.append(words)
            return
        for place, part in enumerate(words.split("\n")):
            if place:
                self._at += 1
                begun = len(self._numbers) > 1 or _joined(self._line)
                if begun is True or (begun and not _MARK.fullmatch(begun)):
                    self._break(self._at)
            if part.strip() or (part and self._line and not self._line[-1].isspace()):
                if not self._numbers:
                    self._numbers.append(self._at)
                self._line.append(part)

    def _break(self, number: int) -> None:
        if self._code:
            self._line.append("\n")
            return
        self._numbers = self._numbers or [number]
        self._numbers.append(number)
        self._line.append(_BREAK)

    def _apply(self, mark: Callable[[str], str], start: int) -> None:
        words = "".join(self._line[start:])
        if words.strip():
            self._line[start:] = [mark(words)]

    def _equation(self, element: Any) -> bool:
        words = equation(element) if element.tag == "math" else (element.text or "").strip()
        self.read["equations"] += bool(words)
        self._line.append(f"{APART}{words}{APART}")
        return True

    def _drawn(self, element: Any) -> None:
        """A line break, the description of a picture, or what a control shows."""
        tag, kind = element.tag, (element.get("type") or "text").lower()
        if tag == "br":
            self._break(self._at)
        elif tag == "img":
            described = (element.get("alt") or "").strip() if element.get("aria-hidden") != "true" else ""
            self.read["pictures"] += bool(described)
            self.lost["pictures_not_read"] += element.get("alt") is None
            self._line.append(f"{APART}{described}{APART}" if described else "")
        elif tag == "input" and kind in ("checkbox", "radio"):
            self._line.append(f"{APART}[{KEPT if element.get('checked') is None else 'x'}] ")
        elif tag == "input" and kind not in ("hidden", "password", "image", "file"):
            self._line.append(f"{APART}{element.get('value') or ''}")
        else:
            self._line.append(APART)

    def _item(self, element: Any) -> None:
        kind, number, step = self._lists[-1] if self._lists else ("ul", 0, 0)
        stated = element.get("value") or ""
        number = int(stated) if stated.isdecimal() and len(stated) < 10 else number
        if self._lists:
            self._lists[-1] = kind, number + step, step
        sign = f"{number_text(number, kind)}." if kind != "ul" else "-" if self._cell is None else "•"
        self._numbers = self._numbers or [self._at]
        self._line.append(f"{_INDENT * (len(self._lists) - 1)}{sign} ")
        self._marks = [(mark, len(self._line)) for mark, _ in self._marks]

    def _end_line(self) -> None:
        if self._code:
            if self._line and not self._line[-1].endswith("\n"):
                self._line.append("\n")
            return
        if not self._line:
            return
        words = _joined(self._line) if len(self._line) < _FEW else ""
        if self._lists and _MARK.fullmatch(words):
            return  # the mark waits for a paragraph inside its item
        if self._cell is None and _BOX.fullmatch(words):
            self._clear()  # a switch of the page
            return
        for mark, start in reversed(self._marks):
            self._apply(mark, start)
        numbers = self._numbers
        parts = ["".join(self._line)] if not self._numbered else "".join(self._line).split(_BREAK)
        indent = len(self._line[0]) - len(self._line[0].lstrip(_INDENT))
        self._clear()
        lead = "  " * min(indent, 8)
        said = [self._said(_joined([part])) for part in parts]
        if self._cell is None:
            self.read["list items" if self._lists else "paragraphs"] += any(said)
        for place, words in enumerate(said):
            if words:
                self._put(lead + words, numbers[place] if place < len(numbers) else self._at)
                lead = ""

    def _put(self, text: str, number: int) -> None:
        if self._cell is not None:
            self._cell.append(text)
            return
        if self._numbered:
            self.lines.append((number, text))
        elif self._lists:
            self._items.append(text)
        else:
            self.outline.text(text)

    def _clear(self) -> None:
        self._line.clear()
        self._numbers = []
        self._marks = [(mark, 0) for mark, _ in self._marks]

    def _end_items(self) -> None:
        self.outline.text("\n".join(self._items))
        self._items.clear()

    def _end_code(self, element: Any) -> None:
        self._code -= 1
        if self._code:
            return
        written = "".join(self._line).replace(APART, "")
        self._clear()
        first = int(element.get("line") or 0) + len(written) - len(written.lstrip("\n"))
        lines = written.strip("\n").split("\n")
        if self._cell is not None:
            self._cell.append(" ".join(lines))
            return
        fence = "````" if "```" in written else "```"
        text = [fence, *lines, fence] if len(lines) > 1 else lines
        self.read["blocks of code"] += len(lines) > 1
        if self._numbered:
            # Between Markdown entities are still written as such.
            text = text if self._said is str else list(map(html.unescape, text))
            ends = [first, *range(first, first + len(lines)), first + len(lines) - 1]
            self.lines.extend(zip(ends if len(lines) > 1 else [first], text, strict=True))
        elif any(lines):
            self._end_items()
            self.outline.text("\n".join(text))

    def _table(self, table: Any) -> bool:
        """Read a table of data; False for one that only lays out a page."""
        self._end_line()
        number = self._at
        if self._code or self._depth > _MOST_NESTED or not is_data(table):
            return False
        rows, headers = self.rows(table)
        caption = table.find("caption")
        above = "" if caption is None else self.cell_text(caption)
        text = table_text(rows, headers is not None, headers or ())
        text = "\n".join(filter(None, (above, text)))
        self.read["tables"] += bool(text)
        if self._cell is not None:
            self._cell.append(text)
        elif self._numbered:
            self.lines.extend((number, line) for line in text.split("\n") if line)
        else:
            self._end_items()
            self.outline.text(text)
        return True

    def rows(self, table: Any) -> tuple[list[list[Span]], Container[int] | None]:
        """The cells of a table of data, and which rows are its headers: None where the page does not say."""
        rows: list[list[Span]] = []
        heads, marked = set[int](), False
        for group, members in groupby(table_rows(table), key=lambda line: line.getparent()):
            lines = [line for line in members if not self._left_out(line)] if not self._left_out(group) else []
            for place, line in enumerate(lines):
                cells = [cell for cell in row_cells(line) if not self._left_out(cell)]
                names = sum(cell.tag == "th" for cell in cells)
                alone = names == len(cells) == 1
                down = len(lines) - place
                drawn = _mark(line)
                rows.append([])
                for cell in cells:
                    wide = _ALL if alone else reach(cell, "colspan", _ALL)
                    mark = _mark(cell) or drawn or str
                    high = 1 if alone else reach(cell, "rowspan", down)
                    rows[-1].append(Span(mark(self.cell_text(cell)), high, wide))
                if names and not alone:
                    marked = marked or bool(names == len(cells) or (cells[0].tag == "th" and rows[-1][0].text))
                corner = bool(cells) and cells[0].tag == "td" and not rows[-1][0].text
                if cells and (names == len(cells) - corner >= 1 < len(cells) or group.tag == "thead"):
                    heads.add(len(rows) - 1)
        return rows, heads if heads or marked else None

    def grid(self, table: Any) -> list[Sequence[Cell]]:
        """The rows of a table, several rows of header as one."""
        cells, heads = self.rows(table)
        rows = spread(cells)
        top = next((number for number in range(len(rows)) if number not in (heads or ())), 0)
        header: list[Sequence[Cell]] = [joined_header(rows[:top])] if top else []
        return [*header, *rows[top:]]

    def cell_text(self, cell: Any) -> str:
        if not len(cell) or all(
            inner.tag in _PLAIN and inner.keys() in _PLAIN_KEYS for inner in cell.iterdescendants()
        ):
            return self._said(joined_lines("".join(cell.itertext())).strip())
        self._depth += 1
        kept = self._cell, self._line, self._lists, self._items, self._marks, self._numbers
        self._cell, self._line, self._lists, self._items, self._marks, self._numbers = [], [], [], [], [], []
        for text, child in ((cell.text, None), *((child.tail, child) for child in cell)):
            if child is not None:
                self._go(child)
            self._text(text or "")
        self._end_line()
        self._depth -= 1
        made = " ".join(self._cell).replace("\n", " ")
        self._cell, self._line, self._lists, self._items, self._marks, self._numbers = kept
        return made


def _says(element: Any) -> bool:
    return any(text.strip() for text in element.itertext())


def _only_controls(button: Any) -> bool:
    """Return whether a button stands next to the words of a heading, to copy or to fold it, rather than around them."""
    title = next(button.iterancestors(*HEADINGS), None)
    return title is not None and "".join(title.itertext()).split() != "".join(button.itertext()).split()


def _is_hidden(element: Any) -> bool:
    if element.tag in _CONCEALED:
        return True
    stated = element.get("hidden")
    return (stated is not None and stated != "until-found") or bool(HIDES.search(element.get("style") or ""))


def _mark(element: Any) -> Callable[[str], str] | None:
    own = _MARKS.get(element.tag)
    if element.tag == "a" and len(element.keys()) > 1 and _is_reference(element):
        return raised
    style = element.get("style") if own is None else None
    if not style:
        return own
    return next((mark for form, mark in _STYLES if form.search(style)), None)


def _is_reference(link: Any) -> bool:
    """Return whether a link is the number of a note, which the style of a book raises."""
    named = " ".join(link.get(key) or "" for key in ("role", "epub:type", "class"))
    return bool(_NOTE.search(named)) and link.find(".//sup") is None and link.getparent().tag != "sup"


def _numbering(element: Any) -> tuple[str, int, int]:
    if element.tag != "ol":
        return "ul", 0, 0
    backwards = element.get("reversed") is not None
    stated = (element.get("start") or "").strip()
    start = len(element.findall("li")) if backwards else 1
    style = _NUMBERED.search(element.get("style") or "")
    form = _FORMS.get(style[1].lower() if style else element.get("type") or "", "decimal")
    return form, int(stated) if re.fullmatch(r"-?\d{1,9}", stated) else start, -1 if backwards else 1


def _joined(pieces: Sequence[str]) -> str:
    """Text as a browser flows it, but for line breaks between Chinese characters, which mean nothing there."""
    text = "".join(pieces).replace(_INDENT, "")
    if APART in text:
        text = _RUN_TOGETHER.sub(" ", text).replace(APART, "")
    lines = map(str.strip, map(joined_lines, text.split(_BREAK)))
    return "\n".join(lines).strip().replace(KEPT, " ")
