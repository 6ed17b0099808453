"""Interface of a database to stores, for every kind of database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, TextClause, bindparam, text

from engine.database.owners import Owners
from engine.database.signals import Signals
from engine.database.tables import Part

Row = Mapping[str, Any]


class Database(ABC):
    """Some of our tables, opened on first use and prepared by then; safe from any thread.

    What goes wrong is raised as SQLAlchemy's or the system's error, for the store that knows what it means to its user
    (``faults.cause_of``), except that a database of a newer version is refused with ``RecordError.database_newer``.
    """

    shared: bool
    """Whether replicas on several machines may use it."""
    place: str
    """What messages call it: the path of a file, or an address without its password."""

    @property
    @abstractmethod
    def owners(self) -> Owners:
        """The processes that use it, and whether they still live."""

    @property
    @abstractmethod
    def signals(self) -> Signals:
        """Messages between its processes."""

    @property
    @abstractmethod
    def exists(self) -> bool:
        """True if there is anything to read; a missing SQLite file has nothing."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one moment of the database, however much is written meanwhile."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that is committed at its end, and rolled back where anything is raised."""

    @property
    @abstractmethod
    def opening(self) -> int:
        """Number of times it was opened for writing; each may be on a new file."""

    @property
    def gone(self) -> bool:
        """True if what was used is not there any more: a file that was deleted, moved or replaced meanwhile."""
        return False

    def set_aside(self) -> str:
        """Move a damaged file away (``faults.is_damage``); its new name, empty where it was replaced already."""
        return ""

    @abstractmethod
    def size(self) -> int:
        """Bytes that it takes."""

    @abstractmethod
    def state(self, part: Part) -> tuple[int, ...]:
        """Something that changes whenever anything is written to the tables of a part, by any process."""

    @abstractmethod
    def turn(self, name: str) -> AbstractContextManager[bool]:
        """Hold the only turn of a name among all processes; false, at once, where another one has it.

        Where nothing is shared each caller has a turn of its own.
        """

    @abstractmethod
    def found_in(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return whether a column contains a text, which is folded already, regardless of its case."""

    @abstractmethod
    def readable(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        """Return whether a column holds JSON, as far as this kind of database can lose it."""

    @abstractmethod
    def close(self) -> None:
        """Let it go; a second call does nothing, and a later use opens it again."""


def among(connection: Connection, column: ColumnElement[str], values: Iterable[str]) -> ColumnElement[bool]:
    """Return whether a column is in a list of any length, sent as one parameter, in the database's own dialect."""
    wanted = [clean(value) for value in values]
    own: Callable[[ColumnElement[str], list[str]], ColumnElement[bool]] = connection.get_execution_options()["among"]
    return own(column, wanted)


def put(
    connection: Connection, table: Table, rows: Row | Sequence[Row], *, changes: Sequence[str] | None = None
) -> None:
    """Insert rows; of one whose key is there already the columns in ``changes`` are replaced: all, or none of them."""
    if rows:
        given = tuple(rows if isinstance(rows, Mapping) else rows[0])
        connection.execute(_putting(table, given, None if changes is None else tuple(changes)), rows)


@cache
def _putting(table: Table, given: tuple[str, ...], changes: tuple[str, ...] | None) -> TextClause:
    """The statement of :func:`put`, worded once: SQLAlchemy compiles its own form of it at every call."""
    keys = [column.name for column in table.primary_key]
    replaced = [column.name for column in table.columns if column.name not in keys] if changes is None else changes
    to_set = ", ".join(f'"{name}" = excluded."{name}"' for name in replaced)
    conflict = f"UPDATE SET {to_set}" if replaced else "NOTHING"
    return text(
        f'INSERT INTO "{table.name}" ({_quoted(given)}) VALUES ({", ".join(f":{name}" for name in given)}) '  # noqa: S608 - our names
        f"ON CONFLICT ({_quoted(keys)}) DO {conflict}"
    ).bindparams(*(bindparam(name, type_=table.columns[name].type) for name in given))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def clean(text: str) -> str:
    """A text as every kind can hold it: half a surrogate pair has no UTF-8 form, and PostgreSQL takes no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
