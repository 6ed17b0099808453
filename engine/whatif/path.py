"""Walks a recorded run again under other settings, and stops where the record cannot tell what comes next.

The decisions come from :func:`engine.decide.decide`, as in a real run. A passage without a recorded verdict is bounded:
counted as irrelevant, then as relevant (and as unreadable, where a chat model might reply so and decide by it); only
where all give one route and reason, the route is known. A later round is known only if the rewriter would have seen
exactly what it saw. All of it is given the recorded replies of models; built-in roles give the same ones every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.builtin.abstain import abstained_answer
from engine.config import RunConfig
from engine.decide import Evidence, decide, gated, outcome_of, passed_ids
from engine.retrieval.assemble import assemble
from engine.rewrite_input import rewrite_request
from engine.values import (
    BY_HAND,
    Candidate,
    Context,
    Decision,
    Outcome,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RunRecord,
    Verdict,
)
from engine.whatif.clock import RecordedClock
from engine.whatif.price import Tariff, tariff
from engine.whatif.values import CallsNeeded, Gap, Price, State, Step, WhatIf

_YES = Verdict(True, 1.0, "")
_UNREADABLE = Verdict(None, 0.0, "")
_ANSWERED: frozenset[Outcome | None] = frozenset({"answered", "answered_forced", "answered_unverified"})
ELSEWHERE = ("workflow", "collection", "milvus_address", "mode")
"""Settings that make another search, of which a record knows nothing."""


def what_if(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``; calls nothing and changes nothing.

    Works on a record of any outcome: what it has is used, and where it ends, the path ends.
    """
    walk = _Walk(record, config)
    if any(getattr(config, name) != getattr(record.config, name) for name in ELSEWHERE) or not record.rounds:
        return walk.stopped("retrieval" if record.rounds else "unrecorded", walk.prices.search + walk.full_grading)
    while True:
        step = walk.step()
        if isinstance(step, WhatIf):
            return step


@dataclass(frozen=True, slots=True)
class _Judged:
    """One round under the new settings."""

    round: Round
    ungraded: tuple[PassageId, ...]
    unseen: int
    as_recorded: bool
    """This round and all before it are the recorded ones: what was left undone there is part of the recording."""


