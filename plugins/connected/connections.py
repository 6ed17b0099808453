"""Collections that other programs made, connected by address and read only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from engine.engine import Engine
from engine.errors import StoreError
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.graph.keeping import dropped
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_schema import check_new_name
from engine.library.values import ProposedModel
from engine.messages import N_
from engine.model.loop_thread import LoopThread, on_loop
from engine.model.values import Fault
from engine.people.authorization import authorized, needs
from engine.plugins import Inside, Part
from engine.roles import CollectionInfo, Embedder
from engine.running.resources import Resources
from plugins.connected.check import Prefixed, probed, self_search
from plugins.connected.client import close_place, open_place
from plugins.connected.collections import ForeignCollections
from plugins.connected.look import inspect, look, vector_of
from plugins.connected.models import proposed_models
from plugins.connected.store import ForeignStore
from plugins.connected.values import Connection, ConnectionState, Place, ProbedQuestion, RemoteCollection, SelfSearch

T = TypeVar("T")

_TIMEOUT_S = 5.0
_OLLAMA_S = 3.0


def collections_of(resources: Resources) -> ForeignCollections:
    """Return an engine's collections of other programs."""
    return next(item for item in resources.knowledge.connected if isinstance(item, ForeignCollections))


@authorized
class Connections(Part):
    """Safe to call from any thread; every method blocks until it is done.

    Connections are made by the user of this app alone: no route of the API leads here, for a request must not make the
    server connect wherever it says (SC-11). Nothing is ever written where a connection leads; a collection that is
    not loaded there is loaded.
    """

    def __init__(self, engine: Engine, inside: Inside) -> None:
        self._loop: LoopThread = inside.loop
        self._resources = engine.resources

    @property
    @needs("admin")
    def fault(self) -> Fault | None:
        """Fault in the stored connections."""
        return self._foreign.fault

    @on_loop
    @needs("admin")
    async def look(self, place: Place) -> tuple[RemoteCollection, ...]:
        """The collections of a place, as far as they can be read without loading any.

        Of the settings' own store those that other programs made. Raises ``StoreError``, ``UNREACHABLE``,
        ``TOKEN_REFUSED``, ``LOCKED``, ``UNKNOWN_DATABASE``.
        """
        kept = self._foreign.place(place)
        opened = self._foreign.opened_as(kept)
        found = await asyncio.to_thread(_with_client, opened, lambda db: look(db, opened, own_too=bool(kept.address)))
        installed = await self._installed()
        return tuple(self._with_models(item, installed) for item in found)

    @on_loop
    @needs("admin")
    async def inspect(self, place: Place, collection: str) -> RemoteCollection:
        """One collection, loaded if it was not, with a sample of every field and models that fit its vectors."""
        opened = self._foreign.opened_as(self._foreign.place(place))
        found = await asyncio.to_thread(_with_client, opened, lambda db: inspect(db, opened, collection))
        return self._with_models(found, await self._installed())

    @on_loop
    @needs("admin")
    async def models(self, dim: int) -> tuple[ProposedModel, ...]:
        """Embedding models whose vectors have ``dim`` numbers: those at hand first."""
        return proposed_models(dim, self._builtin_dim, await self._installed())

    @on_loop
    @needs("admin")
    async def try_out(self, connection: Connection) -> SelfSearch:
        """Return whether the chosen model made the stored vectors, by re-embedding a few passages; takes seconds."""
        checked, embedder = await self._checked(connection)
        other = self._with_other_prefixes(checked) if embedder.model_id.startswith("ollama:") else None
        async with self._store_of(checked) as store:
            return await self_search(store, embedder, other)

    @on_loop
    @needs("admin")
    async def probe(self, connection: Connection, questions: Sequence[str]) -> tuple[ProbedQuestion, ...]:
        """Show what questions would find, with similarities as in a run (SC-09)."""
        checked, embedder = await self._checked(connection)
        async with self._store_of(checked) as store:
            form = (await store.describe(checked.name)).context
            calibration = await self._knowledge.embedders.calibration(embedder, form)
            return tuple([await probed(store, embedder, calibration, item) for item in questions if item.strip()])

    @on_loop
    @needs("admin", log=N_("Collection connected"), on=("connection.name",))
    async def connect(self, connection: Connection) -> CollectionInfo:
        """Keep the connection under its name, from now on a collection like any other, but read only.

        ``dim``, ``metric``, model id and prefixes are taken from what is there now. Raises
        ``StoreError.invalid_collection_name``, ``StoreError.collection_exists``, ``StoreError.embedding_mismatch``, and
        what :meth:`inspect` and the model raise.
        """
        await self._check_name(connection.name)
        checked, embedder = await self._checked(connection)
        kept = replace(
            checked,
            embedding_model=embedder.model_id,
            query_prefix=embedder.query_prefix,
            passage_prefix=embedder.passage_prefix,
            connected_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        async with self._store_of(kept) as store:
            info = await store.describe(kept.name)
        # Two pages may have waited for the same name.
        await self._check_name(connection.name)
        await self._foreign.add(kept)
        return info

    @on_loop
    @needs("admin", log=N_("Collection disconnected"))
    async def disconnect(self, name: str) -> None:
        """Forget a connection, its token and its knowledge graph; nothing changes where it leads.

        Raises ``UnknownCollection``.
        """
        async with dropped(self._knowledge.graphs, name):
            await self._foreign.remove(name)

    @on_loop
    @needs("admin")
    async def all(self) -> tuple[Connection, ...]:
        """List all connections by name, without their tokens."""
        await self._foreign.refresh()
        return self._foreign.all()

    @on_loop
    @needs("admin")
    async def states(self) -> tuple[ConnectionState, ...]:
        """Connections as they were when last looked at, at most half a minute ago; waits a second at most."""
        return await self._foreign.states()

    @property
    def _foreign(self) -> ForeignCollections:
        return collections_of(self._resources)

    @property
    def _knowledge(self) -> KnowledgeBase:
        return self._resources.knowledge

    async def _installed(self) -> Mapping[str, int]:
        return (await self._resources.ollama(patience_s=_OLLAMA_S)).embedders

    @property
    def _builtin_dim(self) -> int:
        return self._knowledge.embedders.called("builtin", 0).dim

    def _with_models(self, item: RemoteCollection, installed: Mapping[str, int]) -> RemoteCollection:
        """Add the models that fit its proposed vectors; a collection of our own keeps the recorded one."""
        if item.models or item.proposed is None:
            return item
        dim, _ = vector_of(item, item.proposed)
        return replace(item, models=proposed_models(dim, self._builtin_dim, installed))

    async def _check_name(self, name: str) -> None:
        check_new_name(name)
        if name in self._foreign:
            raise StoreError.collection_exists(name=name)
        for info in await self._knowledge.collections():
            if name == info.name or name in info.aliases:
                raise StoreError.collection_exists(name=name)

    async def _checked(self, connection: Connection) -> tuple[Connection, Embedder]:
        """The connection with the dimension and metric that are there now, and its embedder, which knows its width."""
        await self._foreign.refresh()
        place = self._foreign.place(connection.place)
        connection = self._foreign.known_token(replace(connection, place=place))
        opened = self._foreign.opened_as(connection.place)
        found = await asyncio.to_thread(_with_client, opened, lambda db: inspect(db, opened, connection.collection))
        dim, metric = vector_of(found, connection.fields)
        checked = replace(connection, dim=dim, metric=metric)
        embedder = self._knowledge.embedders.called(
            checked.embedding_model, dim, checked.query_prefix, checked.passage_prefix
        )
        await embedder.embed_passages(())
        if embedder.dim != dim:
            there = f"a model of {dim} dimensions"
            raise StoreError.embedding_mismatch(
                collection=checked.collection,
                built_with=there,
                offered=f"{embedder.model_id} ({embedder.dim} dimensions)",
            )
        return checked, embedder

    def _with_other_prefixes(self, connection: Connection) -> Prefixed:
        def other(query: str, passage: str) -> Embedder:
            return self._knowledge.embedders.called(connection.embedding_model, connection.dim, query, passage)

        return other

    @asynccontextmanager
    async def _store_of(self, connection: Connection) -> AsyncIterator[ForeignStore]:
        """The store of a connection that may not be kept yet, closed afterwards."""
        store = self._foreign.unkept(connection)
        try:
            yield store
        finally:
            await store.close()


def _with_client(place: Place, work: Callable[[Database], T]) -> T:
    """Work with a client of its own; blocks."""
    db = open_place(place, _TIMEOUT_S)
    try:
        return work(db)
    finally:
        close_place(db)
