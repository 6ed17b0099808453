"""A batch of a team whose parts are killed in turn, judged by the same questions run by one process.

Two replicas of the app, PostgreSQL, a Milvus server and a Ray of three nodes on this machine. The batch is begun on the
page Tune of one replica. Killed are a worker of Ray, that replica and the database, which is started again (TM-03,
TM-15).
"""

from __future__ import annotations

import base64
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from engine.engine import Engine
from engine.errors import EvaluationError
from engine.evaluation.bars import MEASURE_NAMES, measure_of, values_of
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.store import EvaluationStore
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.running.running_app import RunningApp
from engine.settings import Settings
from plugins.team.postgres import PostgresDatabase
from tests.benchmarks.harness import Bench, Row, table
from tests.benchmarks.wordings import questions
from tests.browser.chromium import launched
from tests.browser.server import App, started_app
from tests.support import milvus_server, postgres_server, ray_cluster

SET = "judged"
NODES = 3
_LOOK_S = 0.1
_GATHERED_S = 2_400.0
_PATIENCE_MS = 120_000
_NOT_FINISHED = ("cancelled", "interrupted", None)
_NO_MODELS = "http://127.0.0.1:1"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Killed:
    """What was killed, and when."""

    what: str
    share: float
    """Of the questions that had ended when it was due."""
    kill: Callable[[], object]


@dataclass(slots=True)
class Outcome:
    """What came of the batch."""

    config: RunConfig
    records: dict[str, RunRecord]
    """By case, as the API of the replica that is left gives them."""
    seconds: float
    rows: list[Row] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def team(bench: Bench) -> Iterator[Row]:
    """Every question once, with the figures of one process; raises ``AssertionError`` with what is not so."""
    for missing in (milvus_server.missing(), postgres_server.missing(), ray_cluster.missing()):
        if missing:
            print(f"left out: {missing}")
            return
    cases = questions(bench.sizes.asked)
    with milvus_server.running(bench.folder) as milvus:
        by_team = _by_a_team(bench.folder, milvus, cases)
        began = time.monotonic()
        records = _by_one_process(bench.folder / "alone", milvus, cases, by_team.config)
        by_team.rows.append(Row("one process: the same questions", "s", (time.monotonic() - began,)))
    _compare(by_team, cases, records)
    by_team.rows.append(Row("what is wrong", "", (float(len(by_team.wrong)),), "0"))
    if by_team.wrong:
        print(table(by_team.rows))
        raise AssertionError("\n".join(by_team.wrong))
    yield from by_team.rows


# -- by a team --------------------------------------------------------------------------------------------------------


def _by_a_team(folder: Path, milvus: str, cases: Sequence[Case]) -> Outcome:
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server.running(own=True))
        url = stack.enter_context(server.database())
        cluster = stack.enter_context(ray_cluster.running(nodes=NODES - 1))
        env = {
            **cluster.environment,
            "WORKBENCH_DATABASE_URL": url,
            "WORKBENCH_MILVUS_URI": milvus,
            "WORKBENCH_RAY_ADDRESS": cluster.address,
            "WORKBENCH_OLLAMA_URL": _NO_MODELS,
            "WORKBENCH_SECRET_KEY": base64.b64encode(os.urandom(32)).decode(),
        }
        replicas = [stack.enter_context(started_app(folder / name, env)) for name in ("one", "two")]
        for app in replicas:
            app.wait_until_served()
            app.wait_until_ready()
        database = PostgresDatabase(url)
        stack.callback(database.close)
        store = EvaluationStore(database)
        store.save_query_set(QuerySet(SET, tuple(cases)))

        def restart() -> None:
            server.kill()
            server.start()

        kills = (
            Killed("a worker of Ray", 0.2, lambda: os.kill(_workers(cluster)[0], signal.SIGKILL)),
            Killed("the replica that drives the batch", 0.4, replicas[0].process.kill),
            Killed("PostgreSQL, and started again", 0.7, restart),
        )
        began = time.monotonic()
        _begin_on_the_page(replicas[0])
        batch = _patiently(lambda: store.batches(SET))[0]
        killed_at = _kill_in_turn(store, batch.id, kills, began)
        batch = store.batch(batch.id)
        outcome = Outcome(batch.config, {}, time.monotonic() - began)
        outcome.rows.append(
            Row(f"a team: {len(cases)} questions", "s", (outcome.seconds,), "", f"{NODES} workers of Ray")
        )
        outcome.rows += _gaps(killed_at, sorted(map(datetime.fromisoformat, batch.ended_at.values())))
        _count(outcome, url, batch.id, cases)
        api = RunningApp(replicas[1].url)
        outcome.records = {case_id: api.finished(run_id) for case_id, run_id in batch.runs.items()}
        return outcome


def _workers(cluster: ray_cluster.Cluster) -> list[int]:
    return [pid for node in cluster.nodes for pid in node.children("ray::Worker")]


def _begin_on_the_page(app: App) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(viewport={"width": 1400, "height": 1000}, locale="en-US")
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(f"{app.url}/tune?lang=en&query_set={SET}")
        page.locator(".st-key-tune_start button").click()
        page.locator(".st-key-tune_running").wait_for()
        browser.close()


