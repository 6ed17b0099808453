"""A collection's knowledge graph follows what is done to the collection (GH-03)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.errors import GraphStoreError
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.knowledge.ingest import IngestItem
from engine.model.system import PartHealth
from engine.model.values import Entity
from engine.roles.graph import GraphInfo, PassageGraph, ReadEntity, text_hash
from engine.settings import Settings
from tests.support.errors import raises
from tests.system.hosting import NOWHERE, hosting

NOTES = [
    IngestItem("pain.md", data=b"# Pain\n\nAspirin treats pain.\n"),
    IngestItem("fever.md", data=b"# Fever\n\nAspirin lowers fever.\n"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("keeping")
    with Engine.open(Settings.load(data_dir=folder, ollama_url=NOWHERE, embedding_model="hashing")) as engine:
        yield engine


@pytest.fixture
def engine(shared: Engine) -> Iterator[Engine]:
    """With a collection ``notes``, each passage of which speaks of Aspirin and of its own source."""
    shared.ingest(NOTES, "notes")
    graphs, passages = shared.resources.knowledge.graphs, []
    for item in NOTES:
        passages += shared.passages("notes", item.name)
    shared._loop.call(graphs.begin("notes", "builtin"))
    shared._loop.call(
        graphs.add(
            "notes",
            [
                PassageGraph(item.id, text_hash(item.text), (ReadEntity("Aspirin"), ReadEntity(item.source)))
                for item in passages
            ],
        )
    )
    yield shared
    for left in ("notes", "diary"):
        if left in [info.name for info in shared.collections()]:
            shared.library.drop(left)


def graph(engine: Engine, collection: str) -> GraphInfo | None:
    return engine._loop.call(engine.resources.knowledge.graphs.describe(collection))


def entities(engine: Engine, collection: str) -> list[Entity]:
    return engine._loop.call(engine.resources.knowledge.graphs.most_central(collection, 9))


def test_a_deleted_source_is_forgotten_whatever_name_the_collection_is_called_by(engine: Engine) -> None:
    engine.library.set_alias("diary", "notes")
    assert engine.delete_source("diary", "fever.md") == 1
    found = {item.id: item.passages for item in entities(engine, "notes")}
    assert found.keys() == {"aspirin", "pain.md"}
    assert found["aspirin"] == found["pain.md"]


def test_a_renamed_collection_takes_its_graph_along(engine: Engine) -> None:
    before = entities(engine, "notes")
    engine.library.rename("notes", "diary")
    assert graph(engine, "notes") is None
    assert entities(engine, "diary") == before


def test_with_a_deleted_collection_its_graph_goes(engine: Engine) -> None:
    engine.library.drop("notes")
    assert graph(engine, "notes") is None
    engine.library.create("notes", "hashing")
    assert graph(engine, "notes") is None


def test_nothing_is_changed_while_the_graph_store_cannot_be_used(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph that stayed behind would give its entities to the next collection of that name."""
    (tmp_path / "file").touch()
    with monkeypatch.context() as patched:
        patched.setattr(engine.resources.knowledge, "_graphs", SqliteGraphs(tmp_path / "file" / "graphs.db"))
        for change in (
            lambda: engine.delete_source("notes", "pain.md"),
            lambda: engine.library.rename("notes", "diary"),
            lambda: engine.library.drop("notes"),
        ):
            with raises(GraphStoreError.file_unusable, match="cannot be used"):
                change()
    assert [item.source for item in engine.sources("notes")] == ["fever.md", "pain.md"]
    assert {item.id for item in entities(engine, "notes")} == {"aspirin", "pain.md", "fever.md"}


def looked_at(folder: Path, **settings: Any) -> PartHealth:
    with hosting(folder, **settings) as host:
        (found,) = [item for item in host.health() if item.part == "graphs"]
    return found


def test_a_look_at_the_health_of_graphs_makes_no_file(tmp_path: Path) -> None:
    found = looked_at(tmp_path)
    assert (found.health, found.detail["kind"], found.detail["graphs"]) == ("ok", "graph_file", "0")
    assert not (tmp_path / "graphs.db").exists()


def test_a_damaged_file_of_graphs_is_down_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "graphs.db").write_bytes(b"no database at all" * 100)
    found = looked_at(tmp_path)
    assert found.health == "down" and found.fault is not None
    assert found.fault.code == "WB235" and "backup" in found.fault.remedy
