"""Updates of a collection's graph when the collection changes.

Each looks at the graph first: with a graph store that does not answer nothing is done at all, and what is changed is
never half changed because of it. The graph itself changes last, for it is dear where a chat model read it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from engine.model.values import PassageId
from engine.roles.graph import GraphStore

Ids = Callable[[], Awaitable[Sequence[PassageId]]]


@asynccontextmanager
async def without_passages(graphs: GraphStore, collection: str, ids: Ids) -> AsyncIterator[None]:
    """Let the graph forget passages once they are deleted; ``ids`` is asked only where there is a graph."""
    there = await graphs.describe(collection) is not None
    passages = await ids() if there else ()
    yield
    if passages:
        await graphs.forget(collection, passages)


@asynccontextmanager
async def renamed(graphs: GraphStore, collection: str, new_name: str) -> AsyncIterator[None]:
    """Let the graph follow the renaming of a collection."""
    there = await graphs.describe(collection) is not None
    yield
    if there:
        await graphs.rename(collection, new_name)


@asynccontextmanager
async def dropped(graphs: GraphStore, collection: str) -> AsyncIterator[None]:
    """Delete the graph of a collection once the collection is deleted."""
    there = await graphs.describe(collection) is not None
    yield
    if there:
        await graphs.drop(collection)
