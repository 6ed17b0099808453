"""The policy of the dual loop as pure functions: DL-02, DL-03, DL-04 and DL-06."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.decide import best_draft, gated
from engine.model.values import (
    INITIAL,
    STRATEGIES,
    Decision,
    Draft,
    Evaluation,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RouteChoice,
    Strategy,
    Suggestion,
    TriedRoute,
    Verdict,
)
from engine.workflows.dual_loop.options import DualLoopOptions, dual_options
from engine.workflows.dual_loop.policy import (
    DualEvidence,
    decide_answer,
    decide_documents,
    decide_route,
    draft_stands,
    first_strategy,
    moves_on_to_web,
    outcome_of,
    passed_over,
    recalled,
    settled,
    skips,
    stale,
    untried,
    usable_strategies,
)
from tests.engine.strategies import configs, rounds
from tests.support.dual_fakes import OFF, SOLVED, WORSE, memory

CONFIG = RunConfig(workflow="dual_loop")
LOCAL: tuple[Strategy, ...] = ("hierarchical_search", "direct_chunk_search")
YES, NO, UNREADABLE = Verdict(True, 0.9, ""), Verdict(False, 0.9, ""), Verdict(None, 0.0, "")


def searched(*verdicts: Verdict, strategy: Strategy = "hierarchical_search", fresh: bool = True) -> Round:
    passages = [Passage(PassageId(f"p{place}"), "a.md", "text", 0.9, 0.9) for place in range(len(verdicts))]
    judged = {passage.id: verdict for passage, verdict in zip(passages, verdicts, strict=True)}
    opened = Round(0, "q", gated(passages, CONFIG), verdicts=judged, searched=fresh, strategy=strategy)
    return replace(opened)


def tried(*strategies: Strategy, attempt: int = 0) -> tuple[TriedRoute, ...]:
    return tuple(TriedRoute(item, attempt, "searched") for item in strategies)


def drafts(*evaluations: Evaluation | None) -> tuple[Draft, ...]:
    return tuple(Draft(place, f"answer {place}", evaluation=item) for place, item in enumerate(evaluations))


def test_one_relevant_passage_is_enough_to_answer() -> None:
    """DL-03"""
    decision = decide_documents(DualEvidence([searched(NO, NO, YES)], LOCAL, tried("hierarchical_search")), CONFIG)
    assert (decision.node, decision.route, decision.reason) == (
        "grade_documents",
        "generate_response",
        "documents_relevant",
    )
    assert [(item.quantity, item.value, item.relation, item.bound) for item in decision.comparisons] == [
        ("relevant_passages", 1, ">=", 1)
    ]


def test_without_a_relevant_passage_the_next_untried_strategy_follows_until_all_are_tried() -> None:
    """DL-03"""
    current = searched(NO)
    first = decide_documents(DualEvidence([current], STRATEGIES, tried("hierarchical_search")), CONFIG)
    assert (first.route, first.reason) == ("retrieve_documents", "next_strategy")
    assert (first.comparisons[1].quantity, first.comparisons[1].value) == ("untried_strategies", 2)
    last = decide_documents(DualEvidence([current], STRATEGIES, tried(*STRATEGIES)), CONFIG)
    assert (last.route, last.reason) == ("end", "strategies_exhausted")
    assert outcome_of(last, (), tried(*STRATEGIES)) == "fallback"


def test_strategies_of_an_earlier_pass_do_not_count_as_tried() -> None:
    """DL-04: ``tried_routes`` is reset."""
    evidence = DualEvidence([searched(NO)], LOCAL, tried(*LOCAL, attempt=0), drafts(OFF), corrections=1)
    assert decide_documents(evidence, CONFIG).reason == "next_strategy"
    assert untried(LOCAL, tried(*LOCAL, attempt=0), 1) == LOCAL


def test_relevant_documents_after_the_deadline_are_answered_once_and_never_again() -> None:
    """DL-03, SC-13"""
    late = DualEvidence([searched(YES)], LOCAL, tried("hierarchical_search"), elapsed_s=CONFIG.budget_s)
    assert decide_documents(late, CONFIG).reason == "documents_relevant"
    again = decide_documents(replace(late, drafts=drafts(OFF), corrections=1), CONFIG)
    assert (again.route, again.reason) == ("end", "deadline")
    assert outcome_of(again, drafts(OFF), ()) == "answered_forced"


def test_the_deadline_without_documents_ends_without_an_answer() -> None:
    """SC-13"""
    late = DualEvidence([searched(NO)], LOCAL, tried("hierarchical_search"), elapsed_s=CONFIG.budget_s + 1)
    decision = decide_documents(late, CONFIG)
    assert (decision.reason, outcome_of(decision, (), ())) == ("deadline", "fallback")


def test_nothing_new_to_search_ends_with_the_answer_that_stands() -> None:
    """DL-04: the same passages would only be answered from in the same way."""
    evidence = DualEvidence(
        [searched(YES, fresh=False)],
        LOCAL,
        tried("hierarchical_search", attempt=1),
        drafts(OFF),
        corrections=1,
        rewrite="repeated_rewrite",
    )
    decision = decide_documents(evidence, CONFIG)
    assert (decision.route, decision.reason) == ("end", "repeated_rewrite")
    failed = decide_documents(replace(evidence, rewrite="rewriter_failed"), CONFIG)
    assert (failed.reason, failed.comparisons[-1].quantity) == ("rewriter_failed", "failed_rewrites")
    other = replace(evidence, rounds=[searched(YES)])
    assert decide_documents(other, CONFIG).reason == "documents_relevant", "another strategy found them again"


def test_unreadable_verdicts_fail_a_run_only_where_it_has_no_answer() -> None:
    """SC-03, DL-03"""
    evidence = DualEvidence([searched(UNREADABLE, UNREADABLE)], LOCAL, tried("hierarchical_search"))
    assert decide_documents(evidence, CONFIG).reason == "grader_failed"
    assert decide_documents(replace(evidence, drafts=drafts(OFF)), CONFIG).reason == "grader_unavailable"


def test_a_grader_out_of_reach_ends_with_the_answer_that_stands() -> None:
    evidence = DualEvidence(
        [replace(searched(NO), verdicts={})],
        LOCAL,
        tried("hierarchical_search", attempt=1),
        drafts(OFF),
        corrections=1,
        grader_unavailable=True,
    )
    decision = decide_documents(evidence, CONFIG)
    assert (decision.route, decision.reason) == ("end", "grader_unavailable")
    assert outcome_of(decision, evidence.drafts, evidence.tried) == "answered_forced"


def test_an_answer_that_solves_the_question_ends_the_run() -> None:
    """DL-04"""
    decision = decide_answer(DualEvidence([searched(YES)], drafts=drafts(SOLVED)), CONFIG)
    assert (decision.node, decision.route, decision.reason) == (
        "grade_relevance",
        "consolidate_memory",
        "answer_relevant",
    )
    assert outcome_of(decision, drafts(SOLVED), ()) == "answered"


def test_an_answer_that_is_off_is_corrected_at_most_twice() -> None:
    """DL-04"""
    evidence = DualEvidence([searched(YES)], drafts=drafts(OFF))
    routes = [decide_answer(replace(evidence, corrections=count), CONFIG) for count in range(3)]
    assert [item.reason for item in routes] == ["answer_off", "answer_off", "max_corrections"]
    assert routes[0].comparisons[1].quantity == "corrections"
    assert routes[2].route == "consolidate_memory"
    assert outcome_of(routes[2], drafts(OFF), ()) == "answered_forced"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"drafts": drafts(None)}, "evaluator_failed"),
        ({"drafts": drafts(None), "elapsed_s": 999.0}, "deadline"),
        ({"drafts": drafts(OFF), "elapsed_s": 999.0}, "deadline"),
        ({"drafts": drafts(OFF), "elapsed_s": 999.0, "corrections": 2}, "max_corrections"),
        ({"drafts": drafts(SOLVED), "elapsed_s": 999.0}, "answer_relevant"),
        ({"drafts": drafts(OFF), "writer_failed": True, "corrections": 1}, "writer_failed"),
        ({"drafts": drafts(OFF), "writer_failed": True, "elapsed_s": 999.0}, "deadline"),
    ],
)
def test_an_answer_stands_where_nothing_more_can_be_done(changes: dict[str, object], reason: str) -> None:
    """DL-04, SC-13"""
    decision = decide_answer(replace(DualEvidence([searched(YES)]), **changes), CONFIG)  # type: ignore[arg-type]
    assert (decision.route, decision.reason) == ("consolidate_memory", reason)


def test_a_direct_answer_is_judged_without_any_documents() -> None:
    """DL-02"""
    direct = (replace(drafts(OFF)[0], direct=True),)
    decision = decide_answer(DualEvidence(drafts=direct), CONFIG)
    assert (decision.route, decision.round, decision.passed, decision.kept) == ("rewrite_query", 0, 0, 0)


def test_the_limit_of_corrections_is_a_setting() -> None:
    """DL-04"""
    none = RunConfig(workflow="dual_loop", options=DualLoopOptions(max_corrections=0))
    assert decide_answer(DualEvidence(drafts=drafts(OFF)), none).reason == "max_corrections"
    with pytest.raises(ValueError, match="DualLoopOptions"):
        dual_options(RunConfig())


def test_the_best_answer_has_the_fewest_suggestions_and_is_the_newest_of_those() -> None:
    """DL-04"""
    assert best_draft(()) is None
    best = best_draft(drafts(OFF, WORSE, OFF, WORSE))
    assert best is not None
    assert best.index == 2
    unjudged = best_draft(drafts(OFF, None))
    assert unjudged is not None
    assert unjudged.index == 1


def test_exhausted_strategies_take_a_rejected_answer_away_unless_a_search_failed() -> None:
    """DL-03"""
    exhausted = Decision(1, "end", "strategies_exhausted", (), 0, 0, node="grade_documents")
    nothing = (TriedRoute("hierarchical_search", 1, "nothing_found"),)
    failed = (TriedRoute("hierarchical_search", 0, "nothing_found"), TriedRoute("hierarchical_search", 1, "failed"))
    assert not draft_stands(exhausted, drafts(OFF), nothing)
    assert draft_stands(exhausted, drafts(OFF), failed)
    assert not draft_stands(exhausted, (), failed)


def test_what_cannot_be_used_is_skipped_with_its_reason() -> None:
    """DL-03"""
    assert skips(summaries=True, web_on=True, web_set=True) == {}
    assert skips(summaries=False, web_on=False, web_set=True) == {
        "hierarchical_search": "no_summaries",
        "web_search": "web_off",
    }
    assert skips(summaries=True, web_on=True, web_set=False) == {"web_search": "web_not_set"}
    assert usable_strategies({"web_search": "web_off"}) == LOCAL


def test_skipped_strategies_are_noted_once_when_their_turn_went_by() -> None:
    """DL-03"""
    skipped = {"hierarchical_search": "no_summaries", "web_search": "web_off"}
    assert passed_over("direct_chunk_search", skipped, ()) == ["hierarchical_search"]  # type: ignore[arg-type]
    noted = (TriedRoute("hierarchical_search", 0, "skipped", "no_summaries"),)
    assert passed_over(None, skipped, noted) == ["web_search"]  # type: ignore[arg-type]


def test_a_pass_begins_with_the_choice_and_a_corrective_one_with_the_first_usable_strategy() -> None:
    """DL-02"""
    assert first_strategy(RouteChoice("direct_chunk_search"), STRATEGIES) == "direct_chunk_search"
    assert first_strategy(RouteChoice("web_search"), LOCAL) == "hierarchical_search"
    assert first_strategy(None, ("direct_chunk_search",)) == "direct_chunk_search"
    assert first_strategy(RouteChoice("direct"), ()) == "direct_chunk_search"


def test_only_a_local_search_that_kept_nothing_moves_on_to_an_untried_web() -> None:
    """DL-03"""
    nothing = searched()
    assert moves_on_to_web(nothing, CONFIG, ("web_search",))
    assert not moves_on_to_web(nothing, CONFIG, ("direct_chunk_search",))
    assert not moves_on_to_web(searched(NO), CONFIG, ("web_search",))
    assert not moves_on_to_web(searched(strategy="web_search"), CONFIG, ("web_search",))


def test_a_route_is_decided_by_the_choice_alone() -> None:
    """DL-02"""
    assert (decide_route(RouteChoice("direct")).route, decide_route(RouteChoice("direct")).reason) == (
        "direct_response",
        "direct",
    )
    assert decide_route(RouteChoice("web_search")).route == "rewrite_query"


def test_failed_and_foreign_memories_are_never_recalled_and_stale_ones_never_answered_from() -> None:
    """DL-06"""
    good, old = memory(id="good"), memory(id="old", fingerprint="then")
    recall = recalled([good, old, memory(id="no", passed=False), memory(id="other", collection="x")], "samples", "now")
    assert [item.id for item in recall.memories] == ["good", "old"]
    assert recall.stale == ("old",)
    assert recall.holding == (good,)


def test_an_evaluation_passes_exactly_where_there_is_nothing_to_suggest() -> None:
    """DL-04"""
    assert settled(SOLVED) == SOLVED
    assert settled(OFF) == OFF
    assert not settled(Evaluation(True, (Suggestion("reasonableness", "Say when."),))).passed
    assert len(settled(Evaluation(False)).suggestions) == 1


def test_only_a_corrective_rewrite_can_be_stale() -> None:
    """DL-05"""
    assert stale(()) == ""
    assert stale([Rewrite(-1, "q", "q", "", strategy=INITIAL, failed=True)]) == ""
    assert stale([Rewrite(0, "q", "q", "", failed=True)]) == "rewriter_failed"
    assert stale([Rewrite(0, "q", "q", "", repeated=True)]) == "repeated_rewrite"
    assert stale([Rewrite(0, "q", "r", "")]) == ""


def test_a_decision_needs_something_to_decide_on() -> None:
    with pytest.raises(ValueError, match="round"):
        decide_documents(DualEvidence(), CONFIG)
    with pytest.raises(ValueError, match="draft"):
        decide_answer(DualEvidence(), CONFIG)


evaluations = st.one_of(
    st.none(),
    st.just(Evaluation(True)),
    st.integers(1, 4).map(lambda count: Evaluation(False, (Suggestion("reasonableness", "Mend it."),) * count)),
)
strategy_sets = st.sets(st.sampled_from(STRATEGIES)).map(
    lambda chosen: tuple(item for item in STRATEGIES if item in chosen)
)


@st.composite
def evidences(draw: st.DrawFn, config: RunConfig) -> DualEvidence:
    corrections = draw(st.integers(0, 5))
    return DualEvidence(
        rounds=draw(rounds(config)),
        usable=draw(strategy_sets),
        tried=tuple(
            TriedRoute(item, draw(st.integers(0, corrections)), draw(st.sampled_from(["searched", "failed"])))
            for item in draw(st.lists(st.sampled_from(STRATEGIES), max_size=6))
        ),
        drafts=drafts(*draw(st.lists(evaluations, max_size=4))),
        corrections=corrections,
        elapsed_s=draw(st.floats(0, 200)),
        rewrite=draw(st.sampled_from(["", "repeated_rewrite", "rewriter_failed"])),
        grader_unavailable=draw(st.booleans()),
        writer_failed=draw(st.booleans()),
    )


def holds(decision: Decision) -> bool:
    relations = {"<": float.__lt__, ">=": float.__ge__, "==": float.__eq__}
    return all(relations[item.relation](float(item.value), float(item.bound)) for item in decision.comparisons)


@given(st.data())
def test_every_decision_is_true_and_leads_to_a_node_that_its_edge_has(data: st.DataObject) -> None:
    """DL-03, DL-04"""
    config = replace(data.draw(configs), workflow="dual_loop", options=DualLoopOptions(data.draw(st.integers(0, 5))))
    evidence = data.draw(evidences(config))
    documents = decide_documents(evidence, config)
    assert holds(documents)
    assert documents.route in ("generate_response", "retrieve_documents", "end")
    if documents.route == "retrieve_documents":
        assert untried(evidence.usable, evidence.tried, evidence.corrections)
    if not evidence.drafts:
        return
    answer = decide_answer(evidence, config)
    assert holds(answer)
    assert answer.route in ("consolidate_memory", "rewrite_query")
    if answer.route == "rewrite_query":
        assert evidence.corrections < dual_options(config).max_corrections
        assert evidence.elapsed_s < config.budget_s


@given(st.lists(evaluations, min_size=1, max_size=6))
def test_the_best_answer_is_one_of_those_written_and_none_is_better(judged: list[Evaluation | None]) -> None:
    """DL-04"""
    written = drafts(*judged)
    best = best_draft(written)
    assert best in written
    least = min(len(item.suggestions) if item else 0 for item in judged)
    assert best is not None
    assert (len(best.evaluation.suggestions) if best.evaluation else 0) == least
