"""What-if of the answer-evaluation loop: the rounds of the four-node loop, then the recorded answers decided again.

An answer that would have to be written would be evaluated too, and no one knows with what result: where the writer
would be given something else, what comes after is not known.
"""

from __future__ import annotations

from dataclasses import replace

from engine.config import RunConfig
from engine.decide import Evidence
from engine.policies.answers import (
    NODE,
    REVISE,
    EvaluationEvidence,
    decide_evaluation,
    excerpts,
    gener_epoch,
    outcome_of_answer,
)
from engine.retrieval.assemble import assemble
from engine.values import Context, Decision, Draft, Outcome, Reason, RunRecord
from engine.whatif.judge import Judged
from engine.whatif.values import CallsNeeded, Gap, Price, WhatIf
from engine.whatif.walk import NO_LIMIT, Walk

_SETTLED: frozenset[Reason] = frozenset({"evaluation_passed", "max_epochs"})
"""Reasons that hold no matter what time is left, once there is an evaluation."""


def answer_evaluation(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``."""
    return _AnswersWalk(record, config).walk()


class _AnswersWalk(Walk):
    def decided(self, evidence: Evidence) -> Decision:
        decision = super().decided(evidence)
        return replace(decision, route="prepare") if decision.route == "generate" else decision

    def outcome(self, decision: Decision, context: Context) -> Outcome:
        return outcome_of_answer(decision, decision, context)[0]

    def generated(self, judged: Judged, decision: Decision) -> WhatIf:
        once = self.prices.generation + self.prices.evaluation
        if judged.unknown:
            return self._open("answer", self.prices.grading * judged.unknown + once, Context(()))
        context = assemble(self.rounds, self.config, NO_LIMIT, len)
        if not context.passages:
            return super().generated(judged, decision)
        if not self.record.drafts or not self.same_input(context):
            return self._open("answer", once, context)
        return self._answered(judged, decision, context)

    def _answered(self, judged: Judged, gate: Decision, context: Context) -> WhatIf:
        """The recorded answers one after another, each decided by its recorded evaluation."""
        recorded = [item for item in self.record.decisions if item.node == NODE]
        for place, draft in enumerate(self.record.drafts):
            self.cost, self.answers = self.cost + self.prices.generation, place + 1
            gap = self._gap(draft, judged, recorded[place : place + 1])
            if gap is not None:
                return self._open(gap, self.prices.evaluation, context, evaluating=True)
            self.cost = self.cost + self.prices.evaluation * (draft.evaluation is not None)
            decision = self._decision(draft, recorded[place])
            if self._late_answer(place, decision, recorded[place], judged):
                return self._open("time", self.prices.evaluation, context)
            self._add(decision)
            if decision.route != REVISE:
                return self._stands(draft, gate, decision, context)
        last = len(self.record.drafts)
        if len(recorded) <= last or not self._as_recorded(judged):
            return self._open("unrecorded", self.prices.generation + self.prices.evaluation, context)
        # A revision that came to nothing: the answer that it was to revise stands.
        self.cost = self.cost + self.prices.generation
        decision = self._decision(draft, recorded[last], writer_failed=True)
        if self._late_answer(last, decision, recorded[last], judged):
            return self._open("time", self.prices.generation, context)
        self._add(decision)
        return self._stands(draft, gate, decision, context)

    def _gap(self, draft: Draft, judged: Judged, recorded: list[Decision]) -> Gap | None:
        """Why it is not known how this answer would have been evaluated."""
        if not recorded:
            return "unrecorded"
        given = self.record.context.passages if self.record.context else ()
        if draft.evaluation is None:
            # That the evaluator failed, or had no time left, is part of the recording as it stands.
            return None if self._as_recorded(judged) and self._same_evaluator() else "evaluation"
        same = excerpts(given, self.config.top_k) == excerpts(given, self.record.config.top_k)
        return None if same and self._same_evaluator() else "evaluation"

    def _as_recorded(self, judged: Judged) -> bool:
        """Whether the answers come after the recorded rounds and no others, and so at their recorded time."""
        return judged.as_recorded and len(self.rounds) == len(self.record.rounds)

    def _same_evaluator(self) -> bool:
        return self.config.models.evaluator == self.record.config.models.evaluator

    def _decision(self, draft: Draft, recorded: Decision, *, writer_failed: bool = False) -> Decision:
        late = recorded.reason == "deadline"
        evidence = EvaluationEvidence(
            rounds=self.rounds,
            epoch=draft.index + 1,
            evaluation=draft.evaluation,
            elapsed_s=recorded.comparisons[-1].value if late else 0.0,
            writer_failed=writer_failed,
        )
        return decide_evaluation(evidence, self.config)

    def _late_answer(self, place: int, decision: Decision, recorded: Decision, judged: Judged) -> bool:
        """Whether the clock might have decided otherwise."""
        budget_s = self.config.budget_s
        if recorded.reason != "deadline" and self.clock.visit_ended_s(NODE, place + 1) < budget_s:
            return False
        if budget_s != self.record.config.budget_s or not self._as_recorded(judged):
            return True
        return decision.reason not in _SETTLED and decision.reason != recorded.reason

    def _add(self, decision: Decision) -> None:
        step = self.steps[-1]
        self.steps[-1] = replace(step, after=(*step.after, decision))

    def _stands(self, draft: Draft, gate: Decision, last: Decision, context: Context) -> WhatIf:
        outcome, reason = outcome_of_answer(gate, last, context)
        return self.told(state="known", gap=None, outcome=outcome, reason=reason, answer=draft.text, context=context)

    def _open(self, gap: Gap, next_price: Price, context: Context, *, evaluating: bool = False) -> WhatIf:
        """A path that is known up to an answer or its evaluation; at worst every answer that is left is written."""
        left = max(0, gener_epoch(self.config) - self.answers)
        worst = (self.prices.generation + self.prices.evaluation) * left
        if evaluating:
            worst = worst + self.prices.evaluation
        if gap == "answer":
            worst = worst + self.prices.grading * (len(self.steps[-1].ungraded) + self.steps[-1].unseen)
        return self.told(
            state="needs_calls",
            gap=gap,
            outcome=None,
            calls_needed=CallsNeeded(next_price, worst),
            context=context,
        )
