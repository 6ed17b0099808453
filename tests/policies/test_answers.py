"""The policy of the answer-evaluation loop: AE-01, AE-03, AE-04, AE-05, AE-08."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RoleModel, RoleModels, RunConfig, WorkflowName
from engine.model.decide import gated
from engine.model.values import Context, Decision, Evaluation, Passage, PassageId, Round, Suggestion, Verdict
from engine.running.own_judge import own_judge_warnings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions, gener_epoch
from engine.workflows.answer_evaluation.policy import (
    EXCERPT_CHARS,
    EvaluationEvidence,
    decide_evaluation,
    excerpts,
    observation,
    outcome_of_answer,
    scores_of,
)
from tests.engine.strategies import rounds

POINT = Suggestion("evidence_marking", "Give a source for the second sentence.")
PASSED = Evaluation(True)
FAILED = Evaluation(False, (POINT, POINT))
ROUND = Round(index=0, query="q", candidates=())
CONFIG = RunConfig(workflow="answer_evaluation", options=AnswerEvaluationOptions(3))


def evidence(
    evaluation: Evaluation | None, epoch: int = 1, elapsed_s: float = 0.0, *, writer_failed: bool = False
) -> EvaluationEvidence:
    return EvaluationEvidence([ROUND], epoch, evaluation, elapsed_s, writer_failed)


def said(decision: Decision) -> tuple[str, str, list[tuple[str, float, str, float]]]:
    return (
        decision.route,
        decision.reason,
        [(item.quantity, item.value, item.relation, item.bound) for item in decision.comparisons],
    )


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (evidence(PASSED), ("end", "evaluation_passed", [("suggestions", 0, "<", 1)])),
        (evidence(FAILED), ("generate_answer", "revise", [("suggestions", 2, ">=", 1), ("epoch", 1, "<", 3)])),
        (evidence(FAILED, 3), ("end", "max_epochs", [("suggestions", 2, ">=", 1), ("epoch", 3, ">=", 3)])),
        (evidence(FAILED, 1, 120.0), ("end", "deadline", [("suggestions", 2, ">=", 1), ("elapsed_s", 120, ">=", 120)])),
        (evidence(None), ("end", "evaluator_failed", [("unreached_evaluators", 1, ">=", 1)])),
        (evidence(None, 1, 200.0), ("end", "deadline", [("elapsed_s", 200, ">=", 120)])),
        (
            evidence(FAILED, 1, writer_failed=True),
            ("end", "writer_failed", [("suggestions", 2, ">=", 1), ("failed_answers", 1, ">=", 1)]),
        ),
        (evidence(FAILED, 3, 999.0), ("end", "max_epochs", [("suggestions", 2, ">=", 1), ("epoch", 3, ">=", 3)])),
        (evidence(PASSED, 3, 999.0), ("end", "evaluation_passed", [("suggestions", 0, "<", 1)])),
    ],
)
def test_each_decision_has_one_reason_and_the_inequalities_that_caused_it(
    given_: EvaluationEvidence, expected: tuple[str, str, list[tuple[str, float, str, float]]]
) -> None:
    """AE-01"""
    assert said(decide_evaluation(given_, CONFIG)) == expected


def test_a_decision_needs_a_round() -> None:
    with pytest.raises(ValueError, match="round"):
        decide_evaluation(EvaluationEvidence([], 1, PASSED), CONFIG)


@given(
    st.integers(1, 10),
    st.lists(st.sampled_from([PASSED, FAILED, None]), min_size=12, max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
    st.floats(0, 300),
)
def test_no_evaluations_and_no_limit_lead_to_more_answers_than_the_limit(
    limit: int, evaluations: list[Evaluation | None], failures: list[bool], elapsed_s: float
) -> None:
    """AE-01: at most ``gener_epoch`` generations, and the loop always ends."""
    config = RunConfig(workflow="answer_evaluation", options=AnswerEvaluationOptions(limit))
    written = 0
    for evaluation, failed in zip(evaluations, failures, strict=True):
        written += 1
        decision = decide_evaluation(evidence(evaluation, written, elapsed_s, writer_failed=failed), config)
        assert all(_holds(item.value, item.relation, item.bound) for item in decision.comparisons)
        if decision.route == "end":
            break
    assert decision.route == "end"
    assert written <= limit


def _holds(value: float, relation: str, bound: float) -> bool:
    return {"<": value < bound, ">=": value >= bound, "==": value == bound}[relation]


PASSAGE = Passage(PassageId("p"), "p.md", "text", 0.5, 0.8)
GIVEN = Context((PASSAGE,))


def decision(reason: str, node: str = "eval_answer") -> Decision:
    return Decision(0, "end", reason, (), 0, 0, node)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gate", "last", "context", "expected"),
    [
        ("passed", "evaluation_passed", GIVEN, ("answered", "evaluation_passed")),
        ("max_rewrites", "evaluation_passed", GIVEN, ("answered_forced", "max_rewrites")),
        ("passed", "max_epochs", GIVEN, ("answered_forced", "max_epochs")),
        ("passed", "evaluator_failed", GIVEN, ("answered_forced", "evaluator_failed")),
        ("max_rewrites", "evaluation_passed", replace(GIVEN, verified=False), ("answered_unverified", "max_rewrites")),
        ("max_rewrites", "max_rewrites", Context(()), ("abstained", "max_rewrites")),
    ],
)
def test_an_answer_is_answered_only_where_both_gates_were_met(
    gate: str, last: str, context: Context, expected: tuple[str, str]
) -> None:
    """SC-04, AE-01"""
    assert outcome_of_answer(decision(gate, "grade"), decision(last), context) == expected


@given(st.lists(st.text(max_size=1200), max_size=8), st.integers(1, 20))
def test_an_evaluator_sees_at_most_top_k_passages_each_cut_at_500_characters(texts: list[str], top_k: int) -> None:
    """AE-04"""
    passages = [Passage(PassageId(str(at)), "s.md", text, 0.5, 0.5) for at, text in enumerate(texts)]
    seen = excerpts(passages, top_k)
    assert [item.passage_id for item in seen] == [item.id for item in passages[:top_k]]
    for item, passage in zip(seen, passages, strict=False):
        assert item.cut == (len(passage.text) > EXCERPT_CHARS)
        assert item.text == (passage.text[:EXCERPT_CHARS] + "…" if item.cut else passage.text)


def test_only_a_chat_model_in_both_roles_is_shared() -> None:
    """AE-05"""
    chat, other = RoleModel("ollama:a"), RoleModel("ollama:b")

    def shared(evaluator: RoleModel, generator: RoleModel) -> str | None:
        return RoleModels(evaluator=evaluator, generator=generator).writes_and_judges

    assert shared(chat, chat) == "ollama:a"
    assert shared(replace(chat, temperature=1.0), chat) == "ollama:a", "settings do not make it another model"
    assert shared(chat, other) is None
    assert shared(RoleModel(), RoleModel()) is None


@pytest.mark.parametrize(
    ("workflow", "warned"), [("answer_evaluation", True), ("dual_loop", True), ("self_corrective", False)]
)
def test_a_shared_model_is_warned_of_where_answers_are_evaluated(workflow: WorkflowName, warned: bool) -> None:
    """AE-05"""
    chat = RoleModel("ollama:a")
    found = own_judge_warnings(RunConfig(workflow=workflow, models=RoleModels(evaluator=chat, generator=chat)))
    assert [item.code for item in found] == ["WB420"] * warned
    assert own_judge_warnings(RunConfig(workflow=workflow, models=RoleModels(generator=chat))) == ()


def test_a_config_of_another_workflow_has_no_limit_of_answers() -> None:
    with pytest.raises(ValueError, match="AnswerEvaluationOptions"):
        gener_epoch(RunConfig())


def test_scores_are_those_of_every_kept_passage_the_most_relevant_first() -> None:
    """AE-08: distinct over the rounds, with the better similarity; an unjudged one has no P(relevant)."""

    def made(name: str, similarity: float) -> Passage:
        return Passage(PassageId(name), f"{name}.md", "text", similarity, similarity)

    yes, no = Verdict(True, 0.9, "yes"), Verdict(False, 0.8, "no")
    first = Round(0, "q", gated([made("a", 0.5), made("b", 0.4), made("c", 0.1)], CONFIG))
    first = replace(first, verdicts={PassageId("a"): no, PassageId("b"): yes})
    second = Round(1, "q2", gated([made("a", 0.7), made("d", 0.6)], CONFIG), verdicts={PassageId("a"): no})
    scores = scores_of([first, second], CONFIG)
    assert [(item["id"], item["similarity"], item["p_relevant"]) for item in scores] == [
        ("b", 0.4, 0.9),
        ("a", 0.7, 0.2),
        ("d", 0.6, None),
    ]
    kept = observation("q", scores, answer="It is so.", epoch=2, time="2026-01-01T00:00:00+00:00")
    assert {"query", "retrieved_nodes_score", "answer", "epoch", "time"} <= set(kept)


@given(rounds(CONFIG))
def test_every_score_is_of_a_kept_passage(recorded: tuple[Round, ...]) -> None:
    """AE-08"""
    kept = {passage.id for current in recorded for passage in current.kept}
    assert {item["id"] for item in scores_of(recorded, CONFIG)} == kept
