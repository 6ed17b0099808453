"""Why a run went wrong: the rules follow expected passages where there are labels, else what the run shows."""

from __future__ import annotations

import pytest

from engine.model.config import RunConfig
from engine.model.decide import gated
from engine.model.events import fold_all
from engine.model.values import Context, Decision, Passage, PassageId, Round, RunId, RunRecord, Verdict
from engine.replay.diagnosis import Failure, diagnose
from engine.samples.demos import demo_record, demos
from tests.support.recorded import recorded_run

YES, NO, NEARLY = Verdict(True, 0.9, ""), Verdict(False, 0.9, ""), Verdict(False, 0.55, "")


def run_with(
    similarities: list[float],
    verdicts: dict[str, Verdict] | None = None,
    *,
    outcome: str = "abstained",
    reason: str = "max_rewrites",
) -> RunRecord:
    """One round over passages p1, p2 …, best first, under the default settings."""
    config = RunConfig()
    passages = [
        Passage(PassageId(f"p{place}"), "s.md", "text", value, value) for place, value in enumerate(similarities, 1)
    ]
    judged = {PassageId(name): verdict for name, verdict in (verdicts or {}).items()}
    current = Round(0, "a question", gated(passages, config), verdicts=judged)
    given = (
        tuple(item for item in passages if item.id in judged and judged[item.id].passes(0.5))
        if outcome != "abstained"
        else ()
    )
    kept, passed = len(current.kept), len(given)
    return RunRecord(
        id=RunId("r"),
        question="a question",
        config=config,
        started_at="2025-03-01T09:30:00+00:00",
        rounds=(current,),
        decisions=(Decision(0, "generate", reason, (), passed, kept),),  # type: ignore[arg-type]
        context=Context(given),
        outcome=outcome,  # type: ignore[arg-type]
    )  # fmt: skip


def expecting(*names: str) -> dict[PassageId, tuple[int, ...]]:
    return {PassageId(name): (place,) for place, name in enumerate(names)}


def failure(record: RunRecord, **more: object) -> Failure | None:
    found = diagnose(record, **more)  # type: ignore[arg-type]
    return found.failure if found else None


def test_a_run_that_answered_with_its_gate_met_has_nothing_to_mend() -> None:
    well = [demo_record(item.id) for item in demos() if item.scenario in ("passes", "noise", "rescue")]
    assert len(well) == 6
    assert [diagnose(record) for record in well] == [None] * 6


def test_an_answer_that_cited_what_it_was_not_given_is_unsupported() -> None:
    """SC-07: the marker was removed, and what it stood behind has nothing to stand on."""
    record = fold_all(recorded_run())
    assert record.removed_markers
    assert failure(record) == "unsupported_answer"


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "interrupted"])
def test_a_run_that_was_stopped_or_failed_says_why_itself(outcome: str) -> None:
    assert diagnose(fold_all(recorded_run(outcome=outcome))) is None  # type: ignore[arg-type]


def test_an_empty_collection_retrieves_nothing() -> None:
    """SC-04: ``no_passages`` is the only way to no candidates at all."""
    assert failure(run_with([])) == "nothing_retrieved"


def test_a_best_candidate_just_below_the_threshold_was_dropped_by_similarity() -> None:
    found = diagnose(run_with([0.27, 0.1]))
    assert found is not None and found.failure == "dropped_by_similarity"
    assert (found.passages, found.figures["similarity"], found.figures["threshold"]) == (("p1",), 0.27, 0.3)


def test_a_passage_that_passed_and_no_round_kept_was_dropped() -> None:
    """A graded probe shows it: the verdict is there, the gate was closed."""
    assert failure(run_with([0.5, 0.1], {"p1": NO, "p2": YES})) == "dropped_by_similarity"


def test_a_verdict_just_under_the_bar_was_strict_and_a_clear_no_was_not() -> None:
    """SC-03."""
    assert failure(run_with([0.5], {"p1": NEARLY})) == "grader_too_strict"
    assert failure(run_with([0.5], {"p1": NO})) == "no_such_knowledge"


def test_nothing_near_the_question_is_no_such_knowledge() -> None:
    assert failure(run_with([0.05, 0.01])) == "no_such_knowledge"
    assert failure(demo_record("demo-abstains-en")) == "no_such_knowledge"


def test_a_forced_exit_with_verified_passages_spent_its_rewrites() -> None:
    """SC-05: the passage was there, the gate was never met."""
    found = diagnose(demo_record("demo-forced-zh"))
    assert found is not None and found.failure == "budget_spent"
    assert found.figures["rewrites"] == 3 and found.figures["passed"] >= 1


def test_rewrites_that_only_lowered_everything_drifted() -> None:
    found = diagnose(demo_record("demo-forced-en"))
    assert found is not None and found.failure == "rewrite_drifted"
    assert found.figures["rate_last"] < found.figures["rate_first"]


def test_time_that_was_over_is_the_budget() -> None:
    """SC-13."""
    assert failure(run_with([0.5], {"p1": NO}, reason="deadline")) == "budget_spent"


def test_an_unverified_answer_is_unsupported() -> None:
    """SC-07."""
    assert failure(fold_all(recorded_run(outcome="answered_unverified"))) == "unsupported_answer"


def test_an_answer_that_cites_nothing_is_unsupported() -> None:
    answered = run_with([0.5], {"p1": YES}, outcome="answered", reason="passed")
    assert failure(answered) == "unsupported_answer"


def test_labels_say_that_the_search_never_found_the_passage() -> None:
    assert failure(run_with([0.5], {"p1": NO}), met={}) == "nothing_retrieved"


def test_labels_say_that_the_right_passage_was_dropped() -> None:
    assert failure(run_with([0.5, 0.1], {"p1": NO}), met=expecting("p2")) == "dropped_by_similarity"
    deep = run_with([0.5] * 6, {"p1": NO})
    assert failure(deep, met=expecting("p6")) == "dropped_by_similarity"


def test_labels_say_that_the_grader_refused_the_right_passage() -> None:
    found = diagnose(run_with([0.5, 0.4], {"p1": NO, "p2": NO}), met=expecting("p2"))
    assert found is not None and (found.failure, found.passages, found.labelled) == ("grader_too_strict", ("p2",), True)


def test_labels_say_that_something_else_was_let_through() -> None:
    answered = run_with([0.5, 0.4], {"p1": YES, "p2": NO}, outcome="answered", reason="passed")
    found = diagnose(answered, met=expecting("p2"))
    assert found is not None and (found.failure, found.passages) == ("grader_too_lenient", ("p1",))


def test_an_answer_from_an_expected_passage_is_right_by_its_labels() -> None:
    answered = run_with([0.5, 0.4], {"p1": YES, "p2": NO}, outcome="answered", reason="passed")
    assert diagnose(answered, met=expecting("p1")) is None


def test_abstaining_on_what_has_no_answer_is_right() -> None:
    assert diagnose(run_with([0.05]), answerable=False) is None


def test_a_kept_right_passage_that_nobody_judged_ran_out_of_time_where_time_was_over() -> None:
    assert failure(run_with([0.5], reason="deadline"), met=expecting("p1")) == "budget_spent"
    assert diagnose(run_with([0.5], reason="grader_unavailable"), met=expecting("p1")) is None
