"""What-if of the dual loop: strategies within, corrections of the answer around them, decided by the loop's policies.

A search is told by the recorded one of the same strategy and query, an answer by the recorded one that was written from
the same passages. What would have to be searched, written or evaluated again leaves the path open from there.
"""

from __future__ import annotations

from dataclasses import replace

from engine.builtin.fallback import fallback_answer
from engine.config import RunConfig
from engine.policies.dual import (
    WEB,
    DualEvidence,
    best_draft,
    decide_answer,
    decide_documents,
    decide_route,
    draft_stands,
    dual_options,
    first_strategy,
    moves_on_to_web,
    outcome_of,
    stale,
)
from engine.retrieval.assemble import assemble
from engine.rewrite_input import corrective_request
from engine.roles import RewriteRequest
from engine.values import (
    Context,
    Decision,
    Draft,
    PassageId,
    Rewrite,
    Round,
    RunRecord,
    Strategy,
    TriedRoute,
)
from engine.whatif.dual_evidence import ANSWER, DualRecord, Found, Status, TriedStrategies
from engine.whatif.judge import Judged
from engine.whatif.values import CallsNeeded, Gap, Price, Step, WhatIf
from engine.whatif.walk import NO_LIMIT, Walk, elsewhere


def dual_loop(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``."""
    return _DualWalk(record, config).walk()


class _DualWalk(Walk):
    def __init__(self, record: RunRecord, config: RunConfig) -> None:
        super().__init__(record, config)
        self.told_by = DualRecord(record, config)
        self.tried = TriedStrategies(self.told_by)
        self.drafts: tuple[Draft, ...] = ()
        self.rewrites: tuple[Rewrite, ...] = ()
        self.corrections = 0
        self.judgements = 0
        self.query = record.question
        self.strategy: Strategy = "direct_chunk_search"
        self.contexts: tuple[Context, ...] = ()
        self.given: Context | None = None
        """Of the answer that comes next."""

    def walk(self) -> WhatIf:
        """From the router's choice, pass after pass, until the path ends or is no longer known."""
        gap = self.unknown_from_the_start()
        choice = gap or self.told_by.choice()
        if isinstance(choice, str):
            return self._open(choice, self.prices.routing)
        self.cost = self.cost + self.prices.routing
        self.opening = (decide_route(choice),)
        found = self._direct() if choice.route == "direct" else self._begin(choice.route)
        while found is None:
            found = self._searching()
        return found

    def unknown_from_the_start(self) -> Gap | None:
        other = self.config.models.router != self.record.config.models.router
        if elsewhere(self.record.config, self.config):
            return "retrieval"
        return "routing" if other else None

    # -- how it begins ------------------------------------------------------------------------------------------

    def _direct(self) -> WhatIf | None:
        draft = self.told_by.draft(0, 0)
        known = draft is not None and draft.direct and self.told_by.same_memories() and self._same("generator")
        if draft is None or not known:
            return self._open("answer" if draft else "unrecorded", self._writing())
        return self._judged_answer(draft, Context(()))

    def _begin(self, strategy: Strategy) -> WhatIf | None:
        rewrite = self.told_by.initial_rewrite
        if rewrite is None:
            return self._open("unrecorded", self.prices.rewrite)
        if not self._same("rewriter"):
            return self._open("rewrite", self.prices.rewrite)
        self._rewritten(rewrite, strategy)
        return None

    def _rewritten(self, rewrite: Rewrite, strategy: Strategy) -> None:
        self.cost = self.cost + self.prices.rewrite
        self.rewrites = (*self.rewrites, rewrite)
        self.query, self.strategy = rewrite.rewritten_query, strategy

    # -- one search, and what is found --------------------------------------------------------------------------

    def _searching(self) -> WhatIf | None:
        """One visit of the search: the strategy whose turn it is, and the web after it where nothing was kept."""
        while True:
            found = self.told_by.search(self.strategy, self.query, self.corrections, self.rounds)
            if found is None:
                return self._open("web" if self.strategy == WEB else "unrecorded", self.prices.round(self.config))
            as_recorded = self.judge.as_recorded and found.as_recorded
            judged = self._opened(found)
            left = self.tried.left(self.corrections)
            if found.failed or found.out_of_time or judged.round.kept:
                break
            if self.strategy != WEB and self.told_by.web_unknown:
                self._add(self._step(judged))
                return self._open("web", self.prices.round(self.config))
            self.tried.skip_web(self.strategy, self.corrections)
            if not moves_on_to_web(judged.round, self.config, left):
                break
            # Nothing was kept, so nothing was judged or decided: it is the recorded round where that kept nothing too.
            kept_then = any(item.gate == "kept" for item in self.judge.gated(found.round, self.record.config))
            self.judge.as_recorded = as_recorded and not kept_then
            self._add(self._step(judged))
            self.strategy = WEB
        if found.failed and not left and not self.drafts and not any(item.searched for item in self.rounds):
            # Where nothing else was ever found, a search that fails ends the run with its error.
            return self._open("unrecorded", self.prices.search)
        return self._documents(found, judged)

    def _step(self, judged: Judged, decision: Decision | None = None, passed: tuple[int, int] = (0, 0)) -> Step:
        """The round at its place in this path, which may be another one than in the record."""
        current = replace(judged.round, index=len(self.rounds), query=self.query, attempt=self.corrections)
        return Step(current, decision, judged.ungraded, judged.unseen, passed)

    def _opened(self, found: Found) -> Judged:
        self.judge.as_recorded = self.judge.as_recorded and found.as_recorded
        judged = self.judge.judge(found.round)
        self.cost = self.cost + self.prices.search * judged.round.searched
        if found.failed:
            self.tried.note(TriedRoute(self.strategy, self.corrections, "failed", found.failed))
        elif not found.out_of_time:
            status: Status = "searched" if judged.round.kept else "nothing_found"
            self.tried.note(TriedRoute(self.strategy, self.corrections, status))
        return judged

    def _documents(self, found: Found, judged: Judged) -> WhatIf | None:
        """Judge and decide what was found; None where another search follows."""
        self.cost = self.cost + self.prices.grading * self.judge.gradings(judged)
        step = self._step(judged)
        decisions = [
            decide_documents(self._evidence_of(replace(variant, index=step.round.index), judged), self.config)
            for variant in self.judge.variants(judged)
        ]
        first, passed = decisions[0], [item.passed for item in decisions]
        agreed = all((item.route, item.reason) == (first.route, first.reason) for item in decisions)
        late = self._late_documents(found, judged, first)
        # Where others are left, they come before it.
        web = self.told_by.web_unknown and first.reason == "strategies_exhausted"
        known = agreed and not late and not web
        self._add(self._step(judged, first if known else None, (min(passed), max(passed))))
        if not agreed:
            return self.undecided(judged)
        if late:
            return self._open("time", self._writing())
        if web:
            return self._open("web", self.prices.round(self.config))
        if first.route == "generate_response":
            return self._generated(judged)
        if first.route == "end":
            return self._out_of_strategies(first)
        self.strategy = self.tried.left(self.corrections)[0]
        self.tried.pass_over(self.strategy, self.corrections)
        return None

    def _evidence_of(self, current: Round, judged: Judged) -> DualEvidence:
        index = judged.round.index
        return DualEvidence(
            rounds=(*self.rounds, current),
            usable=self.told_by.usable,
            tried=self.tried.noted,
            drafts=self.drafts,
            corrections=self.corrections,
            elapsed_s=self.clock.elapsed_s(index) if judged.as_recorded else 0.0,
            rewrite=stale(self.rewrites),
            grader_unavailable=judged.as_recorded and self.clock.unreached(index),
        )

    def _late_documents(self, found: Found, judged: Judged, decision: Decision) -> bool:
        """Whether the clock, which no replay can turn back, might have decided otherwise."""
        index = judged.round.index
        recorded = self.clock.decision(index)
        cut_short = recorded is not None and not self.clock.unreached(index) and self._left_out(judged)
        bounded = found.out_of_time or self.clock.over(index) or cut_short
        slow = bool(found.failed) and self.config.budget_s != self.record.config.budget_s
        if not (bounded or slow or self.clock.ended_s(index) >= self.config.budget_s):
            return False
        same = recorded is not None and recorded.reason == decision.reason
        return not (same and judged.as_recorded and self._same_budget())

    def _left_out(self, judged: Judged) -> bool:
        recorded = self.record.rounds[judged.round.index]
        return recorded.searched and any(item.id not in recorded.verdicts for item in recorded.kept)

    # -- an answer ----------------------------------------------------------------------------------------------

    def _generated(self, judged: Judged) -> WhatIf | None:
        self.given = assemble(self.rounds, self.config, NO_LIMIT, len) if not judged.unknown else None
        if self.given is None:
            return self._open("answer", self.prices.grading * judged.unknown + self._writing())
        former = assemble(self.told_by.rounds_until(self.corrections), self.record.config, NO_LIMIT, len)
        same = (former.passages, former.verified) == (self.given.passages, self.given.verified)
        if not (same and self._same("generator")):
            return self._open("answer", self._writing())
        draft = self.told_by.draft(len(self.drafts), self.corrections)
        if draft is not None:
            return self._judged_answer(draft, self.given)
        if not self.drafts or self.told_by.judgement(self.judgements) is None:
            return self._open("unrecorded", self._writing())
        # An answer that did not come about: those before it stand.
        self.cost = self.cost + self.prices.generation
        return self._decided_answer(writer_failed=True)

    def _judged_answer(self, draft: Draft, context: Context) -> WhatIf | None:
        """Decide a recorded answer by its recorded evaluation; None where another pass follows."""
        self.cost, self.answers = self.cost + self.prices.generation, self.answers + 1
        self.drafts, self.contexts = (*self.drafts, draft), (*self.contexts, context)
        failing = draft.evaluation is None and not self._as_recorded()
        if failing or not self._same("evaluator") or not self._same_excerpts(draft, context):
            return self._open("evaluation", self.prices.evaluation)
        if self.told_by.judgement(self.judgements) is None:
            return self._open("unrecorded", self.prices.evaluation)
        self.cost = self.cost + self.prices.evaluation * (draft.evaluation is not None)
        return self._decided_answer(writer_failed=False)

    def _decided_answer(self, *, writer_failed: bool) -> WhatIf | None:
        recorded = self.told_by.judgement(self.judgements)
        assert recorded is not None
        self.judgements += 1
        evidence = DualEvidence(
            rounds=self.rounds,
            drafts=self.drafts,
            corrections=self.corrections,
            elapsed_s=recorded.comparisons[-1].value if recorded.reason == "deadline" else 0.0,
            writer_failed=writer_failed,
        )
        decision = decide_answer(evidence, self.config)
        if self._late_answer(recorded, decision, writer_failed=writer_failed):
            return self._open("time", self._writing())
        if self.steps:
            self.steps[-1] = replace(self.steps[-1], after=(*self.steps[-1].after, decision))
        else:
            self.opening = (*self.opening, decision)
        if decision.route == "rewrite_query":
            return self._corrected()
        best = self.drafts[-1] if decision.reason == "answer_relevant" else best_draft(self.drafts)
        assert best is not None
        return self._ended(decision, best)

    def _late_answer(self, recorded: Decision, decision: Decision, *, writer_failed: bool) -> bool:
        ended_s = self.clock.visit_ended_s(ANSWER, self.judgements)
        if recorded.reason != "deadline" and not writer_failed and ended_s < self.config.budget_s:
            return False
        return not (recorded.reason == decision.reason and self._as_recorded() and self._same_budget())

    def _as_recorded(self) -> bool:
        """Whether the answer comes after the recorded rounds and no others, and so at its recorded time."""
        return self.judge.as_recorded and len(self.rounds) == len(self.told_by.rounds_until(self.corrections))

    def _corrected(self) -> WhatIf | None:
        """A new pass begins with a corrective rewrite."""
        rewrite = self.told_by.correction(self.corrections)
        if rewrite is None:
            return self._open("unrecorded", self.prices.rewrite)
        if not self._same("rewriter") or self._corrective_request().digest() != rewrite.input_hash:
            return self._open("rewrite", self.prices.rewrite)
        self.corrections += 1
        self._rewritten(rewrite, first_strategy(None, self.told_by.usable))
        self.tried.pass_over(self.strategy, self.corrections)
        return None

    def _corrective_request(self) -> RewriteRequest:
        return corrective_request(
            self.record.question,
            self.query,
            self.rounds,
            self.rewrites,
            evaluation=self.drafts[-1].evaluation,
            config=self.config,
        )

    # -- where the walk ends ------------------------------------------------------------------------------------

    def _out_of_strategies(self, decision: Decision) -> WhatIf:
        if decision.reason == "grader_failed":
            return self.told(state="known", gap=None, outcome="failed", reason=decision.reason)
        if decision.reason == "strategies_exhausted":
            self.tried.pass_over(None, self.corrections)
        best = best_draft(self.drafts)
        if best is not None and draft_stands(decision, self.drafts, self.tried.noted):
            return self._ended(decision, best)
        missing = self._probed_unjudged()
        if missing:
            # Its words say how many passages were read, those below the gates included.
            price = self.prices.grading * missing
            needed = CallsNeeded(price, price)
            return self.told(
                state="generation", gap="verdicts", outcome="fallback", reason=decision.reason, calls_needed=needed
            )
        tried = self.tried.of(self.corrections)
        rounds, rejected = self._with_probed(), bool(self.drafts)
        answer = fallback_answer(self.record.question, rounds, tried, decision.reason, rejected=rejected)
        return self.told(state="known", gap=None, outcome="fallback", reason=decision.reason, answer=answer)

    def _probed_unjudged(self) -> int:
        """Passages below the gates that would be judged, and of which no verdict is known."""
        then, now = self.record.config, self.config
        if self._as_recorded() and (then.grade_probe, then.fetch_k) == (now.grade_probe, now.fetch_k):
            # What was left unjudged there is part of the recording.
            return 0
        known = self.told_by.verdicts if self._same("grader") else {}
        return sum(name not in known for name in self._probed()) + self._below_the_record()

    def _below_the_record(self) -> int:
        """Passages below the recorded depth that a deeper search would have judged too."""
        depth, deeper = self.record.config.fetch_k, self.config.fetch_k
        if not self.config.grade_probe or deeper <= depth:
            return 0
        return sum(deeper - depth for item in self.rounds if item.searched and len(item.candidates) >= depth)

    def _with_probed(self) -> list[Round]:
        known, probed = self.told_by.verdicts, self._probed()
        verdicts = {name: known[name] for name in probed if name in known}
        return [*self.rounds, replace(self.rounds[-1], verdicts=verdicts)]

    def _probed(self) -> set[PassageId]:
        if not self.config.grade_probe:
            return set()
        judged = [step.round for step in self.steps if step.decision is not None and step.round.searched]
        return {item.passage.id for current in judged for item in self.judge.to_judge(current)}

    def _ended(self, decision: Decision, best: Draft) -> WhatIf:
        context = self.contexts[best.index] if best.index < len(self.contexts) else None
        return self.told(
            state="known",
            gap=None,
            outcome=outcome_of(decision, self.drafts, self.tried.noted),
            reason=decision.reason,
            answer=best.text,
            context=context,
        )

    def undecided(self, judged: Judged) -> WhatIf:
        price = self.prices.grading * judged.unknown
        return self._open("candidates" if judged.unseen else "verdicts", price)

    def _open(self, gap: Gap, next_price: Price) -> WhatIf:
        """A path that is known no further; at worst every search, answer and pass that is left follows."""
        limit = dual_options(self.config).max_corrections
        rest = self.prices.passes(max(0, limit - self.corrections), self.config)
        searches = self.prices.round(self.config) * (len(self.tried.left(self.corrections)) + self.told_by.web_unknown)
        if gap in ("answer", "evaluation", "unrecorded"):
            searches = Price()
        worst = next_price + searches + (self._writing() if gap not in ("answer", "evaluation") else Price()) + rest
        return self.told(
            state="needs_calls",
            gap=gap,
            outcome=None,
            calls_needed=CallsNeeded(next_price, worst),
            context=self.given if gap in ("answer", "evaluation") else None,
        )

    # -- small things -------------------------------------------------------------------------------------------

    def _add(self, step: Step) -> None:
        self.rounds.append(step.round)
        self.steps.append(step)

    def _writing(self) -> Price:
        return self.prices.generation + self.prices.evaluation

    def _same(self, *roles: str) -> bool:
        return all(getattr(self.config.models, i) == getattr(self.record.config.models, i) for i in roles)

    def _same_budget(self) -> bool:
        return self.config.budget_s == self.record.config.budget_s

    def _same_excerpts(self, draft: Draft, context: Context) -> bool:
        """Whether the evaluator would see as many of the passages; of those that were cut it saw none either way."""
        shown, now, then = len(context.passages), self.config.top_k, self.record.config.top_k
        all_seen = len(draft.seen) < then and draft.evaluation is not None and now >= len(draft.seen)
        return min(now, shown) == min(then, shown) or all_seen
