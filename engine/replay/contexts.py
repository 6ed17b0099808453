"""What the generator would be given, in the order of :func:`engine.retrieval.assemble.assemble`, by masks."""

from __future__ import annotations

from collections.abc import Iterable

from engine.replay.masks import Words, places
from engine.replay.table import RunTable

Chosen = Iterable[tuple[int, Words, Words]]
"""Rounds, what is taken of each, and which of its verdicts can be read."""


def ordered(table: RunTable, chosen: Chosen) -> list[tuple[int, int]]:
    """Passages and versions: by P(relevant), best similarity, id, each as the round saw it that is best by these."""
    best: dict[int, tuple[tuple[float, float, str], int]] = {}
    for index, taken, readable in chosen:
        recorded, read = table.rounds[index], set(places(readable))
        for place in places(taken):
            p_relevant = float(table.p_relevant[place]) if place in read else 0.0
            order = (-p_relevant, -float(recorded.similarity[place]), str(table.passages[place]))
            if place not in best or order < best[place][0]:
                best[place] = (order, int(recorded.version[place]))
    return [(place, best[place][1]) for place in sorted(best, key=lambda place: best[place][0])]


def is_recorded(table: RunTable, offered: list[tuple[int, int]]) -> bool:
    """Whether this is what the generator was given, its token budget cutting at the same place."""
    count = len(table.context)
    rest = tuple(place for place, _ in offered[count:])
    return tuple(offered[:count]) == table.context and rest == table.cut
