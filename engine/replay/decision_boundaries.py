"""Range of each setting in which a run ends equally, and the smallest change that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.values import ANSWERED, AnswerNote, Outcome, PassageId, RunRecord
from engine.replay import what_if
from engine.replay.admitted import Admitted
from engine.replay.grid import paths
from engine.replay.lines import GATES, as_set, line, nearest, numbers_of, share_of
from engine.replay.masks import BoolArray, IntArray
from engine.replay.settings import OUTCOMES, STATES, Column, Paths, SettingsGrid
from engine.replay.table import RunTable, run_table
from engine.replay.values import State

_ANSWERED = OUTCOMES.index("answered")
_ROUNDS = 100
"""More than any run has."""


@dataclass(frozen=True, slots=True)
class DecisionBoundary:
    """The nearest value of one setting at which the run ends differently, and where that leads."""

    name: Column
    value_from: float | str
    value_to: float | str
    outcome: Outcome
    round: int
    """The round that leads to the outcome."""
    rewrites_saved: int
    """Below 0 where more are needed."""
    steps_saved: int
    """Gradings, rewrites and generations; below 0 where more are needed."""
    state: State
    share: float = 1.0
    """How far the setting moves, as a share of its range; another gate counts as its whole range."""
    admits: tuple[Admitted, ...] = ()
    """Passages that the answer would be written from although the run had held them back."""
    answer_note: AnswerNote = ""
    """What is to be said of the recorded answer, where it would stand."""

    @property
    def rejected(self) -> int:
        """Passages that would be given to the generator although no grader called them relevant."""
        return sum(item.unaccepted and item.held_by != "below_bar" for item in self.admits)

    @property
    def place(self) -> tuple[bool, bool, bool, float]:
        """What is proposed first: what lets nothing refused in, then nothing at all, then all but the grader's bar,
        then the nearest."""
        return self.rejected > 0, bool(self.admits), self.name == "min_confidence", self.share


class Sweep:
    """A run under a config with one setting moved at a time, the others as they are.

    Each setting is tried once: boundaries, remedy and stable ranges read the same paths.
    """

    def __init__(self, table: RunTable, config: RunConfig) -> None:
        self.table = table.judged_by(config.models.grader)
        self.config = config
        self.here = paths(table, SettingsGrid.of([config]))
        self._tried: dict[Column, tuple[list[float], Paths]] = {}

    def number(self, name: Column) -> tuple[list[float], Paths]:
        """The values that are worth trying, ascending, and where they lead."""
        if name not in self._tried:
            values, grid = line(self.table, self.config, name)
            self._tried[name] = values, paths(self.table, grid)
        return self._tried[name]

    def boundaries(self) -> tuple[DecisionBoundary, ...]:
        """Find by setting and direction the nearest value at which outcome or answering round change.

        They come in the order of :attr:`DecisionBoundary.place`, and only where the evidence confirms them: the path
        under the config and the one at the new value are known.
        """
        own = _ends(self.here)[0]
        if own < 0:
            return ()
        found = self._nearest(lambda tried: _where(_ends(tried) != own, _ends(tried)))
        return tuple(sorted(found, key=lambda boundary: boundary.place))

    def smallest_changes(self, *, answerable: bool | None = None) -> tuple[DecisionBoundary, ...]:
        """Choose from :meth:`boundaries` what is worth proposing: what ends the run in another way.

        The same end for less is none, nor is an answer where ``answerable`` false says that there is none.
        """
        outcome = OUTCOMES[self.here.outcome[0]]
        return tuple(
            item
            for item in self.boundaries()
            if item.outcome != outcome and not (answerable is False and item.outcome in ANSWERED)
        )

    def stable_ranges(self, names: Iterable[Column]) -> dict[Column, tuple[float, float]]:
        """Find by setting the least and greatest value around the config's own that lead to the same end.

        Both are included. The same end: outcome, answering round and reason. Nothing for a setting whose own end is not
        known.
        """
        here = self.here
        if not here.path_known[0] or here.outcome[0] < 0:
            return {}
        found: dict[Column, tuple[float, float]] = {}
        for name in names:
            values, tried = self.number(name)
            own = values.index(float(getattr(self.config, name)))
            same = (
                tried.path_known
                & (tried.outcome == here.outcome[0])
                & (tried.round == here.round[0])
                & (tried.reason == here.reason[0])
            )
            others = np.flatnonzero(~same)
            low = int(others[others < own].max(initial=-1)) + 1
            high = int(others[others > own].min(initial=len(values))) - 1
            found[name] = (values[low], values[high])
        return found

    def remedy(self, *, labelled: bool) -> DecisionBoundary | None:
        """Choose the change to a good end that is first by :attr:`DecisionBoundary.place`, then saves most steps."""
        if _well(self.here, labelled=labelled)[0] >= 0:
            return None
        found = self._nearest(lambda tried: _well(tried, labelled=labelled))
        proposed = [boundary for boundary in found if labelled or not boundary.rejected]
        return min(proposed, key=lambda boundary: (*boundary.place, -boundary.steps_saved), default=None)

    def _nearest(self, wanted: Callable[[Paths], IntArray]) -> list[DecisionBoundary]:
        """The nearest wanted ends (0 or more) by setting and direction, then the other gate's."""
        found: list[DecisionBoundary] = []
        for name in numbers_of(self.config):
            values, tried = self.number(name)
            for up in (False, True):
                place = nearest(values, wanted(tried), float(getattr(self.config, name)), up=up)
                if place is not None:
                    found.append(self._at(name, as_set(name, values[place]), tried, place))
        gate = next(gate for gate in GATES if gate != self.config.gate)
        # A workflow without a gate ends the same under both.
        tried = paths(self.table, SettingsGrid.of([replace(self.config, gate=gate)]))
        if wanted(tried)[0] >= 0:
            found.append(self._at("gate", gate, tried, 0))
        return found

    def _at(self, name: Column, value: Any, tried: Paths, place: int) -> DecisionBoundary:
        """Describe the change of one setting to what was tried at ``place``."""
        changed: dict[str, Any] = {name: value}
        old = getattr(self.config, name)
        found = what_if(self.table.record, replace(self.config, **changed))
        return DecisionBoundary(
            name=name,
            value_from=old,
            value_to=value,
            outcome=OUTCOMES[tried.outcome[place]],
            round=int(tried.round[place]),
            rewrites_saved=int(self.here.rewrites[0] - tried.rewrites[place]),
            steps_saved=int(self.here.steps[0] - tried.steps[place]),
            state=STATES[tried.state[place]],
            share=1.0 if name == "gate" else share_of(name, old, value),
            admits=found.admits,
            answer_note=found.answer_note,
        )


