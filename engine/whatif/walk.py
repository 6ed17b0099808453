"""Walks a recorded run round by round under other settings, and stops where the record cannot tell what comes next.

The part that the loops of rounds and rewrites share: judge a round, decide it by the loop's own policy, and go on only
where the rewriter would have seen exactly what it saw. All of it is given the recorded replies of models; built-in
roles give the same ones every time.
"""

from __future__ import annotations

from dataclasses import replace

from engine.builtin.abstain import abstained_answer
from engine.config import RunConfig
from engine.decide import Evidence, decide, outcome_of
from engine.retrieval.assemble import assemble
from engine.retrieval.reciprocal import search_depth
from engine.rewrite_input import rewrite_request
from engine.roles import RewriteRequest
from engine.values import BY_HAND, Context, Decision, Outcome, Reason, Rewrite, Round, RunRecord, contents
from engine.whatif.clock import RecordedClock
from engine.whatif.judge import Judge, Judged
from engine.whatif.price import Tariff, tariff, unanswered
from engine.whatif.values import CallsNeeded, Gap, Price, State, Step, WhatIf

ANSWERED: frozenset[Outcome | None] = frozenset({"answered", "answered_forced", "answered_unverified"})
NO_LIMIT = 10**12
"""Tokens: what the budget cuts does not change what the generator is offered."""
ELSEWHERE = ("workflow", "collection", "milvus_address", "mode", "search")
"""Settings that make another search, of which a record knows nothing."""
_MET: frozenset[Reason] = frozenset({"passed", "quality_met"})
"""Reasons that no clock can take back: what is asked of the passages is met."""
_REWRITES = ("rewrite", "refine_query")
"""Where a route leads that continues with another query."""


def elsewhere(recorded: RunConfig, config: RunConfig) -> bool:
    """Whether ``config`` searches somewhere else than a run did, or in another way."""
    if any(getattr(config, name) != getattr(recorded, name) for name in ELSEWHERE):
        return True
    # A list by vectors only ends sooner; one that words had a part in may be in another order.
    return config.search != "vector" and search_depth(config.fetch_k) != search_depth(recorded.fetch_k)


