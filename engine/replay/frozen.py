"""The rounds before a branch as they were: nothing is searched, judged, decided or rewritten again there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.flow.context import NodeTrace, RunContext, Step
from engine.model.cost import Cost
from engine.model.events import (
    Decided,
    Event,
    Fused,
    ModelCalled,
    PassageGraded,
    PassageScreened,
    QualityChecked,
    Reranked,
    Retrieved,
    SetJudged,
)
from engine.model.events import Rewritten as Rewrote
from engine.model.values import BY_HAND, Decision, Fork, Rewrite, Round, RunRecord
from engine.replay.course import Driver, ReplayPath

_OF_A_ROUND = (Retrieved, PassageGraded, PassageScreened, SetJudged, Fused, Reranked, QualityChecked, Decided, Rewrote)
"""What happens is said as the record has it, and not as the settings of today would have it."""


class FrozenRounds:
    """Takes the place of a workflow's own steps as long as a branch goes the way of its parent.

    The steps run over the parent's record, so that the state has all that later steps read; rounds, decisions and
    rewrites are then those of the record. A verdict set by hand is about its passage and holds in these rounds too;
    their decisions stand all the same.
    """

    def __init__(self, driver: Driver, fork: Fork, evidence: RunRecord) -> None:
        """``driver`` replays the parent under its own settings; ``evidence`` is the parent with verdicts by hand."""
        self._driver = driver
        self._flow = driver.flow
        self._parent = driver.record
        self._fork = fork
        self._rounds = evidence.rounds
        self._visits: Counter[str] = Counter()
        self.spent = Cost()
        """What the newest visit cost."""

    def __call__(self, node: str, round_index: int) -> Step | None:
        """Replace a node's own step; None from the branch's round on."""
        if round_index >= self._fork.round:
            return None

        async def step(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
            return self._stand(node, state, run, trace)

        return step

    def _stand(self, node: str, state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
        self._visits[node] += 1
        course = ReplayPath(dict(state), [], frozen=True, visits=Counter({node: self._visits[node] - 1}))
        self._driver.visit(node, course)
        self.spent = course.cost
        changed = {key: value for key, value in course.state.items() if state.get(key) is not value}
        for call in self._parent.model_calls:
            if (call.node, call.round) == (node, trace.round):
                trace.call(replace(call, cached=True, start_ms=trace.now_ms(), duration_ms=0.0))
        for event in course.events:
            self._say(event, run)
        if "rounds" in changed:
            changed["rounds"] = self._rounds[: len(changed["rounds"])]
        if "decision" in changed:
            changed["decision"] = self._decision(node, trace.round, self._visits[node])
            self._say_round(node, trace.round, changed["decision"], run)
        if "rewrites" in changed:
            made = self._rewrite(changed["rewrites"][-1], trace.round)
            run.emit(Rewrote(rewrite=made))
            changed["rewrites"] = (*changed["rewrites"][:-1], made)
            for key in {"query", "updated_query"} & course.state.keys():
                changed[key] = made.rewritten_query
        return changed

    def _say(self, event: Event, run: RunContext) -> None:
        if isinstance(event, Retrieved):
            run.emit(Retrieved.opening(self._opened(self._rounds[event.round])))
        elif not isinstance(event, (*_OF_A_ROUND, ModelCalled)):
            run.emit(event)

    def _opened(self, recorded: Round) -> Round:
        return replace(recorded, verdicts={}, screened={}, reused=(), reranked=(), quality=None, whole=None)

    def _say_round(self, node: str, index: int, decision: Decision, run: RunContext) -> None:
        if node == self._flow.gate:
            recorded = self._rounds[index]
            for passage_id, verdict in recorded.screened.items():
                run.emit(PassageScreened(round=index, passage_id=passage_id, verdict=verdict))
            for passage_id, verdict in recorded.verdicts.items():
                reused = passage_id in recorded.reused
                run.emit(PassageGraded(round=index, passage_id=passage_id, verdict=verdict, reused=reused))
            if recorded.whole is not None:
                run.emit(SetJudged(round=index, verdict=recorded.whole))
            if recorded.reranked:
                run.emit(Reranked(round=index, order=recorded.reranked))
            if recorded.quality is not None:
                run.emit(QualityChecked(round=index, check=recorded.quality))
        run.emit(Decided(decision=decision))

    def _decision(self, node: str, index: int, visit: int) -> Decision:
        made = [item for item in self._parent.decisions if item.node == node]
        return next(item for item in made if item.round == index) if node == self._flow.gate else made[visit - 1]

    def _rewrite(self, made: Rewrite, index: int) -> Rewrite:
        if self._fork.query and index == self._fork.round - 1:
            return Rewrite(index, made.query, self._fork.query, "Written by hand.", strategy=BY_HAND)
        return next((item for item in self._parent.rewrites if item.round == made.round), made)
