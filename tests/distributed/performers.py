"""A performer that tests follow from outside: what it begins and keeps stands in a file that all processes share."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.distributed import Block
from engine.errors import EngineClosed, InvalidQuestion

_SCHEMA = """
CREATE TABLE IF NOT EXISTS begun (key TEXT, pid INTEGER);
CREATE TABLE IF NOT EXISTS under_way (key TEXT, pid INTEGER);
CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT, pid INTEGER);
CREATE TABLE IF NOT EXISTS open (name TEXT PRIMARY KEY);
"""
_LOOK_S = 0.01
_LOOK = threading.Event()
PATIENCE_S = 60.0
"""Longest wait for what workers of another process do, so that a fault fails a test instead of hanging it."""


class Ledger:
    """What blocks left in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._connected() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)

    def _connected(self) -> closing[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        return closing(connection)

    def do(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(statement, values).fetchall()

    @property
    def begun(self) -> list[str]:
        """Keys in the order of their beginnings, as often as they were begun."""
        return [key for (key,) in self.do("SELECT key FROM begun ORDER BY rowid")]

    @property
    def kept(self) -> dict[str, str]:
        return dict(self.do("SELECT key, value FROM kept"))

    def workers(self) -> set[int]:
        """Processes that have begun anything."""
        return {pid for (pid,) in self.do("SELECT pid FROM begun")}

    def under_way(self) -> dict[str, int]:
        """Processes of the blocks that are being done, by key."""
        return dict(self.do("SELECT key, pid FROM under_way"))

    def open(self, gate: str) -> None:
        """Let blocks that wait at a gate continue."""
        self.do("INSERT OR IGNORE INTO open VALUES (?)", gate)

    def when(self, condition: Callable[[Ledger], bool], then: Callable[[], object]) -> None:
        """Call something on another thread as soon as what stands here meets a condition."""

        def watch() -> None:
            began = time.monotonic()
            while not condition(self):
                assert time.monotonic() - began < PATIENCE_S, f"this did not come: {condition.__doc__ or condition}"
                _LOOK.wait(_LOOK_S)
            then()

        threading.Thread(target=watch, daemon=True).start()

    def is_open(self, gate: str) -> bool:
        return bool(self.do("SELECT 1 FROM open WHERE name = ?", gate))


class Following:
    """Notes what it begins, waits where the block says so, and keeps its result once."""

    def __init__(self, path: str) -> None:
        self._ledger = Ledger(Path(path))
        self._stopping = threading.Event()

    def perform(self, block: Block) -> tuple[Any, bytes]:
        """``fails``: raises; ``dies``: ends the process; ``gate``: waits until it is open."""
        key, work = block.key, block.work
        self._ledger.do("INSERT INTO begun VALUES (?, ?)", key, os.getpid())
        self._ledger.do("INSERT INTO under_way VALUES (?, ?)", key, os.getpid())
        try:
            if work.get("fails") == "ours":
                raise InvalidQuestion.blank()
            if work.get("fails"):
                raise ValueError("it was asked to")
            if work.get("dies"):
                os._exit(1)
            gate = work.get("gate")
            while gate and not self._ledger.is_open(gate):
                if self._stopping.wait(_LOOK_S):
                    raise EngineClosed()
            self._ledger.do("INSERT OR IGNORE INTO kept VALUES (?, ?, ?)", key, str(work.get("value")), os.getpid())
            return work.get("value"), block.data[::-1]
        finally:
            self._ledger.do("DELETE FROM under_way WHERE key = ? AND pid = ?", key, os.getpid())

    def stop(self) -> None:
        self._stopping.set()

    def close(self) -> None:
        self._ledger.do("INSERT OR IGNORE INTO open VALUES (?)", f"closed {os.getpid()}")
