"""Effect of a settings change on pinned runs: pure replays, nothing is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from engine.model.config import RunConfig
from engine.model.values import Outcome, RunRecord
from engine.replay import WhatIf, what_if

Direction = Literal["better", "worse", "other"]

_WORTH: dict[Outcome, int] = {
    "answered": 4,
    "answered_forced": 3,
    "answered_unverified": 2,
    "abstained": 1,
    "fallback": 1,
}
"""Of the outcomes that a path can lead to, from an answer that met its gate down; a failure is worth nothing."""


@dataclass(frozen=True, slots=True)
class PinnedChange:
    """One pinned run whose outcome the change turns into another one."""

    record: RunRecord
    before: WhatIf
    after: WhatIf

    @property
    def direction(self) -> Direction:
        """An answer from what the grader refused mends nothing."""
        old, new = _worth(self.before), _worth(self.after)
        if new > old and any(item.unaccepted for item in self.after.admits):
            return "worse"
        return "better" if new > old else "worse" if new < old else "other"


@dataclass(frozen=True, slots=True)
class PinnedEffect:
    """Effect on all pinned runs."""

    changes: tuple[PinnedChange, ...]
    unknown: tuple[RunRecord, ...]
    """Runs whose outcome would take calls to know, before or after the change."""
    total: int

    def count(self, direction: Direction) -> int:
        return sum(change.direction == direction for change in self.changes)


def pinned_effect(
    records: Iterable[RunRecord], before: Callable[[RunRecord], RunConfig], after: Callable[[RunRecord], RunConfig]
) -> PinnedEffect:
    """Each run under the settings before and after a change, which may depend on what the run itself was asked."""
    changes, unknown, total = [], [], 0
    for record in records:
        total += 1
        old, new = what_if(record, before(record)), what_if(record, after(record))
        if old.outcome is None or new.outcome is None:
            unknown.append(record)
        elif old.outcome != new.outcome:
            changes.append(PinnedChange(record, old, new))
    return PinnedEffect(tuple(changes), tuple(unknown), total)


def _worth(found: WhatIf) -> int:
    """An answer that is not supported is worth less than none."""
    if found.answer_note == "unsupported":
        return 0
    return _WORTH.get(found.outcome, 0) if found.outcome else 0
