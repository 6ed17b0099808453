"""Recorded roles of the answer-evaluation loop: its writer and its evaluator.

An answer that would have to be written would be evaluated too, and what the evaluation would say is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import ModelError
from engine.flow.context import Roles
from engine.model.cost import Cost
from engine.model.surroundings import around_of, read_with
from engine.model.values import Decision, Draft, Evaluation, Reason, RunRecord
from engine.replay.course import ReplayPath, Unrecorded, decisions_of
from engine.replay.recorded import RecordedRole, same_context
from engine.replay.replay import Replay
from engine.replay.values import Gap
from engine.roles import NO_LIMIT, SILENT, EvaluationRequest, Trace
from engine.workflows.answer_evaluation.options import gener_epoch
from engine.workflows.answer_evaluation.policy import NODE, excerpts
from engine.workflows.answer_evaluation.roles import AnswerRoles

_SETTLED: frozenset[Reason] = frozenset({"evaluation_passed", "max_epochs"})
"""Reasons that hold no matter what time is left, once there is an evaluation."""


class AnswersReplay(Replay):
    """A what-if of the answer-evaluation loop."""

    def roles(self) -> Roles:
        writer = _RecordedWriter(self.evidence, self.driver)
        return replace(super().roles(), own=AnswerRoles(writer, writer, _observe))

    def rest(self, picture: RunRecord, course: ReplayPath, gap: Gap) -> Cost:
        """Return the worst cost of what is left; after an answer, every one left is written and evaluated."""
        if picture.context is None:
            return super().rest(picture, course, gap)
        prices = self.evidence.prices
        left = max(0, gener_epoch(self.config) - course.answers)
        return (prices.generation + prices.evaluation) * left + prices.checks

    def check(self, course: ReplayPath, name: str, before: ReplayPath) -> Unrecorded | None:
        if name != NODE:
            return super().check(course, name, before)
        decision, visit = decisions_of(course)[-1], course.visits[NODE]
        recorded = self.evidence.clock.decision_of_visit(NODE, visit)
        if recorded is None or not self._late(course, decision, recorded):
            return None
        prices = self.evidence.prices
        missing = prices.generation if course.state["writer_failed"] else prices.evaluation
        return Unrecorded("time", missing, Cost(), undecided=True)

    def _late(self, course: ReplayPath, decision: Decision, recorded: Decision) -> bool:
        """Return whether the clock might have decided otherwise about an answer."""
        budget_s = self.config.budget_s
        ended_s = self.evidence.clock.visit_ended_s(NODE, course.visits[NODE])
        if recorded.reason != "deadline" and ended_s < budget_s:
            return False
        if budget_s != self.record.config.budget_s or not all_as_recorded(course, self.record):
            return True
        return decision.reason not in _SETTLED and decision.reason != recorded.reason


def all_as_recorded(course: ReplayPath, record: RunRecord) -> bool:
    """Return whether an answer comes after the recorded rounds and no others, and so at its recorded time."""
    return course.as_recorded and len(course.rounds) == len(record.rounds)


async def _observe(made: Mapping[str, Any]) -> None:
    """A replay leaves no observation."""


class _RecordedWriter(RecordedRole):
    """Writes the recorded answers again, and evaluates them as they were."""

    context_tokens = NO_LIMIT

    def count_tokens(self, text: str) -> int:
        return 0

    async def write(self, messages: Sequence[Any], trace: Trace = SILENT) -> str:
        evidence, course = self._evidence, self._driver.course
        record, prices = evidence.record, evidence.prices
        once = prices.generation + prices.evaluation
        if course.unknown:
            judging = prices.judging * course.unknown
            raise Unrecorded("answer", judging + once, judging)
        number: int = course.state["epoch"]
        same = evidence.same("generator") and evidence.same_open(course.rounds)
        same = same and same_context(course.state["context"], record, evidence.config)
        if not (record.drafts and same):
            raise Unrecorded("answer", once, Cost())
        if number < len(record.drafts) and (not course.live or self._revised_the_same(number, course)):
            course.cost, course.answers = course.cost + prices.generation, number + 1
            return record.drafts[number].text
        revised = evidence.clock.decision_of_visit(NODE, number + 1)
        if course.live or revised is None or not all_as_recorded(course, record):
            raise Unrecorded("unrecorded", once, Cost())
        # A revision that came to nothing: the answer that it was to revise stands.
        course.cost += prices.generation
        raise ModelError.restored("The recorded revision came to nothing.", "")

    def _revised_the_same(self, number: int, course: ReplayPath) -> bool:
        """Return whether the answer before was the recorded one, and had the same verdict."""
        former = self._evidence.record.drafts[number - 1] if number else None
        state = course.state
        return former is None or (former.text, former.evaluation) == (state["last_answer"], state["last_evaluation"])

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        evidence, course = self._evidence, self._driver.course
        number, drafts = course.state["draft"].index, evidence.record.drafts
        if course.live and (number >= len(drafts) or drafts[number].text != course.state["draft"].text):
            raise Unrecorded("evaluation", evidence.prices.evaluation)
        draft: Draft = drafts[number]
        gap = self._gap(draft, course)
        price = evidence.prices.evaluation
        if gap is not None:
            raise Unrecorded(gap, price)
        if draft.evaluation is None and course.live:
            raise Unrecorded("evaluation", price)
        if draft.evaluation is None:
            raise ModelError.restored("The recorded evaluation came to nothing.", "")
        course.cost += price
        return draft.evaluation

    def _gap(self, draft: Draft, course: ReplayPath) -> Gap | None:
        """Explain why this answer's evaluation is unknown."""
        evidence, record = self._evidence, self._evidence.record
        if evidence.clock.decision_of_visit(NODE, draft.index + 1) is None:
            return "unrecorded"
        if draft.evaluation is None:
            # That the evaluator failed, or had no time left, is part of the recording as it stands.
            return None if all_as_recorded(course, record) and evidence.same("evaluator") else "evaluation"
        given = read_with(record.context.passages, around_of(record)) if record.context else ()
        same = excerpts(given, evidence.config.top_k) == excerpts(given, record.config.top_k)
        return None if same and evidence.same("evaluator") else "evaluation"
