"""Dates and times by the number formats of Excel; names are English unless the format says Chinese."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

Token = tuple[str, str]
"""Kind and text, as the number format's own parser cuts it."""

LAST_DAY = 2_958_465
"""31 December 9999, the last that has a date."""
CHINESE = 0x04
"""Primary language of Windows locales."""
_MS_A_DAY = 86_400_000
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = tuple("January February March April May June July August September October November December".split())
_DAYS_ZH = "一二三四五六日"


def date_text(tokens: Sequence[Token], language: int) -> Callable[[float], str]:
    """Make the function that shows a number of days since 30 December 1899."""
    parts = _with_minutes(tokens)
    seconds = [text for kind, text in parts if kind in ("date", "elapsed") and "s" in text]
    places = max((text.count("0") for text in seconds), default=0)
    unit = 10 ** max(3 - places, 0) if seconds else 1
    twelve = any(kind == "half" for kind, _ in parts)

    def text_of(days: float) -> str:
        ms = (round(days * _MS_A_DAY) + unit // 2) // unit * unit
        # Excel has a 29 February 1900, which no calendar has.
        since = datetime.datetime(1899, 12, 31 if ms < 60 * _MS_A_DAY else 30)
        moment = since + datetime.timedelta(milliseconds=ms)
        shown: dict[str, Callable[[str], str]] = {
            "date": lambda text: _shown(text, moment, language, twelve),
            "elapsed": lambda text: _elapsed(text, ms),
            "half": lambda text: text.split("/")[moment.hour // 12],
        }
        return "".join(shown[kind](text) if kind in shown else text for kind, text in parts)

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


def _shown(text: str, moment: datetime.datetime, language: int, twelve: bool) -> str:
    letter, width = text[0], len(text.partition(".")[0])
    match letter:
        case "y":
            return f"{moment.year % 100:02}" if width < 3 else f"{moment.year}"
        case "e":  # of an era, which is left out with its name
            return f"{moment.year}"
        case "g":
            return ""
        case "m" if width > 2 and language == CHINESE:
            return f"{moment.month}月"
        case "m" if width > 2:
            return _MONTHS[moment.month - 1][: {3: 3, 5: 1}.get(width)]
        case "m":
            return f"{moment.month:0{width}}"
        case "d" | "a" if width > 2:
            if language == CHINESE or (letter == "a" and not language):
                return f"{'星期' if width > 3 else '周'}{_DAYS_ZH[moment.weekday()]}"
            return _DAYS[moment.weekday()][: None if width > 3 else 3]
        case "d":
            return f"{moment.day:0{width}}"
        case "h":
            return f"{(moment.hour % 12 or 12) if twelve else moment.hour:0{min(width, 2)}}"
        case "n":
            return f"{moment.minute:0{width}}"
        case "s":
            return f"{moment.second:0{min(width, 2)}}{_fraction(text, moment.microsecond // 1000)}"
    return text


def _elapsed(text: str, ms: int) -> str:
    """``[h]``, ``[mm]`` or ``[ss].0``: everything since the first day in one unit."""
    inside = text[1 : text.index("]")]
    count = ms // {"h": 3_600_000, "m": 60_000, "s": 1000}[inside[0]]
    return f"{count:0{len(inside)}}{_fraction(text, ms)}"


def _fraction(text: str, ms: int) -> str:
    zeros = text.count("0")
    return f".{ms % 1000:03}"[: zeros + 1].ljust(zeros + 1, "0") if zeros else ""
