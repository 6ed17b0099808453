"""What the pass-rate gate cost where another would have answered: SC-05."""

from __future__ import annotations

from dataclasses import replace

from engine.model.config import RunConfig
from engine.model.events import fold_all
from engine.replay.gate_cost import gate_cost
from tests.support.fakes import FakeGrader, FakeResources, events_of
from tests.workflows.test_self_corrective import finished


def test_rewrites_after_a_verified_passage_was_there_are_counted_as_waste() -> None:
    """SC-05: one right passage among five can never reach a pass rate of 0.6."""
    record = finished(FakeResources(grader=FakeGrader(relevant=frozenset({"p1"}))))
    nodes = tuple(replace(item, start_ms=10.0 * place, duration_ms=4.0) for place, item in enumerate(record.nodes))
    cost = gate_cost(replace(record, nodes=nodes))
    assert cost is not None
    assert (cost.round, cost.relevant, cost.rewrites) == (0, 1, 3)
    assert cost.calls == 3, "three rewrites; the verdicts were reused, and generation happens either way"
    assert cost.saved_ms == 96, "from the end of the second visit to the beginning of the twelfth"
    checks = [replace(call, role="verifier") for call in record.model_calls if call.role == "generator"]
    checked = replace(record, nodes=nodes, model_calls=(*record.model_calls, *checks))
    assert checks and gate_cost(checked) == cost, "the answer is checked either way"


def test_the_other_gate_run_for_real_answers_where_the_waste_says() -> None:
    """SC-05"""
    grader = FakeGrader(relevant=frozenset({"p1"}))
    cost = gate_cost(finished(FakeResources(grader=grader)))
    other = finished(FakeResources(grader=grader), RunConfig(gate="min_relevant"))
    assert cost is not None
    assert len(other.rounds) - 1 == cost.round
    assert other.outcome == "answered"


def test_a_run_without_waste_says_nothing() -> None:
    everything = frozenset({"p1", "p2", "p3", "p4", "p5"})
    assert gate_cost(finished(FakeResources(grader=FakeGrader(relevant=everything)))) is None
    assert gate_cost(finished(FakeResources(grader=FakeGrader()))) is None
    by_count = RunConfig(gate="min_relevant", min_relevant=5)
    assert gate_cost(fold_all(events_of(FakeResources(), by_count))) is None
