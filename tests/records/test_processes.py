"""Several processes share the records, and one that dies leaves its runs behind as interrupted."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import engine
from engine.database.instance import Instance, alive, sweep
from engine.errors import RecordError
from engine.model.events import RunFinished, TokenStreamed, fold_all
from engine.model.values import RunId
from engine.records.store import RunStore
from tests.support.errors import raises
from tests.support.recorded import recorded_run

ROOT = Path(str(engine.__file__)).parent.parent

CHILD = """
import sys
from pathlib import Path
from engine.model.events import fold_all
from engine.records.store import RunStore
from tests.support.recorded import recorded_run

store = RunStore(Path(sys.argv[1]))
for line in sys.stdin:
    order, _, run_id = line.strip().partition(" ")
    if order == "begin":
        for event in recorded_run(1, "interrupted", run_id=run_id):
            store.append(run_id, event)
        store.flush()
    elif order == "finish":
        for event in recorded_run(1, "answered", run_id=run_id)[len(store.events(run_id)):]:
            store.append(run_id, event)
        store.flush()
    elif order == "many":
        for number in range(40):
            for event in recorded_run(0, run_id=f"{run_id}-{number}"):
                store.append(f"{run_id}-{number}", event)
        store.flush()
    elif order == "look":
        print(store.load(run_id).outcome, flush=True)
        continue
    elif order == "exit":
        import os
        os._exit(0)
    print("done", flush=True)
"""


class Child:
    """Another process that has the same records open and does as it is asked."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, words: str) -> None:
        self._pipe(self.process.stdin).write(words + "\n")
        self._pipe(self.process.stdin).flush()

    def answer(self) -> str:
        return str(self._pipe(self.process.stdout).readline()).strip()

    def do(self, words: str) -> str:
        self.order(words)
        return self.answer()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)

    @staticmethod
    def _pipe(pipe: IO[Any] | None) -> IO[Any]:
        assert pipe is not None
        return pipe


