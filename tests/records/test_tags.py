"""Tags and filters of stored runs: in memory and in the file, kept apart from what a run itself says."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.database.base import Database
from engine.database.sqlite import SqliteFile, connect
from engine.database.tables import Part
from engine.database.versions import HEAD
from engine.errors import RecordError, UnknownRun
from engine.model.events import Event, PassageGraded, Prepared, RunFinished, RunStarted, fold_all
from engine.model.values import Fork, RunId
from engine.records import BATCH, PINNED
from engine.records.store import Filters, RunStore
from engine.records.tagging import LONGEST_TAG, tag_text
from tests.records.test_faults import append_all, change
from tests.support.errors import raises
from tests.support.recorded import recorded_run

FORMER = Path(__file__).parent / "runs-format-1.db.gz"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def database(database_of: Callable[[Part], Database]) -> Database:
    return database_of("runs")


@pytest.fixture
def store(database: Database) -> Iterator[RunStore]:
    with RunStore(database) as opened:
        yield opened


def listed(store: RunStore, **filters: str) -> list[str]:
    return [item.id for item in store.list(**filters)]  # type: ignore[arg-type]


def test_a_tag_is_kept_trimmed_and_in_composed_form() -> None:
    assert tag_text("  to review ") == "to review"
    assert tag_text("re\u0301sume\u0301") == "résumé"
    assert tag_text("阈值 0.3") == "阈值 0.3"
    assert tag_text("x" * LONGEST_TAG) == "x" * LONGEST_TAG
    assert tag_text("👩\u200d🔬") == "👩\u200d🔬"


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("", "is empty"),
        (" \t\n ", "is empty"),
        ("x" * (LONGEST_TAG + 1), "has 41 characters; the limit is 40"),
        ("two\nlines", "control characters"),
        ("bell\x07", "control characters"),
        ("half \udc80", "control characters"),
        ("turned \u202eback", "control characters"),
    ],
)
def test_a_text_that_cannot_be_a_tag_is_refused_with_what_to_do(store: RunStore, tag: str, said: str) -> None:
    append_all(store, recorded_run())
    for change_tag in (store.tag, store.untag):
        with raises(RecordError.tag_blank, match=said):
            change_tag("run-1", tag)
    assert store.list()[0].tags == ()


def test_tags_are_listed_sorted_and_the_same_one_twice_is_one(store: RunStore, database: Database) -> None:
    append_all(store, recorded_run())
    assert store.tag("run-1", "slow") == ("slow",)
    assert store.tag("run-1", " slow ") == ("slow",)
    assert store.tag("run-1", "阈值") == ("slow", "阈值")
    assert store.tag("run-1", PINNED) == (PINNED, "slow", "阈值")
    assert store.list()[0].tags == (PINNED, "slow", "阈值")
    assert store.untag("run-1", "never there") == (PINNED, "slow", "阈值")
    assert store.untag("run-1", "slow") == (PINNED, "阈值")
    store.close()
    with RunStore(database) as again:
        assert again.list()[0].tags == (PINNED, "阈值")


def test_a_run_in_progress_can_be_tagged_and_found_by_its_tag(store: RunStore) -> None:
    going_on = recorded_run(0, "interrupted")
    append_all(store, going_on)
    store.tag("run-1", BATCH)
    assert [(item.outcome, item.tags) for item in store.list(tag=BATCH)] == [(None, (BATCH,))]
    assert listed(store, without_tag=BATCH) == []
    last = going_on[-1]
    store.append(RunId("run-1"), RunFinished(seq=last.seq + 1, t_ms=last.t_ms, outcome="cancelled", reason="cancelled"))
    store.flush()
    assert [(item.outcome, item.tags) for item in store.list(tag=BATCH)] == [("cancelled", (BATCH,))]


@pytest.mark.parametrize("run_id", ["", "nothing", "x' OR 1=1 --"])
def test_no_tag_is_kept_for_a_run_that_is_not_there(store: RunStore, run_id: str) -> None:
    append_all(store, recorded_run())
    for change_tag in (store.tag, store.untag):
        with pytest.raises(UnknownRun):
            change_tag(run_id, "slow")
    assert store.tags() == {}


def test_how_many_runs_have_each_tag_is_counted(store: RunStore) -> None:
    assert store.tags() == {}
    for name in ("one", "two", "three"):
        append_all(store, recorded_run(0, run_id=name))
        store.tag(name, "all")
    store.tag("two", "Äpfel")
    assert store.tags() == {"all": 3, "Äpfel": 1}


def test_deleting_a_run_takes_its_tags_along(store: RunStore) -> None:
    for name in ("one", "two"):
        append_all(store, recorded_run(0, run_id=name))
        store.tag(name, "kept")
    store.delete("one")
    assert store.tags() == {"kept": 1}
    append_all(store, recorded_run(0, run_id="one"))
    store.flush()
    assert {item.id: item.tags for item in store.list()} == {"one": (), "two": ("kept",)}


def test_a_tag_that_the_disk_does_not_take_is_an_error_and_not_a_silence(path: Path) -> None:
    def impatient(where: Path) -> sqlite3.Connection:
        connection = connect(where)
        connection.execute("PRAGMA busy_timeout = 0")
        return connection

    with RunStore(SqliteFile(path, "runs", open_file=impatient), on_fault=lambda fault: None) as store:
        append_all(store, recorded_run())
        store.flush()
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(RecordError, match="another process keeps it locked"):
                store.tag("run-1", "slow")
            other.rollback()
        assert store.tag("run-1", "slow") == ("slow",)


def test_a_run_that_lives_in_memory_alone_says_why_it_cannot_be_tagged(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with RunStore(tmp_path / "file" / "runs.db", on_fault=lambda fault: None) as store:
        append_all(store, recorded_run())
        with pytest.raises(RecordError, match="cannot be written"):
            store.tag("run-1", "slow")
        assert listed(store) == ["run-1"]
        assert store.tags() == {}


def fill(store: RunStore, flush: bool) -> None:
    for number in range(6):
        collection = "notes" if number == 2 else "samples"
        question = "What is a tree?" if number % 2 else "Was ist ein BAUM?"
        run_id = f"a1b2c3d{number}"
        started_at = f"2025-03-01T09:0{number}:00+00:00"
        append_all(
            store, recorded_run(0, run_id=run_id, question=question, started_at=started_at, collection=collection)
        )
        if number in (1, 4):
            store.tag(run_id, "Graph theory")
        if number == 4:
            store.tag(run_id, BATCH)
    if flush:
        store.flush()
    else:
        append_all(store, recorded_run(0, "interrupted", run_id="live", question="Tree of life", started_at="2026"))
        store.tag("live", BATCH)


FOUND: list[tuple[Filters, list[str], list[str]]] = [
    ({"tag": "Graph theory"}, ["a1b2c3d4", "a1b2c3d1"], []),
    ({"tag": "graph theory"}, [], []),
    ({"tag": BATCH}, ["a1b2c3d4"], ["live"]),
    ({"without_tag": BATCH}, [f"a1b2c3d{number}" for number in (5, 3, 2, 1, 0)], []),
    ({"tag": "Graph theory", "without_tag": BATCH}, ["a1b2c3d1"], []),
    ({"collection": "notes"}, ["a1b2c3d2"], []),
    ({"workflow": "other"}, [], []),
    ({"text": "baum"}, [f"a1b2c3d{number}" for number in (4, 2, 0)], []),
    ({"text": "GRAPH"}, ["a1b2c3d4", "a1b2c3d1"], []),
    ({"text": "a1b2c3d3"}, ["a1b2c3d3"], []),
    ({"text": "A1B2C3"}, [f"a1b2c3d{number}" for number in (5, 4, 3, 2, 1, 0)], []),
    ({"text": "a1b2"}, [], []),
    ({"text": "tree"}, [f"a1b2c3d{number}" for number in (5, 3, 1)], ["live"]),
    ({"text": "\udc80!"}, [], []),
    ({"outcome": "answered", "text": "tree", "tag": "Graph theory"}, ["a1b2c3d1"], []),
]


@pytest.mark.parametrize("flush", [True, False], ids=["from the file", "one from memory"])
def test_filters_say_the_same_of_runs_in_memory_and_in_the_file(store: RunStore, flush: bool) -> None:
    fill(store, flush)
    for filters, stored, live in FOUND:
        found = [item.id for item in store.list(**filters)]
        assert found == ([] if flush else live) + stored, filters


def test_pages_by_cursor_continue_under_a_filter(store: RunStore) -> None:
    fill(store, flush=True)
    first = store.list(2, without_tag=BATCH)
    second = store.list(2, without_tag=BATCH, before=first[-1].cursor)
    third = store.list(2, without_tag=BATCH, before=second[-1].cursor)
    assert [[item.id[-1] for item in page] for page in (first, second, third)] == [["5", "3"], ["2", "1"], ["0"]]


def test_a_fork_is_listed_with_its_parent(store: RunStore) -> None:
    events = recorded_run(1, run_id="child")
    assert isinstance(events[0], RunStarted)
    events[0] = replace(events[0], fork=Fork(parent=RunId("run-1"), round=1, settings=("top_k",)))
    append_all(store, events)
    in_memory = [item.parent for item in store.list()]
    store.flush()
    assert in_memory == [item.parent for item in store.list()] == ["run-1"]


def test_bytes_that_are_no_text_damage_one_run_and_hide_no_other(path: Path) -> None:
    with RunStore(path) as store:
        for name in ("good", "bad"):
            append_all(store, recorded_run(0, run_id=name))
            store.tag(name, "kept")
        change(path, "UPDATE runs SET question = CAST(x'74726565ff' AS TEXT), reason = x'ff' WHERE id = 'bad'")
        change(path, "UPDATE tags SET tag = CAST(x'6bff' AS TEXT) WHERE run_id = 'bad'")
        assert {item.id: item.damaged for item in store.list()} == {"good": False, "bad": True}
        assert [item.id for item in store.list(text="tree")] == ["bad"]
        assert set(store.tags()) == {"kept", "k\ufffd"}
        store.delete("bad")
        assert listed(store) == ["good"]


def unpacked(path: Path) -> Path:
    path.write_bytes(gzip.decompress(FORMER.read_bytes()))
    return path


def _as_format_1(event: Event) -> Event:
    """As the version with format 1 wrote it: verdicts did not name their policy, nor the recording this collection."""
    if isinstance(event, Prepared):
        return replace(event, manifest={**event.manifest, "collection": "samples@9c41"})
    return replace(event, verdict=replace(event.verdict, policy=1)) if isinstance(event, PassageGraded) else event


def test_a_file_of_format_1_is_lifted_with_its_runs_and_takes_tags(path: Path) -> None:
    """The file was written by the version that had format 1."""
    with closing(sqlite3.connect(unpacked(path))) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    with RunStore(path) as store:
        assert [(item.id, item.outcome, item.tags, item.parent) for item in store.list()] == [
            ("cut-off", "interrupted", (), ""),
            ("finished", "answered", (), ""),
        ]
        written = recorded_run(1, run_id="finished", question="What is a tree? 什么是树？", search="vector")
        lifted = store.load("finished")
        assert lifted.checks is not None, "an answer that was never checked is checked now"
        assert replace(lifted, checks=None) == fold_all([_as_format_1(event) for event in written])
        assert store.load("cut-off").answer
        store.tag("cut-off", "crash")
        append_all(store, recorded_run(run_id="new"))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (HEAD,)
    with RunStore(path) as again:
        assert {item.id: item.tags for item in again.list()} == {"cut-off": ("crash",), "finished": (), "new": ()}


@pytest.mark.skipif(sys.platform == "win32", reason="folder permissions are POSIX")
def test_a_file_of_format_1_that_may_only_be_read_is_still_listed() -> None:
    folder = Path(tempfile.mkdtemp())
    script = f"""
import os
from pathlib import Path
from engine.records.codec import event_to_json
from engine.records.store import RunStore
from tests.support.recorded import recorded_run
event_to_json(recorded_run()[0])
if os.geteuid() == 0:
    os.setuid(65534)
with RunStore(Path({str(folder / "runs.db")!r}), on_fault=lambda fault: None) as store:
    print([(item.id, item.tags) for item in store.list(without_tag="batch")], store.tags(), store.list(tag="x"))
    print(store.load("finished").outcome)
"""
    try:
        unpacked(folder / "runs.db").chmod(0o444)
        (folder / "instances").mkdir(mode=0o555)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert done.stdout.splitlines() == ["[('cut-off', ()), ('finished', ())] {} []", "answered"]
