"""A whole engine on PostgreSQL, and what it does while the server is away."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr
from sqlalchemy import QueuePool, delete, insert, text
from starlette.testclient import TestClient

from engine.database.tables import INSTANCES
from engine.engine import Engine
from engine.errors import EvaluationError, InvalidSettings, PeopleUnusable, RecordError, WorkbenchError
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.store import EvaluationStore
from engine.model.config import RunConfig
from engine.model.events import fold_all
from engine.people import acting_as
from engine.records.store import RunStore
from engine.settings import Settings
from plugins.team.errors import DRIVER_MISSING
from plugins.team.postgres import PostgresDatabase
from plugins.team.team import Team
from tests.api.served import ADDRESS, app_of, engine_of
from tests.plugins.team.signing_in import people_sign_in
from tests.support import postgres_server
from tests.support.fakes import FakeGrader, FakeResources
from tests.support.gates import PATIENCE_S, until
from tests.support.people import ADMIN
from tests.support.recorded import recorded_run


@pytest.fixture
def own_server(postgres_server_here: postgres_server.Server) -> Iterator[postgres_server.Server]:
    """A server that this test alone may stop."""
    if postgres_server.programs() is None:
        pytest.skip("the server named by the environment cannot be stopped")
    with postgres_server.running(own=True) as server:
        yield server


def test_on_postgres_runs_and_batches_leave_nothing_in_the_data_folder(postgres_url: str, tmp_path: Path) -> None:
    url = SecretStr(postgres_url)
    with engine_of(tmp_path, FakeResources(grader=FakeGrader()), database_url=url) as engine:
        record = engine.run("What is it?", RunConfig(max_rewrites=0))
        engine.evaluation.save_query_set(QuerySet("two", (Case("a", "Why?"), Case("b", "How?"))))
        batch = engine.batches.start("two", RunConfig(max_rewrites=0))
        assert engine.batches.wait(batch, 60)
        engine.flush()
        assert len(engine.evaluation.batch(batch).done) == 2
        assert len(engine.runs()) == 3
    with engine_of(tmp_path, FakeResources(), database_url=url) as again:
        assert again.record(record.id) == record
        assert again.evaluation.query_sets() == ("samples", "two")
    assert sorted(path.name for path in tmp_path.glob("*.db")) == []


def test_on_postgres_runs_wait_in_memory_while_the_server_is_away(own_server: postgres_server.Server) -> None:
    """TM-01"""
    faults: list[WorkbenchError] = []
    over: list[WorkbenchError] = []
    with (
        own_server.database() as url,
        closing(PostgresDatabase(url)) as database,
        RunStore(database, on_fault=faults.append, on_over=over.append) as store,
    ):
        events = recorded_run(2)
        for event in events[:20]:
            store.append(fold_all(events).id, event)
        assert store.flush()
        own_server.stop(signal.SIGQUIT)
        for event in events[20:]:
            store.append(fold_all(events).id, event)
        assert not store.flush()
        assert store.load("run-1") == fold_all(events)
        with pytest.raises(RecordError, match="PostgreSQL server"):
            store.tags()
        with pytest.raises(EvaluationError, match="PostgreSQL server"):
            EvaluationStore(database)
        own_server.start()
        assert store.flush()
        assert (len(faults), len(over)) == (1, 1)
        with closing(PostgresDatabase(url)) as another, RunStore(another) as other:
            assert other.load("run-1") == fold_all(events)


def test_on_postgres_a_server_that_hangs_is_reported_and_holds_no_other_part_up(
    own_server: postgres_server.Server, tmp_path: Path
) -> None:
    """TM-07: also where it is looked at more often than there are threads for it."""

    def health(_: int = 0) -> dict[str, str]:
        return {item.part: item.health for item in engine.host.health()}

    with own_server.database() as url:
        settings = Settings.load(data_dir=tmp_path, database_url=url, embedding_model="hashing")
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            assert health()["records"] == "ok"
            with own_server.halted(), ThreadPoolExecutor(40) as pool:
                looks = list(pool.map(health, range(40)))
            assert {look["records"] for look in looks} == {"down"}
            # On a busy machine some come too late; with threads that hang all of the later ones would.
            assert ("ok", "ok") in {(look["knowledge"], look["disk"]) for look in looks[20:]}
            until(lambda: health()["records"] == "ok")


def test_on_postgres_a_replica_that_started_without_the_server_lives_for_the_others(
    own_server: postgres_server.Server,
) -> None:
    """TM-02: its runs are not interrupted because its lease could not be written at once."""
    with own_server.database() as url:
        own_server.stop()
        with closing(PostgresDatabase(url)) as database, RunStore(database) as store:
            events = recorded_run(2)
            for event in events[:20]:
                store.append(fold_all(events).id, event)
            own_server.start()
            until(store.flush)
            with closing(PostgresDatabase(url)) as another, RunStore(another) as other:
                until(lambda: [line.outcome for line in other.list()] == [None])
                assert other.goes_on("run-1")


def test_on_postgres_nobody_is_taken_for_dead_because_the_server_hung(
    own_server: postgres_server.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-03: also by a replica that reaches it again before the others do."""
    monkeypatch.setattr("plugins.team.leases.LEASE_S", 1.0)
    with own_server.database() as url, closing(PostgresDatabase(url)) as database:
        own = database.owners.join()
        another = {"id": "another", "until": datetime.now(UTC) + timedelta(seconds=1)}
        with database.writing() as connection:
            connection.execute(insert(INSTANCES), another)
        with own_server.halted():
            threading.Event().wait(1.5)
        assert database.owners.alive("another")
        until(lambda: not database.owners.alive("another"))
        assert database.owners.alive(own.id)


