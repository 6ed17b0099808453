"""What the suites of the ``GraphStore`` contract share: one store under test, and the same place opened again."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from engine.roles.graph import GraphStore, PassageGraph


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


def case_of(space: Callable[[str], GraphStore]) -> Iterator[GraphCase]:
    """A case on the store of a space, emptied and closed after it."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with asyncio.Runner() as runner:
        store = space(name)
        try:
            yield GraphCase(store, name, runner.run, lambda: space(name))
        finally:
            for left in (name, f"{name}_new", f"{name}_other"):
                runner.run(store.drop(left))
            runner.run(store.close())
