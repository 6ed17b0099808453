"""Judgements of a run as scores: of passages, of a round, of an answer, and of the run as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.config import BUILTIN, CROSS_ENCODER, RERANK_SERVER
from engine.model.values import BY_HAND, Candidate, Draft, PassageId, Round, RunRecord, Verdict
from plugins.telemetry.fields import Wanted
from plugins.telemetry.values import Annotator, Attributes, Score, Value

EVENT = "gen_ai.evaluation.result"
"""OpenTelemetry's event for a judgement, which any receiver can show."""


def annotator(model: str) -> Annotator:
    """Whose judgement it is: a chat model's, a person's, or that of a program or a model that only gives scores."""
    if model == BY_HAND:
        return "HUMAN"
    return "CODE" if model == BUILTIN or model.startswith((CROSS_ENCODER, RERANK_SERVER)) else "LLM"


def of_verdict(verdict: Verdict, wanted: Wanted, document: int | None = None) -> Score:
    """P(relevant) of a passage; an unreadable verdict, and a yes or no alone, has no score."""
    label = "unreadable" if verdict.relevant is None else "relevant" if verdict.relevant else "irrelevant"
    return Score("relevance", label, verdict.known_p, wanted.text(verdict.reason), annotator(verdict.grader), document)


def of_documents(
    candidates: Sequence[Candidate], verdicts: Mapping[PassageId, Verdict], wanted: Wanted
) -> tuple[Score, ...]:
    """The verdict on each passage that has one, by its place among the candidates."""
    return tuple(
        of_verdict(verdicts[item.passage.id], wanted, place)
        for place, item in enumerate(candidates)
        if item.passage.id in verdicts
    )


def of_round(record: RunRecord, current: Round, node: str, wanted: Wanted) -> tuple[Score, ...]:
    """Return the scores of a round as a whole in the node that decided on it."""
    found = [
        Score("pass_rate", decision.reason, decision.pass_rate)
        for decision in record.decisions
        if decision.node == node and decision.round == current.index and decision.kept
    ]
    if current.quality is not None:
        found.append(Score("quality", current.quality.routing_grade, current.quality.routing_score))
    if (whole := current.whole) is not None:
        label = whole.answered or "unreadable"
        score = None if whole.answered is None else whole.sufficiency
        found.append(Score("sufficiency", label, score, wanted.text(whole.reason), annotator(whole.grader)))
    return tuple(found)


def of_draft(draft: Draft, wanted: Wanted) -> tuple[Score, ...]:
    """The judgement of an answer; none where it was not evaluated."""
    if (judged := draft.evaluation) is None:
        return ()
    asked = "\n".join(f"{item.dimension}: {item.text or item.code}" for item in judged.suggestions)
    label = "passed" if judged.passed else "failed"
    return (Score("answer", label, float(judged.passed), wanted.text(asked), annotator(judged.evaluator)),)


def of_run(record: RunRecord) -> tuple[Score, ...]:
    """The outcome, as a label without a score."""
    return (Score("outcome", record.outcome or "running"),)


def attributes_of(score: Score, **more: Value) -> Attributes:
    """The attributes of the event that tells of a score."""
    values: dict[str, Value | None] = {
        "gen_ai.evaluation.name": score.name,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.score.value": score.score,
        "gen_ai.evaluation.explanation": score.explanation or None,
        **more,
    }
    return {name: value for name, value in values.items() if value is not None}
