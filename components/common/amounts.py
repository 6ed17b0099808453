"""Counts, sizes, times and the beginnings of texts in few characters, the same in both languages."""

from __future__ import annotations

from components.common.phrases import duration_text

_UNITS = ("B", "KB", "MB", "GB")
_STEP = 1024


def count_text(number: int) -> str:
    """With a comma between thousands: ``12,480``."""
    return f"{number:,}"


def moment(at: str) -> str:
    """A time in ISO 8601 to the minute, without its ``T``."""
    return at.replace("T", " ")[:16]


def utc(at: str) -> str:
    """A time in ISO 8601 as every page writes it: ``2026-01-31 09:41 UTC``."""
    return f"{moment(at)} UTC"


def beginning(text: str, longest: int) -> str:
    """The first characters of a text as one line."""
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def holds(typed: str, *parts: str) -> bool:
    """Return whether one of the parts holds what was typed, regardless of its case; an empty text is everywhere."""
    wanted = typed.strip().casefold()
    return any(wanted in part.casefold() for part in parts)


def size_text(size: int) -> str:
    """Bytes in the unit that suits them, with two figures below ten: ``640 B``, ``3.1 KB``, ``12 MB``."""
    value, place = float(size), 0
    while value >= _STEP and place < len(_UNITS) - 1:
        value /= _STEP
        place += 1
    digits = 1 if place and value < 10 else 0
    return f"{value:.{digits}f} {_UNITS[place]}"


def span_text(seconds: float) -> str:
    """A time that may be long: ``340 ms``, ``42 s``, ``12 min``, ``2 h 5 min``."""
    if seconds < 99.5:
        return duration_text(seconds * 1000.0)
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