def remedy(
    record: RunRecord,
    config: RunConfig,
    met: Mapping[PassageId, tuple[int, ...]] | None = None,
    *,
    answerable: bool | None = None,
) -> DecisionBoundary | None:
    """Find the change that moves one setting least, as a share of its range, and leads to an answer whose gate was met.

    With ``met``, expectations by passage, the generator must also be given an expected passage; what also lets
    refused passages in is proposed last, and names them. Without, it is not proposed at all: that would be an answer
    and no remedy. None where the run ends well already under ``config``, where no single change is known to help, and
    where ``answerable`` false says that there is no answer. Another gate counts as its whole range, so that moving a
    slider is proposed first.
    """
    if not workflow(record.workflow).on_grid or answerable is False:
        # Other loops end well by other gates than the ones that are moved here.
        return None
    expectations = 1 + max((place for places in (met or {}).values() for place in places), default=-1)
    return Sweep(run_table(record, met, expectations), config).remedy(labelled=bool(met))


def _ends(tried: Paths) -> IntArray:
    """Outcome and round as one number; -1 where they are not known."""
    return _where(tried.path_known & (tried.outcome >= 0), tried.outcome * _ROUNDS + tried.round)


def _well(tried: Paths, *, labelled: bool) -> IntArray:
    """The round that answers, its gate met, by setting; -1 where that is not known or not so."""
    good = tried.path_known & (tried.outcome == _ANSWERED)
    if labelled:
        good &= tried.given.any(axis=1)
    return _where(good, tried.round)


def _where(true: BoolArray, ends: IntArray) -> IntArray:
    found: IntArray = np.where(true, ends, -1)
    return found
