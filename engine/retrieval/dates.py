"""The date of what a passage tells, where its source has one."""

from __future__ import annotations

import re
from datetime import date

from engine.roles import StoredPassage

_KEYS = ("dated", "date", "published", "published_at", "updated", "updated_at", "timestamp")
"""Names under which sources and other programs keep a date; when a source was ingested says nothing about its age."""
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")


def dated(stored: StoredPassage) -> str:
    """ISO 8601 date; of a dated history that of the entry's heading. Empty where there is none, or none to be read."""
    given = next((str(stored.meta[key]) for key in _KEYS if stored.meta.get(key)), "")
    text = given or (stored.section if stored.kind == "temporal" else "")
    for pattern in (_ISO, _CHINESE):
        if found := pattern.search(text):
            return _iso(*found.groups())
    return ""


def _iso(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