class Walk:
    """The walk so far: rounds known in full, the decisions after them, and what they cost; the four-node loop's own."""

    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        self.record = record
        self.config = config
        self.prices: Tariff = tariff(record, config)
        self.full_grading = self.prices.grading * (config.fetch_k if config.grade_probe else config.top_k)
        self.clock = RecordedClock(record)
        self.judge = self.judge_of()
        self.steps: list[Step] = []
        self.cost = Price()
        self.answers = 0
        self.opening: tuple[Decision, ...] = ()

    @property
    def rounds(self) -> list[Round]:
        return self.judge.rounds

    def walk(self) -> WhatIf:
        """Round after round until the path ends or is no longer known."""
        gap = self.unknown_from_the_start()
        if gap is not None:
            return self.stopped(gap, self.prices.routing + self.prices.search + self.full_grading)
        while True:
            found = self.step()
            if found is not None:
                return found

    def step(self) -> WhatIf | None:
        """Judge and decide the next round; the finished what-if where the walk ends here, None where it is running."""
        judged = self.judge.judge(self.record.rounds[len(self.rounds)])
        self.cost = self.cost + self.opening_price(judged) + self.prices.grading * self.judge.gradings(judged)
        step = self.decide_round(judged)
        decision = step.decision
        self.rounds.append(step.round)
        self.steps.append(step)
        if decision is None:
            return self.undecided(judged)
        if self._time_matters(judged, decision):
            return self._late()
        if decision.route == "end":
            return self.told(state="known", gap=None, outcome="failed", reason=decision.reason)
        if decision.route not in _REWRITES:
            return self.generated(judged, decision)
        gap = self.gap_after_rewrite(judged)
        if gap is None:
            self.cost = self.cost + self.prices.rewrite
            return None
        ungraded = self.prices.grading * len(judged.ungraded)
        # The rest counts the coming rewrite itself.
        return self.stopped(gap, ungraded + self.prices.rewrite, before=ungraded)

    def stopped(self, gap: Gap, next_price: Price, before: Price | None = None) -> WhatIf:
        """A what-if that needs calls; at worst ``before`` (else ``next_price``) and every round that is left."""
        done = max(0, len(self.rounds) - 1)
        rest = self.prices.rounds_after(done, self.config) + self.prices.answering(self.config)
        worst = (next_price if before is None else before) + rest
        return self.told(state="needs_calls", gap=gap, calls_needed=CallsNeeded(next_price, worst), outcome=None)

    # -- what a loop may have otherwise -------------------------------------------------------------------------

    def unknown_from_the_start(self) -> Gap | None:
        """Why nothing of the path is known; None where its first round is recorded."""
        if not self.record.rounds:
            return "unrecorded"
        return "retrieval" if elsewhere(self.record.config, self.config) else None

    def opening_price(self, judged: Judged) -> Price:
        """What it costs until there is something to judge."""
        return self.prices.search * judged.round.searched

    def judge_of(self) -> Judge:
        """Who judges the rounds of this loop."""
        return Judge(self.record, self.config, self.clock)

    def decided(self, evidence: Evidence) -> Decision:
        """The loop's own policy."""
        return decide(evidence, self.config)

    def request(self, rounds: list[Round], history: tuple[Rewrite, ...]) -> RewriteRequest:
        """What the rewriter would see after these rounds."""
        return rewrite_request(self.record.question, rounds, history, self.config)

    def outcome(self, decision: Decision, context: Context) -> Outcome:
        return outcome_of(decision, context)

    def abstains(self, context: Context) -> bool:
        """Whether there is nothing that the generator could be given."""
        return not context.passages

    def deadline_s(self, config: RunConfig) -> float:
        """Seconds after which nothing more is searched."""
        return config.budget_s

    def generated(self, judged: Judged, decision: Decision) -> WhatIf:
        """The path came to its answer: does the recorded one stand?"""
        contexts = [
            assemble((*self.rounds[:-1], variant), self.config, NO_LIMIT, len)
            for variant in self.judge.variants(judged)
        ]
        outcomes = {self.outcome(decision, context) for context in contexts}
        outcome = outcomes.pop() if len(outcomes) == 1 else None
        reason = decision.reason
        if judged.unknown:
            self.cost = self.cost + self.prices.generation
            needed = self.prices.grading * judged.unknown + self.prices.generation
            return self.told(
                state="generation",
                gap="verdicts",
                outcome=outcome,
                reason=reason,
                calls_needed=CallsNeeded(needed, needed),
            )
        context = contexts[0]
        if self.abstains(context):
            answer = abstained_answer(self.record.question, tuple(self.rounds))
            return self.told(state="known", gap=None, outcome=outcome, reason=reason, answer=answer)
        self.cost = self.cost + self.prices.generation
        if self.record.outcome in ANSWERED and self.same_input(context):
            return self.told(
                state="known", gap=None, outcome=outcome, reason=reason, answer=self.record.answer, context=context
            )
        once = CallsNeeded(self.prices.generation, self.prices.generation)
        return self.told(
            state="generation", gap="answer", outcome=outcome, reason=reason, calls_needed=once, context=context
        )

    # -- one decision -------------------------------------------------------------------------------------------

    def decide_round(self, judged: Judged) -> Step:
        """The round with its decision, where every count of what is unknown gives the same route and reason."""
        index = judged.round.index
        upstream = self.clock.decision(index) if index < self.judge.upstream else None
        if upstream is not None:
            return Step(judged.round, upstream, passed=(upstream.passed, upstream.passed))
        decisions = [self.decided(self._evidence(variant, judged)) for variant in self.judge.variants(judged)]
        first = decisions[0]
        agreed = all((item.route, item.reason) == (first.route, first.reason) for item in decisions)
        passed = [item.passed for item in decisions]
        decision = first if agreed else None
        return Step(judged.round, decision, judged.ungraded, judged.unseen, (min(passed), max(passed)))

    def _evidence(self, current: Round, judged: Judged) -> Evidence:
        rewrite = self.clock.rewrite_before(current.index)
        return Evidence(
            rounds=(*self.rounds, current),
            elapsed_s=self.clock.elapsed_s(current.index) if judged.as_recorded else 0.0,
            repeated_rewrite=bool(rewrite and rewrite.repeated),
            rewriter_failed=bool(rewrite and rewrite.failed),
            grader_unavailable=judged.as_recorded and self.clock.unreached(current.index),
        )

    def _time_matters(self, judged: Judged, decision: Decision) -> bool:
        """Whether the clock, which no replay can turn back, might have decided otherwise."""
        index, deadline_s = judged.round.index, self.deadline_s(self.config)
        if index < self.judge.upstream:
            return False
        recorded = self.clock.decision(index)
        if not (self.clock.cut_short(index) or self.clock.ended_s(index) >= deadline_s):
            return False
        if deadline_s != self.deadline_s(self.record.config) or judged.unknown:
            return True
        # Time being up, only a gate that is met or what was decided then can be relied on.
        return decision.reason not in _MET and (recorded is None or decision.reason != recorded.reason)

    # -- where the walk ends ------------------------------------------------------------------------------------

    def _late(self) -> WhatIf:
        decision = self.steps[-1].decision
        self.steps[-1] = replace(self.steps[-1], decision=None)
        goes_on = decision is not None and decision.route in _REWRITES
        return self.stopped("time", self.prices.rewrite if goes_on else self.prices.generation, before=Price())

    def undecided(self, judged: Judged) -> WhatIf:
        if judged.unseen:
            return self.stopped("candidates", self.prices.search + self.prices.grading * judged.unknown)
        return self.stopped("verdicts", self.prices.grading * len(judged.ungraded))

    def gap_after_rewrite(self, judged: Judged) -> Gap | None:
        """Why the round after this one is not known; None where it is."""
        if judged.round.index < self.judge.upstream - 1:
            return None
        rewrite = self.clock.rewrite_before(judged.round.index + 1)
        if rewrite is None:
            return "unrecorded"
        if rewrite.strategy != BY_HAND and self.config.models.rewriter != self.record.config.models.rewriter:
            return "rewrite"
        if judged.round.index >= self.judge.upstream:
            if judged.unknown:
                return "verdicts"
            seen = self.request(self.rounds, self.record.rewrites[: len(self.rounds) - 1])
            if seen.digest() != rewrite.input_hash:
                return "rewrite"
        return None if len(self.record.rounds) > judged.round.index + 1 else "unrecorded"

    def same_input(self, context: Context) -> bool:
        """Whether the generator would be given exactly what it was."""
        given = self.record.context
        if given is None or self.config.models.generator != self.record.config.models.generator:
            return False
        count = len(given.passages)
        rest = tuple(passage.id for passage in context.passages[count:])
        same = contents(context.passages[:count]) == contents(given.passages)
        return same and context.verified == given.verified and rest == given.cut

    def told(
        self,
        *,
        state: State,
        gap: Gap | None,
        outcome: Outcome | None,
        reason: str = "",
        answer: str = "",
        calls_needed: CallsNeeded = CallsNeeded(),  # noqa: B008 - frozen
        context: Context | None = None,
    ) -> WhatIf:
        """All that the walk found out."""
        made = (*self.opening, *(decision for step in self.steps for decision in step.decisions))
        path = [(decision.route, decision.reason) for decision in made]
        recorded = [(decision.route, decision.reason) for decision in self.record.decisions]
        return WhatIf(
            config=self.config,
            state=state,
            steps=tuple(self.steps),
            gap=gap,
            outcome=outcome,
            reason=reason,
            passages=context.passages if context else (),
            verified=context.verified if context else True,
            answer=answer,
            calls_needed=calls_needed.without_times() if unanswered(self.record, self.config) else calls_needed,
            cost=self.cost,
            opening=self.opening,
            answers=self.answers,
            same_path=state != "needs_calls" and path == recorded and outcome == self.record.outcome,
        )