def test_on_postgres_a_lease_that_is_gone_is_written_again(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.team.leases.LEASE_S", 1.0)
    with closing(PostgresDatabase(postgres_url)) as database, closing(PostgresDatabase(postgres_url)) as other:
        own = database.owners.join()
        with other.writing() as connection:
            connection.execute(delete(INSTANCES))
        until(lambda: other.owners.alive(own.id))
        own.end()
        assert not other.owners.alive(own.id)


def test_on_postgres_a_list_of_runs_takes_one_connection(postgres_url: str) -> None:
    with closing(PostgresDatabase(postgres_url)) as one, RunStore(one) as gone:
        events = recorded_run(2)
        for event in events[:20]:
            gone.append(fold_all(events).id, event)
        assert gone.flush()
    with closing(PostgresDatabase(postgres_url)) as database, RunStore(database) as store, ExitStack() as lent:
        pool = database._engine.pool
        assert isinstance(pool, QueuePool)
        pool._timeout = 0.1
        while pool.checkedout() < 19:
            lent.enter_context(database.reading())
        assert [run.outcome for run in store.list()] == ["interrupted"]


def test_without_the_driver_the_extra_that_brings_it_is_named() -> None:
    script = """
import sys
sys.modules["psycopg"] = None
from engine.database.databases import Databases
from engine.errors import WorkbenchError
from engine.settings import Settings
try:
    Databases.of(Settings(database_url="postgresql://here/there"))
except WorkbenchError as missing:
    print(missing.code)
"""
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert printed.stdout.strip() == DRIVER_MISSING.code


def test_on_postgres_what_was_done_in_a_turn_is_done_where_the_connection_is_lost(postgres_url: str) -> None:
    lost = text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    with closing(PostgresDatabase(postgres_url)) as database, closing(PostgresDatabase(postgres_url)) as other:
        with database.turn("collection notes") as held, other.writing() as connection:
            assert held
            connection.execute(lost)
        with database.turn("collection notes") as again:
            assert again


def test_on_postgres_who_waits_for_signals_notices_a_server_that_went_without_a_word(postgres_url: str) -> None:
    own = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'workbench' AND query LIKE 'LISTEN%'"
    with closing(PostgresDatabase(postgres_url)) as database:
        database.signals.listen(lambda _: None)
        assert database.signals.listening.wait(PATIENCE_S)
        with database.reading() as connection:
            # It is connected as all others are, with their signs of life.
            assert connection.scalar(text(own)) == 1


@pytest.mark.parametrize("address", ["mysql://here/there", "nonsense", "postgresql://host:port/name"])
def test_an_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(InvalidSettings, match="WORKBENCH_DATABASE_URL"):
        PostgresDatabase(address)


def test_on_postgres_what_refuses_a_connection_is_said(postgres_url: str) -> None:
    wrong = PostgresDatabase(f"{postgres_url}-not")
    with closing(wrong), pytest.raises(EvaluationError, match="no such database"):
        EvaluationStore(wrong)
    away = PostgresDatabase("postgresql://me:secret@127.0.0.1:9/none")
    with closing(away), pytest.raises(EvaluationError, match="does not answer") as refused:
        EvaluationStore(away)
    assert "secret" not in str(refused.value)


def test_while_the_server_is_away_strangers_learn_nothing_of_it(
    own_server: postgres_server.Server, tmp_path: Path
) -> None:
    """By no door: API, event streams, chat programs and agents; whoever has a token that holds learns no more there."""
    url, port = own_server.url, str(own_server.port)
    chosen = {"openai_api": True, "mcp": "read", "database_url": SecretStr(url)}
    with engine_of(tmp_path, FakeResources(), **chosen) as engine, people_sign_in(engine) as doors:
        with acting_as(ADMIN):
            _, token = Team.of(engine).make_token("a program", "editor", 1)
        app = app_of(engine, sign_in=doors)
        with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
            own_server.stop(signal.SIGQUIT)
            for path in (
                "/api/runs",
                "/api/runs/r/events",
                "/api/health",
                "/api/metrics",
                "/v1/models",
                "/mcp",
                "/api/x",
            ):
                for text in ("wbt_made_up", token):
                    answer = client.get(path, headers={"authorization": f"Bearer {text}"})
                    assert answer.status_code == 503, (path, answer.text)
                    assert PeopleUnusable.caller_unchecked.code in answer.text
                    known = (port, "127.0.0.1", "postgres", urlsplit(url).path.strip("/"), "WORKBENCH_", "backup")
                    assert not [item for item in known if item and item in answer.text], answer.text
                assert client.get(path).status_code == 401
            assert client.get("/api/ready").status_code in (200, 503)
            with acting_as(ADMIN), pytest.raises(PeopleUnusable, match="does not answer") as said:
                Team.of(engine).tokens()
            assert "Start the PostgreSQL server" in said.value.remedy


def test_a_damaged_list_of_tokens_is_called_so_and_strangers_do_not_hear_it(tmp_path: Path) -> None:
    with engine_of(tmp_path, FakeResources()) as engine, people_sign_in(engine) as doors:
        (tmp_path / "people.db").write_bytes(b"no database" * 100)
        with TestClient(app_of(engine, sign_in=doors), base_url=ADDRESS) as client:
            answer = client.get("/api/runs", headers={"authorization": "Bearer wbt_made_up"})
        assert (answer.status_code, answer.json()["code"]) == (503, PeopleUnusable.caller_unchecked.code)
        assert "people.db" not in answer.text
        with acting_as(ADMIN), pytest.raises(PeopleUnusable, match="it is damaged"):
            Team.of(engine).tokens()
