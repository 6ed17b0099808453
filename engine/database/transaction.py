"""The format number of an SQLite file of ours, and lifting a file from a former format to the present one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from engine.errors import WorkbenchError

Steps = Sequence[Sequence[str]]
"""Statements that lift the format by one each; the format number is how many of them a file has seen."""


def format_of(connection: sqlite3.Connection) -> int:
    """The format that the file was written in; 0 for a new one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def require_known(connection: sqlite3.Connection, steps: Steps, newer: Callable[[int, int], WorkbenchError]) -> None:
    """Raise the error from ``newer`` for a file of a later version, with the format found and the one known."""
    found = format_of(connection)
    if found > len(steps):
        raise newer(found, len(steps))


def lift(connection: sqlite3.Connection, steps: Steps, newer: Callable[[int, int], WorkbenchError]) -> None:
    """Bring the file to the present format in one transaction; raises as :func:`require_known`."""
    if format_of(connection) == len(steps):
        return
    with writing(connection):
        # Read again under the lock: another process may have lifted the file since.
        require_known(connection, steps, newer)
        for statements in steps[format_of(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(steps)}")


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One transaction, taken for writing from its beginning, so that what is read in it still holds when it writes."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
