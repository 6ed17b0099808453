"""The engine as other threads see it: runs, their records and their end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.errors import (
    EngineClosed,
    InvalidQuestion,
    RecordError,
    TooManyRuns,
    UnknownRun,
    WorkbenchError,
)
from engine.knowledge.ingest import IngestItem
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import RunFinished, fold_all
from tests.api.served import FakeCollections, engine_of, relevant
from tests.support.errors import raises
from tests.support.fakes import FakeGenerator, FakeResources, FakeRetriever
from tests.support.gates import PATIENCE_S, Gate


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with engine_of(tmp_path) as engine:
        yield engine


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def held(tmp_path: Path, gate: Gate) -> Iterator[Engine]:
    """An engine whose searches wait at the gate."""
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate)), max_concurrent_runs=2) as engine:
        yield engine


def test_a_run_goes_to_its_end_and_leaves_its_record(engine: Engine) -> None:
    record = engine.run("  first ")
    assert (record.outcome, record.question, record.answer) == ("answered", "first", "It is so [1][2][3][4][5].")
    assert engine.record(record.id) == record
    assert [item.id for item in engine.runs()] == [record.id]
    assert engine.active_runs() == 0


def test_events_streamed_live_and_read_later_are_the_same(engine: Engine) -> None:
    events = list(engine.stream("first"))
    record = fold_all(events)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1], RunFinished)
    assert list(engine.events(record.id)) == events
    assert list(engine.events(record.id, after=4)) == events[4:]

    async def again() -> list[Any]:
        return [event async for event in engine.aevents(record.id, 4)]

    assert asyncio.run(again()) == events[4:]


def test_starting_returns_at_once_and_waiting_may_give_up(held: Engine, gate: Gate) -> None:
    run_id = held.start("first")
    gate.wait_until_reached()
    assert held.wait(run_id, 0.001) is False
    assert held.record(run_id).active
    assert held.active_runs() == 1
    gate.open()
    assert held.wait(run_id, PATIENCE_S) is True
    assert held.record(run_id).outcome == "answered"


def test_closing_a_stream_before_its_end_stops_the_run(held: Engine, gate: Gate) -> None:
    """SC-13"""
    events = held.stream("first")
    first = next(events)
    assert first.kind == "run_started"
    gate.wait_until_reached()
    events.close()  # type: ignore[attr-defined]
    assert held.wait(first.run_id, PATIENCE_S)
    assert held.record(first.run_id).outcome == "cancelled"


def test_a_stream_whose_record_was_deleted_ends_without_a_fault(engine: Engine) -> None:
    events = engine.stream("first")
    first = next(events)
    assert first.kind == "run_started"
    assert engine.wait(first.run_id, PATIENCE_S)
    engine.delete_run(first.run_id)
    assert [event.kind for event in events][-1] == "run_finished"


def test_a_run_is_stopped_once(held: Engine, gate: Gate) -> None:
    """SC-13"""
    run_id = held.start("first")
    gate.wait_until_reached()
    assert held.cancel(run_id) is True
    assert held.wait(run_id, PATIENCE_S)
    assert (held.record(run_id).outcome, held.record(run_id).reason) == ("cancelled", "cancelled")
    assert held.cancel(run_id) is False


def test_a_run_stopped_before_its_first_step_ends_too(tmp_path: Path) -> None:
    """SC-13: a task cancelled before it begins never reaches its own handling of that."""
    with engine_of(tmp_path) as engine:
        busy, go_on = threading.Event(), threading.Event()

        def hold_the_loop() -> None:
            busy.set()
            go_on.wait(PATIENCE_S)

        engine._loop.soon(hold_the_loop)
        assert busy.wait(PATIENCE_S)
        run_id = engine.start("first")
        assert engine.cancel(run_id) is True
        go_on.set()
        assert engine.wait(run_id, PATIENCE_S)
        record = engine.record(run_id)
        assert (record.outcome, record.nodes) == ("cancelled", ())
        assert engine.active_runs() == 0


def test_stopping_keeps_what_had_been_written(tmp_path: Path) -> None:
    """SC-13: the best partial result is kept."""
    first, second = Gate(), Gate()
    gates = iter([first, second])
    with engine_of(tmp_path, relevant(generator=FakeGenerator(gate=lambda: next(gates)))) as engine:
        run_id = engine.start("first")
        first.wait_until_reached()
        first.open()
        second.wait_until_reached()
        engine.cancel(run_id)
        assert engine.wait(run_id, PATIENCE_S)
        assert (engine.record(run_id).outcome, engine.record(run_id).answer) == ("cancelled", "It")


@pytest.mark.parametrize("question", ["", " \n\t", "x" * 2001])
def test_a_blank_or_over_long_question_starts_nothing(engine: Engine, question: str) -> None:
    with pytest.raises(InvalidQuestion):
        engine.start(question)
    with pytest.raises(InvalidQuestion):
        next(engine.stream(question))
    assert engine.runs() == []
    assert engine.run(" " + "x" * 2000 + "\n").outcome == "answered", "space around a question does not count"


def test_no_more_runs_are_in_progress_than_the_limit(held: Engine, gate: Gate) -> None:
    """SC-13"""
    running = [held.start("first"), held.start("first")]
    with pytest.raises(TooManyRuns, match="2 runs"):
        held.start("first")
    held.cancel(running[0])
    assert held.wait(running[0], PATIENCE_S)
    running[0] = held.start("first")
    assert held.active_runs() == 2


def test_two_threads_may_run_at_once(tmp_path: Path) -> None:
    with engine_of(tmp_path, max_concurrent_runs=64) as engine, ThreadPoolExecutor(4) as pool:
        records = list(pool.map(lambda place: engine.run(f"question {place}"), range(16)))
        assert [item.question for item in records] == [f"question {place}" for place in range(16)]
        assert {item.outcome for item in records} == {"answered"}
        assert len({item.id for item in records}) == 16
        assert {item.id for item in engine.runs()} == {item.id for item in records}


def test_a_run_that_has_ended_can_be_deleted_at_once(engine: Engine) -> None:
    """Whoever sees a run end must find it ended in the store as well."""
    for _ in range(30):
        run_id = engine.start("first")
        assert engine.wait(run_id, PATIENCE_S)
        engine.delete_run(run_id)
        with pytest.raises(UnknownRun):
            engine.record(run_id)
    assert engine.runs() == []


def test_a_run_in_progress_cannot_be_deleted(held: Engine) -> None:
    run_id = held.start("first")
    with raises(RecordError.run_active):
        held.delete_run(run_id)
    assert held.record(run_id).active


def test_what_does_not_exist_is_unknown_whatever_is_asked_of_it(engine: Engine) -> None:
    async def first_event() -> None:
        await anext(engine.aevents("nothing"))

    for ask in (engine.record, engine.cancel, engine.wait, engine.events, engine.delete_run):
        with pytest.raises(UnknownRun):
            ask("nothing")
    with pytest.raises(UnknownRun):
        asyncio.run(first_event())


def test_a_record_that_left_memory_comes_from_the_store(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.running.live_runs.KEPT_IN_MEMORY", 3)
    records = [engine.run(f"question {place}") for place in range(8)]
    oldest = records[0]
    assert engine._runs.find(oldest.id) is None
    assert sum(engine._runs.find(record.id) is not None for record in records) <= 4
    assert engine.record(oldest.id) == oldest
    assert [event.seq for event in engine.events(oldest.id)][-1] == oldest.last_seq
    assert fold_all(engine.events(oldest.id)) == oldest
    assert engine.wait(oldest.id) is True
    assert engine.cancel(oldest.id) is False
    assert len(engine.runs()) == 8
    engine.delete_run(oldest.id)
    assert len(engine.runs()) == 7


def test_closing_stops_what_runs_and_keeps_its_record(tmp_path: Path) -> None:
    """SC-13"""
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        at_gate = engine.start("first")
        gate.wait_until_reached()
        just_begun = engine.start("second")
    assert engine.record(at_gate).outcome == engine.record(just_begun).outcome == "cancelled"
    assert engine._loop.closed
    with engine_of(tmp_path) as later:
        assert {item.outcome for item in later.runs()} == {"cancelled"}


def test_a_closed_engine_says_so_and_closes_only_once(engine: Engine) -> None:
    record = engine.run("first")
    engine.close()
    engine.close()
    for ask in (lambda: engine.start("first"), engine.collections, lambda: engine.delete_run(record.id)):
        with pytest.raises(EngineClosed):
            ask()
    assert engine.record(record.id) == record
    assert engine.cancel(record.id) is False


def test_closing_ends_an_ingestion_in_progress(tmp_path: Path) -> None:
    gate = Gate()
    knowledge = FakeCollections(gate=lambda: gate)
    with engine_of(tmp_path, relevant(knowledge=knowledge)) as engine:
        ingesting: Future[Any] = engine.start_ingest([IngestItem("a.md", data=b"a")], "samples")
        gate.wait_until_reached()
    with pytest.raises(CancelledError):
        ingesting.result(PATIENCE_S)
    assert knowledge.given == []


def test_a_knowledge_base_that_cannot_be_closed_does_not_keep_the_engine_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Stuck(FakeResources):
        async def close(self) -> None:
            raise OSError("gone")

    with engine_of(tmp_path, Stuck()) as engine:
        record = engine.run("first")
    assert engine._loop.closed
    assert "could not be closed" in caplog.text
    assert engine.record(record.id).outcome == "abstained"


def test_a_fault_nobody_foresaw_ends_the_run_without_its_text(tmp_path: Path) -> None:
    with engine_of(tmp_path, FakeResources(error=RuntimeError("secret text"))) as engine:
        record = engine.run("first")
    assert (record.outcome, record.reason) == ("failed", "WB000")
    assert record.error is not None
    assert "secret" not in record.error.fact


def test_the_longest_run_is_known_before_it_begins(engine: Engine) -> None:
    chat = RoleModels(grader=RoleModel("ollama:m"))
    short, long = (engine.worst_case_calls(RunConfig(max_rewrites=limit, models=chat)) for limit in (0, 5))
    assert 0 < short < long
    assert engine.worst_case_calls(RunConfig()) == 0
    assert {"retrieve", "grade", "rewrite", "generate"} == set(engine.graph().nodes)


def test_faults_of_a_disk_that_comes_and_goes_for_days_are_not_all_kept(engine: Engine) -> None:
    for number in range(200):
        engine._faults.note(WorkbenchError.restored(f"fault {number}", "None."))
    assert [fault.fact for fault in engine.faults] == [f"fault {number}" for number in range(150, 200)]


def test_nothing_of_the_evaluation_is_opened_once_the_engine_closes(tmp_path: Path) -> None:
    with engine_of(tmp_path) as engine:
        pass
    for ask in (lambda: engine.evaluation, lambda: engine.batches):
        with pytest.raises(EngineClosed):
            ask()
    assert not (tmp_path / "evaluation.db").exists()
