"""Whether a collection holds what the questions of a set expect: a set asked of the wrong one measures nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.errors import SetElsewhere
from engine.evaluation.cases import Case
from engine.evaluation.matching import folded_name


@dataclass(frozen=True, slots=True)
class Presence:
    """How many of the sources that a set expects a collection has."""

    collection: str
    present: int
    expected: int
    """Distinct sources that the set names, of passages those that they stand in; texts name none."""

    @property
    def nowhere(self) -> bool:
        """Nothing of what is expected is there, so nothing right can be found."""
        return self.expected > 0 and not self.present

    @property
    def partly(self) -> bool:
        return 0 < self.present < self.expected


def presence(cases: Iterable[Case], collection: str, sources: Iterable[str]) -> Presence:
    """Names are compared whichever Unicode form they have, as the figures compare them."""
    there = frozenset(map(folded_name, sources))
    wanted = {
        folded_name(item.value if item.kind == "source" else item.value.rpartition("#")[0])
        for case in cases
        for item in case.expected
        if item.kind != "text"
    }
    return Presence(collection, len(wanted & there), len(wanted))


def refuse_elsewhere(found: Presence) -> None:
    """Raises ``SetElsewhere`` where a collection holds nothing of what a set expects."""
    if found.nowhere:
        raise SetElsewhere(expected=found.expected, collection=found.collection)
