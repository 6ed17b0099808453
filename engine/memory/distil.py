"""What is remembered of an answer: its claim in one or two of its own sentences, with their citations (SPEC DL-06)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from engine.language import sentences
from engine.values import Citation

MOST_SENTENCES = 2
_MARKER = re.compile(r"\[(\d{1,3})\]")
_MARKERS_ALONE = re.compile(r"(?:\s*\[\d{1,3}\])+[.。]?")
_LIST_SIGN = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,2}[.)、]\s+)")


def distilled(answer: str, citations: Sequence[Citation]) -> tuple[str, tuple[Citation, ...]]:
    """The first sentences that cite something, or the first ones where none does; citations are numbered from 1.

    Extractive, so that what is remembered is what was judged: no word in it is new.
    """
    known = {item.marker: item for item in citations}
    said = [_LIST_SIGN.sub("", part) for line in answer.splitlines() for part in _with_markers(line)]
    cited = [part for part in said if any(int(number) in known for number in _MARKER.findall(part))]
    chosen = (cited or said)[:MOST_SENTENCES]
    numbers = list(dict.fromkeys(int(number) for part in chosen for number in _MARKER.findall(part)))
    places = {number: place for place, number in enumerate((item for item in numbers if item in known), start=1)}
    text = " ".join(chosen) if not _chinese(chosen) else "".join(chosen)

    def renumbered(match: re.Match[str]) -> str:
        place = places.get(int(match.group(1)))
        return f"[{place}]" if place else ""

    return _MARKER.sub(renumbered, text).strip(), tuple(
        replace(known[number], marker=place) for number, place in places.items()
    )


def _with_markers(line: str) -> list[str]:
    """Sentences of a line, each with the markers that stand behind its full stop."""
    parts: list[str] = []
    for part in sentences(line):
        leading = _MARKERS_ALONE.match(part) if parts else None
        if leading:
            parts[-1] = f"{parts[-1]} {leading.group().strip()}"
        if rest := part[leading.end() :].strip() if leading else part:
            parts.append(rest)
    return parts


def _chinese(parts: Sequence[str]) -> bool:
    return bool(parts) and parts[0].rstrip("[]0123456789 ").endswith(("。", "！", "？", "；"))
