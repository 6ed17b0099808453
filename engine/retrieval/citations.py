"""Markers ``[n]`` in an answer: which passage each one points to, and which point nowhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.model.values import Citation, Passage

_MARKER = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|[\[【［](?P<numbers>\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*)[\]】］]", re.DOTALL
)
_SEPARATOR = re.compile(r"\s*[,，、;；]\s*")


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    text: str
    """With markers in the one form ``[n]`` and those that point nowhere removed."""
    citations: tuple[Citation, ...]
    """Distinct, in the order of first use."""
    removed: tuple[str, ...]


def resolve(text: str, passages: Sequence[Passage]) -> ResolvedAnswer:
    """Normalise the markers of a text (``[1, 2]`` and ``【1】`` too) and bind them to the passages given.

    A marker that points nowhere is removed and reported, so that no citation can be invented. ``row[0]`` in code is
    no marker.
    """
    used: dict[int, Citation] = {}
    removed: list[str] = []

    def normalise(match: re.Match[str]) -> str:
        if match.group("code"):
            return match.group()
        kept = []
        for part in _SEPARATOR.split(match.group("numbers")):
            number = int(part)
            if 1 <= number <= len(passages):
                passage = passages[number - 1]
                used.setdefault(number, cited(number, passage))
                kept.append(f"[{number}]")
            else:
                removed.append(f"[{number}]")
        return "".join(kept)

    clean = _MARKER.sub(normalise, text)
    return ResolvedAnswer(text=clean, citations=tuple(used.values()), removed=tuple(removed))


def cited(marker: int, passage: Passage) -> Citation:
    """The citation of a passage; its section is the document's title where it stands under no heading."""
    title = passage.title if passage.title != passage.source else ""
    return Citation(marker, passage.id, passage.source, passage.section or title)
