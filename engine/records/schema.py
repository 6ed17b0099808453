"""The file of run records: its tables, its format number, and what is done with one that cannot be read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from engine.errors import RecordError
from engine.errors.files import is_damage
from engine.records.format import format_of, lift, require_known

Connect = Callable[[Path], sqlite3.Connection]

BUSY_S = 5.0
"""How long a write waits for another process that is writing."""

_STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            started_at TEXT NOT NULL,
            question TEXT NOT NULL,
            workflow TEXT NOT NULL,
            collection TEXT NOT NULL,
            owner TEXT NOT NULL,
            outcome TEXT,
            reason TEXT NOT NULL,
            duration_ms REAL NOT NULL,
            calls INTEGER NOT NULL,
            rewrites INTEGER NOT NULL
        )""",
        "CREATE INDEX runs_by_start ON runs (started_at, id)",
        "CREATE INDEX runs_unfinished ON runs (owner) WHERE outcome IS NULL",
        """CREATE TABLE events (
            run_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            t_ms REAL NOT NULL,
            kind TEXT NOT NULL,
            data TEXT NOT NULL,
            PRIMARY KEY (run_id, seq)
        ) WITHOUT ROWID""",
        "CREATE TABLE partial_answers (run_id TEXT PRIMARY KEY, pieces TEXT NOT NULL) WITHOUT ROWID",
    ),
    (
        "ALTER TABLE runs ADD COLUMN parent TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE tags (run_id TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (run_id, tag)) WITHOUT ROWID",
        "CREATE INDEX tags_by_name ON tags (tag, run_id)",
    ),
)
"""Statements that lift the format by one each; the format number is how many of them a file has seen."""

FORMAT = len(_STEPS)

_AS_FORMAT_2 = (
    "PRAGMA temp_store = MEMORY",
    "CREATE TEMP VIEW runs AS SELECT *, '' AS parent FROM main.runs",
    "CREATE TEMP TABLE tags (run_id TEXT, tag TEXT)",
)
"""What lets a reader see a former file that cannot be lifted, as in a folder that may only be read."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing, made or lifted to the current format; usable from any one thread at a time.

    Raises ``RecordError`` for a newer format, ``sqlite3.Error`` or ``OSError`` where it cannot be opened or read.
    """
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        newer = partial(_newer, path)
        require_known(connection, _STEPS, newer)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        lift(connection, _STEPS, newer)
        # Walks the whole table, so that a damaged page shows now and not in the middle of a listing.
        connection.execute("SELECT count(question) FROM runs").fetchone()
        connection.execute("SELECT run_id FROM events LIMIT 1").fetchone()
        connection.execute("SELECT run_id FROM tags LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def connect_or_replace(path: Path, open_file: Connect = connect) -> tuple[sqlite3.Connection, Path | None]:
    """Open the file; one that cannot be read is moved aside and a fresh one made, and its new place returned."""
    identity = identity_of(path)
    try:
        return open_file(path), None
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
    # Another process may have replaced the file in the meantime: what stands there now is not the damaged one.
    moved = set_aside(path) if identity_of(path) == identity else None
    return open_file(path), moved


def set_aside(path: Path) -> Path:
    """Rename a damaged file and its write-ahead log to ``<name>.damaged-<time>``; returns the new place."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in ("-wal", "-shm", ""):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            os.replace(beside, target.with_name(target.name + suffix))
    return target


def identity_of(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path, for noticing that it was moved or deleted; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees one moment of the file, however much is written meanwhile; raises ``sqlite3.Error``."""
    connection = _open_for_reading(path)
    try:
        # Bytes that are no UTF-8 are the damage of one run; refused, they would hide all the others.
        connection.text_factory = _text
        connection.create_function("casefolded", 1, lambda data: _text(data or b"").casefold(), deterministic=True)
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _open_for_reading(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    try:
        return _readable(f"{uri}?mode=rw", path)
    except sqlite3.OperationalError:
        # In a folder that cannot be written SQLite cannot place its shared-memory file beside a quiet one.
        if not path.is_file() or path.with_name(f"{path.name}-wal").exists():
            raise
        return _readable(f"{uri}?immutable=1", path)


def _readable(uri: str, path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        require_known(connection, _STEPS, partial(_newer, path))
        if format_of(connection) == 1:
            for statement in _AS_FORMAT_2:
                connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _newer(path: Path, found: int, known: int) -> RecordError:
    return RecordError.newer(path=path, found=found, known=known)
