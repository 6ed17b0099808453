"""Several processes on one PostgreSQL: what one does is seen, followed and stopped in the others."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from engine.engine import Engine
from engine.errors import JobError, JobsUnreachable, RecordError, UnknownRun
from engine.evaluation.cases import Case, QuerySet
from engine.flow.context import Retrieval
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished, TokenStreamed
from plugins.team.jobs import JobTable
from plugins.team.postgres import PostgresDatabase
from tests.api.served import FakeCollections, engine_of, relevant
from tests.support import postgres_server
from tests.support.errors import raises
from tests.support.fakes import FakeGenerator, FakeRetriever
from tests.support.gates import PATIENCE_S, Gate, until

_AWAY = JobsUnreachable(path="there", cause="it is away", advice="Wait")
Replica = Callable[..., Engine]


@pytest.fixture
def replica(postgres_url: str, tmp_path: Path) -> Iterator[Replica]:
    """Makes engines with data folders of their own on one database."""
    with ExitStack() as stack:

        def make(**parts: object) -> Engine:
            folder = tmp_path / f"replica-{len(list(tmp_path.iterdir()))}"
            return stack.enter_context(engine_of(folder, relevant(**parts), database_url=SecretStr(postgres_url)))

        yield make


class Stops(FakeRetriever):
    """Lets some searches through, and then stands still until it is let on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.let_on = threading.Event()
        self._after = after

    async def search(self, query: str, limit: int) -> Retrieval:
        if len(self.queries) >= self._after and not self.let_on.is_set():
            self.reached.set()
            await asyncio.to_thread(self.let_on.wait, PATIENCE_S)
        return await super().search(query, limit)


class Words:
    """Lets a generator say one word after the other."""

    def __init__(self) -> None:
        self.gates = [Gate(), Gate(), Gate()]
        self._turn = iter(self.gates)

    def __call__(self) -> Gate:
        return next(self._turn)


def test_on_postgres_a_run_is_seen_followed_live_and_read_in_another_replica(replica: Replica) -> None:
    """TM-02"""
    words = Words()
    here, there = replica(generator=FakeGenerator(gate=words, text="One two three.")), replica()
    run = here.start("What is it?", RunConfig(max_rewrites=0))
    for gate in words.gates[:1]:
        gate.wait_until_reached()
    here.flush()
    (line,) = there.runs()
    assert (line.id, line.outcome) == (run, None)
    seen: list[Event] = []
    second_word = threading.Event()

    def follow() -> None:
        for event in there.events(run):
            seen.append(event)
            if isinstance(event, TokenStreamed):
                second_word.set()

    follower = threading.Thread(target=follow)
    follower.start()
    words.gates[0].open()
    assert second_word.wait(PATIENCE_S), "no part of the answer reached the other replica while it was written"
    assert there.record(run).outcome is None
    assert there.under_way(run)[0] > 0
    with raises(RecordError.run_active):
        there.delete_run(run)
    for gate in words.gates[1:]:
        gate.wait_until_reached()
        gate.open()
    follower.join(PATIENCE_S)
    assert isinstance(seen[-1], RunFinished)
    assert here.wait(run, PATIENCE_S) and there.wait(run, PATIENCE_S)
    assert there.record(run) == here.record(run)
    assert [event.seq for event in seen] == sorted({event.seq for event in seen})


