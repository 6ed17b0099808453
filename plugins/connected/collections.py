"""Connections to collections that other programs made: kept in a file or a table, opened when first needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace

from engine.database.databases import Databases
from engine.errors import UnknownCollection
from engine.knowledge.milvus_connection import embedded
from engine.model.values import Fault
from engine.roles import CollectionInfo
from engine.settings import Settings
from plugins.connected.client import checked_place
from plugins.connected.session import connected_info
from plugins.connected.store import ForeignStore
from plugins.connected.stored_connections import KeptConnections, kept_connections
from plugins.connected.values import Connection, ConnectionState, Place

_LOOKED_AT_EVERY_S = 30.0
_REFRESHED_EVERY_S, _TRIED_AGAIN_S = 1.0, 10.0
_PATIENCE_S = 1.0
"""How long a list of collections waits for connections that were never looked at."""


class ForeignCollections:
    """Lives on the engine's event loop; a connection that does not answer holds no one up."""

    def __init__(self, settings: Settings, databases: Databases) -> None:
        self._settings = settings
        self._kept: KeptConnections = kept_connections(settings, databases)
        self._connections: dict[str, Connection] = {}
        self.fault: Fault | None = None
        """What is wrong with the kept connections: of a file at the start, of a table when it was last looked at."""
        if not self._kept.shared:
            self._connections, fault = self._kept.read()
            self.fault = Fault.of(fault) if fault is not None else None
        self._changing = asyncio.Lock()
        self._refresh_at = float("-inf")
        self._refreshing: asyncio.Task[None] | None = None
        self._stores: dict[str, ForeignStore] = {}
        self._infos: dict[str, CollectionInfo] = {}
        self._looked_at: dict[str, float] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._begun: dict[str, float] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def all(self) -> tuple[Connection, ...]:
        """List all connections by name, without tokens."""
        return tuple(_without_token(self._connections[name]) for name in sorted(self._connections))

    def __contains__(self, name: str) -> bool:
        return name in self._connections

    def seen(self, name: str) -> bool:
        """Return whether a connection was ever looked at."""
        return name in self._infos

    def place(self, place: Place) -> Place:
        """The place as it is kept: checked, and empty where it is the settings' own store."""
        checked = checked_place(place)
        own = self._settings.store_uri
        own_place = str(self._settings.store_path.absolute()) if embedded(own) else own
        if checked.address in (own, own_place):
            return Place("", "", checked.database)
        return checked

    def opened_as(self, place: Place) -> Place:
        """The place with address and token to connect with."""
        if place.address:
            return place
        # The token of the settings is for their server alone, which an empty address means.
        token = self._settings.milvus_token.get_secret_value() if self._settings.milvus_uri else ""
        return Place(self._settings.store_uri, token, place.database)

    def known_token(self, connection: Connection) -> Connection:
        """The connection with the token that is kept for it, which no page ever had."""
        kept = self._connections.get(connection.name)
        if kept is None or (kept.place.address, kept.collection) != (connection.place.address, connection.collection):
            return connection
        token = connection.place.token or kept.place.token
        return replace(connection, place=replace(connection.place, token=token))

    def store(self, name: str) -> ForeignStore:
        """The open store of a connection; raises ``UnknownCollection``."""
        connection = self._connections.get(name)
        if connection is None:
            raise UnknownCollection(name=name)
        if name not in self._stores:
            self._stores[name] = self.unkept(connection)
        return self._stores[name]

    def unkept(self, connection: Connection) -> ForeignStore:
        """A store for a connection that may not be kept; the caller closes it."""
        place = self.opened_as(connection.place)
        return ForeignStore(connection, place, keep_open=not connection.place.address)

    async def refresh(self) -> None:
        """See what other replicas have connected and forgotten until a second ago; never raises, and waits a second."""
        if not self._kept.shared or time.monotonic() < self._refresh_at:
            return
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._read_again())
        # No longer: what is known already must not wait for a database that does not answer.
        await asyncio.wait([self._refreshing], timeout=_PATIENCE_S)

    async def _read_again(self) -> None:
        async with self._changing:
            found, fault = await asyncio.to_thread(self._kept.read)
            self.fault = Fault.of(fault) if fault is not None else None
            self._refresh_at = time.monotonic() + (_REFRESHED_EVERY_S if fault is None else _TRIED_AGAIN_S)
            # What was known stays where nothing can be read: runs of connected collections need no database for it.
            self._adopt(found if fault is None else {**self._connections, **found})

    async def infos(self) -> list[CollectionInfo]:
        """Every connection as last seen; what was never seen is waited for, but not long and not twice."""
        await self.refresh()
        for name in self._connections:
            if self._is_due(name):
                self._look(name)
        unseen = [name for name in self._connections if name not in self._infos]
        if unseen:
            latest = max(self._begun[name] for name in unseen)
            patience = max(0.0, latest + _PATIENCE_S - time.monotonic())
            await asyncio.wait([self._looking[name] for name in unseen], timeout=patience)
        return [self._info(name) for name in sorted(self._connections)]

    async def states(self) -> tuple[ConnectionState, ...]:
        await self.infos()
        return tuple(ConnectionState(item, self._info(item.name), looked=self.seen(item.name)) for item in self.all())

    async def add(self, connection: Connection) -> None:
        """Keep a connection; one of the same name is replaced. Raises ``ConnectionsDamaged``."""
        async with self._changing:
            await self._keep({**self._connections, connection.name: connection}.values())
            self._forget(connection.name)
            self._connections[connection.name] = connection

    async def remove(self, name: str) -> None:
        """Forget a connection; nothing changes where it leads. Raises ``UnknownCollection``, ``ConnectionsDamaged``."""
        await self.refresh()
        async with self._changing:
            if name not in self._connections:
                raise UnknownCollection(name=name)
            await self._keep(item for item in self._connections.values() if item.name != name)
            del self._connections[name]
            self._forget(name)

    async def close(self) -> None:
        for task in (*self._looking.values(), *([self._refreshing] if self._refreshing else [])):
            task.cancel()
        stores, self._stores = list(self._stores.values()), {}
        await asyncio.gather(*self._closing, *(store.close() for store in stores))

    async def _keep(self, connections: Iterable[Connection]) -> None:
        await asyncio.to_thread(self._kept.write, list(connections))

    def _adopt(self, found: dict[str, Connection]) -> None:
        """Take connections as they are now; one that was changed or forgotten is closed."""
        before, self._connections = self._connections, found
        for name, connection in before.items():
            if found.get(name) != connection:
                self._forget(name)

    def _forget(self, name: str) -> None:
        self._infos.pop(name, None)
        self._looked_at.pop(name, None)
        task = self._looking.pop(name, None)
        if task is not None:
            task.cancel()
        store = self._stores.pop(name, None)
        if store is not None:
            # In the background: where no one answers, closing waits for the call that is under way.
            closing = asyncio.create_task(store.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def _is_due(self, name: str) -> bool:
        looking = self._looking.get(name)
        if looking is not None and not looking.done():
            return False
        if time.monotonic() - self._looked_at.get(name, float("-inf")) < _LOOKED_AT_EVERY_S:
            return False
        known, store = self._infos.get(name), self._stores.get(name)
        # A folder that was given up is not opened for a look alone: its own program may want it.
        return known is None or known.fault is not None or store is None or store.is_open or not store.rests

    def _look(self, name: str) -> None:
        self._begun[name] = time.monotonic()
        self._looking[name] = asyncio.create_task(self._look_at(self.store(name)))

    async def _look_at(self, store: ForeignStore) -> None:
        name = store.connection.name
        try:
            info = await store.describe(name)
        except Exception as error:
            info = replace(self._info(name), fault=Fault.of(error))
        if self._stores.get(name) is store:
            self._infos[name] = info
            self._looked_at[name] = time.monotonic()

    def _info(self, name: str) -> CollectionInfo:
        """Describe a connected collection as last seen, or by what the connection itself says."""
        item = self._connections[name]
        return self._infos.get(name) or connected_info(item, self.opened_as(item.place).address)


def _without_token(connection: Connection) -> Connection:
    return replace(connection, place=replace(connection.place, token=""))