@contextmanager
def child_on(path: Path) -> Iterator[Child]:
    child = Child(path)
    try:
        yield child
    finally:
        child.kill()
        for pipe in (child.process.stdin, child.process.stdout):
            child._pipe(pipe).close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records with a run whose process was killed."""
    path: Path = tmp_path_factory.mktemp("left") / "runs.db"
    with child_on(path) as child:
        assert child.do("begin run-1") == "done"
        child.kill()
    return path


@pytest.fixture
def died(left: Path, path: Path) -> Path:
    """The same for one test."""
    shutil.copytree(left.parent, path.parent, dirs_exist_ok=True)
    return path


def test_a_run_whose_process_died_is_interrupted_and_keeps_all_it_had(died: Path) -> None:
    """SC-10."""
    had = fold_all(recorded_run(1, "interrupted"))
    with RunStore(died) as store:
        record = store.load("run-1")
        assert (record.outcome, record.reason) == ("interrupted", "interrupted")
        assert record.answer == had.answer != ""
        assert (record.rounds, record.nodes) == (had.rounds, had.nodes)
        listed = store.list(outcome="interrupted")[0]
        assert (listed.id, listed.calls, listed.rewrites, listed.damaged) == ("run-1", record.calls, 1, False)
        assert listed.duration_ms == record.duration_ms > 0
    assert list((died.parent / "instances").iterdir()) == []


def test_a_reader_that_had_seen_more_than_was_stored_still_hears_the_end(died: Path) -> None:
    with RunStore(died) as store:
        seen = len(recorded_run(1, "interrupted"))
        (end,) = store.events("run-1", after_seq=seen + 5)
        assert isinstance(end, RunFinished)
        assert (end.seq, end.outcome) == (seen + 6, "interrupted")


def test_a_reader_that_comes_back_gets_only_the_tokens_it_has_not_seen(died: Path) -> None:
    events = recorded_run(1, "interrupted")
    tokens = [event for event in events if isinstance(event, TokenStreamed)]
    with RunStore(died) as store:
        rest = store.events("run-1", after_seq=tokens[3].seq)
        assert [event for event in rest if isinstance(event, TokenStreamed)] == tokens[4:]


@pytest.mark.skipif(sys.platform == "win32", reason="stops a process by a POSIX signal")
def test_a_run_belongs_to_its_process_until_that_has_exited_even_while_it_is_stopped(path: Path) -> None:
    with child_on(path) as child, RunStore(path) as store:
        child.do("begin run-1")
        assert store.load("run-1") == fold_all(recorded_run(1, "interrupted"))
        os.kill(child.process.pid, signal.SIGSTOP)
        assert store.list()[0].outcome is None
        with raises(RecordError.run_active):
            store.delete("run-1")
        os.kill(child.process.pid, signal.SIGCONT)
        child.order("exit")
        child.process.wait(60)
        assert store.load("run-1").outcome == "interrupted"
        store.delete("run-1")
        assert store.list() == []


def test_a_run_continues_for_other_processes_and_ends_for_them_too(path: Path) -> None:
    with child_on(path) as child, RunStore(path) as store:
        child.do("begin theirs")
        for event in recorded_run(1, "interrupted", run_id="ours"):
            store.append(RunId("ours"), event)
        store.flush()
        assert [item.outcome for item in store.list()] == [None, None]
        assert child.do("look ours") == "None"
        assert child.do("finish theirs") == "done"
        assert store.load("theirs").outcome == "answered"
        assert [(item.id, item.outcome) for item in store.list()] == [("theirs", "answered"), ("ours", None)]


def test_two_processes_write_at_once_and_nothing_is_lost(path: Path) -> None:
    faults: list[Exception] = []
    # Opened at the same time too, so that both find a file without tables.
    with child_on(path) as child, RunStore(path, on_fault=faults.append) as store:
        child.order("many theirs")
        for number in range(40):
            for event in recorded_run(0, run_id=f"ours-{number}"):
                store.append(RunId(f"ours-{number}"), event)
        assert store.flush()
        assert child.answer() == "done"
        listed = store.list(1000)
        assert (len(listed), faults) == (80, [])
        assert all(item.outcome == "answered" and not item.damaged for item in listed)


def test_runs_of_a_store_that_was_closed_in_mid_run_are_interrupted(path: Path) -> None:
    with RunStore(path) as first:
        for event in recorded_run(0, "interrupted"):
            first.append(RunId("run-1"), event)
    assert first.load("run-1").outcome == "interrupted"
    with RunStore(path) as second:
        assert second.load("run-1").outcome == "interrupted"


def test_an_instance_lives_until_its_end_and_its_file_goes_with_it(tmp_path: Path) -> None:
    instance = Instance(tmp_path / "locks")
    assert alive(tmp_path / "locks", instance.id)
    sweep(tmp_path / "locks")
    assert alive(tmp_path / "locks", instance.id)
    instance.end()
    assert not alive(tmp_path / "locks", instance.id)
    assert list((tmp_path / "locks").iterdir()) == []


@pytest.mark.parametrize("owner", ["../runs", "", "0" * 31, "A" * 32, f"../{'0' * 32}"])
def test_an_owner_that_is_no_id_of_ours_is_dead_and_touches_no_file(tmp_path: Path, owner: str) -> None:
    (tmp_path / "locks").mkdir()
    outside = [tmp_path / "runs.lock", tmp_path / f"{'0' * 32}.lock"]
    for file in outside:
        file.touch()
    assert not alive(tmp_path / "locks", owner)
    assert all(file.exists() for file in outside)


def test_lock_files_of_the_dead_are_swept_and_those_of_the_living_are_not(path: Path) -> None:
    with child_on(path) as living, RunStore(path):
        assert living.do("many x") == "done"
        dead = path.parent / "instances" / f"{'0' * 32}.lock"
        dead.touch()
        with RunStore(path):
            assert not dead.exists()
            assert len(list(dead.parent.iterdir())) == 3


def test_a_lock_is_seen_through_a_second_connection_of_the_same_process(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    lock = tmp_path / f"{instance.id}.lock"
    with (
        closing(sqlite3.connect(lock, timeout=0)) as probe,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        probe.execute("SELECT count(*) FROM sqlite_master")
    assert alive(tmp_path, instance.id)
    instance.end()
