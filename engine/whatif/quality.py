"""What-if of the quality-control loop: lists fused again, quality checked again, decided by the loop's own policy.

The score grows with every P(relevant), so that counting a passage without verdict as 0 and as 1 bounds it both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.config import RunConfig
from engine.decide import Evidence, passed_ids
from engine.policies.quality import check_quality, deadline_s, decide_quality, outcome_of, rewrite_issues
from engine.retrieval.fuse import fuse, lists_of, quotas
from engine.retrieval.reciprocal import most_similar_below
from engine.retrieval.rerank import by_relevance
from engine.rewrite_input import NEAREST, nearest_passages, rewrite_request
from engine.roles import RewriteRequest
from engine.values import Candidate, Context, Decision, Outcome, Passage, Rewrite, Round, RunRecord, SourceKind
from engine.whatif.judge import Judge, Judged
from engine.whatif.values import Gap, Price, Step, WhatIf
from engine.whatif.walk import Walk


def quality_loop(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``."""
    return _QualityWalk(record, config).walk()


class _QualityJudge(Judge):
    """Fuses the recorded lists by the recorded routing."""

    def gated(self, recorded: Round, config: RunConfig) -> tuple[Candidate, ...]:
        if recorded.routing is None:
            return super().gated(recorded, config)
        if recorded.quality is not None and self._placed_alike(config):
            return recorded.candidates
        lists = {kind: items[: config.fetch_k] for kind, items in lists_of(recorded.candidates).items()}
        return fuse(lists, recorded.routing, config)

    def _placed_alike(self, config: RunConfig) -> bool:
        """Whether fusing again would give every candidate the place that it has."""
        then, now = self.record.config, config
        same = (then.top_k, then.similarity_threshold, then.fetch_k)
        return same == (now.top_k, now.similarity_threshold, now.fetch_k)

    def unseen(self, recorded: Round) -> int:
        """Places that a list would fill with passages below its recorded depth."""
        routing, depth = recorded.routing, self.record.config.fetch_k
        if routing is None or not recorded.searched or self.config.top_k <= depth:
            return 0
        places = quotas(routing.shares, self.config.top_k)
        unseen = 0
        for kind, items in lists_of(recorded.candidates).items():
            # A list shorter than was asked for has nothing below it.
            most = _most_similar_below(kind, items, self.config) if len(items) >= depth else 0.0
            cut_off = len(items) >= depth and most >= self.config.similarity_threshold
            wanted = self.config.top_k if routing.wide else places.get(kind, 0)
            unseen += max(0, wanted - len(items)) if cut_off else 0
        return min(unseen, self.config.top_k)

    def enough_to_go_on(self, current: Round) -> bool:
        """What was judged of the round itself before its reranker was gone counts here too."""
        return super().enough_to_go_on(current) or bool(passed_ids(current, self.config))

    def to_judge(self, current: Round) -> list[Candidate]:
        return [item for item in current.candidates if item.gate == "kept" or self.config.grade_probe]


def _most_similar_below(kind: SourceKind, items: Sequence[Passage], config: RunConfig) -> float:
    """The highest similarity that a passage below a list can have; a graph orders by what leads to a passage."""
    return 1.0 if kind == "graph" else most_similar_below(items[-1], config.search)


class _QualityWalk(Walk):
    def judge_of(self) -> Judge:
        return _QualityJudge(self.record, self.config, self.clock)

    def unknown_from_the_start(self) -> Gap | None:
        other = self.config.models.router != self.record.config.models.router
        return super().unknown_from_the_start() or ("routing" if other else None)

    def opening_price(self, judged: Judged) -> Price:
        # Where a rewrite left nothing new to search, the former routing stands unasked.
        return (self.prices.routing + self.prices.search) * judged.round.searched

    def decided(self, evidence: Evidence) -> Decision:
        return decide_quality(evidence, self.config)

    def decide_round(self, judged: Judged) -> Step:
        current, config = judged.round, self.config
        if judged.unseen:
            # They change how many places every kind has got: neither bound of the relevance would bound the score.
            return Step(current, None, judged.ungraded, judged.unseen)
        step = super().decide_round(judged)
        checks = [check_quality(variant, config).routing_score for variant in self.judge.variants(judged)]
        checked = replace(
            current,
            quality=check_quality(current, config),
            reranked=tuple(item.id for item in by_relevance(current.kept, current.verdicts)),
        )
        return replace(step, round=checked, score=(min(checks), max(checks)))

    def request(self, rounds: list[Round], history: tuple[Rewrite, ...]) -> RewriteRequest:
        issues = rewrite_issues(rounds[-1], self.config)
        return rewrite_request(self.record.question, rounds, history, self.config, issues)

    def gap_after_rewrite(self, judged: Judged) -> Gap | None:
        return super().gap_after_rewrite(judged) or ("rewrite" if self._nearer_unseen(judged.round.index) else None)

    def _nearer_unseen(self, index: int) -> bool:
        """Whether a deeper search might show the rewriter a passage nearer than one of those that it saw."""
        recorded, depth = self.record.rounds[index], self.record.config.fetch_k
        if self.config.fetch_k <= depth or not recorded.searched:
            return False
        lists = lists_of(recorded.candidates)
        below = [
            _most_similar_below(kind, items, self.config)
            for kind, items in lists.items()
            if kind != "temporal" and len(items) >= depth
        ]
        shown = nearest_passages(recorded)
        return bool(below) and (len(shown) < NEAREST or max(below) >= shown[-1].similarity)

    def outcome(self, decision: Decision, context: Context) -> Outcome:
        return outcome_of(decision, context)

    def deadline_s(self, config: RunConfig) -> float:
        return deadline_s(config)

    def generated(self, judged: Judged, decision: Decision) -> WhatIf:
        found = super().generated(judged, decision)
        other_budget = self.config.budget_s != self.record.config.budget_s
        if other_budget and found.answer and found.passages and self.clock.answered_s() > self.config.budget_s:
            # The answer has no time of its own here: it would have come too late.
            return self.stopped("time", self.prices.generation, before=Price())
        return found
