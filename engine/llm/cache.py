"""Verdicts of chat models that were paid for once; losing one costs calls and nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from sqlalchemy import select

from engine.database.base import Database, among, clean, put
from engine.database.faults import UNUSABLE, is_damage, original
from engine.database.sqlite import SqliteFile
from engine.database.tables import VERDICTS
from engine.errors import WorkbenchError
from engine.llm.grader import CachedReply

_log = logging.getLogger(__name__)


class VerdictCache:
    """Replies by key, read and written on a thread of its own so that the event loop never waits for the disk.

    A database that is locked, away or on a full disk makes that one access a miss; a damaged file switches the cache
    off for the rest of the process (:attr:`usable`). Nothing here raises. Any number of event loops may use it.
    """

    def __init__(self, database: Database | Path) -> None:
        """``database`` is a path where the cache has an SQLite file of its own."""
        self._own_file = isinstance(database, Path)
        self._database = SqliteFile(database, "verdicts", busy_s=0.25) if isinstance(database, Path) else database
        self.usable = True
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="verdict-cache")

    async def get(self, keys: Sequence[str]) -> dict[str, CachedReply]:
        """Return the cached values of the keys; the rest are misses."""
        if not keys or not self.usable:
            return {}
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lane, self._read, tuple(keys))
        except RuntimeError:
            return {}

    def put(self, key: str, reply: CachedReply) -> None:
        """Keep a reply; returns at once, and a later ``get`` sees it."""
        try:
            self._lane.submit(self._write, key, json.dumps(asdict(reply), ensure_ascii=False))
        except RuntimeError:
            # Closed while a run was still ending: what it learnt is lost, as without a cache.
            return

    def close(self) -> None:
        """Finish what is being written and let go of the file. Safe to call twice."""
        try:
            self._lane.submit(self._close)
        except RuntimeError:
            return
        self._lane.shutdown(wait=True)

    def _read(self, keys: Sequence[str]) -> dict[str, CachedReply]:
        if not self.usable or not self._database.exists:
            return {}
        try:
            with self._database.reading() as connection:
                query = select(VERDICTS.c.key, VERDICTS.c.value).where(among(connection, VERDICTS.c.key, keys))
                rows = connection.execute(query).all()
        except (WorkbenchError, *UNUSABLE) as error:
            self._failed(error)
            return {}
        return {key: reply for key, value in rows if (reply := _decoded(value)) is not None}

    def _write(self, key: str, value: str) -> None:
        if not self.usable:
            return
        try:
            with self._database.writing() as connection:
                put(connection, VERDICTS, {"key": key, "value": clean(value)})
        except (WorkbenchError, ValueError, *UNUSABLE) as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        # A lock, a full disk or a server that is away passes; a file that is no database does not mend itself.
        passing = not isinstance(error, WorkbenchError) and not is_damage(error)
        if self.usable:
            remedy = "" if passing else "; it is off now: delete the file to have one again"
            _log.warning("the verdict cache %s cannot be used (%s)%s", self._database.place, original(error), remedy)
        self.usable = passing

    def _close(self) -> None:
        if self._own_file:
            self._database.close()


def _decoded(value: str) -> CachedReply | None:
    """A row as it was written; a row that was not is a miss."""
    try:
        return CachedReply(**json.loads(value))
    except (ValueError, TypeError):
        return None
