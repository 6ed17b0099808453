"""Full disks, locks, damage and deleted files: reported once, never a broken run, and nothing lost that can be kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

import engine
from engine.database.sqlite import SqliteFile, connect
from engine.database.versions import HEAD
from engine.errors import RecordError, WorkbenchError
from engine.model.events import Event, fold_all
from engine.model.noted_faults import NotedFaults
from engine.model.values import RunId
from engine.records.store import RunStore
from tests.support.recorded import recorded_run

ROOT = Path(str(engine.__file__)).parent.parent


class SmallDisk:
    """Opens the file with room for so many pages."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def __call__(self, path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA max_page_count = {self.pages}")
        return connection


def impatient(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    connection.execute("PRAGMA busy_timeout = 0")
    return connection


def append_all(store: RunStore, events: list[Event]) -> None:
    for event in events:
        store.append(fold_all(events).id, event)


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def faults() -> list[WorkbenchError]:
    return []


def test_a_full_disk_is_reported_once_and_its_end_when_there_is_room_and_the_runs_are_written(path: Path) -> None:
    noted = NotedFaults()
    disk = SmallDisk(pages=12)
    with RunStore(SqliteFile(path, "runs", open_file=disk), on_fault=noted.note, on_over=noted.over) as store:
        for number in range(5):
            append_all(store, recorded_run(2, run_id=f"run-{number}"))
            store.flush()
        assert not store.flush()
        (fault,) = noted.all()
        assert fault.fact == f"The run records {str(path)!r} cannot be written: the disk is full."
        assert (datetime.fromisoformat(fault.since).tzinfo, fault.over_since) == (UTC, "")
        # What the disk does not take is read from memory.
        assert [item.id for item in store.list()] == [f"run-{number}" for number in (4, 3, 2, 1, 0)]
        assert store.load("run-4") == fold_all(recorded_run(2, run_id="run-4"))
        disk.pages = 100_000
        assert store.flush()
        (over,) = noted.all()
    assert over.since == fault.since
    assert datetime.fromisoformat(over.over_since) >= datetime.fromisoformat(over.since)
    with RunStore(path) as again:
        assert [again.load(f"run-{number}").outcome for number in range(5)] == ["answered"] * 5


def test_each_new_spell_of_trouble_is_reported_again(path: Path, faults: list[WorkbenchError]) -> None:
    with RunStore(SqliteFile(path, "runs", open_file=impatient), on_fault=faults.append) as store:
        for number in range(2):
            with closing(sqlite3.connect(path)) as other:
                other.execute("BEGIN IMMEDIATE")
                append_all(store, recorded_run(run_id=f"run-{number}"))
                assert not store.flush()
                assert not store.flush()
                other.rollback()
            assert store.flush()
            assert store.load(f"run-{number}").outcome == "answered"
    assert [fault.params["cause"] for fault in faults] == ["another process keeps it locked"] * 2


def test_a_run_that_the_file_does_not_let_go_stays(path: Path, faults: list[WorkbenchError]) -> None:
    with RunStore(SqliteFile(path, "runs", open_file=impatient), on_fault=faults.append) as store:
        append_all(store, recorded_run())
        store.flush()
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(RecordError, match="another process keeps it locked"):
                store.delete("run-1")
            other.rollback()
        assert store.load("run-1").outcome == "answered"
        store.delete("run-1")
        assert store.list() == []


def test_it_tries_again_by_itself(path: Path, faults: list[WorkbenchError]) -> None:
    tried: list[int] = []
    opened = threading.Event()

    def third_time_lucky(where: Path) -> sqlite3.Connection:
        tried.append(1)
        if len(tried) < 3:
            raise sqlite3.OperationalError("unable to open database file")
        opened.set()
        return connect(where)

    with RunStore(SqliteFile(path, "runs", open_file=third_time_lucky), on_fault=faults.append) as store:
        append_all(store, recorded_run())
        assert opened.wait(60)
        assert store.load("run-1").outcome == "answered"
    with RunStore(path) as again:
        assert again.load("run-1").outcome == "answered"
    assert len(faults) == 1


def test_what_could_not_be_written_at_the_end_is_said(path: Path, faults: list[WorkbenchError]) -> None:
    store = RunStore(SqliteFile(path, "runs", open_file=SmallDisk(pages=8)), on_fault=faults.append)
    append_all(store, recorded_run(3))
    store.close()
    assert [type(fault) for fault in faults] == [RecordError, RecordError]
    assert faults[-1].fact == f"The newest events of 1 runs could not be written to {str(path)!r}."


def test_a_receiver_of_faults_that_fails_stops_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def broken(fault: WorkbenchError) -> None:
        raise RuntimeError("no")

    disk = SmallDisk(pages=8)
    with RunStore(SqliteFile(path, "runs", open_file=disk), on_fault=broken) as store:
        append_all(store, recorded_run(3))
        assert not store.flush()
        disk.pages = 100_000
        assert store.flush()
    assert "receiver of record faults failed" in caplog.text


def test_a_folder_that_cannot_be_made_leaves_a_store_that_works_in_memory(
    tmp_path: Path, faults: list[WorkbenchError]
) -> None:
    (tmp_path / "file").touch()
    with RunStore(tmp_path / "file" / "runs.db", on_fault=faults.append) as store:
        append_all(store, recorded_run())
        assert not store.flush()
        assert store.load("run-1") == fold_all(recorded_run())
        assert [item.outcome for item in store.list()] == ["answered"]
        store.delete("run-1")
        assert store.list() == []
    assert len(faults) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="folder permissions are POSIX")
