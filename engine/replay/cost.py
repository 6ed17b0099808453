"""Cost of a run's steps, from counted calls and the run's own times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.builtin.rerank import BATCH, CHAT_BATCH
from engine.flow import workflow
from engine.flow.declaration import gradings_a_passage, screenings_a_passage, translates
from engine.model.config import BUILTIN, RoleName, RunConfig
from engine.model.cost import Cost
from engine.model.decide import cascades
from engine.model.values import NodeExecution, RunRecord
from engine.roles import MOST_CHECKED

REWRITE_CALLS = 2
"""A rewrite that repeats a query is asked for once more (SC-06): two calls at worst."""
_SCORING = ("grader", "reranker")


@dataclass(frozen=True, slots=True)
class CostModel:
    """Prices of single steps under one config; seconds are None where the run measured no such step."""

    search: Cost
    grading: Cost = Cost()
    """Of one passage; nothing where the workflow does not ask the role, here as in the steps below."""
    screening: Cost = Cost()
    """Of one passage, before the grader; nothing without a cascade."""
    rewrite: Cost = Cost()
    generation: Cost = Cost()
    evaluation: Cost = Cost()
    """Of one answer."""
    routing: Cost = Cost()
    reranking: Cost = Cost()
    """One call of a reranker that is not the run's grader; nothing where the grader reranks."""
    refining: Cost = Cost()
    """Of one passage by a chat model; nothing where the built-in refiner cuts."""
    checking: Cost = Cost()
    """Of one sentence of the answer; nothing where the built-in verifier checks."""

    @property
    def checks(self) -> Cost:
        """Of an answer that is not written yet, at most: of as many sentences as a model is asked about."""
        return self.checking * MOST_CHECKED

    def rounds_after(self, done: int, config: RunConfig) -> Cost:
        """Return the worst cost after round ``done``: every rewrite left, with its search and all gradings."""
        left = max(0, workflow(config.workflow).rounds(config) - 1 - done)
        return (self.rewriting + self.round(config)) * left

    @property
    def judging(self) -> Cost:
        """The most that one verdict costs: in a cascade, screener and grader are asked."""
        return self.grading + self.screening

    @property
    def rewriting(self) -> Cost:
        """One rewrite at worst: where it repeats a query it is asked for once more (SC-06)."""
        return self.rewrite * REWRITE_CALLS

    def round(self, config: RunConfig) -> Cost:
        """A search with all that it may find judged; where every round is routed again, with its routing."""
        own = workflow(config.workflow)
        routing = self.routing if own.flow.of_kind("route") & own.flow.repeated else Cost()
        reranking = self.reranking_of(own.reranked(config), config)
        return (
            routing
            + self.search
            + self.rewrite * translates(config)
            + reranking
            + self.grading * _depth(config) * gradings_a_passage(config)
            + self.screening * _depth(config) * screenings_a_passage(config)
            + self.together(config) * _whole(config)
        )

    def together(self, config: RunConfig) -> Cost:
        """One judgement of all passed passages together: by words, unless a chat model grades."""
        if config.models.grader.chats:
            return self.grading
        return Cost(0, self.grading.calls + self.grading.built_in_calls, self.grading.seconds)

    def reranking_of(self, passages: int, config: RunConfig) -> Cost:
        """Scoring so many passages, several a call."""
        return self.reranking * -(-passages // (CHAT_BATCH if config.models.reranker.chats else BATCH))

    def longest_run(self, config: RunConfig) -> Cost:
        """Return the cost of the longest possible run: every round and every answer."""
        return workflow(config.workflow).longest_run(self, config)

    def answering(self, config: RunConfig) -> Cost:
        """Return the worst cost of answering: every answer that may be written, with what comes before and after."""
        own = workflow(config.workflow)
        refining = self.refining * own.most_refined(config)
        writing = (refining + self.generation + self.evaluation) * own.most_answers(config)
        return writing + self.checks


def cost_model(record: RunRecord, config: RunConfig) -> CostModel:
    """Prices by the roles of ``config``; times from the record where the same model did the step there."""
    flow = workflow(record.workflow).flow
    searching, judging = flow.of_kind("search"), flow.of_kind("grade")
    # What was answered from a cache or, in a branch, from its parent took no time that would tell anything.
    asked = {(call.node, call.round) for call in record.model_calls if not call.cached}
    rewrites = [
        item for item in record.nodes if item.node in flow.of_kind("rewrite") and (item.node, item.round) in asked
    ]
    scoring = {(item.node, item.round): _scoring_ms(record, item) for item in record.nodes if item.node in searching}
    screened = {(item.node, item.round): _spent_ms(record, item, ("screener",)) for item in record.nodes}
    graded: list[float | None] = [
        _without(item.duration_ms, screened[item.node, item.round]) for item in record.nodes if item.node in judging
    ]
    if record.config.models.reranker.built_in:
        # What the search of graph + vector retrieval reranks, its grader judges.
        graded += [spent for spent in scoring.values() if spent]
    grading = _total(graded)
    gradings = sum(call.role == "grader" and not call.cached for call in record.model_calls)
    searches = [item for item in record.nodes if item.node in searching]
    if record.fork and flow.gate:
        searches = [item for item in searches if (flow.gate, item.round) in asked]
    return CostModel(
        search=Cost(seconds=_mean([_without(item.duration_ms, scoring[item.node, item.round]) for item in searches])),
        grading=_of(record, config, "grader", grading / gradings if gradings and grading is not None else None),
        screening=_screening(record, config, sum(screened.values())),
        rewrite=_of(record, config, "rewriter", _mean([item.duration_ms for item in rewrites])),
        generation=_of(record, config, "generator", _visits(record, "generator", flow.of_kind("answer"))),
        evaluation=_of(record, config, "evaluator", _visits(record, "evaluator", flow.of_kind("evaluate"))),
        routing=_of(record, config, "router", _visits(record, "router", flow.of_kind("route"))),
        reranking=_reranking(record, config, sum(scoring.values())),
        refining=_refining(record, config),
        checking=_checking(record, config),
    )


def checks_of(record: RunRecord, config: RunConfig) -> int | None:
    """Calls that check the recorded answer; None where another model would check it than did.

    In a branch that took over the checks of its parent, each sentence that a model was asked about counts one.
    """
    verifier = config.models.verifier
    if verifier.built_in or verifier != record.config.models.verifier:
        return 0 if verifier.built_in else None
    asked = sum(call.role == "verifier" for call in record.model_calls)
    made = (item for item in record.checks or () if item.p_supported is not None or item.fault is not None)
    return asked or sum(item.verifier != BUILTIN for item in made)


def unanswered(record: RunRecord, config: RunConfig) -> bool:
    """Return whether a chat model of ``config`` was called in the run and never replied: its calls tell no time."""
    asked: dict[RoleName, bool] = {}
    for call in record.model_calls:
        if not call.built_in and call.role != "judge":
            asked[call.role] = asked.get(call.role, False) or bool(call.reply)
    return any(
        not replied and config.models.of(role) == record.config.models.of(role) for role, replied in asked.items()
    )


def _visits(record: RunRecord, role: RoleName, nodes: frozenset[str]) -> float | None:
    """Mean seconds of one visit, refinement apart; None where every call was answered from a cache."""
    if not any(call.role == role and not call.cached for call in record.model_calls):
        return None
    visits = [item for item in record.nodes if item.node in nodes]
    return _mean([_without(item.duration_ms, _spent_ms(record, item, ("refiner",))) for item in visits])


def _of(record: RunRecord, config: RunConfig, role: RoleName, measured_s: float | None) -> Cost:
    """The price of one call; nothing where the workflow does not ask the role."""
    if role not in workflow(config.workflow).roles:
        return Cost()
    model = config.models.of(role)
    seconds = measured_s if model == record.config.models.of(role) else None
    return Cost(0, 1, seconds) if model.in_process else Cost(1, 0, seconds)


def _reranking(record: RunRecord, config: RunConfig, spent_ms: float) -> Cost:
    model = config.models.reranker
    if "reranker" not in workflow(config.workflow).roles or model.built_in:
        return Cost()
    calls = sum(call.role == "reranker" and not call.cached for call in record.model_calls)
    measured = spent_ms / calls / 1000.0 if calls and model == record.config.models.reranker else None
    return Cost(0, 1, measured) if model.in_process else Cost(1, 0, measured)


def _screening(record: RunRecord, config: RunConfig, spent_ms: float) -> Cost:
    calls = sum(call.role == "screener" and not call.cached for call in record.model_calls)
    return _of(record, config, "screener", spent_ms / calls / 1000.0 if calls else None) if cascades(config) else Cost()


def _refining(record: RunRecord, config: RunConfig) -> Cost:
    if config.models.refiner.built_in or "refiner" not in workflow(config.workflow).roles:
        return Cost()
    asked = len({call.passage_id for call in record.model_calls if call.role == "refiner" and not call.cached})
    spent_s = sum(_spent_ms(record, item, ("refiner",)) for item in record.nodes) / 1000.0
    known = asked and config.models.refiner == record.config.models.refiner
    return Cost(1, 0, spent_s / asked if known else None)


def _checking(record: RunRecord, config: RunConfig) -> Cost:
    if config.models.verifier.built_in:
        return Cost()
    spent = [call.duration_ms for call in record.model_calls if call.role == "verifier"]
    return _of(record, config, "verifier", sum(spent) / len(spent) / 1000.0 if spent else None)


def _scoring_ms(record: RunRecord, visit: NodeExecution) -> float:
    """Return the time that a search spent scoring its results."""
    return _spent_ms(record, visit, _SCORING)


def _spent_ms(record: RunRecord, visit: NodeExecution, roles: Sequence[str]) -> float:
    """Return the time from the first to the last call of some roles in a visit."""
    calls = [
        call
        for call in record.model_calls
        if (call.node, call.round) == (visit.node, visit.round) and call.role in roles and not call.cached
    ]
    ends = [call.start_ms + call.duration_ms for call in calls]
    return max(ends) - min(call.start_ms for call in calls) if calls else 0.0


def _without(duration_ms: float | None, spent_ms: float) -> float | None:
    return None if duration_ms is None else max(0.0, duration_ms - spent_ms)


def _depth(config: RunConfig) -> int:
    depth = config.fetch_k if config.grade_probe else config.top_k
    return max(depth, workflow(config.workflow).reranked(config) if config.models.reranker.built_in else 0)


def _whole(config: RunConfig) -> int:
    """Judgements of all passed passages together in a round."""
    return int(config.needs_whole and "needs_whole" not in workflow(config.workflow).idle)


def _mean(durations_ms: list[float | None]) -> float | None:
    finished = [item for item in durations_ms if item is not None]
    return sum(finished) / len(finished) / 1000.0 if finished else None


def _total(durations_ms: list[float | None]) -> float | None:
    finished = [item for item in durations_ms if item is not None]
    return sum(finished) / 1000.0 if finished else None
