"""Collections of other programs: what a plug-in that reads them offers, and what is left of them without it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from sqlalchemy import select

from engine.database.databases import Databases
from engine.database.faults import UNUSABLE
from engine.database.tables import CONNECTIONS
from engine.errors import HostError, UnknownCollection
from engine.model.values import Fault
from engine.plugins import plugins
from engine.roles import CollectionInfo, PassageReader
from engine.settings import Settings

PLUGIN = "connected"
"""The plug-in that serves what is kept of connections."""
FILE = "connections.json"
"""Where connections are kept, in the data folder; with PostgreSQL they are rows."""


class ConnectedCollections(Protocol):
    """Collections under names of ours, each only read; lives on the engine's event loop."""

    @property
    def fault(self) -> Fault | None:
        """Fault in the stored entries."""

    async def refresh(self) -> None:
        """See what other replicas have changed; never raises, and waits a second at most."""

    def __contains__(self, name: str, /) -> bool: ...

    def store(self, name: str) -> PassageReader:
        """Return the store of a collection; raises ``UnknownCollection``."""

    async def infos(self) -> list[CollectionInfo]:
        """Each by name, as last seen; one that is silent holds up the others no longer than a second."""

    def seen(self, name: str) -> bool:
        """Return whether a collection was ever looked at."""

    async def close(self) -> None: ...


def connected_collections(settings: Settings, databases: Databases) -> tuple[ConnectedCollections, ...]:
    """Those of each plug-in that serves some, and those whose plug-in is missing."""
    serving = {plugin.name: plugin.collections for plugin in plugins() if plugin.collections is not None}
    served: list[ConnectedCollections] = [serve(settings, databases) for serve in serving.values()]
    return (*served, *([] if PLUGIN in serving else [Unserved(settings, databases)]))


def kept_info(kept: Mapping[str, Any], address: str) -> CollectionInfo:
    """Return the stored facts about a connection's collection."""
    return CollectionInfo(
        name=kept["name"],
        embedding_model=kept["embedding_model"],
        dim=kept["dim"],
        query_prefix=kept["query_prefix"] or "",
        passage_prefix=kept["passage_prefix"] or "",
        created_at=kept["connected_at"],
        metric=kept["metric"],
        kinds=("vector",),
        address=address,
        remote_name=kept["collection"],
        read_only=True,
    )


class Unserved:
    """Collections that stay in the list, each with the plug-in that is missing."""

    fault = None

    def __init__(self, settings: Settings, databases: Databases) -> None:
        self._settings = settings
        self._database = databases.by_part.get("team")
        self._infos: dict[str, CollectionInfo] | None = None

    async def refresh(self) -> None:
        if self._infos is None:
            self._infos = await asyncio.to_thread(self._read)

    def __contains__(self, name: str) -> bool:
        return name in (self._infos or {})

    def store(self, name: str) -> PassageReader:
        if name in self:
            raise HostError.collection_without_plugin(collection=name, name=PLUGIN)
        raise UnknownCollection(name=name)

    async def infos(self) -> list[CollectionInfo]:
        await self.refresh()
        return sorted((self._infos or {}).values(), key=lambda info: info.name)

    def seen(self, name: str) -> bool:
        return False

    async def close(self) -> None:
        """Nothing is open."""

    def _read(self) -> dict[str, CollectionInfo] | None:
        """None where they cannot be read, which the next look may do."""
        try:
            found = [self._info(kept) for kept in self._kept()]
        except FileNotFoundError:
            return {}
        except (*UNUSABLE, OSError, ValueError, KeyError, TypeError):
            return None
        return {info.name: info for info in found}

    def _kept(self) -> list[dict[str, Any]]:
        if self._database is None:
            kept: list[dict[str, Any]] = json.loads((self._settings.data_dir / FILE).read_bytes())["connections"]
            return kept
        with self._database.reading() as connection:
            return [json.loads(data) for data in connection.scalars(select(CONNECTIONS.c.data))]

    def _info(self, kept: Mapping[str, Any]) -> CollectionInfo:
        info = kept_info(kept, kept["address"] or self._settings.store_uri)
        missing = HostError.collection_without_plugin(collection=info.name, name=PLUGIN)
        return replace(info, fault=Fault.of(missing))
