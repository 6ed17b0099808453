"""What the suites of the ``GraphStore`` contract share: one store under test, and the same place opened again."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.roles.graph import GraphStore, PassageGraph
from plugins.neo4j.store import Neo4jGraphs

Neo4jSpaces = Callable[[str], Neo4jGraphs]
"""Makes the store of a space on the server of the tests; each space is empty to begin with."""


@dataclass(frozen=True, slots=True)
class GraphCase:
    """One store under test, a collection that no one else uses, a loop to run calls on, and the same store again."""

    store: GraphStore
    name: str
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    again: Callable[[], GraphStore]

    def built(self, *read: PassageGraph, name: str = "", extractor: str = "builtin") -> str:
        """An unfinished graph of these readings."""
        name = name or self.name
        self.run(self.store.begin(name, extractor))
        self.run(self.store.add(name, read))
        return name


@pytest.fixture(params=["sqlite", "neo4j"])
def graphs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphCase]:
    path, name = tmp_path / "graphs.db", f"t_{uuid.uuid4().hex[:12]}"

    def opened() -> GraphStore:
        return SqliteGraphs(path) if request.param == "sqlite" else request.getfixturevalue("neo4j_graphs")(name)

    with asyncio.Runner() as runner:
        store = opened()
        try:
            yield GraphCase(store, name, runner.run, opened)
        finally:
            for left in (name, f"{name}_new", f"{name}_other"):
                runner.run(store.drop(left))
            runner.run(store.close())
