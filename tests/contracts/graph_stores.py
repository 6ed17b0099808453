"""What the suites of the ``GraphStore`` contract share: one store under test, and the same place opened anew."""

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

STORES = ["sqlite"]


@dataclass(frozen=True, slots=True)
class GraphCase:
    """One store under test, a collection that nobody else uses, a loop to run calls on, and the same store anew."""

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


@pytest.fixture(params=STORES)
def graphs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphCase]:
    path = tmp_path / "graphs.db"
    with asyncio.Runner() as runner:
        store = SqliteGraphs(path)
        try:
            yield GraphCase(store, f"t_{uuid.uuid4().hex[:12]}", runner.run, lambda: SqliteGraphs(path))
        finally:
            runner.run(store.close())
