"""A remedy is promised only where a real run with that one change would answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given

from engine.evaluation.cases import sample_set
from engine.evaluation.matching import met_map
from engine.model.config import RunConfig
from engine.model.values import PassageId, Verdict
from engine.replay import what_if
from engine.replay.decision_boundaries import DecisionBoundary, remedy
from engine.samples.demos import demo_record, demos
from tests.engine.whatif.world import World, recordings, run_in, worlds


def _with(config: RunConfig, found: DecisionBoundary) -> RunConfig:
    changed: dict[str, Any] = {found.name: found.value_to}
    return replace(config, **changed)


@given(worlds(), recordings())
def test_what_a_remedy_promises_a_real_run_does(world: World, config: RunConfig) -> None:
    """SC-04: the promise is a known path; running the same world with the change keeps it."""
    if world.time_up or world.cut_off or world.unreached is not None:
        return
    record = run_in(world, config)
    found = remedy(record, config)
    if found is None:
        return
    again = run_in(world, _with(config, found))
    assert (again.outcome, again.rounds[-1].index) == ("answered", found.round)


def test_the_forced_exit_has_a_remedy_and_one_change_is_enough() -> None:
    for name in ("demo-forced-en", "demo-forced-zh"):
        record = demo_record(name)
        found = remedy(record, record.config)
        assert found is not None
        assert what_if(record, _with(record.config, found)).outcome == "answered"
        assert found.rewrites_saved == 3


def test_a_run_that_ends_well_needs_none() -> None:
    for item in demos():
        record = demo_record(item.id)
        if record.outcome == "answered":
            assert remedy(record, record.config) is None


def test_passing_what_the_grader_calls_irrelevant_is_no_remedy() -> None:
    """SC-03: an honest abstention is not mended by lowering the bar under the grader's own no."""
    record = demo_record("demo-abstains-en")
    assert remedy(record, record.config) is None


def test_with_labels_the_answer_must_rest_on_an_expected_passage() -> None:
    record = demo_record("demo-forced-en")
    never = {PassageId("another"): (0,)}
    assert remedy(record, record.config, never) is None
    case = next(case for case in sample_set().cases if case.question == record.question)
    found = remedy(record, record.config, met_map(case, record))
    assert found is not None


def test_with_labels_a_remedy_that_lets_rejected_passages_in_names_them() -> None:
    found = ((0, 0.8), (1, 0.7), (2, 0.5), (3, 0.45))
    verdicts = (Verdict(True, 0.9, "yes"), *(Verdict(False, 0.6, "no"),) * 3)
    config = RunConfig(max_rewrites=0)
    record = run_in(World((found,) * 4, verdicts, ("new",) * 4), config)
    change = remedy(record, config, {PassageId("p03"): (0,)})
    assert change is not None
    assert (change.name, change.rejected) == ("min_confidence", 3)
    assert [item.passage.id for item in change.admits] == ["p01", "p02", "p03"]
