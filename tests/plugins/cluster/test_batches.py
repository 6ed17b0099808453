"""Batches, judging again and ingestion on a real Ray, PostgreSQL and Milvus: the same as by one process."""

from __future__ import annotations

import os
import signal
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from engine.builtin.embedder import HashingEmbedder
from engine.engine import Engine
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import QuerySet, sample_set
from engine.evaluation.measures import MEASURES
from engine.evaluation.noise import judged_passages
from engine.knowledge import ingest
from engine.knowledge.items import IngestItem
from engine.model.config import RunConfig
from engine.settings import Settings
from plugins.cluster import plugin
from tests.support import postgres_server, ray_cluster
from tests.support.gates import until

CASES = sample_set().cases[:10]
CONFIG = RunConfig(grade_probe=True)
TIMES = len(CASES) // 2
PATIENCE_S = 180.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[ray_cluster.Cluster]:
    """One node with room for two workers: what a node more changes, ``test_deaths`` shows."""
    reason = ray_cluster.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with ray_cluster.running(processors=2) as running:
        yield running


@pytest.fixture(scope="module")
def _engine(
    tmp_path_factory: pytest.TempPathFactory,
    milvus_here: str,
    postgres_server_here: postgres_server.Server,
    cluster: ray_cluster.Cluster,
) -> Iterator[Engine]:
    with postgres_server_here.database() as url:
        settings = Settings(
            data_dir=tmp_path_factory.mktemp("data"),
            milvus_uri=milvus_here,
            milvus_database="cluster",
            database_url=SecretStr(url),
            ray_address=cluster.address,
            ray_workers=2,
        )
        with Engine(settings) as opened:
            opened.wait_until_ready()
            opened.evaluation.save_query_set(QuerySet("some", CASES))
            yield opened


@pytest.fixture
def engine(_engine: Engine, cluster: ray_cluster.Cluster, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """One for all tests, for which so many questions are worth a cluster."""
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(plugin, "WORTH_A_CLUSTER", len(CASES))
    return _engine


def workers_of(cluster: ray_cluster.Cluster) -> list[int]:
    return [pid for node in cluster.nodes for pid in node.children("ray::Worker")]


def figures(engine: Engine, batch: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Every measure question by question, without the times."""
    evaluation = evaluate(engine.batches.evidence(batch), [CONFIG])
    assert evaluation.failed == ()
    kept = [name for name in MEASURES if name != "seconds"]
    return {name: (evaluation.measures[name].total, evaluation.measures[name].weight) for name in kept}


def test_on_a_server_a_batch_on_a_cluster_has_the_figures_of_one_process_though_a_worker_is_killed(
    engine: Engine, cluster: ray_cluster.Cluster
) -> None:
    here = engine.batches.start("some", CONFIG, 2, [case.id for case in CASES[:-1]])
    assert engine.batches.wait(here, PATIENCE_S)
    assert engine.batches.progress(here).workers is None, "small batches never start Ray"
    assert workers_of(cluster) == []

    there = engine.batches.start("some", CONFIG, 2)
    until(lambda: engine.batches.progress(there).done >= 3)
    assert engine.batches.progress(there).workers
    os.kill(workers_of(cluster)[0], signal.SIGKILL)
    assert engine.batches.wait(there, PATIENCE_S)

    progress = engine.batches.progress(there)
    assert (progress.done, progress.failed, progress.fault) == (len(CASES), 0, None)
    batch = engine.evaluation.batch(there)
    assert batch.done == {case.id for case in CASES} and len(set(batch.runs.values())) == len(CASES)
    questions = Counter(run.question for run in engine.runs(500) if run.outcome not in ("interrupted", None))
    expected = Counter(case.question for case in (*CASES, *CASES[:-1]))
    assert questions == expected, "a question that two workers ran counts once"
    by_workers = figures(engine, there)
    for name, (total, weight) in figures(engine, here).items():
        np.testing.assert_allclose(by_workers[name][0][:-1], total, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(by_workers[name][1][:-1], weight, atol=1e-6, err_msg=name)


def test_on_a_server_many_passages_are_judged_again_by_workers(engine: Engine) -> None:
    records = [engine.run(case.question, CONFIG) for case in CASES[:2]]
    engine.flush()
    progress: list[int] = []
    regraded = engine.start_regrade(records, TIMES, progress.append).result(PATIENCE_S)
    assert regraded.fault is None and progress == list(range(1, len(records) * TIMES + 1))
    for record in records:
        judged = {name: verdict for current in record.rounds for name, verdict in current.verdicts.items()}
        again = regraded.verdicts[record.id]
        assert set(again) == {passage.id for passage in judged_passages(record)} and again
        # The built-in grader says the same each time.
        assert all(found == [judged[name]] * TIMES for name, found in again.items())


def test_on_a_server_many_files_are_read_and_embedded_by_workers(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"note-{place:02}.md" for place in range(len(CASES))]
    for place, name in enumerate(names):
        text = "\n\n".join(f"## Part {part}\n\n{CASES[place].question} It is part {part} of it." for part in range(17))
        (tmp_path / name).write_text(f"# Note {place}\n\n{text}\n", encoding="utf-8")
    items = [IngestItem(name, tmp_path / name) for name in names]
    by_one = f"one_{uuid.uuid4().hex[:8]}"
    monkeypatch.setattr(plugin, "WORTH_A_CLUSTER", 10_000)
    here = engine.ingest(items, by_one, embedding_model="hashing")

    monkeypatch.setattr(plugin, "WORTH_A_CLUSTER", len(CASES))
    by_many = f"many_{uuid.uuid4().hex[:8]}"
    with monkeypatch.context() as nothing_here:
        nothing_here.setattr(ingest, "cut", _refuse)
        loads = HashingEmbedder.embed_passages
        nothing_here.setattr(
            HashingEmbedder, "embed_passages", lambda own, texts: _refuse() if texts else loads(own, texts)
        )
        job = engine.ingestions.start(items, by_many, embedding_model="hashing")
        status = engine.ingestions.wait(job, PATIENCE_S)
    assert (status.state, status.fault) == ("done", None)
    assert status.passages == here.passages and status.added == here.added
    for name in names:
        mine, theirs = engine.passages(by_one, name), engine.passages(by_many, name)
        assert [item.text for item in mine] == [item.text for item in theirs]
    question = CASES[7].question
    first, second = (
        engine.run(question, RunConfig(collection=name, max_rewrites=0)).rounds[0].candidates
        for name in (by_one, by_many)
    )
    assert [(item.passage.text, round(item.passage.similarity, 4)) for item in first] == [
        (item.passage.text, round(item.passage.similarity, 4)) for item in second
    ]
    for name in (by_one, by_many):
        engine.library.drop(name)


def _refuse(*_: object) -> None:
    raise AssertionError("a worker does that")
