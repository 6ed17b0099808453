"""How new passages are beside one another, where they carry a date. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from engine.model.values import Passage, PassageId

_SHORT = re.compile(r"(\d{4})(?:-(\d{2}))?")
"""A year, or a year and a month: counted from their beginning."""


def freshness_of(passages: Sequence[Passage]) -> dict[PassageId, float]:
    """Map the id of every dated passage to 1 for the newest, 0 for the oldest, and the others between by their time.

    All of one date are equally new. A passage without a date, or with one that cannot be read, has no entry.
    """
    times = {item.id: moment for item in passages if (moment := _moment(item.dated)) is not None}
    return _scaled(times)


def _scaled(times: Mapping[PassageId, float]) -> dict[PassageId, float]:
    if not times:
        return {}
    oldest, newest = min(times.values()), max(times.values())
    span = newest - oldest
    return {name: round((moment - oldest) / span, 6) if span else 1.0 for name, moment in times.items()}


def _moment(dated: str) -> float | None:
    """Seconds since 1970; without a time zone it is UTC."""
    text = dated.strip()
    short = _SHORT.fullmatch(text)
    try:
        read = datetime(int(short[1]), int(short[2] or 1), 1) if short else datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
