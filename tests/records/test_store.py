"""The run store: what was appended comes back, listed and folded, while it is being written and after."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from sqlalchemy import Select, select

from engine.database.base import Database
from engine.database.sqlite import SqliteFile
from engine.database.tables import EVENTS, PARTIAL_ANSWERS, Part
from engine.errors import EngineClosed, RecordError, UnknownRun, WorkbenchError
from engine.model.events import AnswerCompleted, Event, RunFinished, TokenStreamed, fold_all
from engine.model.values import AnswerNote, Outcome, RunId
from engine.records.codec import event_from_json
from engine.records.store import RunStore, RunSummary
from tests.support.errors import raises
from tests.support.gates import until
from tests.support.recorded import recorded_run

FINISHED = [outcome for outcome in get_args(Outcome) if outcome != "interrupted"]


@pytest.fixture
def faults() -> list[WorkbenchError]:
    return []


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("runs")


@pytest.fixture
def store(database: Database, faults: list[WorkbenchError]) -> Iterator[RunStore]:
    with RunStore(database, on_fault=faults.append) as opened:
        yield opened
    assert faults == []


def append_all(store: RunStore, events: list[Event]) -> None:
    run_id = fold_all(events).id
    for event in events:
        store.append(run_id, event)


def texts(database: Database, query: Select[tuple[str]]) -> list[str]:
    with database.reading() as connection:
        return list(connection.scalars(query))


@pytest.mark.parametrize("outcome", FINISHED)
def test_a_finished_run_is_loaded_as_it_was_recorded(store: RunStore, outcome: Outcome) -> None:
    """SC-10."""
    events = recorded_run(2, outcome)
    append_all(store, [event for event in events for _ in range(2)])
    before = store.list()
    assert store.flush()
    assert store.load("run-1") == fold_all(events), "what is appended twice is stored once"
    assert store.list() == before


def test_stored_events_come_back_in_order_and_without_tokens(store: RunStore) -> None:
    events = recorded_run(3)
    append_all(store, events)
    store.flush()
    assert store.events("run-1") == [event for event in events if event.stored]
    assert store.events("run-1", after_seq=20) == [event for event in events if event.stored and event.seq > 20]
    assert store.events("run-1", after_seq=10_000) == []


def test_of_a_run_that_is_followed_only_what_is_new_is_read(
    store: RunStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = recorded_run(2)
    append_all(store, events)
    store.flush()
    read: list[str] = []

    def decode(data: str) -> Event:
        read.append(data)
        return event_from_json(data)

    monkeypatch.setattr("engine.records.store.event_from_json", decode)
    with RunStore(database) as follower:
        assert follower.events("run-1", after_seq=events[-2].seq) == [events[-1]]
        assert len(read) == 1
        assert follower.events("run-1", after_seq=events[-1].seq) == []
    assert len(read) == 1


def test_events_are_readable_before_anything_is_on_disk(tmp_path: Path) -> None:
    release = threading.Event()

    def slow_disk(path: Path) -> sqlite3.Connection:
        if threading.current_thread().name == "run-records":
            release.wait(60)
        raise sqlite3.OperationalError("not now")

    store = RunStore(SqliteFile(tmp_path / "runs.db", "runs", open_file=slow_disk), on_fault=lambda fault: None)
    events = recorded_run(1, "interrupted")
    append_all(store, events)
    assert store.events("run-1") == events
    assert store.load("run-1").outcome is None
    assert [summary.outcome for summary in store.list()] == [None]
    release.set()
    store.close()


def test_the_answer_so_far_is_stored_while_it_streams_and_replaced_when_it_is_complete(
    store: RunStore, database: Database
) -> None:
    events = recorded_run()
    complete = next(place for place, event in enumerate(events) if isinstance(event, AnswerCompleted))
    for event in events[: complete - 1]:
        store.append(RunId("run-1"), event)
    query = select(PARTIAL_ANSWERS.c.pieces)
    streamed = sum(isinstance(event, TokenStreamed) for event in events)
    until(lambda: [len(json.loads(pieces)) for pieces in texts(database, query)] == [streamed])
    for event in events[complete - 1 :]:
        store.append(RunId("run-1"), event)
    store.flush()
    assert texts(database, query) == []
    assert not any(isinstance(event, TokenStreamed) for event in store.events("run-1"))


def test_tokens_that_no_answer_completed_stay_with_a_run_that_ended(store: RunStore) -> None:
    cut_off = recorded_run(0, "interrupted")
    last = cut_off[-1]
    append_all(store, [*cut_off, RunFinished(seq=last.seq + 1, t_ms=last.t_ms, outcome="failed", reason="failed")])
    store.flush()
    assert store.load("run-1").answer == fold_all(cut_off).answer != ""


def test_a_summary_says_what_the_record_says(store: RunStore) -> None:
    append_all(store, recorded_run(2, "answered_forced"))
    store.flush()
    record = store.load("run-1")
    assert store.list() == [
        RunSummary(
            id=record.id,
            question=record.question,
            workflow="self_corrective",
            collection="samples",
            started_at=record.started_at,
            outcome="answered_forced",
            reason="max_rewrites",
            duration_ms=record.duration_ms,
            calls=record.calls,
            rewrites=2,
            searched="samples",
        )
    ]


@pytest.mark.parametrize("note", ["cannot_tell", "uncited"])
@pytest.mark.parametrize("flush", [True, False], ids=["from the file", "from memory"])
def test_a_summary_says_what_has_to_be_said_of_the_answer(store: RunStore, note: AnswerNote, flush: bool) -> None:
    *events, end = recorded_run(0, "answered")
    assert isinstance(end, RunFinished)
    append_all(store, [*events, replace(end, answer_note=note)])
    if flush:
        store.flush()
    assert [item.answer_note for item in store.list()] == [note]


def fill(store: RunStore, flush: bool) -> None:
    for number in range(7):
        outcome: Outcome = "abstained" if number % 3 == 0 else "answered"
        question = f"Frage {number}: ÄPFEL 100% or 图_{number}?"
        started_at = f"2025-03-01T09:0{number // 2}:00+00:00"
        append_all(store, recorded_run(0, outcome, run_id=f"run-{number}", question=question, started_at=started_at))
    if flush:
        store.flush()


@pytest.mark.parametrize("flush", [True, False], ids=["from the file", "some from memory"])
def test_runs_are_listed_newest_first_in_pages_that_overlap_nowhere(store: RunStore, flush: bool) -> None:
    fill(store, flush)
    pages, cursor = [], None
    while page := store.list(3, before=cursor):
        pages.append([summary.id for summary in page])
        cursor = page[-1].cursor
        # A cursor stays valid where its run is deleted meanwhile.
        store.delete(page[-1].id)
    assert pages == [["run-6", "run-5", "run-4"], ["run-3", "run-2", "run-1"], ["run-0"]]


@pytest.mark.parametrize("flush", [True, False], ids=["from the file", "some from memory"])
def test_the_list_is_narrowed_by_outcome_and_by_text_of_the_question(store: RunStore, flush: bool) -> None:
    fill(store, flush)
    assert [item.id for item in store.list(outcome="abstained")] == ["run-6", "run-3", "run-0"]
    assert [item.id for item in store.list(text="图_3")] == ["run-3"]
    assert len(store.list(text="äpfel 100%")) == 7
    assert store.list(text="100_") == []
    assert store.list(limit=0) == []


def test_a_deleted_run_is_gone_and_the_others_stay(store: RunStore, database: Database) -> None:
    append_all(store, recorded_run(run_id="one"))
    append_all(store, recorded_run(run_id="two"))
    store.delete("one")
    store.flush()
    assert [summary.id for summary in store.list()] == ["two"]
    assert texts(database, select(EVENTS.c.run_id).distinct()) == ["two"]
    with pytest.raises(UnknownRun):
        store.load("one")
    with pytest.raises(UnknownRun):
        store.delete("one")


@pytest.mark.parametrize("run_id", ["", "nothing", "../../etc/passwd", "x' OR 1=1 --", "\x00"])
def test_an_unknown_run_is_named_and_nothing_else_happens(store: RunStore, run_id: str) -> None:
    append_all(store, recorded_run())
    store.flush()
    for ask in (store.load, store.events, store.delete):
        with pytest.raises(UnknownRun):
            ask(run_id)
    assert [summary.id for summary in store.list()] == ["run-1"]


def test_a_run_in_progress_is_not_deleted(store: RunStore) -> None:
    append_all(store, recorded_run(0, "interrupted"))
    store.flush()
    with raises(RecordError.run_active):
        store.delete("run-1")
    assert store.load("run-1").outcome is None


def test_a_list_checks_what_an_older_version_did_not(store: RunStore) -> None:
    """SC-10: its page would say one thing and the list another."""
    *events, end = recorded_run()
    assert isinstance(end, RunFinished)
    said = [
        replace(event, answer="It costs $10.00 [1].") if isinstance(event, AnswerCompleted) else event
        for event in events
    ]
    append_all(store, [*said, replace(end, answer_note="", unsupported_sentences=None)])
    store.flush()
    assert [item.answer_note for item in store.list()] == ["unsupported"]
    assert store.load("run-1").answer_note == "unsupported"


def test_text_without_a_utf8_form_is_stored_with_replacements(store: RunStore) -> None:
    append_all(store, recorded_run(question="What is \udc80 this?"))
    assert store.flush()
    assert store.load("run-1").question == "What is ? this?"
    assert store.list()[0].question == "What is ? this?"


def test_runs_are_read_whole_while_others_are_written(store: RunStore) -> None:
    append_all(store, recorded_run(run_id="first"))
    store.flush()
    expected, stop, seen, wrong = fold_all(recorded_run(run_id="first")), threading.Event(), [0], [0]

    def read() -> None:
        while not stop.is_set():
            listed = store.list(1000)
            wrong[0] += any(item.damaged for item in listed) or store.load("first") != expected
            seen[0] += 1

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(40):
        append_all(store, recorded_run(run_id=f"run-{number:02}"))
    store.flush()
    listed = len(store.list(1000))
    until(lambda: seen[0] > 3)
    stop.set()
    for reader in readers:
        reader.join()
    assert (listed, wrong) == (41, [0])


def test_closing_while_others_flush_leaves_nobody_waiting(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    ended: list[str] = []

    def flush() -> None:
        try:
            while True:
                store.append(RunId("run-1"), recorded_run()[0])
                store.flush()
        except EngineClosed:
            ended.append("flusher")

    flushers = [threading.Thread(target=flush, daemon=True) for _ in range(4)]
    for flusher in flushers:
        flusher.start()
    store.close()
    for flusher in flushers:
        flusher.join(60)
    assert ended == ["flusher"] * 4


def test_closing_writes_what_is_left_and_a_second_time_does_nothing(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    append_all(store, recorded_run())
    store.close()
    store.close()
    with pytest.raises(EngineClosed):
        store.append(RunId("run-1"), recorded_run()[0])
    assert [path.name for path in (tmp_path / "instances").iterdir()] == []
    with RunStore(tmp_path / "runs.db") as again:
        assert again.load("run-1") == fold_all(recorded_run())


def test_an_id_that_no_file_can_hold_is_unknown_and_leaves_nothing_locked(tmp_path: Path) -> None:
    """A command line or an address can bring half a surrogate pair."""
    store = RunStore(tmp_path / "runs.db")
    append_all(store, events := recorded_run(0))
    assert store.flush()
    for ask in (store.load, store.events, store.delete):
        with pytest.raises(UnknownRun):
            ask("\ud800")
    for change in (store.tag, store.untag):
        with pytest.raises(UnknownRun):
            change("\ud800", "mine")
    # Another process can write at once: no transaction was left open.
    with closing(sqlite3.connect(tmp_path / "runs.db", timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    assert store.tag(fold_all(events).id, "mine") == ("mine",)
    store.close()


def test_settings_are_read_of_runs_in_memory_and_in_the_file(tmp_path: Path) -> None:
    path, run = tmp_path / "runs.db", RunId("a" * 32)
    with RunStore(path) as store:
        append_all(store, recorded_run(1, "answered", run_id=run))
        config = store.load(run).config
        assert store.configs([run, RunId("gone")]) == {run: config}
    with RunStore(path) as store:
        assert store.configs([run, RunId("gone")]) == {run: config}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET data = '{' WHERE kind = 'run_started'")
    with RunStore(path) as store:
        assert store.configs([run]) == {}
