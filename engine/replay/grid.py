"""Walks a recorded run under many settings at once: ``what_if`` in arrays, proved equal to it by a property test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from engine.model.config import RoleModels, RunConfig
from engine.model.values import ANSWERED
from engine.replay.cost import checks_of
from engine.replay.masks import BoolArray, FloatArray, IntArray, Words, any_of, column, counted, mask_of, places
from engine.replay.one_by_one import one_by_one
from engine.replay.replay import RETRIEVAL_SETTINGS, retrieval_differs
from engine.replay.settings import (
    COLUMNS,
    GAPS,
    OUTCOMES,
    REASONS,
    ROUTES,
    STATES,
    Paths,
    SettingsGrid,
    nowhere,
)
from engine.replay.table import RoundTable, RunTable

Chosen = Iterable[tuple[int, Words, Words]]
"""Rounds, what is taken of each, and which of its verdicts can be read."""
_DEFAULTS = RunConfig()
_FIELDS = frozenset(
    {
        *COLUMNS,
        *RETRIEVAL_SETTINGS,
        "models",
        "budget_s",
        "probe_k",
        "grade_probe",
        "expand",
        "reasons",
        "answer_unverified",
        "ignore_cache",
        "min_support",
    }
)
"""Fields of a config that the arrays model, or that change nothing where recorded replies are given."""
_ROLES = frozenset(
    {
        *("grader", "screener", "rewriter", "generator", "evaluator"),
        *("router", "reranker", "extractor", "vision", "verifier"),
    }
)
"""Roles that the arrays model, and those that the four-node loop never asks."""

_PASSED, _BELOW = REASONS.index("passed"), REASONS.index("below_gate")
_FAILED = REASONS.index("grader_failed")
_DEADLINE, _UNREACHED = REASONS.index("deadline"), REASONS.index("grader_unavailable")
_REWRITE, _GENERATE, _END = (ROUTES.index(name) for name in ("rewrite", "generate", "end"))
_ANSWERED = [OUTCOMES.index(outcome) for outcome in ANSWERED]
_KNOWN, _GENERATION = STATES.index("known"), STATES.index("generation")
_ROUTE_OF = np.array([{"below_gate": _REWRITE, "grader_failed": _END}.get(item, _GENERATE) for item in REASONS])


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
    """Return whether this is what the generator was given, its token budget cutting at the same place."""
    count = len(table.context)
    rest = tuple(place for place, _ in offered[count:])
    return tuple(offered[:count]) == table.context and rest == table.cut


def paths(table: RunTable, grid: SettingsGrid) -> Paths:
    """Find where each of the settings leads the run; equal to ``what_if`` in everything that both say."""
    if table.as_judged:
        table = table.judged_by(grid.base.models.grader)
    return _Sweep(table, grid).run() if at_once(table, grid.base) else one_by_one(table, grid)


def at_once(table: RunTable, config: RunConfig) -> bool:
    """Return whether settings like ``config`` can be tried in arrays; else each is replayed, in a millisecond.

    The arrays model the fields named here and nothing else: a run or settings that give any other field a value of its
    own are replayed, so that a field that is new cannot be overlooked.
    """
    # Only then do the same passages bring along the same.
    read = config.expand == "none" or table.record.surroundings is not None
    same = read and (config.expand, config.reasons) == (table.config.expand, table.config.reasons)
    # A reason that comes with its verdict is a call more, for some kinds of verdicts.
    same = same and config.reasons != "before"
    return same and table.plain and all(_modelled(item) for item in (table.config, config))


def _modelled(config: RunConfig) -> bool:
    return _as_default(config, _DEFAULTS, _FIELDS) and _as_default(config.models, _DEFAULTS.models, _ROLES)


def _as_default(value: RunConfig | RoleModels, default: RunConfig | RoleModels, but: frozenset[str]) -> bool:
    names = (item.name for item in fields(value) if item.name not in but)
    return all(hasattr(default, name) and getattr(value, name) == getattr(default, name) for name in names)


@dataclass(slots=True)
class _Judged:
    """One round under all settings: masks [words, S] and counts [S]."""

    kept: Words
    readable: Words
    passed: Words
    n_passed: IntArray
    n_kept: IntArray
    """What is unseen included."""
    n_unreadable: IntArray
    unknown: IntArray
    """Ungraded and unseen passages."""
    unseen: IntArray


class _Sweep:
    """The replay so far: the settings that are still on their way, and what is known of each."""

    def __init__(self, table: RunTable, grid: SettingsGrid) -> None:
        self.table, self.grid = table, grid
        self.base, recorded = grid.base, table.config
        size, shape = len(grid), (table.words, len(grid))
        self.same_grader = self.base.models.grader == recorded.models.grader
        self.same_rewriter = self.base.models.rewriter == recorded.models.rewriter
        self.same_generator = self.base.models.generator == recorded.models.generator
        self.other_budget = self.base.budget_s != recorded.budget_s
        self.fetch_k = np.maximum(grid.top_k, self.base.probe_k)
        self.counts_relevant = bool(grid.by_count.any())
        level = np.searchsorted(table.levels, grid.min_confidence)
        self.passing: Words = np.take(table.by_confidence, level, axis=1)
        self.active = np.ones(size, dtype=np.bool_)
        self.as_recorded = np.ones(size, dtype=np.bool_)
        self.read: Words = np.zeros(shape, dtype=np.uint64)
        self.graded: Words = np.zeros(shape, dtype=np.uint64)
        self.union: Words = np.zeros(shape, dtype=np.uint64)
        self.judged: list[_Judged] = []
        self.searches = np.zeros(size, dtype=np.int64)
        self.out = nowhere(table, size)

    def run(self) -> Paths:
        """Round by round until every setting has come to its end."""
        if not self.table.rounds or retrieval_differs(self.table.config, self.base):
            self.out.gap[:] = GAPS.index("retrieval" if self.table.rounds else "unrecorded")
            return self._finished()
        self._stop(self._unmeasured(), GAPS.index("unmeasured"))
        for index, recorded in enumerate(self.table.rounds):
            if not self.active.any():
                break
            self._round(index, recorded)
        return self._finished()

    def _unmeasured(self) -> BoolArray:
        """Mark the settings that :func:`engine.replay.replay.unmeasured` says nothing is known of."""
        origin, recorded, grid = self.table.record.origin, self.table.config, self.grid
        moved = np.zeros(len(grid), dtype=np.bool_)
        if origin is not None and origin.similarity == "unknown":
            moved |= grid.similarity_threshold != recorded.similarity_threshold
        if origin is not None and origin.confidence == "unknown":
            moved |= grid.min_confidence != recorded.min_confidence
        return moved

    def _round(self, index: int, recorded: RoundTable) -> None:
        out, active = self.out, self.active
        judged = self._judge(recorded)
        self.judged.append(judged)
        np.copyto(out.round, index, where=active)
        np.copyto(out.kept_last, judged.kept, where=active)
        self._first_given(index, judged)
        self._count_gradings(recorded, judged)
        reason, agreed = self._decide(index, recorded, judged)
        self._stop(active & ~agreed, np.where(judged.unseen > 0, GAPS.index("candidates"), GAPS.index("verdicts")))
        late = self._time_matters(recorded, judged, reason)
        self._stop(active & agreed & late, GAPS.index("time"))
        sure = active & agreed & ~late
        route = _ROUTE_OF[reason]
        for target, value in ((out.route, route), (out.reason, reason), (out.kept, judged.n_kept)):
            np.copyto(target, value, where=sure)
        np.copyto(out.passed, self._least(judged), where=sure)
        self.union = self.union | judged.passed
        self._end(sure & (route == _END))
        self._generate(index, judged, reason, sure & (route == _GENERATE))
        self._rewrite(recorded, judged, sure & (route == _REWRITE))

    # -- one round ----------------------------------------------------------------------------------------------

    def _judge(self, recorded: RoundTable) -> _Judged:
        grid = self.grid
        best = np.take(recorded.by_rank, np.minimum(grid.top_k, recorded.depth), axis=1)
        level = np.searchsorted(recorded.levels, grid.similarity_threshold)
        kept = best & np.take(recorded.by_similarity, level, axis=1)
        unseen = self._unseen(recorded)
        self._still_as_recorded(recorded, kept, unseen)
        asks = recorded.searched and self.same_grader
        nothing: Words = np.zeros_like(kept)
        # Verdicts of this round are known beyond those that earlier rounds of the path gave.
        readable = kept & (self.read | column(recorded.readable)) if asks else kept & self.read
        unread: Words = kept & column(recorded.unreadable) & ~readable if asks else nothing
        ungraded: Words = kept & ~readable & ~unread if recorded.searched else nothing
        if recorded.searched and not recorded.complete:
            # What was left undone in a round that stands as recorded is part of the recording.
            own = column(recorded.judged)
            readable = np.where(self.as_recorded, readable & own, readable)
            unread = np.where(self.as_recorded, unread & own, unread)
            ungraded = np.where(self.as_recorded, np.uint64(0), ungraded)
        passed = readable & self.passing
        self.read = self.read | readable
        return _Judged(
            kept=kept,
            readable=readable,
            passed=passed,
            n_passed=counted(passed),
            n_kept=counted(kept) + unseen,
            n_unreadable=counted(unread),
            unknown=counted(ungraded) + unseen,
            unseen=unseen,
        )

    def _unseen(self, recorded: RoundTable) -> IntArray:
        """Passages below the recorded depth that might be kept."""
        deeper = self.grid.top_k - recorded.depth
        might = (deeper > 0) & (recorded.below >= self.grid.similarity_threshold) & (not recorded.exhausted)
        if self.table.record.origin is not None:
            # As ``Evidence.reaches`` has it: another program asked for as many as its deepest search found.
            might &= (self.fetch_k > self.table.config.fetch_k) & (recorded.depth > 0)
        return np.where(might, deeper, 0)

    def _still_as_recorded(self, recorded: RoundTable, kept: Words, unseen: IntArray) -> None:
        if not (self.same_grader and recorded.decided):
            self.as_recorded = np.zeros_like(self.as_recorded)
            return
        same: BoolArray = self.as_recorded & (kept == column(recorded.kept)).all(axis=0) & (unseen == 0)
        if recorded.unreached:
            same &= any_of(self.union)
        self.as_recorded = same

    def _count_gradings(self, recorded: RoundTable, judged: _Judged) -> None:
        if not recorded.searched:
            return
        self.searches += self.active
        if not self.base.grade_probe:
            asked = judged.kept
        else:
            asked = np.take(recorded.by_rank, np.minimum(self.fetch_k, recorded.depth), axis=1)
        fresh = asked & ~self.graded
        if recorded.left.any():
            fresh = np.where(self.as_recorded, fresh & ~column(recorded.left), fresh)
        np.add(self.out.gradings, counted(fresh), out=self.out.gradings, where=self.active)
        self.graded = self.graded | (fresh & ~column(recorded.unreadable) if self.same_grader else fresh)

    def _first_given(self, index: int, judged: _Judged) -> None:
        for place in range(self.table.expectations):
            first = self.out.first_given[:, place]
            meets = any_of(judged.passed & column(self.table.met_by[place]))
            np.copyto(first, index, where=self.active & meets & (first < 0))

    # -- one decision -------------------------------------------------------------------------------------------

    def _decide(self, index: int, recorded: RoundTable, judged: _Judged) -> tuple[IntArray, BoolArray]:
        """The reason with everything unknown counted as failed, and where any other count gives the same one."""
        otherwise, unread = self._otherwise(index, recorded), judged.n_unreadable
        first = self._reason(judged, self._least(judged), unread, otherwise)
        agreed = np.ones(len(first), dtype=np.bool_)
        if (judged.unknown > 0).any():
            agreed = np.equal(first, self._reason(judged, judged.n_passed + judged.unknown, unread, otherwise))
            if self.base.models.grader.chats:
                agreed &= np.equal(first, self._reason(judged, judged.n_passed, unread + judged.unknown, otherwise))
        return first, agreed

    def _least(self, judged: _Judged) -> IntArray:
        """Passed passages with a plain no for everything unknown; at a bar of 0 even that one passes."""
        return judged.n_passed + np.where(self.grid.min_confidence <= 0, judged.unknown, 0)

    def _otherwise(self, index: int, recorded: RoundTable) -> IntArray:
        """The reason where the gate is not met, in the order of precedence."""
        if recorded.rewrite_failed:
            rest = REASONS.index("rewriter_failed")
        elif recorded.repeated:
            rest = REASONS.index("repeated_rewrite")
        else:
            rest = _BELOW if recorded.depth else REASONS.index("no_passages")
        reason = np.where(self.grid.max_rewrites <= index, REASONS.index("max_rewrites"), rest)
        if recorded.over and recorded.elapsed_s >= self.base.budget_s:
            reason = np.where(self.as_recorded, _DEADLINE, reason)
        return np.where(self.as_recorded, _UNREACHED, reason) if recorded.unreached else reason

    def _reason(self, judged: _Judged, n_passed: IntArray, n_unreadable: IntArray, otherwise: IntArray) -> IntArray:
        met = n_passed / np.maximum(judged.n_kept, 1) >= self.grid.grade_pass_threshold
        if self.counts_relevant:
            distinct = counted(self.union | judged.passed) + (n_passed - judged.n_passed)
            enough = np.where(self.grid.last_round, n_passed, distinct) >= self.grid.min_relevant
            met = np.where(self.grid.by_count, enough, met)
        reason = np.where(met, _PASSED, otherwise)
        return np.where((n_unreadable == judged.n_kept) & (judged.n_kept > 0), _FAILED, reason)

    def _time_matters(self, recorded: RoundTable, judged: _Judged, reason: IntArray) -> BoolArray:
        """Mark the settings under which the clock might have decided otherwise."""
        if not (recorded.over or recorded.left_out or recorded.ended_s >= self.base.budget_s):
            return np.zeros(len(reason), dtype=np.bool_)
        if self.other_budget:
            return np.ones(len(reason), dtype=np.bool_)
        decided = REASONS.index(recorded.reason) if recorded.reason else -1
        late: BoolArray = np.not_equal(reason, _PASSED) & np.not_equal(reason, decided) | (judged.unknown > 0)
        return late

    # -- where a path ends --------------------------------------------------------------------------------------

    def _stop(self, where: BoolArray, gap: IntArray | int) -> None:
        np.copyto(self.out.gap, gap, where=where)
        self.active = self.active & ~where

    def _end(self, where: BoolArray) -> None:
        if where.any():
            np.copyto(self.out.state, _KNOWN, where=where)
            np.copyto(self.out.outcome, OUTCOMES.index("failed"), where=where)
            np.copyto(self.out.context_known, True, where=where)
            self.active = self.active & ~where

    def _rewrite(self, recorded: RoundTable, judged: _Judged, where: BoolArray) -> None:
        if not where.any():
            return
        self.out.rewrites[:] += where
        if not recorded.rewritten or not self.same_rewriter:
            self._stop(where, GAPS.index("rewrite" if recorded.rewritten else "unrecorded"))
            return
        # The rewriter saw what failed; in the same round that is enough to know that it saw the same.
        other = ((judged.readable & ~judged.passed) != column(recorded.failed)).any(axis=0)
        gap = np.where(other, GAPS.index("rewrite"), -1 if recorded.goes_on else GAPS.index("unrecorded"))
        gap = np.where(judged.unknown > 0, GAPS.index("verdicts"), gap)
        self._stop(where & (gap >= 0), gap)
        self.out.paid_rewrites[:] += self.active & where

    def _generate(self, index: int, judged: _Judged, reason: IntArray, where: BoolArray) -> None:
        if not where.any():
            return
        out = self.out
        context = np.where(self.grid.last_round, judged.passed, self.union)
        given = any_of(context)
        answered = np.where(reason == _PASSED, OUTCOMES.index("answered"), OUTCOMES.index("answered_forced"))
        bounded, settled = where & (judged.unknown > 0), where & (judged.unknown == 0)
        # With nothing known to pass, an answer and its absence are both possible.
        sure = given if self.base.models.grader.chats else given | (self.grid.min_confidence <= 0)
        np.copyto(out.outcome, np.where(sure, answered, -1), where=bounded)
        np.copyto(out.gap, GAPS.index("verdicts"), where=bounded)
        np.copyto(out.state, _GENERATION, where=bounded)
        verified = settled & given
        np.copyto(out.outcome, np.where(given, answered, OUTCOMES.index("abstained")), where=settled)
        np.copyto(out.state, np.where(given, _GENERATION, _KNOWN), where=settled)
        np.copyto(out.context, context, where=settled)
        np.copyto(out.context_known, True, where=settled)
        np.copyto(out.gap, GAPS.index("answer"), where=verified)
        self._standing(verified & self._same_context(index, context, verified))
        self._unverified(index, settled & ~given)
        out.generations[:] += where & (out.outcome != OUTCOMES.index("abstained"))
        self.active = self.active & ~where

    def _standing(self, where: BoolArray) -> None:
        """The generator would see what it saw, so its answer stands."""
        np.copyto(self.out.state, _KNOWN, where=where)
        np.copyto(self.out.gap, -1, where=where)

    # -- what the generator sees --------------------------------------------------------------------------------

    def _same_context(self, index: int, context: Words, where: BoolArray) -> BoolArray:
        """Mark settings whose context is the recorded one: the same passages, each as the same round saw it."""
        table = self.table
        same = np.zeros(len(self.grid), dtype=np.bool_)
        if not (table.answered and self.same_generator and table.verified and table.context):
            return same
        recorded = mask_of([*(place for place, _ in table.context), *table.cut], table.words)
        unsure = np.flatnonzero(where & (context == column(recorded)).all(axis=0))
        for place, members in self._groups(unsure, [item.passed for item in self.judged]):
            passed = [(item, self.judged[item].passed[:, place]) for item in self._considered(index, place)]
            same[members] = is_recorded(table, ordered(table, [(item, mask, mask) for item, mask in passed]))
        return same

    def _unverified(self, index: int, where: BoolArray) -> None:
        """Settle the settings under which nothing passed and the best of what was kept is let in all the same."""
        if not self.base.answer_unverified:
            return
        out, table = self.out, self.table
        masks = [mask for item in self.judged for mask in (item.kept, item.readable)]
        for place, members in self._groups(np.flatnonzero(where), [self.grid.top_k[None], *masks]):
            judged = [(item, self.judged[item]) for item in self._considered(index, place)]
            offered = ordered(table, [(item, own.kept[:, place], own.readable[:, place]) for item, own in judged])
            given = offered[: int(self.grid.top_k[place])]
            if given:
                stands = table.answered and self.same_generator and not table.verified and is_recorded(table, given)
                out.outcome[members] = OUTCOMES.index("answered_unverified")
                out.state[members] = _KNOWN if stands else _GENERATION
                out.gap[members] = -1 if stands else GAPS.index("answer")
                out.context[:, members] = column(mask_of([item for item, _ in given], table.words))

    def _groups(self, places: IntArray, rows: list[Any]) -> Iterator[tuple[int, IntArray]]:
        """Group settings equal in all of ``rows`` [.., S] and in which rounds count, each group with one of them."""
        deciding = np.vstack([self.grid.last_round[None, places], *(row[:, places] for row in rows)])
        left = np.arange(len(places))
        while len(left):
            same = (deciding[:, left] == deciding[:, left[:1]]).all(axis=0)
            yield int(places[left[0]]), places[left[same]]
            left = left[~same]

    def _considered(self, index: int, place: int) -> list[int]:
        return [index] if self.grid.last_round[place] else list(range(index + 1))

    # -- what it costs ------------------------------------------------------------------------------------------

    def _finished(self) -> Paths:
        out, table, models = self.out, self.table, self.base.models
        stands = np.equal(out.state, _KNOWN) & np.isin(out.outcome, _ANSWERED)
        out.checks[:] = np.where(stands, checks_of(table.record, self.base) or 0, 0)
        parts = (
            (out.checks, models.verifier.in_process, table.checking_s),
            (out.gradings, models.grader.in_process, table.grading_s if self.same_grader else np.nan),
            (out.paid_rewrites, models.rewriter.built_in, table.rewrite_s if self.same_rewriter else np.nan),
            (out.generations, models.generator.built_in, table.generation_s if self.same_generator else np.nan),
        )
        seconds = _taken(self.searches, table.search_s)
        for count, built_in, each_s in parts:
            total = out.built_in_calls if built_in else out.calls
            total[:] += count
            seconds += _taken(count, each_s)
        out.seconds[:] = seconds
        for place in range(table.expectations):
            meets = column(table.met_by[place])
            out.given[:, place] = any_of(out.context & meets)
            out.found[:, place] = any_of(out.kept_last & meets)
        return out


def _taken(count: IntArray, each_s: float) -> FloatArray:
    """Seconds; nan only where an unmeasured step is taken."""
    taken: FloatArray = np.where(count > 0, np.nan, 0.0) if np.isnan(each_s) else np.multiply(count, each_s)
    return taken
