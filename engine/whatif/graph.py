"""What-if of graph + vector retrieval: lists ordered again, recorded scores, decided by the loop's own policy.

A mode is told where the recorded one searched all of its lists; other hops, entities, communities or attachments are
another search. What the generator is given beside passages has to be the same for the recorded answer to stand.
"""

from __future__ import annotations

from dataclasses import replace

from engine.builtin.table_answer import table_coverage
from engine.config import RunConfig
from engine.decide import Evidence, decide
from engine.policies.graph import (
    decide_route,
    from_tables_alone,
    outcome_of,
    outcome_searched,
    unless_a_table_answers,
)
from engine.policies.ordering import graph_options
from engine.retrieval.graph_context import graph_of
from engine.values import Context, Decision, Outcome, RunRecord
from engine.whatif.graph_judge import GraphJudge
from engine.whatif.judge import Judged
from engine.whatif.values import CallsNeeded, Gap, Price, Step, WhatIf
from engine.whatif.walk import Walk, elsewhere

_ROUTES = {"generate": "generate_answer", "rewrite": "refine_query"}
_SAID = frozenset({"answered", "answered_unverified", "abstained"})
"""How a run without a search ends where its answer is complete."""


def graph_hybrid(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``."""
    return _GraphWalk(record, config).walk()


class _GraphWalk(Walk):
    judge: GraphJudge

    def walk(self) -> WhatIf:
        gap = self.unknown_from_the_start()
        analysis = self.record.analysis
        if gap is not None or analysis is None:
            return self.stopped(gap or "unrecorded", self.prices.routing + self.prices.round(self.config))
        if not self._searches_nothing(self.config):
            self.cost = self.cost + self.prices.routing
        tables = bool(self.record.tables)
        opening = decide_route(analysis, self.config, attached=bool(self.record.attachments), tables=tables)
        self.opening = (opening,)
        if opening.reason == "tables_only":
            return self._from_tables(opening)
        if opening.route != "retrieve":
            return self._unsearched(opening)
        if not self.record.rounds:
            return self.stopped("unrecorded", self.prices.round(self.config))
        while True:
            found = self.step()
            if found is not None:
                return found

    def step(self) -> WhatIf | None:
        recorded = self.record.rounds[len(self.rounds)]
        if not self.judge.lists.told(recorded):
            return self.stopped("retrieval", self.prices.round(self.config))
        return super().step()

    def judge_of(self) -> GraphJudge:
        return GraphJudge(self.record, self.config, self.clock)

    def unknown_from_the_start(self) -> Gap | None:
        if self.record.analysis is None:
            return "unrecorded"
        # The mode is no other search where its lists are recorded, which every round says of itself.
        if elsewhere(self.record.config, replace(self.config, mode=self.record.config.mode)):
            return "retrieval"
        if self._searches_nothing(self.config):
            return None
        if self._searches_nothing(self.record.config):
            # Its query was looked at without a look at the graph.
            return "unrecorded"
        return "routing" if self.config.models.router != self.record.config.models.router else None

    def opening_price(self, judged: Judged) -> Price:
        price = super().opening_price(judged)
        if not self.judge.reranks or self.judge.shared or not judged.round.searched:
            return price
        return price + self.prices.reranking_of(len(self.judge.window(judged.round)), self.config)

    def decided(self, evidence: Evidence) -> Decision:
        decision = decide(evidence, self.config)
        decision = replace(decision, route=_ROUTES.get(decision.route, decision.route), node="grade_documents")
        tables = self.record.tables
        return unless_a_table_answers(decision, table_coverage(self.record.question, tables)) if tables else decision

    def decide_round(self, judged: Judged) -> Step:
        recorded = self.record.rounds[judged.round.index]
        if unscored := self.judge.unscored(recorded):
            # The order hangs on them, and with it what is kept: no count of the unknown bounds that.
            return Step(judged.round, None, unscored)
        return super().decide_round(judged)

    def undecided(self, judged: Judged) -> WhatIf:
        unscored = self.judge.unscored(self.record.rounds[judged.round.index])
        if not unscored:
            return super().undecided(judged)
        if self.judge.shared:
            return self.stopped("scores", self.prices.grading * len(unscored))
        return self.stopped("scores", self.prices.reranking_of(len(self.judge.window(judged.round)), self.config))

    def abstains(self, context: Context) -> bool:
        return not context.passages and not self.record.tables

    def outcome(self, decision: Decision, context: Context) -> Outcome:
        return outcome_searched(decision, context, quoted=bool(self.record.cell_citations))

    def generated(self, judged: Judged, decision: Decision) -> WhatIf:
        found = super().generated(judged, decision)
        with_tables = bool(self.record.tables)
        if found.state != "generation" or found.passages or not with_tables:
            return found
        # Tables alone were given: their answer may be an abstention, which no other input can be told to be.
        if found.gap == "answer" and self.record.outcome is not None and self.same_input(Context(())):
            recorded = self.record
            return self.told(
                state="known", gap=None, outcome=found.outcome, reason=found.reason, answer=recorded.answer
            )
        return replace(found, outcome=None)

    def same_input(self, context: Context) -> bool:
        return super().same_input(context) and self._same_shape() and self._same_graph()

    def _same_shape(self) -> bool:
        """Whether passages, graph and tables would be cut alike."""
        now, then = graph_options(self.config), graph_options(self.record.config)
        if now.refine != then.refine or (now.refine and now.sentence_threshold != then.sentence_threshold):
            return False
        given = self.record.context
        roomy = given is not None and all(part.given for part in given.parts) and not given.cut
        return now.context_tokens == then.context_tokens or (now.context_tokens > then.context_tokens and roomy)

    def _same_graph(self) -> bool:
        return graph_of(self.rounds, self.config) == graph_of(self.record.rounds, self.record.config)

    def _from_tables(self, opening: Decision) -> WhatIf:
        """Tables alone: the recorded answer stands where the run was given the same of them, and nothing else."""
        self.cost = self.cost + self.prices.generation
        record = self.record
        same_generator = self.config.models.generator == record.config.models.generator
        if record.decisions == (opening,) and same_generator and self._same_shape() and record.outcome in _SAID:
            return self.told(
                state="known", gap=None, outcome=record.outcome, reason=opening.reason, answer=record.answer
            )
        once = CallsNeeded(self.prices.generation, self.prices.generation)
        # Whether it quotes a cell, and so answers at all, only the answer itself tells.
        return self.told(state="generation", gap="answer", outcome=None, reason=opening.reason, calls_needed=once)

    def _unsearched(self, opening: Decision) -> WhatIf:
        """Small talk or mode ``bypass``: the recorded answer stands where the run answered so too."""
        self.cost = self.cost + self.prices.generation
        outcome = outcome_of(replace(self.record, config=self.config, decisions=(opening,)))
        same_generator = self.config.models.generator == self.record.config.models.generator
        if self.record.decisions == (opening,) and same_generator and self.record.outcome in _SAID:
            return self.told(state="known", gap=None, outcome=outcome, reason=opening.reason, answer=self.record.answer)
        once = CallsNeeded(self.prices.generation, self.prices.generation)
        return self.told(state="generation", gap="answer", outcome=outcome, reason=opening.reason, calls_needed=once)

    def _searches_nothing(self, config: RunConfig) -> bool:
        """Whether no analysis can lead to a search, so that none is asked for."""
        if from_tables_alone(config, tables=bool(self.record.tables)):
            return True
        return config.mode == "bypass" and graph_options(config).mode_from == "config"