def test_a_read_only_folder_shows_its_runs_and_says_that_it_takes_no_more() -> None:
    folder = Path(tempfile.mkdtemp())
    script = f"""
import os, sys
from pathlib import Path
from engine.records.store import RunStore
from tests.support.recorded import recorded_run
path, faults = Path({str(folder / "runs.db")!r}), []
with RunStore(path) as store:
    for event in recorded_run(1, run_id="old"):
        store.append("old", event)
for made in (path, path.parent / "instances", path.parent):
    made.chmod(0o444 if made == path else 0o555)
if os.geteuid() == 0:
    os.setuid(65534)
with RunStore(path, on_fault=faults.append) as store:
    for event in recorded_run(1, run_id="new"):
        store.append("new", event)
    print(store.flush(), [(item.id, item.outcome) for item in store.list()], store.load("old").outcome)
print([fault.code for fault in faults])
"""
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    finally:
        folder.chmod(0o755)
        (folder / "instances").chmod(0o755)
        shutil.rmtree(folder)
    seen = "False [('old', 'answered'), ('new', 'answered')] answered"
    assert done.stdout.splitlines() == [seen, "['WB500', 'WB500', 'WB500']"]


@pytest.mark.parametrize(
    ("statement", "cause"),
    [
        ("UPDATE events SET data = substr(data, 1, 20) WHERE kind = 'decided'", "one of its events cannot be read"),
        ("UPDATE events SET data = x'ff00' WHERE kind = 'retrieved'", "one of its events cannot be read"),
        ("DELETE FROM events WHERE kind = 'run_started'", "its events do not fit together"),
        ("DELETE FROM events", "it has no events"),
    ],
)
def test_a_damaged_run_is_named_and_hides_no_other(path: Path, statement: str, cause: str) -> None:
    with RunStore(path) as store:
        append_all(store, recorded_run(run_id="good"))
        append_all(store, recorded_run(run_id="bad"))
        store.flush()
        change(path, f"{statement} {'AND' if 'WHERE' in statement else 'WHERE'} run_id = 'bad'")
        assert {item.id: item.damaged for item in store.list()} == {"good": False, "bad": True}
        with pytest.raises(RecordError, match=cause):
            store.load("bad")
        assert store.load("good").outcome == "answered"
        store.delete("bad")
        assert [item.id for item in store.list()] == ["good"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET data = json_set(data, '$.decision', 7) WHERE kind = 'decided'",
        "UPDATE events SET data = json_set(data, '$.config.top_k', 99) WHERE kind = 'run_started'",
        "UPDATE events SET data = json_set(data, '$.round', 9) WHERE kind = 'passage_graded'",
    ],
)
def test_a_run_that_turns_out_damaged_when_loaded_is_listed_as_damaged_from_then_on(path: Path, statement: str) -> None:
    with RunStore(path) as store:
        append_all(store, recorded_run())
        store.flush()
        change(path, statement)
        with pytest.raises(RecordError, match="is damaged"):
            store.load("run-1")
        assert [item.damaged for item in store.list()] == [True]


