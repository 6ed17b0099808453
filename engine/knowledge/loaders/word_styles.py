"""What the styles of a Word document say of its paragraphs and runs."""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.knowledge.loaders.numbering import WORD as W
from engine.knowledge.loaders.numbering import Numbering, is_on, value_of, whole_number

CONTENTS = -1
"""The level of a line in a table of contents, which says nothing of its own."""
_DEEPEST_STYLE = 12
_LISTS = ("list bullet", "list number")
_BODY_TEXT = 9
"""The outline level that means no heading."""


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
        """Whether a property that is on or off holds for a run."""
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
        """What a run, its style or that of its paragraph says of a property with values."""
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
