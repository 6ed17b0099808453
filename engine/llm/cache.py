"""Verdicts of chat models that were paid for once, in an SQLite file; losing it costs calls and nothing else."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.model.config import RoleModel

_log = logging.getLogger(__name__)
_BUSY_S = 0.25
_SCHEMA = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


@dataclass(frozen=True, slots=True)
class CachedReply:
    """One grader's readable reply, as it came."""

    reply: str
    thinking: str = ""
    former: str | None = None
    """The unreadable reply before it, where it took a second try."""
    prompt_tokens: int | None = None
    reply_tokens: int | None = None


def verdict_key(question: str, passage: str, model: RoleModel, digest: str, prompt_version: str) -> str:
    """Everything that a verdict depends on, hashed."""
    text_hash = hashlib.sha256(passage.encode(errors="replace")).hexdigest()
    options = [model.temperature, model.seed, model.num_ctx]
    content = [question, text_hash, model.model, digest, options, prompt_version]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


class VerdictCache:
    """Replies by key, read and written on a thread of its own so that the event loop never waits for the disk.

    A file that is locked or on a full disk makes that one access a miss; a damaged one switches the cache off for
    the rest of the process (:attr:`usable`). Nothing here raises. Any number of event loops may use it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.usable = True
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="verdict-cache")
        self._connection: sqlite3.Connection | None = None

    async def get(self, keys: Sequence[str]) -> dict[str, CachedReply]:
        """What is known of the keys; the rest are misses."""
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
        found: dict[str, CachedReply] = {}
        try:
            connection = self._open()
            for key in keys:
                row = connection.execute("SELECT value FROM verdicts WHERE key = ?", (key,)).fetchone()
                reply = _decoded(row[0]) if row is not None else None
                if reply is not None:
                    found[key] = reply
        except (sqlite3.Error, OSError) as error:
            self._failed(error)
        return found

    def _write(self, key: str, value: str) -> None:
        try:
            with self._open() as connection:
                connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, value))
        except (sqlite3.Error, OSError, ValueError) as error:
            self._failed(error)

    def _open(self) -> sqlite3.Connection:
        if not self.usable:
            raise sqlite3.OperationalError("the cache is switched off")
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_BUSY_S, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(_SCHEMA)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _failed(self, error: Exception) -> None:
        # OperationalError is a lock or a full disk, which passes; its parent means that the file is no database.
        passing = isinstance(error, sqlite3.OperationalError)
        if self.usable:
            remedy = "" if passing else "; it is off now: delete the file to have one again"
            _log.warning("the verdict cache %s cannot be used (%s)%s", self.path, error, remedy)
        if not passing:
            self.usable = False
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _decoded(value: str) -> CachedReply | None:
    """A row as it was written; a row that was not is a miss."""
    try:
        return CachedReply(**json.loads(value))
    except (ValueError, TypeError):
        return None
