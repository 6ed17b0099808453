"""Span of a node's visit, by what the node does: searching, reranking, judging, rewriting, answering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from openinference.semconv.trace import OpenInferenceSpanKindValues as Kind
from openinference.semconv.trace import RerankerAttributes, SpanAttributes

from engine.flow import workflow
from engine.flow.flow import NodeKind
from engine.model.values import Candidate, Decision, ModelCall, NodeExecution, Round, RunRecord
from plugins.telemetry import scores
from plugins.telemetry.fields import Fields, Wanted
from plugins.telemetry.values import Score

RERANK = "rerank"
"""A node of this name reorders what was found; in other workflows the search does that."""
_KINDS: dict[NodeKind, Kind] = {"search": Kind.RETRIEVER, "grade": Kind.EVALUATOR, "evaluate": Kind.EVALUATOR}


@dataclass(slots=True)
class Step:
    """One visit of a node with what it did."""

    visit: NodeExecution
    does: NodeKind
    calls: list[tuple[int, ModelCall]] = field(default_factory=list)
    """The calls of models that it made, with their places among all calls of the run."""
    nth: int = 0
    """Its place among the visits of nodes that do the same, from 0."""
    decisions: list[Decision] = field(default_factory=list)
    """What was decided in it."""

    @property
    def kind(self) -> Kind:
        return Kind.RERANKER if self.visit.node == RERANK else _KINDS.get(self.does, Kind.CHAIN)


def steps_of(record: RunRecord) -> list[Step]:
    """Every visit of a run, with the calls and the decisions that were made in it."""
    nodes = workflow(record.workflow).flow.nodes
    steps: list[Step] = []
    for visit in record.nodes:
        does = nodes[visit.node].kind if visit.node in nodes else ""
        steps.append(Step(visit, does, nth=sum(item.does == does for item in steps)))
    for place, call in enumerate(record.model_calls):
        begun = [step for step in steps if step.visit.node == call.node and step.visit.start_ms <= call.start_ms]
        fitting = [step for step in begun if step.visit.round == call.round] or begun
        if fitting:
            fitting[-1].calls.append((place, call))
    for decision in record.decisions:
        places = (decision.node, decision.round)
        deciding = [step for step in steps if (step.visit.node, step.visit.round) == places]
        # A node that is visited again in a round, as an evaluator of answers, decides once each time.
        if deciding:
            next((step for step in deciding if not step.decisions), deciding[-1]).decisions.append(decision)
    return steps


def describe_step(step: Step, steps: Sequence[Step], record: RunRecord, fields: Fields) -> tuple[Score, ...]:
    """Set what is known of a visit, and return how it, or what it found, was judged."""
    fields.put(SpanAttributes.OPENINFERENCE_SPAN_KIND, step.kind.value)
    fields.put("workbench.node", step.visit.node)
    fields.put("workbench.round", step.visit.round)
    fields.put("workbench.visit", step.visit.visit)
    fields.put("workbench.model_calls", step.visit.model_calls)
    fields.put("workbench.built_in_calls", step.visit.built_in_calls)
    current = round_of(step, record)
    if step.kind is Kind.RERANKER:
        if current is not None:
            describe_reranking(current, step.calls, record, fields)
        return ()
    if step.does == "search":
        return _describe_search(current, record, fields)
    if step.does == "grade":
        return _describe_grading(step, current, record, fields)
    if step.does == "rewrite":
        _describe_rewrite(step, steps, record, fields)
    if step.does == "answer":
        _describe_answer(step, steps, record, fields)
    if step.does == "evaluate":
        return _describe_evaluation(step, steps, record, fields)
    return ()


def round_of(step: Step, record: RunRecord) -> Round | None:
    """The round that a visit belongs to; None where its search came to nothing."""
    return record.rounds[step.visit.round] if step.visit.round < len(record.rounds) else None


def _describe_search(current: Round | None, record: RunRecord, fields: Fields) -> tuple[Score, ...]:
    fields.put("gen_ai.operation.name", "retrieval")
    fields.put(SpanAttributes.EMBEDDING_MODEL_NAME, record.manifest.get("embedding_model"))
    if current is None:
        fields.say_input(record.query)
        return ()
    fields.say_input(current.query)
    fields.put("workbench.searched", current.searched)
    fields.put("workbench.strategy", current.strategy)
    fields.put("workbench.candidates", len(current.candidates))
    fields.put("workbench.kept", len(current.kept))
    for place, item in enumerate(current.candidates):
        score = item.passage.similarity if current.scaled else item.passage.raw_score
        fields.document(SpanAttributes.RETRIEVAL_DOCUMENTS, place, item.passage, score, _figures(item, current))
    return scores.of_documents(current.candidates, current.verdicts, fields.wanted)


def _figures(item: Candidate, current: Round) -> dict[str, object]:
    return {
        "rank": item.rank,
        "gate": item.gate,
        "margin": item.margin if current.scaled else None,
        "kind": item.kind,
        "raw_score": item.passage.raw_score,
        "text_score": item.passage.text_score,
        "fused": item.fused or None,
        "graph_score": item.graph_score,
        "rerank_score": item.rerank_score,
    }


def describe_reranking(
    current: Round, calls: Sequence[tuple[int, ModelCall]], record: RunRecord, fields: Fields
) -> None:
    """Set what went into a reranking of a round, and in which order with which scores it came out."""
    fields.put(SpanAttributes.OPENINFERENCE_SPAN_KIND, Kind.RERANKER.value)
    known = {item.passage.id: item for item in current.candidates}
    order = [known[name] for name in current.reranked if name in known]
    asked = next((call.model for _, call in calls), record.config.models.reranker.model)
    fields.put(RerankerAttributes.RERANKER_MODEL_NAME, asked)
    fields.put(RerankerAttributes.RERANKER_TOP_K, len(order))
    fields.say(RerankerAttributes.RERANKER_QUERY, record.question)
    fields.say_input(record.question)
    before = sorted(order, key=lambda item: item.places.get("ranked", item.rank))
    for place, item in enumerate(before):
        under = RerankerAttributes.RERANKER_INPUT_DOCUMENTS
        fields.document(under, place, item.passage, item.passage.similarity, {"gate": item.gate})
    for place, item in enumerate(order):
        score = item.rerank_score
        if score is None and (verdict := current.verdicts.get(item.passage.id)) is not None:
            score = verdict.p_relevant
        under = RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS
        fields.document(under, place, item.passage, score, {"gate": item.gate})


def _describe_grading(step: Step, current: Round | None, record: RunRecord, fields: Fields) -> tuple[Score, ...]:
    fields.say_input(record.question)
    if current is None:
        return ()
    bar = record.config.min_confidence
    kept = {passage.id for passage in current.kept}
    fields.put("workbench.judged", len(current.verdicts))
    fields.put("workbench.reused", len(current.reused))
    fields.put("workbench.passed", sum(item.passes(bar) for name, item in current.verdicts.items() if name in kept))
    judged = (scores.of_verdict(verdict, fields.wanted) for verdict in current.verdicts.values())
    fields.say_output(
        [
            {"passage": name, "label": item.label, "score": item.score, "reason": item.explanation}
            for name, item in zip(current.verdicts, judged, strict=True)
        ]
    )
    return scores.of_round(record, current, step.visit.node, fields.wanted)


def _describe_rewrite(step: Step, steps: Sequence[Step], record: RunRecord, fields: Fields) -> None:
    if len(record.rewrites) != _count(steps, "rewrite"):
        return
    rewrite = record.rewrites[step.nth]
    fields.say_input(rewrite.query)
    fields.say_output({"query": rewrite.rewritten_query, "reason": rewrite.reason, "keywords": list(rewrite.keywords)})
    fields.put("workbench.repeated", rewrite.repeated)
    fields.put("workbench.failed", rewrite.failed)
    fields.put("workbench.refused", len(rewrite.refused))


def _describe_answer(step: Step, steps: Sequence[Step], record: RunRecord, fields: Fields) -> None:
    fields.say_input(record.question)
    last = step.nth + 1 == _count(steps, "answer")
    if len(record.drafts) == _count(steps, "answer"):
        fields.say_output(record.drafts[step.nth].text)
        fields.put("workbench.citations", len(record.drafts[step.nth].citations))
    elif last:
        fields.say_output(record.answer)
        fields.put("workbench.citations", len(record.citations) if record.origin is None else None)
    if last and record.context is not None:
        fields.put("workbench.context_passages", len(record.context.passages))
        brought = sum(map(len, record.context.around.values()))
        fields.put("workbench.context_surroundings", brought if record.config.expand != "none" else None)
        fields.put("workbench.context_tokens", record.context.tokens)
        fields.put("workbench.verified", record.context.verified)


def _describe_evaluation(step: Step, steps: Sequence[Step], record: RunRecord, fields: Fields) -> tuple[Score, ...]:
    judged = [draft for draft in record.drafts if draft.evaluation is not None]
    if len(judged) != _count(steps, "evaluate"):
        return ()
    draft = judged[step.nth]
    fields.say_input(draft.text)
    found = scores.of_draft(draft, fields.wanted)
    fields.say_output([{"label": item.label, "suggestions": item.explanation} for item in found])
    return found


def _count(steps: Sequence[Step], does: NodeKind) -> int:
    return sum(item.does == does for item in steps)


def verdict_events(step: Step, record: RunRecord, wanted: Wanted) -> list[tuple[float, Score, str]]:
    """Every verdict of the round that a visit decided on: when it was given, in ms, the verdict, and its passage."""
    current = round_of(step, record)
    if step.does != "grade" or step.kind is Kind.RERANKER or current is None:
        return []
    given = {call.passage_id: call.start_ms + call.duration_ms for _, call in step.calls}
    return [
        (given.get(name, step.visit.start_ms), scores.of_verdict(verdict, wanted), wanted.passage(name))
        for name, verdict in current.verdicts.items()
    ]
