"""Judges the rounds of graph + vector retrieval: ordered again from their lists, by the scores that are recorded."""

from __future__ import annotations

from dataclasses import replace

from engine.config import RunConfig
from engine.decide import gate_in
from engine.policies.ordering import graph_options, order, rerank_window, reranks, rescored
from engine.retrieval.rerank import score_of
from engine.values import Candidate, PassageId, Round, RunRecord
from engine.whatif.clock import RecordedClock
from engine.whatif.graph_lists import RecordedLists
from engine.whatif.judge import Judge, Judged


class GraphJudge(Judge):
    """The built-in reranker is the run's grader: its scores are verdicts, and the other way round."""

    def __init__(self, record: RunRecord, config: RunConfig, clock: RecordedClock) -> None:
        super().__init__(record, config, clock)
        self.lists = RecordedLists.of(record, config)
        self.reranks = reranks(self.lists.mode, config)
        self.shared = config.models.reranker.built_in
        self._alike = self._ordered_alike()
        self._scored = self._recorded_scores()
        self._orders: dict[int, tuple[Candidate, ...]] = {}

    def gated(self, recorded: Round, config: RunConfig) -> tuple[Candidate, ...]:
        if self._alike:
            return tuple(_regated(item, config) for item in recorded.candidates)
        ordered = self._ordered(recorded)
        return rescored(ordered, self._scores(recorded)[0], config) if self.reranks else ordered

    def unseen(self, recorded: Round) -> int:
        """None: a round whose lists end too early is not told at all."""
        return 0

    def to_judge(self, current: Round) -> list[Candidate]:
        window = self.window(current) if self.reranks and self.shared else ()
        scored = {item.passage.id for item in window}
        return [
            item
            for item in current.candidates
            if item.gate == "kept" or self.config.grade_probe or item.passage.id in scored
        ]

    def judge(self, recorded: Round) -> Judged:
        judged = super().judge(recorded)
        reranked = tuple(item.passage.id for item in judged.round.candidates if item.rerank_score is not None)
        current = replace(judged.round, graph=self.lists.evidence(recorded), reranked=reranked)
        return replace(judged, round=current)

    def window(self, current: Round) -> tuple[Candidate, ...]:
        """The passages that a reranker is asked of; those that it could not score come right after those it could."""
        return rerank_window(current.candidates, self.config)

    def unscored(self, recorded: Round) -> tuple[PassageId, ...]:
        """Passages whose score decides the order of the round and is not known."""
        if not self.reranks or self._alike:
            return ()
        return self._scores(recorded)[1]

    def _ordered(self, recorded: Round) -> tuple[Candidate, ...]:
        """Before anything is reranked; asked for more than once a round."""
        if recorded.index not in self._orders:
            self._orders[recorded.index] = order(self.lists.lists(recorded), self.config)
        return self._orders[recorded.index]

    def _scores(self, recorded: Round) -> tuple[dict[PassageId, float], tuple[PassageId, ...]]:
        """What is known of the scores of a window, and the passages of which nothing is."""
        scores: dict[PassageId, float] = {}
        missing: list[PassageId] = []
        for item in rerank_window(self._ordered(recorded), self.config):
            name = item.passage.id
            if not self.shared:
                if name in self._scored:
                    scores[name] = self._scored[name]
                else:
                    missing.append(name)
                continue
            verdict = self._recorded_verdict(recorded, name)
            if verdict is None:
                missing.append(name)
            elif verdict.relevant is not None:
                scores[name] = score_of(verdict)
        return scores, tuple(missing)

    def _recorded_scores(self) -> dict[PassageId, float]:
        """Scores against the question as asked, which is the same in every round."""
        if self.config.models.reranker != self.record.config.models.reranker:
            return {}
        return {
            item.passage.id: item.rerank_score
            for current in self.record.rounds
            for item in current.candidates
            if item.rerank_score is not None
        }

    def _ordered_alike(self) -> bool:
        """Whether every candidate keeps its place, no matter what became of the recorded reranker."""
        now, then = graph_options(self.config), graph_options(self.record.config)
        if not self.lists.same_mode or self.config.fetch_k != self.record.config.fetch_k:
            return False
        ranked = [(item.graph_weight, item.duplicate_threshold, item.freshness_weight) for item in (now, then)]
        if ranked[0] != ranked[1] or self.reranks != reranks(self.lists.recorded_mode, self.record.config):
            return False
        same_judge = self.config.models.reranker == self.record.config.models.reranker and (
            not self.shared or self.same_grader
        )
        return not self.reranks or (same_judge and now.rerank_k == then.rerank_k)


def _regated(item: Candidate, config: RunConfig) -> Candidate:
    gate = gate_in(item, config)
    margin = round(item.passage.similarity - config.similarity_threshold, 6)
    # A map tries ten thousand settings, most of which change nothing here.
    return item if (item.gate, item.margin) == (gate, margin) else replace(item, gate=gate, margin=margin)
