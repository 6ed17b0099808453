"""Lines of a page of a PDF as PDFium finds them, with marks where characters are raised or lowered."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from pypdfium2 import raw

from engine.knowledge.loaders.contents import lowered, raised
from engine.knowledge.loaders.pdf_layout import Line

_LEADERS = re.compile(r"\s*(?:[.·…．]\s?){5,}")
_SOFT_HYPHEN = re.compile(r"[\x02\ufffe\u00ad](?:\r?\n)?")
_MAY_BE_SET_OFF = re.compile(r"(?<=\S)(?:[0-9+−–()\[\]-]|n(?![a-z])|(?<=\d)(?:st|nd|rd|th)\b)+")
"""Digits, signs and such behind another character: only these are measured, for measuring all takes as long again."""
_SMALLER = 0.85
_LONGEST = 20
"""Characters at the beginning of a line that are looked at."""
_RAISED, _LOWERED = 0.2, 0.0
"""Shares of the height of the characters before, by which the foot of a small one stands higher or lower."""
# Fonts share one glyph between a radical and the character it is; a PDF made with them names either.
_SUPPLEMENT = dict(
    zip(
        "⺁⺇⺋⺟⺠⺮⻁⻄⻅⻆⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳",
        "厂几卩母民竹虎西见角贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟",
        strict=True,
    )
)
_COMPATIBLE = re.compile(r"[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06]")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line as PDFium cuts it: it cuts at many a character that is set off."""

    line: Line
    words: str
    first: int
    """Place of its first character on the page."""
    set_off: bool
    """Its last character is."""


def drawn_lines(text_page: Any, height: float) -> list[Line]:
    """Lines in the order in which the file draws them; lengths from the top left of the page."""
    text = _SOFT_HYPHEN.sub(lambda match: "\x02" * len(match.group()), text_page.get_text_range())
    place = 0
    pieces: list[_Piece] = []
    for drawn in text.split("\r\n"):
        words = drawn.strip()
        if words:
            piece = _piece(text_page, place + len(drawn) - len(drawn.lstrip()), words, height)
            whole = _together(text_page, pieces[-1], piece) if pieces else None
            pieces[-1:] = [whole] if whole else [*pieces[-1:], piece]
        place += len(drawn) + 2
    return [piece.line for piece in pieces if piece.line.text]


def _piece(text_page: Any, first: int, words: str, height: float) -> _Piece:
    box = _box(text_page, first)
    last = first + len(words) - 1
    edges = [ctypes.c_double() for _ in range(4)]
    raw.FPDFText_GetCharBox(text_page, last, *map(ctypes.byref, edges))
    drawn, ends = (raw.FPDFText_GetTextObject(text_page, place) for place in (first, last))
    visible = not drawn or raw.FPDFTextObj_GetTextRenderMode(drawn) != raw.FPDF_TEXTRENDERMODE_INVISIBLE
    # What is drawn at once is of one height.
    at_once = drawn and ends and ctypes.addressof(drawn.contents) == ctypes.addressof(ends.contents)
    text, set_off = (words, False) if at_once else _marked(text_page, first, words)
    right = max(edges[1].value, box.right)
    line = Line(_shown(text), box.left, right, height - box.top, height - box.bottom, visible)
    return _Piece(line, words, first, set_off)


def _together(text_page: Any, before: _Piece, piece: _Piece) -> _Piece | None:
    """Both as one line, where the second continues behind or with a character that is set off."""
    one, two = before.line, piece.line
    gap = two.left - one.right
    if not -0.2 * two.size < gap < two.size:
        return None
    text, set_off = two.text, piece.set_off
    if not (before.set_off and abs(two.bottom - one.bottom) < 0.3 * two.size):
        base = _box(text_page, before.first + len(before.words) - 1)
        begun = range(min(len(piece.words), _LONGEST))
        levels = [_level(base, _box(text_page, piece.first + place)) for place in begun]
        if not levels[0]:
            return None
        count = next((place for place, level in enumerate(levels) if level != levels[0]), len(levels))
        rest, set_off = _marked(text_page, piece.first + count, piece.words[count:])
        text = _shown((raised if levels[0] > 0 else lowered)(piece.words[:count]) + rest)
        set_off = set_off or not rest
    elif gap > 0.15 * two.size:
        text = f" {text}"
    line = Line(f"{one.text}{text}", one.left, two.right, one.top, one.bottom, one.visible and two.visible)
    return _Piece(line, piece.words, piece.first, set_off)


def _shown(text: str) -> str:
    return unified(_LEADERS.sub(" … ", text.replace("\x02", "")))


def _box(text_page: Any, place: int) -> Any:
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(text_page, place, ctypes.byref(box))
    return box


def _marked(text_page: Any, first: int, words: str) -> tuple[str, bool]:
    made, done = "", 0
    ends = False
    for match in _MAY_BE_SET_OFF.finditer(words):
        base = _box(text_page, first + match.start() - 1)
        runs: list[tuple[int, str]] = []
        for place, sign in enumerate(match.group(), match.start()):
            box = _box(text_page, first + place)
            level = _level(base, box)
            if not level:
                base = box
            if runs and runs[-1][0] == level:
                runs[-1] = (level, runs[-1][1] + sign)
            else:
                runs.append((level, sign))
        made += words[done : match.start()]
        made += "".join(raised(run) if level > 0 else lowered(run) if level < 0 else run for level, run in runs)
        done = match.end()
        ends = done == len(words) and bool(runs[-1][0])
    return made + words[done:], ends


def _level(base: Any, box: Any) -> int:
    """1 for a character that is raised against the one before it, -1 for one that is lowered, 0 for others."""
    tall = base.top - base.bottom
    if tall <= 0 or not 0 < box.top - box.bottom < _SMALLER * tall:
        return 0
    share = (box.bottom - base.bottom) / tall
    return 1 if _RAISED < share < 1.5 else -1 if -1.0 < share < _LOWERED else 0


def unified(text: str) -> str:
    """The text with radicals and ligatures as the characters that a reader types."""
    return _COMPATIBLE.sub(lambda match: _SUPPLEMENT.get(match.group()) or _normal(match.group()), text)


def _normal(char: str) -> str:
    return unicodedata.normalize("NFKC", char)
