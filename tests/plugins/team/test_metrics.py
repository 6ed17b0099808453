"""Figures for Prometheus: off by default, of this process alone, and readable by Prometheus' own parser: TM-07."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from starlette.testclient import TestClient

from engine.engine import Engine
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.settings import Settings
from engine.version import ROOT
from tests.api.served import ADDRESS, ALL, app_of, calling, relevant
from tests.api.test_openapi import routes_in, routes_of
from tests.plugins.team import PATHS
from tests.support import postgres_server
from tests.support.fakes import FakeGrader
from tests.support.gates import Gate

PATH = "/api/metrics"
Figures = dict[tuple[str, ...], float]


def figures(client: TestClient) -> Figures:
    """Values by name and values of the labels, in the order of the labels' names."""
    answer = client.get(PATH)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


@contextmanager
def opened(folder: Path, **settings: object) -> Iterator[tuple[TestClient, Engine]]:
    """A whole engine, whose health is that of real parts."""
    chosen = {"ollama_url": "http://127.0.0.1:9", "metrics": True, "embedding_model": "hashing", **settings}
    with Engine.open(Settings.load(data_dir=folder, **chosen)) as engine:
        engine.wait_until_ready()
        yield TestClient(app_of(engine), base_url=ADDRESS), engine


def test_they_are_off_by_default(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, _):
        assert client.get(PATH).status_code == 404


def test_two_runs_are_counted_with_their_calls_and_seconds(tmp_path: Path) -> None:
    with calling(tmp_path, relevant(), metrics=True) as (client, engine):
        before = figures(client)
        assert before["workbench_runs_active",] == 0
        engine.run("What is it?", RunConfig(max_rewrites=0))
        engine.run("What is it not?", RunConfig(max_rewrites=0))
        now = figures(client)
        assert now["workbench_runs_total", "answered", "self_corrective"] == 2
        assert now["workbench_run_seconds_count", "self_corrective"] == 2
        took = sum(run.duration_ms for run in engine.runs()) / 1000
        assert now["workbench_run_seconds_sum", "self_corrective"] == pytest.approx(took)
        records = [engine.record(run.id) for run in engine.runs()]
        calls = [call for record in records for call in record.model_calls]
        assert now["workbench_model_calls_total", "fake", "ok", "generator"] == 2
        assert sum(value for name, value in now.items() if name[0] == "workbench_model_calls_total") == len(calls)
        seconds = sum(value for name, value in now.items() if name[0] == "workbench_model_call_seconds_total")
        assert seconds == pytest.approx(sum(call.duration_ms for call in calls) / 1000)
        assert now["process_start_time_seconds",] > 0


def test_outcomes_are_distinguished_and_built_in_roles_are_no_model_calls(tmp_path: Path) -> None:
    with opened(tmp_path) as (client, engine):
        engine.run("How many rows does a truth table with five variables need?")
        engine.run("Why is it?", RunConfig(collection="absent"))
        now = figures(client)
        assert now["workbench_runs_total", "answered", "self_corrective"] == 1
        assert now["workbench_runs_total", "failed", "self_corrective"] == 1
        assert not [name for name in now if name[0] == "workbench_model_calls_total"]
        assert now["workbench_part_up", "", "knowledge"] == now["workbench_part_up", "", "records"] == 1
        job = engine.ingestions.start([IngestItem("tea.md", data=b"# Tea\n\nGreen tea.")], "drinks")
        engine.ingestions.wait(job, 60)
        assert figures(client)["workbench_jobs", "done"] == 1
        assert figures(client)["workbench_jobs", "failed"] == 0


def test_a_run_in_progress_is_seen(tmp_path: Path) -> None:
    gate = Gate()
    with calling(tmp_path, relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate)), metrics=True) as (
        client,
        engine,
    ):
        run = engine.start("What is it?", RunConfig(max_rewrites=0))
        gate.wait_until_reached()
        assert figures(client)["workbench_runs_active",] == 1
        gate.open()
        assert engine.wait(run, 60)
        assert figures(client)["workbench_runs_active",] == 0


def test_on_postgres_each_replica_counts_its_own_runs(postgres_url: str, tmp_path: Path) -> None:
    url = SecretStr(postgres_url)
    with (
        calling(tmp_path / "a", relevant(), metrics=True, database_url=url) as (here, engine),
        calling(tmp_path / "b", relevant(), metrics=True, database_url=url) as (there, other),
    ):
        run = engine.run("What is it?", RunConfig(max_rewrites=0))
        assert engine.flush()
        assert other.record(run.id).outcome == "answered"
        other.run("What is it not?", RunConfig(max_rewrites=0))
        for client in (here, there):
            assert figures(client)["workbench_runs_total", "answered", "self_corrective"] == 1


def test_on_postgres_a_server_that_is_away_shows_in_figures_and_health(
    postgres_server_here: postgres_server.Server, tmp_path: Path
) -> None:
    if postgres_server.programs() is None:
        pytest.skip("the server named by the environment cannot be stopped")
    with (
        postgres_server.running(own=True) as server,
        server.database() as url,
        opened(tmp_path, database_url=url) as (client, _),
    ):
        assert figures(client)["workbench_part_up", "", "records"] == 1
        server.stop(signal.SIGQUIT)
        assert figures(client)["workbench_part_up", "", "records"] == 0
        assert figures(client)["workbench_part_up", "", "knowledge"] == 1
        parts = {item["part"]: item for item in client.get("/api/host/health").json()["parts"]}
        assert parts["records"]["health"] == "down"
        assert "PostgreSQL server does not answer" in parts["records"]["fault"]["fact"]
        server.start()
        assert figures(client)["workbench_part_up", "", "records"] == 1


def test_the_page_of_the_documentation_names_the_route() -> None:
    assert routes_of(PATHS) <= routes_in(ROOT / "docs" / "team.md")