def test_on_postgres_whoever_waits_for_a_run_of_another_replica_sees_its_end_however_long_it_takes(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-02"""
    monkeypatch.setattr("engine.running.followed_runs._KEPT_S", 0.0)
    monkeypatch.setattr("engine.running.followed_runs.LOOK_S", 0.02)
    gate = Gate()
    here, there = replica(retriever=FakeRetriever(gate=gate)), replica()
    run = here.start("What is it?", RunConfig(max_rewrites=0))
    gate.wait_until_reached()
    here.flush()
    looks: list[int] = []
    events_of = there._store.events

    def events(run_id: str, after_seq: int = 0) -> list[Event]:
        found = events_of(run_id, after_seq)
        looks.append(after_seq)
        return found

    monkeypatch.setattr(there._store, "events", events)
    with ThreadPoolExecutor(2) as pool:
        waited, followed = pool.submit(there.wait, run, PATIENCE_S), pool.submit(list, there.events(run))
        until(lambda: len(looks) > 5)
        gate.open()
        assert waited.result()
        assert isinstance(followed.result()[-1], RunFinished)


def test_on_postgres_a_run_is_cancelled_from_another_replica(replica: Replica) -> None:
    """TM-02"""
    gate = Gate()
    here, there = replica(retriever=FakeRetriever(gate=gate)), replica()
    there.databases.runs.signals.listening.wait(PATIENCE_S)  # type: ignore[attr-defined]
    here.databases.runs.signals.listening.wait(PATIENCE_S)  # type: ignore[attr-defined]
    run = here.start("What is it?")
    gate.wait_until_reached()
    here.flush()
    assert there.cancel(run)
    assert here.wait(run, PATIENCE_S)
    assert here.record(run).outcome == "cancelled"
    assert there.wait(run, PATIENCE_S)
    assert there.record(run).outcome == "cancelled"
    assert not there.cancel(run)
    there.delete_run(run)
    with pytest.raises(UnknownRun):
        there.cancel(run)


_DIES = """
import os, sys
from pathlib import Path
from plugins.team.postgres import PostgresDatabase
from engine.records.store import RunStore
from tests.support.recorded import recorded_run
database = PostgresDatabase(sys.argv[1])
store = RunStore(database)
for event in recorded_run(1, run_id="dies")[:12]:
    store.append("dies", event)
store.flush()
print("there", flush=True)
sys.stdin.read()
os._exit(9)
"""


def test_on_postgres_a_run_whose_replica_died_is_interrupted_for_those_who_follow_it(
    replica: Replica, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-02"""
    monkeypatch.setattr("plugins.team.leases.LEASE_S", 1.0)
    here = replica()
    command = [
        sys.executable,
        "-c",
        _DIES.replace("database = ", "import plugins.team.leases as leases\nleases.LEASE_S = 1.0\ndatabase = "),
        postgres_url,
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "there\n"
        (line,) = here.runs()
        assert (line.id, line.outcome) == ("dies", None)
        other.stdin.close()
        *_, last = here.events("dies")
    assert isinstance(last, RunFinished) and last.outcome == "interrupted"
    assert here.record("dies").outcome == "interrupted"
    assert [item.outcome for item in here.runs()] == ["interrupted"]
    assert not here.cancel("dies")


def test_on_postgres_a_job_is_seen_stopped_and_taken_over_by_another_replica(replica: Replica) -> None:
    """TM-03"""
    gate, mine, theirs = Gate(), FakeCollections(), FakeCollections()
    mine.gate = lambda: gate
    here, there = replica(knowledge=mine), replica(knowledge=theirs)
    there.databases.runs.signals.listening.wait(PATIENCE_S)  # type: ignore[attr-defined]
    here.databases.runs.signals.listening.wait(PATIENCE_S)  # type: ignore[attr-defined]
    files = [IngestItem("tea.md", data=b"Tea is hot." * 200_000), IngestItem("empty.md", data=b"")]
    job = here.ingestions.start(files, "notes")
    gate.wait_until_reached()
    (seen,) = there.ingestions.jobs()
    assert (seen.id, seen.collection, seen.over) == (job, "notes", False)
    with raises(JobError.active):
        there.ingestions.resume(job)
    with raises(JobError.active):
        there.ingestions.discard(job)
    there.ingestions.stop(job)
    assert there.ingestions.wait(job, PATIENCE_S).state == "stopped"
    assert here.ingestions.job(job).state == "stopped"
    there.ingestions.resume(job)
    assert there.ingestions.wait(job, PATIENCE_S).state == "done"
    ((collection, items),) = theirs.given
    assert (collection, items) == ("notes", files)
    assert here.ingestions.wait(job, PATIENCE_S).added == ("tea.md", "empty.md")
    assert mine.given == []
    with raises(JobError.over):
        here.ingestions.resume(job)


def test_on_postgres_a_job_that_was_taken_over_and_could_not_begin_is_begun_later(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-03"""
    gate, mine, theirs = Gate(), FakeCollections(), FakeCollections()
    mine.gate = lambda: gate
    here, there = replica(knowledge=mine), replica(knowledge=theirs)
    job = here.ingestions.start([IngestItem("tea.md", data=b"Tea is hot.")], "notes")
    gate.wait_until_reached()
    fetched, faults = JobTable.fetch, [_AWAY, JobError.disk_full(path="here"), _AWAY]

    def fetch(table: JobTable, job_id: str, folder: Path) -> None:
        if faults:
            raise faults.pop(0)
        fetched(table, job_id, folder)

    monkeypatch.setattr(JobTable, "fetch", fetch)
    # As where its process ended.
    assert here.ingestions._jobs.shared is not None
    here.ingestions._jobs.shared.close()
    until(lambda: there.ingestions.job(job).state == "failed")
    fault = there.ingestions.job(job).fault
    assert fault is not None and fault.code == JobError.disk_full.code
    with pytest.raises(JobsUnreachable):
        there.ingestions.resume(job)
    # What is not dead in truth has the turn of the collection until it is done.
    gate.open()
    there.ingestions.resume(job)
    assert there.ingestions.wait(job, PATIENCE_S).state == "done"
    assert [collection for collection, _ in theirs.given] == ["notes"]


def test_on_postgres_a_job_that_ends_while_the_database_is_away_is_noted_once_it_is_back(tmp_path: Path) -> None:
    """TM-03: and the next one waits for it as for another replica."""
    gate, knowledge = Gate(), FakeCollections()
    knowledge.gate = lambda: gate
    with (
        postgres_server.running(own=True) as server,
        server.database() as url,
        engine_of(tmp_path / "one", relevant(knowledge=knowledge), database_url=SecretStr(url)) as engine,
    ):
        job = engine.ingestions.start([IngestItem("tea.md", data=b"Tea is hot.")], "notes")
        gate.wait_until_reached()
        further = engine.ingestions.start([IngestItem("salt.md", data=b"Salt is white.")], "notes")
        server.stop(signal.SIGQUIT)
        gate.open()
        until(lambda: len(knowledge.given) == 1)
        until(lambda: bool(engine.ingestions.here()) and engine.ingestions.here()[-1].state == "done")
        server.start()
        until(lambda: engine.ingestions.job(further).state == "done")
        with closing(PostgresDatabase(url)) as database:
            rows = JobTable(database)
            until(lambda: {row.status.state for row in rows.rows().values()} == {"done"})
            assert {job, further} == set(rows.rows())


_WORKS = """
import sys
from pathlib import Path
from pydantic import SecretStr
import plugins.team.leases as leases
leases.LEASE_S = 1.0
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.cases import Case, QuerySet
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from tests.api.served import FakeCollections, engine_of, relevant
from tests.support import postgres_server
from tests.support.fakes import FakeRetriever
from tests.support.gates import Gate
jobs, searches = Gate(), Gate()
knowledge = FakeCollections()
knowledge.gate = lambda: jobs
parts = relevant(knowledge=knowledge, retriever=FakeRetriever(gate=searches))
with engine_of(Path(sys.argv[2]), parts, database_url=SecretStr(sys.argv[1])) as engine:
    job = engine.ingestions.start([IngestItem("tea.md", data=b"Tea is hot.")], "notes")
    jobs.wait_until_reached()
    engine.evaluation.save_query_set(QuerySet("two", (Case("a", "Why?"), Case("b", "How?"))))
    batch = engine.batches.start("two", RunConfig(max_rewrites=0), 1)
    searches.wait_until_reached()
    engine.flush()
    print(job, batch, flush=True)
    sys.stdin.read()
"""


def test_on_postgres_jobs_and_batches_of_a_process_that_is_killed_continue_in_another(
    replica: Replica, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-03"""
    monkeypatch.setattr("plugins.team.leases.LEASE_S", 1.0)
    command = [sys.executable, "-c", _WORKS, postgres_url, str(tmp_path / "dies")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        job, batch = other.stdout.readline().split()
        theirs = FakeCollections()
        here = replica(knowledge=theirs)
        assert [status.over for status in here.ingestions.jobs()] == [False]
        assert here.batches.progress(batch).running
        other.kill()
    assert here.ingestions.wait(job, PATIENCE_S).state == "done"
    assert [collection for collection, _ in theirs.given] == ["notes"]
    until(lambda: here.batches.progress(batch).done == 2)
    outcomes = sorted(str(run.outcome) for run in here.runs())
    assert outcomes == ["answered", "answered", "interrupted"]


def test_on_postgres_a_batch_outlives_its_database(tmp_path: Path) -> None:
    """TM-03 What was paid for is noted once the server is back, each case once."""
    names = [f"c{number}" for number in range(12)]
    search = Stops(after=5)
    with (
        postgres_server.running(own=True) as server,
        server.database() as url,
        engine_of(tmp_path, relevant(retriever=search), database_url=SecretStr(url)) as engine,
    ):
        engine.evaluation.save_query_set(QuerySet("twelve", tuple(Case(name, f"Why {name}?") for name in names)))
        batch = engine.batches.start("twelve", RunConfig(max_rewrites=0), 3)
        assert search.reached.wait(PATIENCE_S)
        server.stop(signal.SIGQUIT)
        search.let_on.set()
        until(lambda: len(search.queries) >= 6)
        assert engine.batches.running == batch
        server.start()
        assert engine.batches.wait(batch, 2 * PATIENCE_S)
        state = engine.evaluation.batch(batch)
        assert (state.done, state.failures) == (frozenset(names), {})
        assert len(set(state.runs.values())) == 12
        assert {case.id for case, _ in engine.batches.results(batch)} == set(names)
        assert [run.outcome for run in engine.runs()] == ["answered"] * 12
