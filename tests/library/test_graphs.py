"""Knowledge graphs through the facade: built as jobs, looked at, deleted; a collection that changed is said. GH-03"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import InvalidConfig, JobError, UnknownCollection, UnknownEntity
from engine.knowledge.ingest import IngestItem
from engine.library.values import JobStatus
from engine.model.values import PassageId
from tests.api.served import engine_of, relevant
from tests.support.errors import raises
from tests.support.gates import PATIENCE_S, Gate
from tests.support.graph_knowledge import GraphCollections

TEXTS = {
    "a": "Metformin treats diabetes. Insulin (INS) lowers glucose.",
    "b": "Frederick Banting discovered insulin in Toronto.",
    "c": "Glucose feeds muscle.",
}


@pytest.fixture
def farm(tmp_path: Path) -> GraphCollections:
    return GraphCollections(folder=tmp_path, texts=dict(TEXTS))


@pytest.fixture
def engine(tmp_path: Path, farm: GraphCollections) -> Iterator[Engine]:
    with engine_of(tmp_path, relevant(knowledge=farm)) as opened:
        yield opened


def built(engine: Engine, collection: str = "alias") -> JobStatus:
    status = engine.ingestions.wait(engine.graphs.build(collection), PATIENCE_S)
    assert status.state == "done", status.fault
    return status


def test_a_graph_is_built_as_a_job_that_says_what_it_found(engine: Engine) -> None:
    """GH-03"""
    assert engine.graphs.describe("farm") is None
    assert engine.graphs.entities("farm") == () == engine.graphs.communities("farm")
    status = built(engine)
    assert (status.kind, status.collection, status.extractor) == ("graph", "farm", "builtin")
    assert (status.done, status.total, status.passages, status.unreadable) == (3, 3, 3, 0)
    state = engine.graphs.describe("alias")
    assert state is not None and state.job is None and not state.stale and state.unread == 0
    counts = (state.info.entities, state.info.relationships, state.info.communities)
    assert counts == (status.entities, status.relationships, status.communities)
    assert min(counts) > 0
    assert list(engine.graphs.all()) == ["farm"]
    assert [job.id for job in engine.ingestions.jobs()] == [status.id]


def test_a_collection_that_changed_makes_its_graph_stale_until_it_is_built_again(
    engine: Engine, farm: GraphCollections
) -> None:
    """GH-03"""
    built(engine)
    farm.texts["d"] = "Aspirin treats pain."
    state = engine.graphs.describe("farm")
    assert state is not None and state.stale and state.unread == 1
    farm.asked.clear()
    built(engine)
    state = engine.graphs.describe("farm")
    assert state is not None and not state.stale
    assert [item.name for item in engine.graphs.entities("farm", query="aspi")] == ["Aspirin"]


def test_entities_are_found_by_beginnings_first_and_by_other_names(engine: Engine) -> None:
    """GH-03"""
    built(engine)
    assert [item.id for item in engine.graphs.entities("farm", query=" INS ")][:1] == ["insulin"]
    assert engine.graphs.entities("farm", query="nothing of the kind") == ()
    most = engine.graphs.entities("farm", 2)
    assert len(most) == 2 and most[0].degree >= most[1].degree
    assert [item.id for item in engine.graphs.entity("farm", ["glucose", "gone", "insulin"])] == ["glucose", "insulin"]


def test_a_neighbourhood_is_asked_for_by_any_name_and_leads_to_passages(engine: Engine) -> None:
    """GH-03"""
    built(engine)
    found = engine.graphs.neighbourhood("farm", ["INS"], 1)
    assert found.hops["insulin"] == 0 and found.hops["glucose"] == 1
    (tie,) = [item for item in found.relationships if item.type == "LOWERS"]
    assert (tie.source, tie.target) == ("insulin", "glucose")
    assert [item.text for item in engine.graphs.passages("farm", tie.passages)] == [TEXTS["a"]]
    assert engine.graphs.passages("farm", [PassageId("gone")]) == []
    assert set(engine.graphs.overview("farm", 2).hops.values()) == {0}
    with raises(UnknownEntity, match="unicorn"):
        engine.graphs.neighbourhood("farm", ["unicorn"])


def test_what_cannot_be_built_is_said_before_anything_begins(engine: Engine, farm: GraphCollections) -> None:
    built(engine)
    with raises(JobError.graph_replaced, match=r"read by builtin; building with ollama:m"):
        engine.graphs.build("farm", "ollama:m")
    with raises(JobError.graph_replaced):
        engine.ingestions.start([IngestItem("x.md", data=b"x")], "farm", graph="ollama:m")
    with pytest.raises(InvalidConfig):
        engine.graphs.build("farm", "no model")
    with pytest.raises(UnknownCollection):
        engine.graphs.build("nowhere")
    farm.texts.clear()
    with raises(JobError.nothing_to_read):
        engine.graphs.build("farm")
    assert len(engine.ingestions.jobs()) == 1


def test_another_extractor_replaces_a_graph_when_asked_and_its_failure_is_said(engine: Engine) -> None:
    """GH-03: a server that is not there fails the job, which can be resumed."""
    built(engine)
    status = engine.ingestions.wait(engine.graphs.build("farm", "nobody:model", replace=True), PATIENCE_S)
    assert status.state == "failed" and status.resumable
    assert status.fault is not None and status.fault.remedy
    state = engine.graphs.describe("farm")
    assert state is not None and state.job == status and not state.info.finished


def test_a_graph_at_work_is_neither_built_twice_nor_deleted_and_can_be_stopped(
    engine: Engine, farm: GraphCollections
) -> None:
    """GH-03: progress, stop and resume."""
    gate = Gate()
    farm.gate = lambda: gate
    ingesting = engine.ingestions.start([IngestItem("d.md", data=b"Aspirin treats pain.")], "farm")
    job_id = engine.graphs.build("farm")  # waits behind the ingestion
    with raises(JobError.graph_busy):
        engine.graphs.build("alias")
    with raises(JobError.graph_busy):
        engine.graphs.delete("farm")
    state = engine.graphs.describe("farm")
    assert state is not None and state.job is not None and state.job.state == "waiting"
    assert (state.info.extractor, state.info.passages) == ("builtin", 0)
    assert engine.ingestions.stop(job_id).state == "stopped"
    assert engine.ingestions.resume(job_id).state == "waiting"
    gate.wait_until_reached()
    gate.open()
    assert engine.ingestions.wait(ingesting, PATIENCE_S).state == "done"
    assert engine.ingestions.wait(job_id, PATIENCE_S).total == 4


def test_an_ingestion_is_followed_by_the_graph_that_was_asked_for(engine: Engine, farm: GraphCollections) -> None:
    """GH-03: built at ingestion, as a job of its own once the passages are in."""
    item = IngestItem("d.md", data=b"Aspirin treats pain.")
    status = engine.ingestions.wait(engine.ingestions.start([item], "farm", graph="builtin"), PATIENCE_S)
    assert (status.state, bool(status.follow_up)) == ("done", True)
    graph = engine.ingestions.wait(status.follow_up, PATIENCE_S)
    assert (graph.kind, graph.state, graph.passages) == ("graph", "done", 4)
    plain = engine.ingestions.wait(engine.ingestions.start([item], "farm"), PATIENCE_S)
    assert plain.follow_up == ""


def test_deleting_a_graph_leaves_the_passages_and_no_job_that_could_continue(engine: Engine) -> None:
    """GH-03"""
    built(engine)
    failed = engine.ingestions.wait(engine.graphs.build("farm", "nobody:model", replace=True), PATIENCE_S)
    assert failed.state == "failed"
    assert engine.graphs.delete("alias") is True
    assert engine.graphs.describe("farm") is None
    assert engine.graphs.delete("farm") is False
    assert engine.describe("farm").passages == 3