def _patiently(work: Callable[[], T]) -> T:
    """What work gives as soon as it gives anything; a database that is away is waited for."""
    pause, deadline = threading.Event(), time.monotonic() + _GATHERED_S
    while time.monotonic() < deadline:
        try:
            if found := work():
                return found
        except EvaluationError:
            pass
        pause.wait(_LOOK_S)
    raise TimeoutError("the batch came to no end")


def _kill_in_turn(
    store: EvaluationStore, batch_id: str, kills: Sequence[Killed], began: float
) -> list[tuple[str, float, datetime]]:
    """What was killed, after how many seconds, and when; returns once every question has ended."""
    found = []
    total = store.batch(batch_id).total
    for killed in kills:
        due = killed.share * total
        _patiently(lambda: len(store.batch(batch_id).ended_at) >= due)  # noqa: B023
        found.append((killed.what, time.monotonic() - began, datetime.now().astimezone()))
        killed.kill()
    _patiently(lambda: store.batch(batch_id).finished)
    return found


def _gaps(killed: Sequence[tuple[str, float, datetime]], ended: Sequence[datetime]) -> Iterator[Row]:
    """After each kill, the longest time in which no question ended."""
    ends = [*(at for _, _, at in killed[1:]), ended[-1]]
    for (what, after_s, at), until in zip(killed, ends, strict=True):
        times = [at, *(moment for moment in ended if at < moment <= until)]
        longest = max((later - former for former, later in pairwise(times)), default=until - at).total_seconds()
        done = sum(moment <= at for moment in ended)
        note = f"after {done} questions; then none ended for {longest:.1f} s"
        yield Row(f"killed: {what}", "s", (after_s,), "", note)


def _count(found: Outcome, url: str, batch_id: str, cases: Sequence[Case]) -> None:
    """What the rows of the database say of every question."""
    import psycopg

    asked = {case.question for case in cases}
    with psycopg.connect(url) as connection:
        of_batch = connection.execute(
            "SELECT case_id, run_id, ended, fault FROM batch_cases WHERE batch_id = %s", (batch_id,)
        ).fetchall()
        runs = connection.execute("SELECT id, question, outcome FROM runs").fetchall()
    ended = [row for row in of_batch if row[2] == 1 and row[3] is None]
    finished = [(run_id, question) for run_id, question, outcome in runs if outcome not in _NOT_FINISHED]
    begun_again = len(runs) - len(finished)
    answered = {question for _, question in finished}
    found.rows += [
        Row("questions that ended well, by rows of the batch", "", (float(len(ended)),), str(len(cases))),
        Row("runs that they name", "", (float(len({row[1] for row in ended})),), str(len(cases))),
        Row("finished runs in the database", "", (float(len(finished)),), str(len(cases))),
        Row("questions that have a finished run", "", (float(len(answered)),), str(len(cases))),
        Row("runs that were interrupted, and their questions run again", "", (float(begun_again),)),
    ]
    checks = {
        "the batch has other questions than it was given": {row[0] for row in of_batch} != {case.id for case in cases},
        "not every question ended well": len(ended) != len(cases),
        "a run stands for two questions": len({row[1] for row in ended}) != len(cases),
        "a run was finished that the batch does not name": {run_id for run_id, _ in finished}
        != {row[1] for row in ended},
        "a question has no finished run, or two": sorted(question for _, question in finished) != sorted(asked),
    }
    found.wrong += [said for said, is_so in checks.items() if is_so]


# -- by one process ---------------------------------------------------------------------------------------------------


def _by_one_process(folder: Path, milvus: str, cases: Sequence[Case], config: RunConfig) -> dict[str, RunRecord]:
    """The same questions with an SQLite file, by threads of this process."""
    with Engine(Settings(data_dir=folder, milvus_uri=milvus, ollama_url=_NO_MODELS)) as engine:
        engine.wait_until_ready()
        engine.evaluation.save_query_set(QuerySet(SET, tuple(cases)))
        batch = engine.batches.start(SET, config, 2)
        if not engine.batches.wait(batch, _GATHERED_S):
            raise TimeoutError("one process did not come to an end")
        return {case.id: record for case, record in engine.batches.results(batch)}


def _compare(outcome: Outcome, cases: Sequence[Case], records: Mapping[str, RunRecord]) -> None:
    """Every figure of both, and every question by itself."""
    measures = [measure_of(name) for name in MEASURE_NAMES if name != "seconds"]
    ours, alone = (values_of(measures, cases, found) for found in (outcome.records, records))
    for measure in measures:
        both = (ours[measure].value, alone[measure].value)
        known = tuple(value for value in both if value is not None)
        if known:
            of = f"of {ours[measure].figure.n} questions"
            outcome.rows.append(Row(f"{measure}, by both", "", known, "the same", of))
        if ours[measure] != alone[measure]:
            outcome.wrong.append(f"{measure}: {ours[measure]} by the team, {alone[measure]} by one process")
    other = [case.id for case in cases if _course_of(outcome.records[case.id]) != _course_of(records[case.id])]
    outcome.rows.append(Row("questions with another course or answer", "", (float(len(other)),), "0"))
    if other:
        outcome.wrong.append(f"another course or answer: {', '.join(other[:10])}")


def _course_of(record: RunRecord) -> tuple[Any, ...]:
    """What a run says, without ids and times."""
    rounds = tuple(
        (one.query, tuple(item.passage.id for item in one.candidates), tuple(sorted(one.verdicts.items())))
        for one in record.rounds
    )
    return record.question, record.outcome, record.answer, rounds
