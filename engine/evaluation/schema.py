"""The file of query sets, batches, labels and saved settings: its tables, its format number, and its faults."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from engine.errors import EvaluationError
from engine.errors.files import cause_of, is_damage
from engine.messages import N_
from engine.records.format import lift, require_known

BUSY_S = 10.0
"""How long one statement waits for another process that is writing."""

_STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE query_sets (
            name TEXT PRIMARY KEY, collection TEXT NOT NULL, origin TEXT NOT NULL, saved_at TEXT NOT NULL
        )""",
        """CREATE TABLE cases (
            set_name TEXT NOT NULL REFERENCES query_sets (name) ON DELETE CASCADE,
            place INTEGER NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (set_name, id)
        )""",
        """CREATE TABLE batches (
            id TEXT PRIMARY KEY, set_name TEXT NOT NULL, config TEXT NOT NULL, concurrency INTEGER NOT NULL,
            created_at TEXT NOT NULL, owner TEXT NOT NULL
        )""",
        """CREATE TABLE batch_cases (
            batch_id TEXT NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
            place INTEGER NOT NULL, case_id TEXT NOT NULL, data TEXT NOT NULL,
            run_id TEXT, ended INTEGER NOT NULL DEFAULT 0, fault TEXT,
            PRIMARY KEY (batch_id, case_id)
        )""",
        """CREATE TABLE labels (
            question TEXT NOT NULL, passage_id TEXT NOT NULL, relevant INTEGER NOT NULL, labelled_at TEXT NOT NULL,
            PRIMARY KEY (question, passage_id)
        )""",
        "CREATE TABLE saved_settings (name TEXT PRIMARY KEY, config TEXT NOT NULL, saved_at TEXT NOT NULL)",
    ),
)
"""Statements that lift the format by one each; the format number is how many of them a file has seen."""

FORMAT = len(_STEPS)
_TABLES = ("query_sets", "cases", "batches", "batch_cases", "labels", "saved_settings")
_DAMAGED = (N_("it is damaged"), N_("Restore it from a backup, or move it away to begin a new one"))


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for any one thread at a time, made or lifted to the current format.

    Raises ``EvaluationError`` for a file that is damaged or that a newer version wrote; it is left as it is, because
    labels and query sets are work of the user and nothing else holds them.
    """
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            newer = partial(_newer, path)
            require_known(connection, _STEPS, newer)
            connection.execute("PRAGMA journal_mode = WAL")
            # A label or the end of a run must outlive a power cut, and these writes are few.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            lift(connection, _STEPS, newer)
            for table in _TABLES:
                # Walks every table, so that a damaged page shows now and not in the middle of a batch.
                connection.execute(f"SELECT count(*) FROM {table} NOT INDEXED").fetchone()  # noqa: S608 - our names
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """What SQLite or the system say about the file, as ``EvaluationError``."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        cause, advice = _DAMAGED if is_damage(error) else cause_of(error)
        raise EvaluationError.unusable(path=path, cause=cause, advice=advice) from None


def _newer(path: Path, found: int, known: int) -> EvaluationError:
    return EvaluationError.newer(path=str(path), found=found, known=known)
