"""The routing policy: SC-02, SC-03, SC-04, SC-05 and SC-13."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.decide import Evidence, decide, gate_of, gated, kept_passages, outcome_of, passed_ids
from engine.model.values import Comparison, Context, Decision, Passage, PassageId, Round, Verdict, inequality, operands
from tests.engine.strategies import configs, rounds


def passage(name: str, similarity: float = 0.5) -> Passage:
    return Passage(PassageId(name), "a.md", f"text of {name}", similarity, similarity)


def a_round(passed: int, failed: int, index: int = 0, unreadable: int = 0, prefix: str = "p") -> Round:
    total = passed + failed + unreadable
    passages = [passage(f"{prefix}{number}") for number in range(total)]
    kinds: list[bool | None] = [True] * passed + [False] * failed + [None] * unreadable
    verdicts = {item.id: Verdict(kind, 0.9, "x") for item, kind in zip(passages, kinds, strict=True)}
    wide = RunConfig(top_k=20)
    return Round(index=index, query=f"q{index}", candidates=gated(passages, wide), verdicts=verdicts)


def route(config: RunConfig, *recorded: Round, **facts: float | bool) -> tuple[str, str]:
    decision = decide(Evidence(rounds=recorded, **facts), config)  # type: ignore[arg-type]
    return decision.route, decision.reason


def test_rank_is_reported_before_similarity_and_both_bounds_are_inclusive() -> None:
    """SC-02"""
    config = RunConfig(top_k=2, similarity_threshold=0.3)
    assert gate_of(2, 0.3, config) == "kept"
    assert gate_of(2, 0.2999, config) == "below_threshold"
    assert gate_of(3, 0.1, config) == "beyond_top_k"
    assert gate_of(1, 0.0, RunConfig(similarity_threshold=0)) == "kept"


def test_no_candidate_is_lost_by_the_gates() -> None:
    """SC-02"""
    candidates = gated([passage("a", 0.9), passage("b", 0.1), passage("c", 0.05)], RunConfig(top_k=2))
    assert [(item.rank, item.gate, item.margin) for item in candidates] == [
        (1, "kept", 0.6),
        (2, "below_threshold", -0.2),
        (3, "beyond_top_k", -0.25),
    ]


@pytest.mark.parametrize(
    ("relevant", "confidence", "bar", "passes"),
    [
        (True, 0.5, 0.5, True),
        (True, 0.49, 0.5, False),
        (False, 0.7, 0.3, True),
        (False, 0.9, 0.1, True),
        (False, 0.71, 0.3, False),
        (None, 1.0, 0.0, False),
        (False, 1.0, 0.0, True),
    ],
)
def test_a_passage_passes_on_p_relevant_not_on_the_flag(
    relevant: bool | None, confidence: float, bar: float, passes: bool
) -> None:
    """SC-03"""
    assert Verdict(relevant, confidence, "x").passes(bar) is passes


def test_the_pass_rate_meets_its_bar_inclusively() -> None:
    """SC-04"""
    assert route(RunConfig(grade_pass_threshold=0.6), a_round(3, 2)) == ("generate", "passed")
    assert route(RunConfig(grade_pass_threshold=0.6), a_round(2, 3)) == ("rewrite", "below_gate")


def test_unreadable_verdicts_count_as_not_passed() -> None:
    """SC-04"""
    decision = decide(Evidence([a_round(2, 0, unreadable=3)]), RunConfig(gate="pass_rate"))
    assert (decision.pass_rate, decision.route) == (0.4, "rewrite")


def test_only_unreadable_verdicts_end_the_run_instead_of_burning_rewrites() -> None:
    """SC-03"""
    assert route(RunConfig(), a_round(0, 0, unreadable=5)) == ("end", "grader_failed")


def test_nothing_kept_counts_as_a_rate_of_zero_and_zero_is_a_value() -> None:
    """SC-04"""
    empty = Round(index=0, query="q", candidates=gated([passage("a", 0.1)], RunConfig()))
    assert route(RunConfig(), empty) == ("rewrite", "below_gate")
    assert route(RunConfig(grade_pass_threshold=0), empty) == ("generate", "passed")
    assert route(RunConfig(max_rewrites=0), empty) == ("generate", "max_rewrites")


def test_an_empty_collection_is_not_searched_again() -> None:
    """SC-04"""
    assert route(RunConfig(), Round(index=0, query="q", candidates=())) == ("generate", "no_passages")


def test_the_reasons_come_in_their_order() -> None:
    """SC-04: passed, deadline, below_gate, max_rewrites, repeated_rewrite, no_passages."""
    config = RunConfig(max_rewrites=1, budget_s=10)
    failing = (a_round(0, 5), a_round(0, 5, index=1))
    assert route(config, a_round(5, 0), elapsed_s=99.0, repeated_rewrite=True) == ("generate", "passed")
    assert route(config, *failing, elapsed_s=10.0, repeated_rewrite=True) == ("generate", "deadline")
    assert route(config, *failing, repeated_rewrite=True) == ("generate", "max_rewrites")
    more = replace(config, max_rewrites=2)
    assert route(more, *failing, repeated_rewrite=True) == ("generate", "repeated_rewrite")
    assert route(more, *failing, rewriter_failed=True) == ("generate", "rewriter_failed")


def test_min_relevant_counts_over_all_rounds_when_the_context_is_their_union() -> None:
    """SC-05"""
    first, second = a_round(1, 4, prefix="a"), a_round(1, 4, index=1, prefix="b")
    union = RunConfig(gate="min_relevant", min_relevant=2)
    assert route(union, first) == ("rewrite", "below_gate")
    assert route(union, first, second) == ("generate", "passed")
    assert route(replace(union, context="last_round"), first, second) == ("rewrite", "below_gate")


def test_min_relevant_counts_a_passage_found_twice_once() -> None:
    """SC-05"""
    config = RunConfig(gate="min_relevant", min_relevant=2)
    assert route(config, a_round(1, 4), a_round(1, 4, index=1)) == ("rewrite", "below_gate")


@given(st.data())
def test_no_recording_and_no_setting_can_loop_past_the_rewrite_budget(data: st.DataObject) -> None:
    """SC-13: replaying any rounds, a rewrite is never decided with the budget spent."""
    config = data.draw(configs)
    recorded = data.draw(rounds(config))
    decisions = [
        decide(Evidence(recorded[: end + 1], elapsed_s=data.draw(st.floats(0, 200))), config)
        for end in range(len(recorded))
    ]
    for rewrites, decision in enumerate(decisions):
        if decision.route == "rewrite":
            assert rewrites < config.max_rewrites


@given(st.data())
def test_every_decision_has_one_reason_that_fits_its_route_and_true_inequalities(data: st.DataObject) -> None:
    """SC-04"""
    config = data.draw(configs)
    recorded = data.draw(rounds(config))
    flags = {"repeated_rewrite": data.draw(st.booleans()), "rewriter_failed": data.draw(st.booleans())}
    decision = decide(Evidence(recorded, elapsed_s=data.draw(st.floats(0, 200)), **flags), config)
    expected = {"below_gate": "rewrite", "grader_failed": "end"}.get(decision.reason, "generate")
    assert decision.route == expected
    assert decision.comparisons
    for comparison in decision.comparisons:
        assert _true(comparison.value, comparison.relation, comparison.bound)
        left, right = operands(comparison)
        assert _true(float(left), comparison.relation, float(right))


@given(st.data())
def test_passed_passages_are_kept_ones_with_a_passing_verdict(data: st.DataObject) -> None:
    """SC-03, SC-04"""
    config = data.draw(configs)
    current = data.draw(rounds(config))[-1]
    kept = {item.id for item in kept_passages(current, config)}
    for passage_id in passed_ids(current, config):
        assert passage_id in kept
        assert current.verdicts[passage_id].passes(config.min_confidence)


def test_an_inequality_is_printed_with_as_many_digits_as_make_it_true() -> None:
    """SC-04: never 0.30 < 0.30."""
    close = Comparison("pass_rate", 0.2999, "<", 0.3)
    assert inequality([close]) == "pass rate 0.2999 < 0.3000"
    usual = (Comparison("pass_rate", 0.4, "<", 0.6), Comparison("rewrites", 1, "<", 3))
    assert inequality(usual) == "pass rate 0.40 < 0.60 and rewrites 1 < 3"


@pytest.mark.parametrize(
    ("reason", "passages", "verified", "outcome"),
    [
        ("passed", 1, True, "answered"),
        ("max_rewrites", 1, True, "answered_forced"),
        ("deadline", 1, True, "answered_forced"),
        ("max_rewrites", 1, False, "answered_unverified"),
        ("passed", 0, True, "abstained"),
    ],
)
def test_outcomes_are_a_closed_set_apart_from_the_reasons(
    reason: str, passages: int, verified: bool, outcome: str
) -> None:
    """SC-04, SC-07"""
    decision = Decision(0, "generate", reason, (), passages, 5)  # type: ignore[arg-type]
    context = Context(tuple(passage(str(number)) for number in range(passages)), verified=verified)
    assert outcome_of(decision, context) == outcome


def test_a_decision_without_rounds_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        decide(Evidence([]), RunConfig())


def _true(left: float, relation: str, right: float) -> bool:
    return {"<": left < right, ">=": left >= right, "==": left == right}[relation]
