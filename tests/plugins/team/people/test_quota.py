"""A person may have and begin as many runs as the settings say, over all replicas: TM-09."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from engine.errors import TooManyRuns
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.concurrent_cases import RunsHere, UnderWay
from engine.model.config import RunConfig
from engine.model.events import RunStarted
from engine.model.people import Person
from engine.model.values import RunId
from engine.people.current_user import acting_as
from engine.records.store import RunStore
from engine.settings import Settings
from plugins.team.quota import Quota
from tests.api.served import ALL, calling, engine_of, relevant
from tests.support.errors import raises
from tests.support.fakes import FakeGrader
from tests.support.gates import Gate

ANNA, BEN = Person("anna@team.example", "Anna", "editor"), Person("ben@team.example", "Ben", "editor")
ONE = RunConfig(max_rewrites=0)


def test_as_many_runs_as_are_allowed_proceed_and_the_next_waits_for_an_end(tmp_path: Path) -> None:
    gate = Gate()
    slow = relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate))
    with engine_of(tmp_path, slow, runs_per_person=1) as engine:
        with acting_as(ANNA):
            run = engine.start("What is it?", ONE)
            gate.wait_until_reached()
            with raises(TooManyRuns.person_under_way, match="1 runs under way, as many as one person"):
                engine.start("What is it not?", ONE)
        with acting_as(BEN):
            assert engine.start("What is it?", ONE)
        gate.open()
        assert engine.wait(run, 60)
        with acting_as(ANNA):
            assert engine.run("What is it not?", ONE).outcome == "answered"
        for summary in engine.runs():
            assert engine.wait(summary.id, 60)


def test_without_sign_in_and_without_limits_nothing_is_limited(tmp_path: Path) -> None:
    with engine_of(tmp_path, runs_per_person=1, runs_per_person_hour=1) as engine:
        assert {engine.run(f"What is {number}?", ONE).outcome for number in range(3)} == {"answered"}
    with engine_of(tmp_path) as engine, acting_as(ANNA):
        assert {engine.run(f"What is {number}?", ONE).outcome for number in range(3)} == {"answered"}


def test_a_branch_counts_as_a_run(tmp_path: Path) -> None:
    with engine_of(tmp_path, runs_per_person_hour=2) as engine, acting_as(ANNA):
        run = engine.run("What is it?", ONE)
        assert engine.wait(engine.fork(run, ONE), 60)
        with raises(TooManyRuns.person_in_an_hour, match="within an hour"):
            engine.fork(run, ONE)


def test_over_http_it_is_said_when_there_is_room_again(tmp_path: Path) -> None:
    with calling(tmp_path, runs_per_person_hour=2) as (client, engine), acting_as(ANNA):
        for number in range(2):
            engine.run(f"What is {number}?", ONE)
        answer = client.post("/api/runs", json={"question": "What is it?"})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "3600")
        assert answer.json()["code"] == TooManyRuns.person_under_way.code
        assert "Ask again in 60 min" in answer.json()["remedy"]
        with acting_as(BEN):
            assert engine.run("What is it?", ONE).outcome == "answered"


def test_over_http_a_run_beyond_those_under_way_is_worth_another_try_after_a_second(tmp_path: Path) -> None:
    gate = Gate()
    slow = relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate))
    with calling(tmp_path, slow, runs_per_person=1) as (client, engine), acting_as(ANNA):
        run = engine.start("What is it?", ONE)
        gate.wait_until_reached()
        answer = client.post("/api/runs", json={"question": "What is it?"})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        gate.open()
        assert engine.wait(run, 60)


def test_a_batch_at_a_limit_asks_the_database_now_and_then(tmp_path: Path) -> None:
    """A limit within an hour is not waited for by asking twenty times a second."""
    tried: list[float] = []

    def start() -> str:
        tried.append(time.monotonic())
        if len(tried) < 3:
            raise TooManyRuns.person_under_way(limit=1)
        return "run"

    with engine_of(tmp_path) as engine:
        UnderWay(RunsHere(engine)).begin(start)
    assert tried[2] - tried[0] >= 2


def test_runs_of_more_than_an_hour_ago_count_no_more(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    with RunStore(tmp_path / "runs.db") as store, acting_as(ANNA):
        quota = Quota(Settings(runs_per_person_hour=2), store)
        for minutes in (70, 61, 20):
            begun = (now - timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
            run = RunId(f"run-{minutes}")
            event = RunStarted(run_id=run, question="?", config=ONE, started_at=begun, author=ANNA.author, seq=1)
            store.append(run, event)
        assert store.flush()
        with quota.room():
            store.append(RunId("new"), replace(event, run_id=RunId("new"), started_at=now.isoformat()))
        with raises(TooManyRuns.person_in_an_hour, match="Ask again in 40 min"), quota.room():
            raise AssertionError("there was room")


def test_on_postgres_runs_in_other_replicas_count(postgres_url: str, tmp_path: Path) -> None:
    url = SecretStr(postgres_url)
    with (
        engine_of(tmp_path / "a", relevant(), database_url=url, runs_per_person_hour=2) as here,
        engine_of(tmp_path / "b", relevant(), database_url=url, runs_per_person_hour=2) as there,
        acting_as(ANNA),
    ):
        here.run("What is it?", ONE)
        there.run("What is it?", ONE)
        assert here.flush() and there.flush()
        for engine in (here, there):
            with raises(TooManyRuns.person_in_an_hour, match="within an hour"):
                engine.start("What is it?", ONE)


def test_a_batch_waits_for_room_and_ends(tmp_path: Path) -> None:
    with engine_of(tmp_path, relevant(), runs_per_person=1) as engine, acting_as(ANNA):
        cases = tuple(Case(str(number), f"What is {number}?") for number in range(4))
        engine.evaluation.save_query_set(QuerySet("four", cases))
        batch = engine.batches.start("four", ONE, 4)
        assert engine.batches.wait(batch, 60)
        assert len(engine.evaluation.batch(batch).done) == 4
