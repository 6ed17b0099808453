"""Batches: progress, stop, resume, failures, and what a killed process leaves behind (SC-10, SC-13)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.database.instance import Instance
from engine.engine import Engine
from engine.errors import (
    EngineClosed,
    EvaluationError,
    InvalidConfig,
    ModelTimeout,
    RunError,
    UnknownBatch,
    UnknownQuerySet,
)
from engine.evaluation import batch as batch_module
from engine.evaluation.batch import BatchRunner
from engine.evaluation.cases import Case, QuerySet
from engine.model.config import RunConfig
from engine.model.values import Fault
from engine.records import BATCH
from tests.api.served import ALL, engine_of, relevant
from tests.support.errors import raises
from tests.support.fakes import FakeGrader, FakeResources, FakeRetriever
from tests.support.gates import PATIENCE_S, Gate

NAMES = tuple(f"c{number}" for number in range(6))
CASES = tuple(Case(name, f"question {name}") for name in NAMES)
AWAY = RunError.waited_too_long(what="a cluster", seconds=180)
"""What keeps other processes from running a batch."""


class AtOnce(FakeRetriever):
    """Counts how many searches stand at the gate at the same time."""

    most = 0
    now = 0

    async def search(self, query: str, limit: int):  # type: ignore[no-untyped-def]
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().search(query, limit)
        finally:
            self.now -= 1


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with engine_of(tmp_path) as engine:
        engine.evaluation.save_query_set(QuerySet("six", CASES))
        yield engine


@pytest.fixture
def held(tmp_path: Path, gate: Gate) -> Iterator[Engine]:
    """An engine whose searches wait at the gate."""
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        engine.evaluation.save_query_set(QuerySet("six", CASES))
        yield engine


def finished(engine: Engine, batch_id: str) -> None:
    assert engine.batches.wait(batch_id, PATIENCE_S)


def test_every_case_is_run_once_and_its_record_is_an_ordinary_one(engine: Engine) -> None:
    batch_id = engine.batches.start("six", RunConfig(), concurrency=3)
    finished(engine, batch_id)
    batch = engine.evaluation.batch(batch_id)
    assert (batch.done, batch.failures, batch.finished) == (frozenset(NAMES), {}, True)
    results = engine.batches.results(batch_id)
    assert [case for case, _ in results] == list(CASES)
    assert all(record.question == case.question and record.outcome == "answered" for case, record in results)
    for _, record in results:
        stored = engine.record(record.id)
        assert (record.rounds, record.nodes, record.answer) == (stored.rounds, stored.nodes, stored.answer)
        assert [call.reply for call in record.model_calls] == [""] * len(stored.model_calls) != []
    assert {item.tags for item in engine.runs()} == {(BATCH,)}
    assert engine.runs(without_tag=BATCH) == []
    progress = engine.batches.progress(batch_id)
    assert (progress.done, progress.failed, progress.total, progress.running) == (6, 0, 6, False)


def test_evidence_is_made_once_and_again_when_there_is_more(engine: Engine) -> None:
    batch_id = engine.batches.start("six", RunConfig())
    finished(engine, batch_id)
    evidence = engine.batches.evidence(batch_id)
    assert evidence.cases == CASES and evidence.failed == ()
    assert engine.batches.evidence(batch_id) is evidence
    engine.delete_run(engine.evaluation.batch(batch_id).runs["c3"])
    assert engine.batches.evidence(batch_id).failed == ("c3",)


def test_results_are_read_back_by_another_process(tmp_path: Path) -> None:
    with engine_of(tmp_path) as first:
        first.evaluation.save_query_set(QuerySet("six", CASES))
        batch_id = first.batches.start("six", RunConfig())
        finished(first, batch_id)
        ours = first.batches.results(batch_id)
    with engine_of(tmp_path) as second:
        assert second.batches.results(batch_id) == second.batches.results(batch_id) == ours


def test_only_the_cases_named_are_run(engine: Engine) -> None:
    batch_id = engine.batches.start("six", RunConfig(), case_ids=["c4", "c1", "absent"])
    finished(engine, batch_id)
    assert engine.evaluation.batch(batch_id).case_ids == ("c1", "c4")


def test_no_more_runs_than_asked_for_are_made_at_once_and_a_full_engine_is_waited_for(
    tmp_path: Path, gate: Gate
) -> None:
    """SC-13: caps."""
    search = AtOnce(gate=gate)
    with engine_of(tmp_path, relevant(retriever=search), max_concurrent_runs=2) as engine:
        engine.evaluation.save_query_set(QuerySet("six", CASES))
        batch_id = engine.batches.start("six", RunConfig(), concurrency=4)
        gate.wait_until_reached()
        gate.open()
        finished(engine, batch_id)
        assert engine.evaluation.batch(batch_id).done == frozenset(NAMES)
        assert search.most <= 2
    with engine_of(tmp_path / "wide", relevant(retriever=(wide := AtOnce())), max_concurrent_runs=8) as engine:
        engine.evaluation.save_query_set(QuerySet("six", CASES))
        finished(engine, engine.batches.start("six", RunConfig(), concurrency=1))
        assert wide.most == 1


def test_failures_are_kept_apart_and_repeated_only_when_asked(tmp_path: Path) -> None:
    resources = relevant(retriever=FailsAt({"question c1", "question c3"}))
    with engine_of(tmp_path, resources) as engine:
        engine.evaluation.save_query_set(QuerySet("six", (*CASES, Case("blank", "  "))))
        batch_id = engine.batches.start("six", RunConfig(), concurrency=1)
        finished(engine, batch_id)
        batch = engine.evaluation.batch(batch_id)
        assert {name: fault.code for name, fault in batch.failures.items()} == {
            "c1": "WB403",
            "c3": "WB403",
            "blank": "WB101",
        }
        assert batch.finished
        assert [case.id for case, _ in engine.batches.results(batch_id)] == ["c0", "c2", "c4", "c5"]
        assert engine.batches.progress(batch_id).failed == 3
        assert engine.batches.resume(batch_id) is False
        resources.retriever = FakeRetriever()
        assert engine.batches.resume(batch_id, failures=True) is True
        finished(engine, batch_id)
        assert set(engine.evaluation.batch(batch_id).failures) == {"blank"}
        assert len(resources.retriever.queries) == 2


class FailsAt(FakeRetriever):
    """A search that times out for some questions."""

    def __init__(self, questions: set[str]) -> None:
        super().__init__()
        self._questions = questions

    async def search(self, query: str, limit: int):  # type: ignore[no-untyped-def]
        if query in self._questions:
            raise ModelTimeout(model="embedder", seconds=60)
        return await super().search(query, limit)


def test_a_stopped_batch_continues_with_what_is_left(held: Engine, gate: Gate) -> None:
    batch_id = held.batches.start("six", RunConfig(), concurrency=2)
    gate.wait_until_reached()
    assert held.batches.running == batch_id
    assert held.batches.progress(batch_id).running
    assert not held.batches.wait(batch_id, 0.001)
    assert held.batches.stop(batch_id) is True
    finished(held, batch_id)
    assert held.batches.stop(batch_id) is False
    batch = held.evaluation.batch(batch_id)
    assert (batch.left, held.batches.running is None) == (NAMES, True)
    assert {item.outcome for item in held.runs()} == {"cancelled"}
    gate.open()
    assert held.batches.resume(batch_id) is True
    finished(held, batch_id)
    assert held.evaluation.batch(batch_id).done == frozenset(NAMES)


def test_what_is_left_can_be_run_here_where_a_cluster_is_set_that_cannot_be_used(
    held: Engine, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_id = held.batches.start("six", RunConfig(), concurrency=1)
    gate.wait_until_reached()
    held.batches.stop(batch_id)
    finished(held, batch_id)
    gate.open()

    def no_cluster(*_: object) -> None:
        raise AWAY

    monkeypatch.setattr(batch_module, "executor_of", no_cluster)
    with raises(RunError.waited_too_long):
        held.batches.resume(batch_id)
    progress = held.batches.progress(batch_id)
    assert (progress.fault, progress.elsewhere) == (Fault.of(AWAY), True)
    assert held.batches.resume(batch_id, here=True)
    finished(held, batch_id)
    assert held.evaluation.batch(batch_id).finished
    assert not held.batches.progress(batch_id).elsewhere


def test_a_run_that_a_person_cancels_is_left_and_repeated(held: Engine, gate: Gate) -> None:
    batch_id = held.batches.start("six", RunConfig(), concurrency=1)
    gate.wait_until_reached()
    (going,) = held.runs()
    assert held.cancel(going.id)
    gate.open()
    finished(held, batch_id)
    assert held.evaluation.batch(batch_id).left == ("c0",)
    assert held.batches.resume(batch_id)
    finished(held, batch_id)
    assert held.evaluation.batch(batch_id).finished


def test_a_second_batch_is_refused_while_one_is_in_progress(held: Engine, gate: Gate) -> None:
    batch_id = held.batches.start("six", RunConfig())
    with raises(EvaluationError.batch_active):
        held.batches.start("six", RunConfig())
    with raises(EvaluationError.batch_active):
        held.batches.resume(batch_id)
    gate.wait_until_reached()
    gate.open()
    finished(held, batch_id)
    assert held.batches.start("six", RunConfig(), case_ids=["c0"]) != batch_id


def test_a_batch_of_another_living_process_is_not_resumed(engine: Engine) -> None:
    other = Instance(engine.settings.data_dir / "instances")
    batch_id = engine.batches.start("six", RunConfig(), case_ids=["c0"])
    finished(engine, batch_id)
    assert engine.evaluation.claim_batch(batch_id, other.id, lambda _: False) == ""
    assert engine.batches.progress(batch_id).running
    with raises(EvaluationError.batch_active):
        engine.batches.resume(batch_id)
    other.end()
    assert not engine.batches.progress(batch_id).running
    assert engine.batches.resume(batch_id) is False


def test_a_run_that_ended_before_its_end_was_noted_is_taken_over(engine: Engine) -> None:
    batch_id = engine.batches.start("six", RunConfig(), case_ids=["c0", "c1"])
    finished(engine, batch_id)
    batch = engine.evaluation.batch(batch_id)
    # As a process leaves it that is killed between the end of a run and its note of it.
    engine.evaluation.forget_cases(batch_id, ["c0"], done=True)
    engine.evaluation.begin_case(batch_id, "c0", batch.runs["c0"])
    assert engine.evaluation.batch(batch_id).left == ("c0",)
    assert engine.batches.resume(batch_id) is False
    assert engine.evaluation.batch(batch_id).runs == batch.runs
    assert engine.evaluation.batch(batch_id).finished


def test_a_case_whose_record_was_deleted_is_left_out_and_run_again(engine: Engine) -> None:
    batch_id = engine.batches.start("six", RunConfig())
    finished(engine, batch_id)
    former = engine.evaluation.batch(batch_id).runs
    engine.delete_run(former["c2"])
    assert [case.id for case, _ in engine.batches.results(batch_id)] == ["c0", "c1", "c3", "c4", "c5"]
    assert engine.batches.resume(batch_id)
    finished(engine, batch_id)
    now = engine.evaluation.batch(batch_id).runs
    assert now["c2"] != former["c2"]
    assert {name: now[name] for name in NAMES if name != "c2"} == {n: former[n] for n in NAMES if n != "c2"}


def test_closing_the_engine_ends_a_batch_in_order_and_another_engine_continues(tmp_path: Path, gate: Gate) -> None:
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as first:
        first.evaluation.save_query_set(QuerySet("six", CASES))
        runner = first.batches
        batch_id = runner.start("six", RunConfig())
        gate.wait_until_reached()
    assert runner.running is None
    assert not any(thread.name.startswith("batch-") for thread in threading.enumerate())
    with pytest.raises(EngineClosed):
        runner.start("six", RunConfig())
    with pytest.raises(EngineClosed):
        _ = first.evaluation
    with engine_of(tmp_path) as second:
        assert second.batches.resume(batch_id)
        finished(second, batch_id)
        assert second.evaluation.batch(batch_id).finished
    assert list((tmp_path / "instances").iterdir()) == []


def test_what_cannot_be_run_is_refused_before_anything_is_written(engine: Engine) -> None:
    engine.evaluation.save_query_set(QuerySet("none", ()))
    with pytest.raises(UnknownQuerySet):
        engine.batches.start("absent", RunConfig())
    with raises(EvaluationError.set_reserved):
        engine.batches.start("none", RunConfig())
    with raises(EvaluationError.set_reserved):
        engine.batches.start("six", RunConfig(), case_ids=["absent"])
    for concurrency in (0, 33, True):
        with pytest.raises(InvalidConfig):
            engine.batches.start("six", RunConfig(), concurrency=concurrency)
    for ask in (engine.batches.progress, engine.batches.resume, engine.batches.results):
        with pytest.raises(UnknownBatch):
            ask("absent")
    assert engine.evaluation.batches() == ()


def test_probing_gathers_a_verdict_of_every_candidate(tmp_path: Path) -> None:
    with engine_of(tmp_path, FakeResources(grader=FakeGrader(relevant=ALL))) as engine:
        engine.evaluation.save_query_set(QuerySet("six", CASES))
        batch_id = engine.batches.start("six", RunConfig(top_k=1, grade_probe=True), case_ids=["c0"])
        finished(engine, batch_id)
        ((_, record),) = engine.batches.results(batch_id)
        assert len(record.rounds[0].kept) == 1
        assert set(record.rounds[0].verdicts) == ALL


def test_a_batch_that_cannot_be_noted_any_more_stops_and_says_why(held: Engine, gate: Gate) -> None:
    batch_id = held.batches.start("six", RunConfig(), concurrency=1)
    gate.wait_until_reached()
    path = held.settings.data_dir / "evaluation.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TRIGGER full BEFORE UPDATE ON batch_cases BEGIN SELECT raise(ABORT, 'full'); END")
    gate.open()
    finished(held, batch_id)
    fault = held.batches.progress(batch_id).fault
    assert fault is not None and fault.code == "WB800"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER full")
    # The run had ended all the same, and is taken over.
    assert held.batches.resume(batch_id)
    finished(held, batch_id)
    assert held.batches.progress(batch_id).fault is None
    assert held.evaluation.batch(batch_id).finished
    assert len(held.runs()) == 6


def test_a_runner_of_its_own_ends_with_its_engine(tmp_path: Path, gate: Gate) -> None:
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        engine.evaluation.save_query_set(QuerySet("six", CASES))
        runner = BatchRunner(engine, engine.evaluation)
        batch_id = runner.start("six", RunConfig())
        gate.wait_until_reached()
    assert runner.wait(batch_id, PATIENCE_S)


def test_a_damaged_record_does_not_keep_the_rest_of_a_batch_from_going_on(engine: Engine) -> None:
    """SC-10: a damaged record never hides the others."""
    batch_id = engine.batches.start("six", RunConfig())
    finished(engine, batch_id)
    batch = engine.evaluation.batch(batch_id)
    path = engine.settings.data_dir / "runs.db"
    data_dir = engine.settings.data_dir
    engine.evaluation.forget_cases(batch_id, ["c0", "c1"], done=True)
    for name in ("c0", "c1"):
        engine.evaluation.begin_case(batch_id, name, batch.runs[name])
    engine.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET data = '{' WHERE run_id = ?", (batch.runs["c0"],))
    with engine_of(data_dir) as second:
        assert second.batches.resume(batch_id) is True
        finished(second, batch_id)
        now = second.evaluation.batch(batch_id)
        assert now.finished and now.runs["c0"] != batch.runs["c0"]
        assert {name: now.runs[name] for name in NAMES[1:]} == {name: batch.runs[name] for name in NAMES[1:]}
        assert [case.id for case, _ in second.batches.results(batch_id)] == list(NAMES)
