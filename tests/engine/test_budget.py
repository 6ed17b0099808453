"""The worst case of a run before it is asked, counted and in measured seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.model.config import RoleModel, RoleModels
from engine.model.events import fold_all
from engine.model.values import ModelCall, RunRecord
from engine.running.budget import measured_costs, worst_case
from tests.support.recorded import GRADER, recorded_run

_WRITING = ModelCall("generator", "generate", 0, "builtin", (), "", start_ms=0.0, duration_ms=24.0, built_in=True)
CHAT = RoleModels(grader=RoleModel(GRADER), rewriter=RoleModel("ollama:m"), generator=RoleModel("ollama:m"))


def finished(rewrites: int) -> RunRecord:
    """A recorded run with the call that wrote its answer."""
    record = fold_all(recorded_run(rewrites))
    return replace(record, model_calls=(*record.model_calls, _WRITING))


def test_seconds_come_from_runs_with_the_same_models_alone() -> None:
    record = finished(1)
    own = worst_case(measured_costs((record,), record.config), record.config)
    other = replace(record.config, models=CHAT)
    assert own.seconds is not None and own.seconds > 0
    assert worst_case(measured_costs((record,), other), other).seconds is None


def test_a_run_whose_model_never_replied_measured_nothing() -> None:
    record = finished(1)
    asked = replace(record.config, models=CHAT)
    for reply, measured in (("Yes.", True), ("", False)):
        calls = tuple(replace(call, reply=reply, built_in=False) for call in record.model_calls)
        costs = measured_costs((replace(record, config=asked, model_calls=calls),), asked)
        assert (costs.grading.seconds is not None) == measured


def test_a_step_that_one_run_did_not_take_is_taken_from_an_older_one() -> None:
    straight, rewritten = finished(0), finished(1)
    config = straight.config
    assert worst_case(measured_costs((straight,), config), config).seconds is None
    assert worst_case(measured_costs((straight, rewritten), config), config).seconds is not None


def test_no_more_records_are_read_than_are_needed() -> None:
    read: list[RunRecord] = []

    def records() -> Iterator[RunRecord]:
        for _ in range(3):
            read.append(finished(1))
            yield read[-1]

    measured_costs(records(), finished(1).config)
    assert len(read) == 1
