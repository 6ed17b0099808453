"""Numbers that Word and PowerPoint count themselves: ``第一条``, ``1.2.3``, ``(a)``, ``IV.``."""

from __future__ import annotations

import re
from typing import Any

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BULLET = "- "
_DEEPEST = 8
_LONGEST_LABEL = 100
_PLACE = re.compile(r"%([1-9])")
_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x"}
_ROMAN |= {9: "ix", 5: "v", 4: "iv", 1: "i"}
_COUNTED = {
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting"), "零一二三四五六七八九千百十万"),
    **dict.fromkeys(("taiwaneseCounting", "taiwaneseCountingThousand"), "零一二三四五六七八九千百十萬"),
    "chineseLegalSimplified": "零壹贰叁肆伍陆柒捌玖仟佰拾万",
    "ideographLegalTraditional": "零壹貳參肆伍陸柒捌玖仟佰拾萬",
}
_DIGITS = dict.fromkeys(("ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital"), "〇一二三四五六七八九")
TICKED = {"☐": "☐ ", "☑": "☑ ", "☒": "☒ ", "\uf0a8": "☐ ", "\uf0fd": "☒ ", "\uf0fe": "☑ "}
"""Bullets that say whether something is done; the last three are those of Wingdings."""
_ROWS = {"ideographTraditional": "甲乙丙丁戊己庚辛壬癸", "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥"}


def number_text(value: int, form: str) -> str:
    """A number as a format of Word (``ST_NumberFormat``) shows it; plain digits where it has no sign for it."""
    if form in ("none", "bullet"):
        return ""
    if form in _COUNTED:
        return _counted(value, _COUNTED[form])
    if form in _DIGITS:
        return "".join(_DIGITS[form][int(digit)] for digit in str(value))
    if form in _ROWS and 0 < value <= len(_ROWS[form]):
        return _ROWS[form][value - 1]
    text = f"{value:02d}" if form == "decimalZero" else str(value)
    if form.endswith("Letter") and 0 < value <= 780:  # after z comes aa, then bb
        text = chr(97 + (value - 1) % 26) * ((value + 25) // 26)
    elif form.endswith("Roman") and 0 < value < 4000:
        text = _roman(value)
    elif form == "ordinal":
        text += "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return text.upper() if form.startswith("upper") else text


def _counted(value: int, signs: str) -> str:
    """A number in words of ``signs``: the digits from 0, a thousand, a hundred, ten, ten thousand."""
    high, low = divmod(value, 10_000)
    text = _counted(high, signs) + signs[13] if high else ""
    for power, unit in ((1000, signs[10]), (100, signs[11]), (10, signs[12]), (1, "")):
        digit = low // power % 10
        if digit:
            text += signs[digit] + unit
        elif text and low % power and not text.endswith(signs[0]):
            text += signs[0]
    return text[1:] if text.startswith("一十") else text or signs[0]


def _roman(value: int) -> str:
    text = ""
    for worth, letters in _ROMAN.items():
        text += letters * (value // worth)
        value %= worth
    return text


class Numbering:
    """Counts the numbered paragraphs of a Word document in the order they are asked for."""

    def __init__(self, root: Any) -> None:
        """``root`` of the part that defines the numbers; None where there is none."""
        parts = [] if root is None else list(root)
        self._definitions = {part.get(f"{WORD}abstractNumId") or "": part for part in parts}
        self._numbers = {part.get(f"{WORD}numId") or "": part for part in parts if part.tag == f"{WORD}num"}
        self._by_style = {value_of(part, "styleLink"): part for part in self._definitions.values()}
        self._counts: dict[Any, dict[int, int]] = {}
        self._used: set[str] = set()

    def label(self, number: str, level: int) -> str:
        """The number of the next paragraph at this level with the space behind it, or a bullet; empty for none."""
        level = min(level, _DEEPEST)
        here = self._level(number, level)
        if here is None or _form(here) == "bullet":
            return BULLET + TICKED.get(value_of(here, "lvlText"), "")
        counts = self._counts.setdefault(self._definition(number), {})
        if number not in self._used:
            self._used.add(number)
            for override in self._numbers[number].iter(f"{WORD}startOverride"):
                counts.pop(whole_number(override.getparent().get(f"{WORD}ilvl")), None)
        counts[level] = counts[level] + 1 if level in counts else self._start(number, level)
        for deeper in [place for place in counts if place > level]:
            restart = value_of(self._level(number, deeper), "lvlRestart")
            if level < (whole_number(restart) if restart else deeper):
                del counts[deeper]
        legal = here.find(f"{WORD}isLgl")

        def shown(found: re.Match[str]) -> str:
            place = int(found[1]) - 1
            form = _form(self._level(number, place))
            value = counts.get(place, self._start(number, place))
            return number_text(value, "decimal" if is_on(legal) and form != "none" else form)

        text = _PLACE.sub(shown, value_of(here, "lvlText")[:_LONGEST_LABEL]).strip()
        return text + ("" if value_of(here, "suff") == "nothing" or not text else " ")

    def level_of(self, number: str, style: str) -> int:
        """The level that a numbering gives to a style of paragraphs."""
        definition = self._definition(number)
        for level in () if definition is None else definition.findall(f"{WORD}lvl"):
            if value_of(level, "pStyle") == style:
                return whole_number(level.get(f"{WORD}ilvl"))
        return 0

    def _definition(self, number: str) -> Any:
        definition = self._definitions.get(value_of(self._numbers.get(number), "abstractNumId"))
        return self._by_style.get(value_of(definition, "numStyleLink") or "-", definition)

    def _override(self, number: str, level: int) -> Any:
        found = self._numbers.get(number)
        return None if found is None else found.find(f"{WORD}lvlOverride[@{WORD}ilvl='{level}']")

    def _level(self, number: str, level: int) -> Any:
        path = f"{WORD}lvl[@{WORD}ilvl='{level}']"
        override, definition = self._override(number, level), self._definition(number)
        own = None if override is None else override.find(path)
        return definition.find(path) if own is None and definition is not None else own

    def _start(self, number: str, level: int) -> int:
        override = value_of(self._override(number, level), "startOverride")
        return whole_number(override or value_of(self._level(number, level), "start"))


def _form(level: Any) -> str:
    """The last format of a level, for the first may be one that only newer programs know."""
    forms = [] if level is None else [form.get(f"{WORD}val") or "" for form in level.iter(f"{WORD}numFmt")]
    return forms[-1] if forms else "decimal"


def value_of(element: Any, child: str) -> str:
    """Return the value stated by a child of an element; empty if there is none."""
    found = None if element is None else element.find(f"{WORD}{child}")
    return "" if found is None else found.get(f"{WORD}val") or ""


def is_on(element: Any) -> bool:
    """Return whether an element that switches something on is there and does so."""
    return element is not None and element.get(f"{WORD}val") not in ("0", "false", "off")


def whole_number(text: str | None) -> int:
    """The number that an attribute states; 0 for one that is none, is negative or is beyond all measure."""
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else 0
