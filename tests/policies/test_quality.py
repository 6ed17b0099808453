"""The quality policy as pure functions: QL-01, QL-02, QL-05 and QL-08."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.decide import Evidence
from engine.model.values import (
    SOURCE_KINDS,
    Candidate,
    Context,
    Decision,
    PassageId,
    QualityCheck,
    Round,
    Routing,
    SourceKind,
)
from engine.workflows.quality_loop.options import QualityOptions
from engine.workflows.quality_loop.policy import (
    check_quality,
    deadline_s,
    decide_quality,
    grade_of,
    kept_candidates,
    outcome_of,
    rewrite_issues,
    score_ceiling,
)
from tests.support.loop_fakes import passage, verdict

CONFIG = RunConfig(workflow="quality_loop", top_k=20)


def config(**options: Any) -> RunConfig:
    return RunConfig(workflow="quality_loop", top_k=20, options=QualityOptions(**options))


Found = tuple[SourceKind | None, float]


def many(count: int, kind: SourceKind, chance: float) -> list[Found]:
    return [(kind, chance)] * count


def a_round(*found: Found, index: int = 0, similarity: float = 0.9) -> Round:
    """A round whose passages have the kinds and P(relevant) given; a negative P is an unreadable verdict."""
    names = [PassageId(f"p{place}") for place in range(len(found))]
    candidates = tuple(
        Candidate(passage(name, similarity), place, "kept", 0.0, kind=kind)
        for place, (name, (kind, _)) in enumerate(zip(names, found, strict=True), 1)
    )
    verdicts = {name: verdict(chance) for name, (_, chance) in zip(names, found, strict=True)}
    return Round(index, "q", candidates, verdicts=verdicts)


def values(check: QualityCheck) -> dict[str, float]:
    return {item.name: item.value for item in check.dimensions}


def codes(current: Round, chosen: RunConfig = CONFIG) -> list[str]:
    return [item.code for item in check_quality(current, chosen).issues]


def test_the_score_is_the_weighted_sum_of_the_four_dimensions() -> None:
    """QL-01"""
    check = check_quality(a_round(("temporal", 0.9), ("temporal", 0.7), ("graph", 0.5), ("vector", 0.1)), CONFIG)
    assert values(check) == pytest.approx({"coverage": 0.5, "relevance": 0.55, "diversity": 1.0, "count": 0.2})
    assert check.score == pytest.approx(0.4 * 0.5 + 0.3 * 0.55 + 0.2 * 1.0 + 0.1 * 0.2)
    assert check.passages == 4


def test_no_passages_score_nothing_and_have_one_issue_that_says_so() -> None:
    """QL-01"""
    check = check_quality(a_round(), CONFIG)
    assert (check.score, check.top3, check.grade, check.top3_grade) == (0, 0, "low", "low")
    assert [item.code for item in check.issues] == ["no_passages"]
    assert check.dimensions == ()


@pytest.mark.parametrize(
    ("found", "missing"),
    [
        (many(5, "temporal", 0.6) + many(5, "vector", 0.6), None),
        (many(4, "temporal", 0.6) + many(6, "vector", 0.6), "low_coverage"),
        (many(5, "temporal", 0.59) + many(5, "vector", 0.6), "low_relevance"),
        (many(10, "temporal", 0.6), "single_source"),
        (many(5, "temporal", 0.6) + many(4, "vector", 0.6), "too_few"),
    ],
)
def test_an_issue_begins_just_below_its_bound(found: list[Found], missing: str | None) -> None:
    """QL-01: coverage < 0.5, relevance < 0.6, fewer than 2 source kinds, fewer than 10 passages."""
    assert codes(a_round(*found)) == ([missing] if missing else [])


def test_all_four_issues_are_distinguished_with_their_inequality() -> None:
    """QL-01"""
    issues = check_quality(a_round(("vector", 0.2)), CONFIG).issues
    assert [(item.code, item.value, item.bound) for item in issues] == [
        ("low_coverage", 0, 0.5),
        ("low_relevance", 0.2, 0.6),
        ("single_source", 1, 2),
        ("too_few", 1, 10),
    ]


@pytest.mark.parametrize(("score", "grade"), [(0.7, "high"), (0.6999, "medium"), (0.5, "medium"), (0.4999, "low")])
def test_grades_begin_at_their_cut_off(score: float, grade: str) -> None:
    """QL-02"""
    assert grade_of(score, QualityOptions()) == grade


def test_a_sum_that_reaches_the_bar_reaches_it_in_floating_point_too() -> None:
    """QL-02: 0.20 + 0.09 + 0.20 + 0.05 is 0.54."""
    exact = a_round(*many(5, "temporal", 0.3), *many(3, "vector", 0.3), *many(2, "graph", 0.3))
    assert decide_quality(Evidence([exact]), config(medium_score=0.54)).reason == "quality_met"


def test_both_definitions_are_computed_and_the_setting_says_which_one_routes() -> None:
    """QL-02"""
    current = a_round(("vector", 0.9), ("vector", 0.8), ("vector", 0.7), ("vector", 0.0))
    by_top3 = check_quality(current, config(grade_on="top3"))
    assert (by_top3.top3, by_top3.top3_grade, by_top3.grade) == (0.8, "high", "low")
    assert (by_top3.routing_score, by_top3.routing_grade) == (0.8, "high")
    assert check_quality(current, CONFIG).routing_grade == "low"
    assert decide_quality(Evidence([current]), config(grade_on="top3")).comparisons[0].quantity == "top3_relevance"
    assert decide_quality(Evidence([current]), config(grade_on="top3")).route == "generate"
    assert decide_quality(Evidence([current]), CONFIG).route == "rewrite"


def test_fewer_than_three_passages_have_the_mean_of_those_there_are() -> None:
    """QL-02"""
    assert check_quality(a_round(("vector", 0.9), ("vector", 0.5)), CONFIG).top3 == pytest.approx(0.7)


def test_unreadable_and_missing_verdicts_count_as_irrelevant() -> None:
    """QL-01"""
    current = a_round(("vector", 1.0), ("vector", -1.0), ("vector", 0.5))
    current = replace(current, verdicts={k: v for k, v in current.verdicts.items() if k != "p2"})
    assert values(check_quality(current, CONFIG))["relevance"] == pytest.approx(1 / 3)


def test_only_what_the_gates_keep_is_judged() -> None:
    """QL-01"""
    current = a_round(*many(6, "vector", 0.5))
    assert len(kept_candidates(current, RunConfig(workflow="quality_loop", top_k=4))) == 4
    assert kept_candidates(a_round(("vector", 0.5), similarity=0.1), CONFIG) == []


def test_a_config_of_another_workflow_is_refused() -> None:
    with pytest.raises(ValueError, match="QualityOptions"):
        check_quality(a_round(), RunConfig())


def test_the_deadline_leaves_time_for_the_generation() -> None:
    """QL-05: generation included."""
    chat = replace(CONFIG, models=replace(CONFIG.models, generator=replace(CONFIG.models.generator, model="ollama:x")))
    assert deadline_s(CONFIG) == 9.0
    assert deadline_s(chat) == 7.0


LOW = a_round(("vector", 0.2))
UNGRADED = replace(LOW, verdicts={})


@pytest.mark.parametrize(
    ("evidence", "route", "reason", "words"),
    [
        (Evidence([a_round(("vector", -1), ("vector", -1))]), "end", "grader_failed", [("unreadable", 2, "==", 2)]),
        (
            Evidence([UNGRADED], 99, grader_unavailable=True),
            "generate",
            "grader_unavailable",
            [("ungraded", 1, ">=", 1)],
        ),
        (Evidence([LOW], elapsed_s=9.0, rewriter_failed=True), "generate", "deadline", [("elapsed_s", 9.0, ">=", 9.0)]),
        (Evidence([LOW] * 3, repeated_rewrite=True), "generate", "max_rewrites", [("rewrites", 2, ">=", 2)]),
        (Evidence([LOW] * 2, rewriter_failed=True, repeated_rewrite=True), "generate", "rewriter_failed", []),
        (Evidence([LOW] * 2, repeated_rewrite=True), "generate", "repeated_rewrite", []),
        (Evidence([a_round()]), "generate", "no_passages", [("candidates", 0, "==", 0)]),
        (Evidence([LOW]), "rewrite", "low_quality", [("rewrites", 0, "<", 2)]),
        (Evidence([LOW] * 2), "rewrite", "low_quality", [("rewrites", 1, "<", 2)]),
    ],
)
def test_exits_have_one_reason_in_a_fixed_precedence(
    evidence: Evidence, route: str, reason: str, words: list[tuple[Any, ...]]
) -> None:
    """QL-05"""
    decision = decide_quality(evidence, CONFIG)
    assert (decision.node, decision.route, decision.reason) == ("grade_documents", route, reason)
    for quantity, *rest in words:
        said = next(item for item in decision.comparisons if item.quantity == quantity)
        assert [said.value, said.relation, said.bound][: len(rest)] == rest


def test_quality_that_is_met_wins_over_every_limit() -> None:
    """QL-05"""
    good = a_round(*many(5, "temporal", 0.9), *many(5, "vector", 0.9))
    evidence = Evidence([good] * 3, elapsed_s=99, rewriter_failed=True, repeated_rewrite=True, grader_unavailable=True)
    decision = decide_quality(evidence, CONFIG)
    assert (decision.route, decision.reason, decision.passed, decision.kept) == ("generate", "quality_met", 10, 10)


def test_a_decision_without_rounds_is_an_error() -> None:
    with pytest.raises(ValueError, match="round"):
        decide_quality(Evidence([]), CONFIG)


@pytest.mark.parametrize(
    ("reason", "passages", "verified", "outcome"),
    [
        ("quality_met", True, True, "answered"),
        ("max_rewrites", True, True, "answered_forced"),
        ("quality_met", True, False, "answered_unverified"),
        ("quality_met", False, True, "abstained"),
    ],
)
def test_an_answer_on_low_quality_is_a_forced_one(reason: Any, passages: bool, verified: bool, outcome: str) -> None:
    """QL-05"""
    context = Context((passage("p"),) if passages else (), verified=verified)
    assert outcome_of(Decision(0, "generate", reason, (), 0, 0), context) == outcome


def test_a_ceiling_below_the_bar_is_said_before_the_run() -> None:
    """QL-08: the two ceilings that the requirement names."""
    chosen = RunConfig(workflow="quality_loop", top_k=5)
    both = score_ceiling(chosen, ("vector", "graph"))
    assert (round(both.score, 2), both.reachable) == (0.46, False)
    assert both.missing == ("temporal",)
    alone = score_ceiling(chosen, ("vector",))
    assert (round(alone.score, 2), alone.reachable, alone.missing) == (0.39, False, ("graph", "temporal"))


def test_with_history_every_grade_can_be_reached() -> None:
    """QL-08"""
    ceiling = score_ceiling(RunConfig(workflow="quality_loop"), SOURCE_KINDS)
    assert (grade_of(ceiling.score, QualityOptions()), ceiling.reachable, ceiling.missing) == ("high", True, ())
    assert score_ceiling(CONFIG, ()).score == 0


def test_the_mean_of_the_best_three_has_no_ceiling_below_1() -> None:
    """QL-08"""
    assert score_ceiling(config(grade_on="top3"), ("vector",)).score == 1
    assert score_ceiling(config(grade_on="top3"), ()).reachable is False


def test_a_rewriter_gets_issues_in_words_without_a_figure() -> None:
    """QL-04"""
    issues = rewrite_issues(LOW, CONFIG)
    assert [item.code for item in issues] == ["low_coverage", "low_relevance", "single_source", "too_few"]
    assert not any(char.isdigit() for item in issues for char in item.text)


def test_history_that_the_collection_does_not_have_is_not_asked_for_again() -> None:
    """QL-04"""
    routing = Routing("q", {"vector": 1.0}, missing=("temporal",))
    assert "low_coverage" not in [item.code for item in rewrite_issues(replace(LOW, routing=routing), CONFIG)]


FOUND = st.tuples(st.sampled_from([*SOURCE_KINDS, None]), st.sampled_from([-1.0, 0.0, 0.3, 0.5, 0.7, 1.0]))


@st.composite
def weights(draw: st.DrawFn) -> QualityOptions:
    parts = draw(st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any))
    shares = [round(part / sum(parts), 4) for part in parts]
    names = ("coverage_weight", "relevance_weight", "diversity_weight", "count_weight")
    bars = sorted(draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
    made: dict[str, Any] = dict(zip(names, shares, strict=True))
    return QualityOptions(
        **made, grade_on=draw(st.sampled_from(["weighted", "top3"])), medium_score=bars[0], high_score=bars[1]
    )


@given(st.lists(FOUND, max_size=25), weights(), st.integers(1, 20))
def test_scores_are_shares_that_no_ceiling_is_below(found: list[Found], options: QualityOptions, top_k: int) -> None:
    """QL-01, QL-02, QL-08"""
    chosen = RunConfig(workflow="quality_loop", top_k=top_k, options=options)
    current = a_round(*found)
    check = check_quality(current, chosen)
    assert 0 <= check.score <= 1 and 0 <= check.top3 <= 1
    assert check.passages == min(len(found), top_k)
    assert all(0 <= item.value <= 1 for item in check.dimensions)
    weighted = sum(item.value * item.weight for item in check.dimensions)
    assert check.score == pytest.approx(min(1.0, weighted), abs=1e-6)
    assert check.grade == grade_of(check.score, options)
    kinds = {kind or "vector" for kind, _ in found[:top_k]}
    if kinds:
        assert check.routing_score <= score_ceiling(chosen, tuple(kinds)).score + 1e-9


@given(
    st.lists(st.lists(FOUND, max_size=12), min_size=1, max_size=8),
    st.integers(0, 5),
    st.floats(0, 20),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    weights(),
)
def test_every_decision_is_a_known_route_with_true_comparisons(
    found: list[list[Found]],
    budget: int,
    elapsed_s: float,
    repeated: bool,
    failed: bool,
    gone: bool,
    options: QualityOptions,
) -> None:
    """QL-05: never a rewrite past the limit or the deadline."""
    chosen = RunConfig(workflow="quality_loop", top_k=20, max_rewrites=budget, options=options)
    rounds = [a_round(*items, index=index) for index, items in enumerate(found)]
    decision = decide_quality(Evidence(rounds, elapsed_s, repeated, failed, gone), chosen)
    assert decision.route in ("rewrite", "generate", "end")
    if decision.route == "rewrite":
        assert len(rounds) - 1 < budget and elapsed_s < deadline_s(chosen)
        assert not (repeated or failed)
    for item in decision.comparisons:
        true = {"<": item.value < item.bound, ">=": item.value >= item.bound, "==": item.value == item.bound}
        assert true[item.relation]
