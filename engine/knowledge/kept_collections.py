"""The list of collections as last read: pages ask for it whenever they are drawn, and it seldom changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from engine.knowledge.milvus_connection import embedded
from engine.roles import CollectionInfo

_LASTS_S = {True: 30.0, False: 2.0}
"""An embedded store is locked to this process; on a server others write too, which should be seen soon."""


class Listed(Protocol):
    """Store interface for listing."""

    uri: str

    @property
    def changes(self) -> int: ...

    async def collections(self) -> list[CollectionInfo]: ...


class KeptCollections:
    """Read again after every write through the store, and after some seconds without one."""

    def __init__(self, store: Listed, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._lasts_s = _LASTS_S[embedded(store.uri)]
        self._kept: tuple[CollectionInfo, ...] = ()
        self._changes = -1
        self._read_at = 0.0

    async def read(self) -> list[CollectionInfo]:
        changes, now = self._store.changes, self._clock()
        if changes != self._changes or now - self._read_at >= self._lasts_s:
            # As of before the reading: what was written meanwhile may be missing in it.
            found = tuple(await self._store.collections())
            self._kept, self._changes, self._read_at = found, changes, now
        return list(self._kept)
