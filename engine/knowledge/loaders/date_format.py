"""Dates and times by the number formats of Excel; names are English unless the format says Chinese or Japanese."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Token = tuple[str, str]
"""Kind and text, as the number format's own parser cuts it."""

LAST_DAY = 2_958_465
"""31 December 9999, the last that has a date."""
CHINESE, JAPANESE = 0x04, 0x11
"""Primary languages of Windows locales."""
_MS_A_DAY = 86_400_000
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = tuple("January February March April May June July August September October November December".split())
_DAYS_ZH, _DAYS_JA = "一二三四五六日", "月火水木金土日"
_MONTHS_ZH = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")


@dataclass(frozen=True, slots=True)
class _Moment:
    year: int
    month: int
    day: int
    weekday: int
    """From 0, a Monday."""
    ms: int
    """Since midnight."""
    elapsed_ms: int
    """Since the first day that there is, for what counts hours beyond a day."""


def date_text(tokens: Sequence[Token], language: int) -> Callable[[float], str]:
    """Make the function that shows a number of days since 30 December 1899."""
    parts = _with_minutes(tokens)
    seconds = [text for kind, text in parts if kind in ("date", "elapsed") and "s" in text]
    places = max((text.count("0") for text in seconds), default=0)
    unit = 10 ** max(3 - places, 0) if seconds else 1
    twelve = any(kind == "half" for kind, _ in parts)

    def text_of(days: float) -> str:
        moment = _moment(days, unit)
        return "".join(
            _shown(text, moment, language, twelve)
            if kind == "date"
            else _elapsed(text, moment.elapsed_ms)
            if kind == "elapsed"
            else _half(text, moment.ms)
            if kind == "half"
            else text
            for kind, text in parts
        )

    return text_of


def _with_minutes(tokens: Sequence[Token]) -> list[Token]:
    """The tokens in small letters; ``m`` after hours or before seconds becomes ``n``, for it means minutes."""
    parts = [(kind, text.lower() if kind in ("date", "elapsed") else text) for kind, text in tokens]
    timed = [place for place, (kind, _) in enumerate(parts) if kind in ("date", "elapsed")]
    for number, place in enumerate(timed):
        before = parts[timed[number - 1]][1] if number else ""
        after = parts[timed[number + 1]][1] if number + 1 < len(timed) else ""
        if parts[place][1] in ("m", "mm") and ("h" in before or "s" in after):
            parts[place] = ("date", parts[place][1].replace("m", "n"))
    return parts


def _moment(days: float, unit: int) -> _Moment:
    ms = (round(days * _MS_A_DAY) + unit // 2) // unit * unit
    day, rest = divmod(ms, _MS_A_DAY)
    if day in (0, 60):  # days that Excel has and no calendar: 0 January and 29 February 1900
        year, month, number = (1900, 1, 0) if day == 0 else (1900, 2, 29)
    else:
        date = datetime.date(1899, 12, 31 if day < 60 else 30) + datetime.timedelta(days=day)
        year, month, number = date.year, date.month, date.day
    return _Moment(year, month, number, (day + 5) % 7, rest, ms)


def _shown(text: str, moment: _Moment, language: int, twelve: bool) -> str:
    letter, width = text[0], len(text.partition(".")[0])
    hour = moment.ms // 3_600_000
    match letter:
        case "y":
            return f"{moment.year % 100:02}" if width < 3 else f"{moment.year}"
        case "e":  # of an era, which is left out with its name
            return f"{moment.year}"
        case "g":
            return ""
        case "m" if width > 2:
            return _month(moment.month, width, language)
        case "m":
            return f"{moment.month:0{width}}"
        case "d" | "a" if width > 2:
            return _weekday(moment.weekday, width, CHINESE if letter == "a" and not language else language)
        case "d":
            return f"{moment.day:0{width}}"
        case "h":
            return f"{(hour % 12 or 12) if twelve else hour:0{min(width, 2)}}"
        case "n":
            return f"{moment.ms // 60_000 % 60:0{width}}"
        case "s":
            return f"{moment.ms // 1000 % 60:0{min(width, 2)}}{_fraction(text, moment.ms)}"
    return text


def _elapsed(text: str, ms: int) -> str:
    """``[h]``, ``[mm]`` or ``[ss].0``: everything since the first day in one unit."""
    inside = text[1 : text.index("]")]
    count = ms // {"h": 3_600_000, "m": 60_000, "s": 1000}[inside[0]]
    return f"{count:0{len(inside)}}{_fraction(text, ms)}"


def _fraction(text: str, ms: int) -> str:
    zeros = text.count("0")
    return f".{ms % 1000:03}"[: zeros + 1].ljust(zeros + 1, "0") if zeros else ""


def _half(text: str, ms: int) -> str:
    first, second = text.split("/")
    return first if ms < _MS_A_DAY // 2 else second


def _month(month: int, width: int, language: int) -> str:
    if width != 5 and language in (CHINESE, JAPANESE):
        return f"{_MONTHS_ZH[month - 1] if language == CHINESE and width > 3 else month}月"
    name = _MONTHS[month - 1]
    return name[:3] if width == 3 else name[0] if width == 5 else name


def _weekday(day: int, width: int, language: int) -> str:
    if language == CHINESE:
        return f"{'星期' if width > 3 else '周'}{_DAYS_ZH[day]}"
    if language == JAPANESE:
        return f"{_DAYS_JA[day]}{'曜日' if width > 3 else ''}"
    return _DAYS[day] if width > 3 else _DAYS[day][:3]
