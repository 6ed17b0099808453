"""The words of a Word paragraph as its styles show them, with symbols, equations, check boxes and references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from engine.knowledge.loaders.contents import marked
from engine.knowledge.loaders.drawings import DRAWN, picture_text
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.equations import MATH, linear
from engine.knowledge.loaders.numbering import WORD as W
from engine.knowledge.loaders.numbering import Numbering, is_on, value_of, whole_number
from engine.knowledge.loaders.symbols import symbol_text

ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_VML = "{urn:schemas-microsoft-com:vml}"
_OLE = "{urn:schemas-microsoft-com:office:office}OLEObject"
_CHART_EX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
_ABOUT = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_PICTURES = (f"{_PIC}pic", f"{_VML}imagedata", f"{_VML}textpath")
_DESCRIBED = (_ABOUT, f"{_PIC}cNvPr", f"{_VML}shape", f"{_VML}rect")
_BOX = f"{W}txbxContent"
_APART = (_BOX, f"{ALTERNATIVES}Fallback")
_SHOWN = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SKIPPED = frozenset({"comment", "delText", "delInstrText", "rt", "moveFrom"})
_HOLDS = frozenset(f"{W}{name}" for name in ("t", "sym", "drawing", "pict", "object", "ruby"))
_WORKED_OUT = frozenset(
    {"AUTONUM", "AUTONUMLGL", "AUTONUMOUT", "DOCPROPERTY", "FORMDROPDOWN", "LISTNUM", "REF", "SEQ", "SYMBOL"}
)
"""Fields that show something, and whose result need not be in the file."""
_PAGE_NUMBERS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
CONTENTS = -1
"""The level of a line in a table of contents, which says nothing of its own."""
_DEEPEST_STYLE = 12
_LISTS = ("list bullet", "list number")
_BODY_TEXT = 9
"""The outline level that means no heading."""


class Runs:
    """Reads paragraphs; counts what was read and what was left out."""

    def __init__(self, styles: Styles, hidden: bool, lost: Counter[str], read: Counter[str]) -> None:
        self._styles, self._hidden, self._lost, self._read = styles, hidden, lost, read
        self.marks: Mapping[tuple[str, str], str] = {}
        """What stands in the text for a footnote or an endnote, by kind and id."""
        self.in_margin = False
        """Whether this is a header or footer, whose page numbers say nothing."""
        self.begin("")

    def begin(self, style: str) -> None:
        """Forget the paragraph before."""
        self._style = style
        self._mark = ("", False)
        self._pieces: list[tuple[tuple[str, bool], str]] = []
        self._was_hidden = False
        self._fields: list[list[str]] = []
        """Instructions of the fields that are open, the innermost last; its second item once its result is shown."""
        self.paged = False
        """Whether a page number was left out."""
        self.notes: list[tuple[str, str]] = []
        """Footnotes and endnotes that hang on the paragraph; ``drawn`` and ``boxes`` do, too."""
        self.drawn: list[Any] = []
        self.boxes: list[Any] = []

    def text(self, paragraph: Any) -> str:
        """Inserted words count; deleted and hidden ones do not, and those of text boxes are paragraphs of their own."""
        self.begin(style_of(paragraph))
        ends = [field.get(f"{W}fldCharType") for field in paragraph.iter(f"{W}fldChar")]
        # One that another paragraph ends must not hide what comes behind its beginning.
        self._has_fields = ends.count("begin") == ends.count("end")
        self._walk(paragraph)
        return without_control(marked(self._pieces))

    def is_hidden(self, paragraph: Any) -> bool:
        """Return whether the end of a paragraph is hidden."""
        end = paragraph.find(f"{W}pPr/{W}rPr")
        return not self._hidden and self._styles.is_on("vanish", end, style_of(paragraph))

    def _walk(self, element: Any) -> None:
        for child in element:
            name = child.tag.removeprefix(W) if isinstance(child.tag, str) else "comment"
            if name in _RULES:
                _RULES[name](self, child)
            elif name in _SHOWN:
                self._add(_SHOWN[name])
            elif not name.endswith("Pr") and name not in _SKIPPED:
                self._walk(child)

    def _add(self, text: str) -> None:
        numbered = self.in_margin and any(_name(field[0]) in _PAGE_NUMBERS for field in self._fields)
        self.paged |= numbered
        instructed = self._has_fields and not all(len(field) > 1 for field in self._fields)
        if text and not numbered and not instructed:
            self._pieces.append((self._mark, text))

    def _run(self, run: Any) -> None:
        stated = run.find(f"{W}rPr")
        if not self._hidden and self._styles.is_on("vanish", stated, self._style):
            holds = any(child.tag in _HOLDS for child in run)
            self._lost["hidden_text"] += holds and not self._was_hidden
            self._was_hidden |= holds
            for child in run.iterchildren(f"{W}fldChar", f"{W}instrText"):  # what they open may end in shown runs
                _RULES[child.tag.removeprefix(W)](self, child)
            return
        self._was_hidden = False
        is_struck = any(self._styles.is_on(name, stated, self._style) for name in ("strike", "dstrike"))
        outer, self._mark = self._mark, (self._styles.position(stated, self._style), is_struck)
        self._walk(run)
        self._mark = outer

    def _words(self, element: Any) -> None:
        fonts = element.getparent().find(f"{W}rPr/{W}rFonts")
        self._add(symbol_text(element.text or "", "" if fonts is None else fonts.get(f"{W}ascii") or "", self._lost))

    def _symbol(self, element: Any) -> None:
        code = element.get(f"{W}char") or ""
        place = int(code, 16) if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else 0xF0FF
        # Some programs leave out the part that marks a place in a font.
        sign = chr(place + 0xF000 if place < 0x100 else place)
        self._add(symbol_text(sign, element.get(f"{W}font") or "", self._lost))

    def _control(self, element: Any) -> None:
        box = element.find(f"{W}sdtPr/{_W14}checkbox")
        if box is None:
            self._walk(element)
        else:
            state = box.find(f"{_W14}checked")
            self._tick(state is not None and state.get(f"{_W14}val", "1") in ("1", "true", "on"))

    def _tick(self, ticked: bool) -> None:
        self._read["check boxes"] += 1
        self._add("☒" if ticked else "☐")

    def _equation(self, element: Any) -> None:
        self._read["equations"] += 1
        self._add(linear(element).strip())

    def _simple_field(self, element: Any) -> None:
        self._fields.append([element.get(f"{W}instr") or "", "shown"])
        self._walk(element)
        self._fields.pop()

    def _field(self, element: Any) -> None:
        """Handle the start, result and end of a field; a checkbox keeps its state in itself."""
        kind = element.get(f"{W}fldCharType")
        if kind == "begin":
            box = element.find(f"{W}ffData/{W}checkBox")
            if box is not None:
                state = box.find(f"{W}checked")
                self._tick(is_on(box.find(f"{W}default") if state is None else state))
            self._fields.append([""])
        elif kind == "separate" and self._fields:
            self._fields[-1].append("shown")
        elif kind == "end" and self._fields:
            instruction, *result = self._fields.pop()
            self.paged |= self.in_margin and _name(instruction) in _PAGE_NUMBERS
            self._lost["fields_not_read"] += not result and _name(instruction) in _WORKED_OUT
            self._lost["equations"] += _name(instruction) == "EQ"  # which Word draws from the instruction itself

    def _instruction(self, element: Any) -> None:
        if self._fields:
            self._fields[-1][0] += element.text or ""

    def _reference(self, element: Any) -> None:
        key = (element.tag.removeprefix(W).removesuffix("Reference"), element.get(f"{W}id") or "")
        if mark := self.marks.get(key):
            self.notes.append(key)
            self._add(mark)

    def _deleted(self, element: Any) -> None:
        self._lost["deletions"] += holds_words(element)

    def _inserted(self, element: Any) -> None:
        self._read["insertions"] += holds_words(element)
        self._walk(element)

    def _drawing(self, element: Any) -> None:
        """Pictures and objects are counted and say their alternative text; the rest follows the paragraph."""
        if not self._hidden and any(about.get("hidden") in ("1", "true") for about in element.iter(_ABOUT)):
            self._lost["shapes_hidden"] += 1
            return
        if element.tag == f"{W}object":  # those the file keeps a picture of, too
            program = next((item.get("ProgID") or "" for item in element.iter(_OLE)), "")
            self._lost["equations" if program.startswith("Equation") else "files_not_read"] += 1
        else:  # writing that is drawn, such as a mark under each page, is a picture too
            self._lost["pictures_not_read"] += sum(1 for _ in _own(element, *_PICTURES))
        self._lost["charts_not_read"] += sum(1 for _ in _own(element, _CHART_EX))
        self.boxes += (boxes := list(_own(element, _BOX)))
        if not boxes:
            self._add(" ".join(filter(None, dict.fromkeys(map(picture_text, _own(element, *_DESCRIBED))))))
        self.drawn += _own(element, *DRAWN)

    def _box(self, element: Any) -> None:
        self.boxes.append(element)

    def _alternatives(self, element: Any) -> None:
        """Several ways to draw the same: the first, which newer programs show."""
        self._walk(next(iter(element), ()))


def _name(instruction: str) -> str:
    words = instruction.split(maxsplit=1)
    return words[0].upper() if words else ""


def holds_words(element: Any) -> bool:
    return any(words.text for words in element.iter(f"{W}delText", f"{W}t", f"{MATH}t"))


def _own(element: Any, *tags: str) -> Iterator[Any]:
    """Those below an element that are not in a text box, whose paragraphs are read by themselves, nor drawn again."""
    for found in element.iter(*tags):
        for above in found.iterancestors():
            if above is element:
                yield found
            if above is element or above.tag in _APART:
                break


_RULES: dict[str, Callable[[Runs, Any], None]] = {
    "r": Runs._run,
    "t": Runs._words,
    "sym": Runs._symbol,
    "sdt": Runs._control,
    "fldSimple": Runs._simple_field,
    "fldChar": Runs._field,
    "instrText": Runs._instruction,
    "footnoteReference": Runs._reference,
    "endnoteReference": Runs._reference,
    "del": Runs._deleted,
    "ins": Runs._inserted,
    "txbxContent": Runs._box,
    "drawing": Runs._drawing,
    "pict": Runs._drawing,
    "object": Runs._drawing,
    f"{MATH}oMath": Runs._equation,
    f"{ALTERNATIVES}AlternateContent": Runs._alternatives,
}


class Styles:
    """Answers for paragraphs and runs by what they state themselves, then by their style and its bases."""

    def __init__(self, root: Any, numbers: Any) -> None:
        """Roots of the parts with the styles and the numbering; None for one that is missing or broken."""
        styles = [] if root is None else root.findall(f"{W}style")
        self._styles = {style.get(f"{W}styleId"): style for style in styles}
        usual = None if root is None else root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")
        self._size = value_of(usual, "sz") or "20"
        """Of letters where nothing else is stated, in half points."""
        self.numbering = Numbering(numbers)
        self._of = cache(self._chain)
        self._level_of = cache(self._style_level)
        self._states = cache(self._stated)

    def level(self, paragraph: Any) -> int | None:
        """The level of a heading, 0 for the document's title; None for other text."""
        own = paragraph.find(f"{W}pPr/{W}outlineLvl")
        if own is not None:
            level = whole_number(own.get(f"{W}val"))
            return level + 1 if level < _BODY_TEXT else None
        return self._level_of(style_of(paragraph))

    def place(self, paragraph: Any) -> tuple[str, int] | None:
        """The numbering and the level in it; None for a paragraph that is in no list, number 0 for one taken out."""
        style = style_of(paragraph)
        own = paragraph.find(f"{W}pPr/{W}numPr")
        number, level = value_of(own, "numId"), value_of(own, "ilvl")
        for above in self._of(style):
            inherited = above.find(f"{W}pPr/{W}numPr")
            if inherited is not None and not number:
                number = value_of(inherited, "numId")
                key = above.get(f"{W}styleId") or ""
                level = level or value_of(inherited, "ilvl") or str(self.numbering.level_of(number, key))
        if own is None and not number:
            listed = any(value_of(above, "name").lower().startswith(_LISTS) for above in self._of(style))
            return ("", 0) if listed else None
        return (number, whole_number(level))

    def is_on(self, name: str, run: Any, paragraph_style: str) -> bool:
        """Return whether a property that is on or off holds for a run."""
        own = None if run is None else run.find(f"{W}{name}")
        if own is not None:
            return is_on(own)
        # Set by both styles it is off again.
        by_run, by_paragraph = self._states(value_of(run, "rStyle"), name), self._states(paragraph_style, name)
        return (by_run == "on") != (by_paragraph == "on")

    def position(self, run: Any, paragraph_style: str) -> str:
        """``superscript``, ``subscript`` or nothing; so are smaller letters that a program moves up or down."""
        shift = self.value("position", run, "")
        usual = whole_number(self._states(paragraph_style, "sz") or self._size)
        if shift.strip("-0") and 0 < whole_number(self.value("sz", run, "")) < usual:
            return "subscript" if shift.startswith("-") else "superscript"
        return self.value("vertAlign", run, paragraph_style)

    def value(self, name: str, run: Any, paragraph_style: str) -> str:
        """Return a property's value from a run, its style or its paragraph's style."""
        own = value_of(run, name)
        return own or self._states(value_of(run, "rStyle"), name) or self._states(paragraph_style, name)

    def _chain(self, key: str) -> list[Any]:
        found: list[Any] = []
        style = self._styles.get(key)
        while style is not None and len(found) < _DEEPEST_STYLE:
            found.append(style)
            style = self._styles.get(value_of(style, "basedOn"))
        return found

    def _stated(self, key: str, name: str) -> str:
        """The value of a run's property in a style, ``on`` or ``off`` where it states no more than that."""
        for style in self._of(key):
            own = style.find(f"{W}rPr/{W}{name}")
            if own is not None:
                value = own.get(f"{W}val") or "on"
                return "off" if not is_on(own) else "on" if value in ("1", "true") else value
        return ""

    def _style_level(self, key: str) -> int | None:
        for style in self._of(key):
            name = value_of(style, "name").lower()
            level = style.find(f"{W}pPr/{W}outlineLvl")
            if name.startswith("toc ") and name[4:].isdigit():
                return CONTENTS
            if name in ("title", "标题"):
                return 0 if style.get(f"{W}styleId") == key else None  # styles of authors and dates look like it
            if name.startswith(("heading ", "标题 ")) and name.split()[-1].isdigit():
                return int(name.split()[-1])
            if level is not None and whole_number(level.get(f"{W}val")) < _BODY_TEXT:
                return whole_number(level.get(f"{W}val")) + 1
        return None


def style_of(paragraph: Any) -> str:
    return value_of(paragraph.find(f"{W}pPr"), "pStyle")