@pytest.mark.parametrize("column", ["duration_ms = 'long'", "outcome = 'eaten'", "question = x'ff'"])
def test_a_damaged_line_of_the_list_is_marked(path: Path, column: str) -> None:
    with RunStore(path) as store:
        append_all(store, recorded_run(run_id="good"))
        append_all(store, recorded_run(run_id="bad"))
        store.flush()
        change(path, f"UPDATE runs SET {column} WHERE id = 'bad'")
        assert {item.id: item.damaged for item in store.list()} == {"good": False, "bad": True}
        assert store.load("bad").outcome == "answered"


@pytest.mark.parametrize("damage", ["no database", "torn", "no tables"])
def test_a_damaged_file_is_moved_aside_and_a_fresh_one_begun(
    path: Path, faults: list[WorkbenchError], damage: str
) -> None:
    with RunStore(path) as store:
        append_all(store, recorded_run(3))
    if damage == "no tables":
        change(path, "DROP TABLE runs")
    whole = path.read_bytes()
    written = {"no database": b"not a database at all " * 400, "torn": whole[:9000], "no tables": whole}[damage]
    path.write_bytes(written)
    with RunStore(path, on_fault=faults.append) as store:
        assert store.list() == []
        append_all(store, recorded_run())
        assert store.flush()
        assert [item.id for item in store.list()] == ["run-1"]
    (moved,) = path.parent.glob("runs.db.damaged-*")
    assert moved.read_bytes()[:4000] == written[:4000]
    assert [fault.params.get("moved") for fault in faults] == [moved.name]


def test_a_file_that_breaks_while_it_is_open_is_replaced_and_the_run_continues_whole(
    path: Path, faults: list[WorkbenchError]
) -> None:
    events = recorded_run(2)
    with RunStore(path, on_fault=faults.append) as store:
        for event in events[:20]:
            store.append(RunId("run-1"), event)
        store.flush()
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(0)
            file.write(os.urandom(size))
        for event in events[20:]:
            store.append(RunId("run-1"), event)
        store.flush()
        assert store.flush()
        assert store.load("run-1") == fold_all(events)
    assert len(list(path.parent.glob("runs.db.damaged-*"))) >= 1
    with RunStore(path) as again:
        assert again.load("run-1") == fold_all(events)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no open file")
def test_a_folder_taken_away_under_a_running_program_is_not_made_again_and_is_written_once_it_is_back(
    path: Path, faults: list[WorkbenchError]
) -> None:
    """A folder made again would lack the knowledge base and all earlier runs, and no one would know."""
    folder = path.parent / "data"
    events = recorded_run(2)
    with RunStore(folder / "runs.db", on_fault=faults.append) as store:
        for event in events[:20]:
            store.append(RunId("run-1"), event)
        store.flush()
        folder.rename(path.parent / "elsewhere")
        for event in events[20:]:
            store.append(RunId("run-1"), event)
        assert not store.flush()
        assert store.load("run-1") == fold_all(events)
        assert not folder.exists()
        assert len(faults) == 1
        (path.parent / "elsewhere").rename(folder)
        assert store.flush()
    with RunStore(folder / "runs.db") as again:
        assert again.load("run-1") == fold_all(events)


def test_a_newer_format_is_refused_with_a_remedy_and_left_as_it_is(path: Path) -> None:
    with RunStore(path):
        pass
    change(path, f"PRAGMA user_version = {HEAD + 6}")
    before = path.read_bytes()
    with pytest.raises(RecordError, match=f"has format {HEAD + 6}.*Update the workbench"):
        RunStore(path)
    assert path.read_bytes() == before
    assert list((path.parent / "instances").iterdir()) == []
