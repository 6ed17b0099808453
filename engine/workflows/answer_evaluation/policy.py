"""The policy of the answer-evaluation loop: pure functions of drafts, decisions and config.

The engine and every what-if call the same :func:`decide_evaluation`, so a replay cannot disagree with a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.model.config import RunConfig
from engine.model.decide import kept_passages, passed_ids
from engine.model.language import language_of
from engine.model.values import (
    Comparison,
    Context,
    Decision,
    Draft,
    Evaluation,
    Excerpt,
    Outcome,
    Passage,
    PassageId,
    Reason,
    Round,
    Verdict,
)
from engine.roles import EvaluationAim, EvaluationRequest
from engine.workflows.answer_evaluation.options import gener_epoch

EXCERPT_CHARS = 500
"""Longest text of one passage that an evaluator is shown (AE-04)."""
ELLIPSIS = "…"

NODE = "eval_answer"
REVISE = "generate_answer"


@dataclass(frozen=True, slots=True)
class EvaluationEvidence:
    """Inputs of the decision after an evaluation."""

    rounds: Sequence[Round]
    epoch: int
    """Answers completed so far, the newest included."""
    evaluation: Evaluation | None
    """Of the newest answer; None where it was not evaluated."""
    elapsed_s: float = 0.0
    writer_failed: bool = False
    """A revision did not come about; ``evaluation`` is that of the answer that was to be revised."""


def decide_evaluation(evidence: EvaluationEvidence, config: RunConfig) -> Decision:
    """Decide where to go after an evaluation, and give the one reason why (AE-01).

    Precedence: passed; not evaluated, for want of time or because the evaluator failed; the limit of answers; the
    deadline; a revision that did not come about; else revise. The limit comes before the deadline, as it ends the
    loop no matter what time is left. Raises ``ValueError`` without rounds.
    """
    if not evidence.rounds:
        raise ValueError("a decision needs at least one round")
    current = evidence.rounds[-1]
    passed, kept = len(passed_ids(current, config)), len(kept_passages(current, config))

    def to(route: str, reason: Reason, *comparisons: Comparison) -> Decision:
        return Decision(current.index, route, reason, comparisons, passed, kept, node=NODE)

    late = Comparison("elapsed_s", evidence.elapsed_s, ">=", config.budget_s)
    if evidence.evaluation is None or not usable(evidence.evaluation):
        if evidence.elapsed_s >= config.budget_s:
            return to("end", "deadline", late)
        return to("end", "evaluator_failed", Comparison("unreached_evaluators", 1, ">=", 1))
    found = len(evidence.evaluation.suggestions)
    if evidence.evaluation.passed:
        return to("end", "evaluation_passed", Comparison("suggestions", found, "<", 1))
    unmet = Comparison("suggestions", found, ">=", 1)
    limit = gener_epoch(config)
    if evidence.epoch >= limit:
        return to("end", "max_epochs", unmet, Comparison("epoch", evidence.epoch, ">=", limit))
    if evidence.elapsed_s >= config.budget_s:
        return to("end", "deadline", unmet, late)
    if evidence.writer_failed:
        return to("end", "writer_failed", unmet, Comparison("failed_answers", 1, ">=", 1))
    return to(REVISE, "revise", unmet, Comparison("epoch", evidence.epoch, "<", limit))


def usable(evaluation: Evaluation) -> bool:
    """Return whether it says something: passed without a suggestion, or failed with at least one (AE-03)."""
    return evaluation.passed != bool(evaluation.suggestions)


def outcome_of_answer(gate: Decision, last: Decision, context: Context) -> tuple[Outcome, str]:
    """Return outcome and reason: ``gate`` is the last decision about passages, ``last`` the one about the answer.

    An answer that passed its evaluation is ``answered`` only where the gate of the passages was met too.
    """
    if not context.passages:
        return "abstained", gate.reason
    if not context.verified:
        return "answered_unverified", last.reason if last.reason != "evaluation_passed" else gate.reason
    if last.reason != "evaluation_passed":
        return "answered_forced", last.reason
    if gate.reason != "passed":
        return "answered_forced", gate.reason
    return "answered", last.reason


def excerpts(passages: Sequence[Passage], top_k: int) -> tuple[Excerpt, ...]:
    """Return the evaluator's excerpts of an answer's passages: at most ``top_k``, each cut (AE-04).

    In the order of the answer's markers, so the first excerpt is ``[1]``.
    """
    return tuple(Excerpt(item.id, *_cut(item.text)) for item in passages[:top_k])


def evaluation_request(
    question: str,
    answer: str,
    draft: Draft,
    passages: Sequence[Passage],
    seen: Sequence[Excerpt],
    *,
    aim: EvaluationAim = "answer",
) -> EvaluationRequest:
    """The request to judge an answer by the excerpts of its passages."""
    shown = tuple(replace(passage, text=item.text) for passage, item in zip(passages, seen, strict=False))
    language, unseen = language_of(question), len(passages) - len(shown)
    return EvaluationRequest(question, answer, shown, language, aim, unseen, draft.removed_markers)


def _cut(text: str) -> tuple[str, bool]:
    return (text, False) if len(text) <= EXCERPT_CHARS else (text[:EXCERPT_CHARS] + ELLIPSIS, True)


def scores_of(rounds: Sequence[Round], config: RunConfig) -> tuple[dict[str, Any], ...]:
    """Every distinct kept passage of a run with id, source, similarity and P(relevant), the most relevant first.

    P(relevant) is None for a passage that no one judged; what two rounds found has the better similarity.
    """
    best: dict[PassageId, tuple[Passage, Verdict | None]] = {}
    for passage, verdict in _kept_with_verdicts(rounds, config):
        former = best.get(passage.id)
        if former is None or passage.similarity > former[0].similarity:
            best[passage.id] = passage, verdict or (former[1] if former else None)
        elif former[1] is None:
            best[passage.id] = former[0], verdict
    scores = [
        {
            "id": passage.id,
            "source": passage.source,
            "similarity": round(passage.similarity, 6),
            "p_relevant": None if verdict is None else round(verdict.p_relevant, 6),
        }
        for passage, verdict in best.values()
    ]
    return tuple(sorted(scores, key=lambda score: (-(score["p_relevant"] or 0.0), -score["similarity"], score["id"])))


def _kept_with_verdicts(rounds: Sequence[Round], config: RunConfig) -> Iterator[tuple[Passage, Verdict | None]]:
    for current in rounds:
        for passage in kept_passages(current, config):
            yield passage, current.verdicts.get(passage.id)


def observation(
    query: str, scores: Sequence[Mapping[str, Any]], *, answer: str, epoch: int, time: str, run_id: str = ""
) -> dict[str, Any]:
    """Return the observation of a passed run (AE-08); ``time`` is ISO 8601 in UTC, ``epoch`` counts answers."""
    kept: dict[str, Any] = {"time": time, "query": query, "epoch": epoch, "answer": answer}
    return {**kept, "retrieved_nodes_score": [dict(score) for score in scores], "run": run_id}
