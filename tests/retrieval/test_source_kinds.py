"""What the quality-control loop finds of each kind of source: QL-03."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.errors import GraphStoreError, StoreError, WorkbenchError
from engine.model.config import RunConfig
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.source_kinds import SourceKinds
from engine.settings import Settings

CONFIG = RunConfig(workflow="quality_loop", max_rewrites=0)
QUESTION = "What does insulin do?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(Settings(data_dir=tmp_path_factory.mktemp("kinds"))) as opened:
        opened.wait_until_ready()
        yield opened


def test_graph_is_what_the_knowledge_graph_leads_to_and_not_notes_on_entities(engine: Engine) -> None:
    """QL-03, GH-03"""
    record = engine.run(QUESTION, CONFIG)
    assert record.manifest["graph_kind"] == "knowledge_graph"
    found = [item for item in record.rounds[0].candidates if "graph" in item.found_at]
    notes = {source.source for source in engine.sources("samples") if source.kind == "graph"}
    assert notes and len(found) >= 5
    assert not notes & {item.passage.source for item in found}


def test_the_shares_of_a_plain_question_reach_all_three_kinds(engine: Engine) -> None:
    """QL-03, QL-08"""
    record = engine.run("insulin", CONFIG)
    lists = {kind for item in record.rounds[0].candidates for kind in item.found_at}
    assert lists == {"vector", "graph", "temporal"}
    assert not [item for item in record.warnings if item.code in ("WB602", "WB603")]


def test_a_deeper_search_of_a_kind_begins_as_a_shallower_one_does(engine: Engine) -> None:
    """What-if cuts recorded lists, which must be what a search of that depth would have been."""

    async def both(kind: Any) -> tuple[list[str], list[str]]:
        kinds = await _kinds(engine, lambda: engine.resources.knowledge.graphs)
        near, far = await kinds.search_kind(QUESTION, kind, 3), await kinds.search_kind(QUESTION, kind, 9)
        return [item.id for item in near.passages], [item.id for item in far.passages]

    for kind in ("vector", "graph", "temporal"):
        near, far = engine._loop.call(both(kind))
        assert len(near) == 3 and far[:3] == near


def test_without_a_graph_the_notes_on_entities_are_searched(engine: Engine) -> None:
    """QL-03"""

    async def searched() -> tuple[dict[str, str], set[str]]:
        kinds = await _kinds(engine, None)
        found = await kinds.search_kind(QUESTION, "graph", 5)
        return await kinds.manifest(), {item.source for item in found.passages}

    manifest, sources = engine._loop.call(searched())
    notes = {source.source for source in engine.sources("samples") if source.kind == "graph"}
    assert manifest["graph_kind"] == "entity_notes"
    assert sources and sources <= notes


def test_a_graph_that_cannot_be_reached_is_said_and_not_passed_over(engine: Engine) -> None:
    """QL-03, SC-13: the notes are not searched in its place without a word."""
    gone = GraphStoreError.restored("The graph is gone.", "Start it.")

    class Gone:
        async def describe(self, collection: str) -> Any:
            raise gone

    class Hangs:
        async def describe(self, collection: str) -> Any:
            await asyncio.Event().wait()

    async def fault(store: Any) -> WorkbenchError:
        kinds = await _kinds(engine, lambda: store)
        assert "graph" in await kinds.kinds()
        try:
            await kinds.search_kind(QUESTION, "graph", 5)
        except (GraphStoreError, StoreError) as failure:
            return failure
        raise AssertionError("it was searched")

    assert engine._loop.call(fault(Gone())) is gone
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("engine.retrieval.source_kinds.GRAPH_S", 0.01)
        assert engine._loop.call(fault(Hangs())).code == StoreError.slow.code


def test_a_collection_of_its_own_files_is_warned_of_before_it_is_asked(engine: Engine, tmp_path: Path) -> None:
    """QL-08: the knowledge base alone ends at 0.42 of 0.50."""
    from engine.knowledge.items import IngestItem

    engine.ingest([IngestItem("notes.md", data=b"# Trees\n\nA tree is a connected graph without cycles.")], "own")
    config = RunConfig(workflow="quality_loop", collection="own")
    (warning,) = engine.warnings_before("What is a tree?", config)
    assert (warning.code, warning.params["score"]) == ("WB602", "0.42")
    assert engine.warnings_before("What is a tree?", RunConfig(workflow="quality_loop")) == ()
    assert engine.warnings_before("What is a tree?", RunConfig(collection="own")) == ()
    record = engine.run("What is a tree?", config)
    assert record.warnings[0].fact == warning.fact


async def _kinds(engine: Engine, graphs: Any) -> SourceKinds:
    retriever = await engine.resources.knowledge.retriever("samples")
    return SourceKinds(retriever, CONFIG, GraphLooks(), graphs)
