"""A Neo4j server keeps the contract of ``GraphStore``, and the same graph as the file (GH-03)."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.roles.graph import PassageGraph
from plugins.neo4j.store import Neo4jGraphs
from tests.contracts.graph_stores import GraphCase, case_of
from tests.contracts.test_graph_store import *  # noqa: F403
from tests.knowledge.graph.test_readings import ON_A_BUSY_MACHINE, STEPS, taken


@pytest.fixture  # type: ignore[no-redef]
def graphs(neo4j_graphs: Callable[[str], Neo4jGraphs]) -> Iterator[GraphCase]:
    yield from case_of(neo4j_graphs)


@settings(max_examples=5, suppress_health_check=ON_A_BUSY_MACHINE, deadline=None)
@given(STEPS)
def test_a_neo4j_has_the_same_graph_as_the_file(
    tmp_path: Path, neo4j_graphs: Callable[[str], Neo4jGraphs], steps: list[PassageGraph | str]
) -> None:
    async def compare() -> None:
        file, server = SqliteGraphs(tmp_path / "graphs.db"), neo4j_graphs(f"t_{uuid.uuid4().hex}")
        try:
            assert await taken(server, "docs", steps) == await taken(file, "docs", steps)
        finally:
            await file.close()
            await server.close()

    asyncio.run(compare())