class _Walk:
    """The walk so far: rounds known in full, the decisions after them, and what they cost."""

    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        self.record = record
        self.config = config
        self.prices: Tariff = tariff(record, config)
        self.full_grading = self.prices.grading * (config.fetch_k if config.grade_probe else config.top_k)
        self.same_grader = config.models.grader == record.config.models.grader
        self.clock = RecordedClock(record)
        self.upstream = record.fork.round if record.fork else 0
        self.by_hand = {
            name: verdict
            for item in record.rounds
            for name, verdict in item.verdicts.items()
            if verdict.grader == BY_HAND
        }
        self.rounds: list[Round] = []
        self.steps: list[Step] = []
        self.graded: set[PassageId] = set()
        self.cost = Price()
        self.as_recorded = True

    def step(self) -> WhatIf | None:
        """Judge and decide the next round; the finished what-if where the walk ends here, None where it goes on."""
        index = len(self.rounds)
        judged = self._judge(self.record.rounds[index])
        self.as_recorded = judged.as_recorded
        self.cost = self.cost + self.prices.search * judged.round.searched + self._gradings(judged)
        decision, passed = self._decide(judged)
        self.rounds.append(judged.round)
        self.steps.append(Step(judged.round, decision, judged.ungraded, judged.unseen, passed))
        if decision is None:
            return self._undecided(judged)
        if self._time_matters(judged, decision):
            return self._undecided(judged, "time")
        if decision.route == "end":
            return self._ended(decision)
        if decision.route == "generate":
            return self._generated(judged, decision)
        gap = self._gap_after_rewrite(judged)
        if gap is None:
            self.cost = self.cost + self.prices.rewrite
            return None
        ungraded = self.prices.grading * len(judged.ungraded)
        # The rest counts the coming rewrite itself.
        return self.stopped(gap, ungraded + self.prices.rewrite, before=ungraded)

    def stopped(self, gap: Gap, next_price: Price, before: Price | None = None) -> WhatIf:
        """A what-if that needs calls; at worst ``before`` (else ``next_price``) and every round that is left."""
        done = max(0, len(self.rounds) - 1)
        rest = self.prices.rounds_after(done, self.config) + self.prices.generation
        worst = (next_price if before is None else before) + rest
        return self._what_if(state="needs_calls", gap=gap, calls_needed=CallsNeeded(next_price, worst), outcome=None)

    # -- one round ----------------------------------------------------------------------------------------------

    def _judge(self, recorded: Round) -> _Judged:
        """The recorded round under the new gates, with the verdicts that its passages would have had."""
        if recorded.index < self.upstream:
            return _Judged(recorded, (), 0, as_recorded=True)
        passages = [item.passage for item in recorded.candidates]
        regated = replace(recorded, candidates=gated(passages, self.config), reused=())
        former = replace(recorded, candidates=gated(passages, self.record.config))
        same = (
            self.as_recorded
            and self.same_grader
            and self.clock.decision(recorded.index) is not None
            and regated.kept == former.kept
            and not self._unseen(recorded)
            and not (self.clock.unreached(recorded.index) and not self._any_passed())
        )
        if same:
            judged_here = {item.passage.id for item in self._to_judge(regated)}
            verdicts = {name: verdict for name, verdict in recorded.verdicts.items() if name in judged_here}
            reused = tuple(name for name in recorded.reused if name in judged_here)
            return _Judged(replace(regated, verdicts=verdicts, reused=reused), (), 0, as_recorded=True)
        earlier = _readable(self.rounds)
        verdicts = {}
        ungraded: list[PassageId] = []
        for passage in regated.kept:
            verdict = earlier.get(passage.id)
            if verdict is None and recorded.searched:
                verdict = self._recorded_verdict(recorded, passage.id)
                if verdict is None:
                    ungraded.append(passage.id)
            if verdict is not None:
                verdicts[passage.id] = verdict
        reused = tuple(passage.id for passage in regated.kept if passage.id in earlier)
        judged = replace(regated, verdicts=verdicts, reused=reused)
        return _Judged(judged, tuple(ungraded), self._unseen(recorded), as_recorded=False)

    def _recorded_verdict(self, recorded: Round, passage_id: PassageId) -> Verdict | None:
        if passage_id in self.by_hand:
            # What a reader judged holds whoever grades the rest.
            return self.by_hand[passage_id]
        if not self.same_grader:
            return None
        own = recorded.verdicts.get(passage_id)
        if own is not None:
            return own
        others = [item.verdicts[passage_id] for item in self.record.rounds if passage_id in item.verdicts]
        return next((item for item in others if item.relevant is not None), others[0] if others else None)

    def _unseen(self, recorded: Round) -> int:
        """How many passages below the recorded depth these settings might keep."""
        depth = len(recorded.candidates)
        if depth < self.record.config.fetch_k or self.config.top_k <= depth:
            return 0
        # Best first: what comes after the last one is no more similar than it.
        last = recorded.candidates[-1].passage.similarity
        return self.config.top_k - depth if last >= self.config.similarity_threshold else 0

    def _gradings(self, judged: _Judged) -> Price:
        current = judged.round
        if not current.searched:
            return self.prices.grading * 0
        recorded = self.record.rounds[current.index]
        fresh = 0
        for item in self._to_judge(current):
            name = item.passage.id
            verdict = current.verdicts.get(name)
            left_out = judged.as_recorded and (item.gate == "kept" or self.record.config.grade_probe)
            if name in self.graded or (verdict is None and left_out):
                continue
            fresh += 1
            verdict = verdict or self._recorded_verdict(recorded, name)
            if verdict is None or verdict.relevant is not None:
                self.graded.add(name)
        return self.prices.grading * fresh

    def _to_judge(self, current: Round) -> list[Candidate]:
        """What the grade step looks at: the kept, or everything that the search would have fetched."""
        return [
            item
            for item in current.candidates
            if item.gate == "kept" or (self.config.grade_probe and item.rank <= self.config.fetch_k)
        ]

    # -- one decision -------------------------------------------------------------------------------------------

    def _decide(self, judged: _Judged) -> tuple[Decision | None, tuple[int, int]]:
        index = judged.round.index
        upstream = self.clock.decision(index) if index < self.upstream else None
        if upstream is not None:
            return upstream, (upstream.passed, upstream.passed)
        decisions = [decide(self._evidence(variant, judged), self.config) for variant in self._variants(judged)]
        first = decisions[0]
        agreed = all((item.route, item.reason) == (first.route, first.reason) for item in decisions)
        passed = [item.passed for item in decisions]
        return (first if agreed else None), (min(passed), max(passed))

    def _variants(self, judged: _Judged) -> Iterable[Round]:
        """The round with everything unknown counted as failed, as passed, and as unreadable."""
        if not judged.ungraded and not judged.unseen:
            yield judged.round
            return
        extra = tuple(
            Candidate(Passage(PassageId(f"unseen {place}"), "", "", 1.0, 1.0), rank=1, gate="kept", margin=0.0)
            for place in range(judged.unseen)
        )
        wider = replace(judged.round, candidates=(*judged.round.candidates, *extra))
        unknown = (*judged.ungraded, *(item.passage.id for item in extra))
        no = replace(_YES, relevant=False)
        # A "no" without doubt passes where even P(relevant) = 0 does.
        yield replace(wider, verdicts={**wider.verdicts, **dict.fromkeys(unknown, no)})
        yield replace(wider, verdicts={**wider.verdicts, **dict.fromkeys(unknown, _YES)})
        if not self.config.models.grader.built_in:
            yield replace(wider, verdicts={**wider.verdicts, **dict.fromkeys(unknown, _UNREADABLE)})

    def _evidence(self, current: Round, judged: _Judged) -> Evidence:
        rewrite = self.clock.rewrite_before(current.index)
        return Evidence(
            rounds=(*self.rounds, current),
            elapsed_s=self.clock.elapsed_s(current.index) if judged.as_recorded else 0.0,
            repeated_rewrite=bool(rewrite and rewrite.repeated),
            rewriter_failed=bool(rewrite and rewrite.failed),
            grader_unavailable=judged.as_recorded and self.clock.unreached(current.index),
        )

    def _any_passed(self) -> bool:
        """Whether a passage of the rounds so far passed; without one, a grader out of reach fails the whole run."""
        return any(passed_ids(item, self.config) for item in self.rounds)

    def _time_matters(self, judged: _Judged, decision: Decision) -> bool:
        """Whether the clock, which no replay can turn back, might have decided otherwise."""
        index = judged.round.index
        if index < self.upstream:
            return False
        recorded = self.clock.decision(index)
        if not (
            self.clock.over(index) or self.clock.left_out(index) or self.clock.ended_s(index) >= self.config.budget_s
        ):
            return False
        if self.config.budget_s != self.record.config.budget_s or judged.ungraded or judged.unseen:
            return True
        # Time being up, only a gate that is met or what was decided then can be relied on.
        return decision.reason != "passed" and (recorded is None or decision.reason != recorded.reason)

    # -- where the walk ends ------------------------------------------------------------------------------------

    def _undecided(self, judged: _Judged, gap: Gap | None = None) -> WhatIf:
        if gap == "time":
            decision = self.steps[-1].decision
            self.steps[-1] = replace(self.steps[-1], decision=None)
            goes_on = decision is not None and decision.route == "rewrite"
            return self.stopped("time", self.prices.rewrite if goes_on else self.prices.generation, before=Price())
        if judged.unseen:
            extra = self.prices.grading * (len(judged.ungraded) + judged.unseen)
            return self.stopped("candidates", self.prices.search + extra)
        return self.stopped("verdicts", self.prices.grading * len(judged.ungraded))

    def _gap_after_rewrite(self, judged: _Judged) -> Gap | None:
        """Why the round after this one is not known; None where it is."""
        if judged.round.index < self.upstream - 1:
            return None
        rewrite = self.clock.rewrite_before(judged.round.index + 1)
        if rewrite is None:
            return "unrecorded"
        if rewrite.strategy != BY_HAND and self.config.models.rewriter != self.record.config.models.rewriter:
            return "rewrite"
        if judged.round.index >= self.upstream:
            if judged.ungraded or judged.unseen:
                return "verdicts"
            seen = rewrite_request(self.record.question, self.rounds, self._history(), self.config)
            if seen.digest() != rewrite.input_hash:
                return "rewrite"
        return None if len(self.record.rounds) > judged.round.index + 1 else "unrecorded"

    def _history(self) -> tuple[Rewrite, ...]:
        return self.record.rewrites[: len(self.rounds) - 1]

    def _ended(self, decision: Decision) -> WhatIf:
        return self._what_if(state="known", gap=None, outcome="failed", reason=decision.reason)

    def _generated(self, judged: _Judged, decision: Decision) -> WhatIf:
        contexts = [
            assemble((*self.rounds[:-1], variant), self.config, _NO_LIMIT, len) for variant in self._variants(judged)
        ]
        outcomes = {outcome_of(decision, context) for context in contexts}
        outcome = outcomes.pop() if len(outcomes) == 1 else None
        reason = decision.reason
        if judged.ungraded or judged.unseen:
            self.cost = self.cost + self.prices.generation
            needed = self.prices.grading * (len(judged.ungraded) + judged.unseen) + self.prices.generation
            return self._what_if(
                state="generation",
                gap="verdicts",
                outcome=outcome,
                reason=reason,
                calls_needed=CallsNeeded(needed, needed),
            )
        context = contexts[0]
        if not context.passages:
            answer = abstained_answer(self.record.question, tuple(self.rounds))
            return self._what_if(state="known", gap=None, outcome=outcome, reason=reason, answer=answer)
        self.cost = self.cost + self.prices.generation
        if self._same_input(context):
            return self._what_if(
                state="known", gap=None, outcome=outcome, reason=reason, answer=self.record.answer, context=context
            )
        once = CallsNeeded(self.prices.generation, self.prices.generation)
        return self._what_if(
            state="generation", gap="answer", outcome=outcome, reason=reason, calls_needed=once, context=context
        )

    def _same_input(self, context: Context) -> bool:
        given = self.record.context
        if given is None or self.record.outcome not in _ANSWERED:
            return False
        if self.config.models.generator != self.record.config.models.generator or context.verified != given.verified:
            return False
        count = len(given.passages)
        rest = tuple(passage.id for passage in context.passages[count:])
        return context.passages[:count] == given.passages and rest == given.cut

    def _what_if(
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
        path = [(step.decision.route, step.decision.reason) for step in self.steps if step.decision]
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
            calls_needed=calls_needed,
            cost=self.cost,
            same_path=state != "needs_calls" and path == recorded and outcome == self.record.outcome,
        )


def _readable(rounds: Sequence[Round]) -> dict[PassageId, Verdict]:
    """Verdicts that a later round reuses."""
    return {
        passage_id: verdict
        for item in rounds
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }


_NO_LIMIT = 10**12
"""Tokens: what the budget cuts does not change what the generator is offered."""
