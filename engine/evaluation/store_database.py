"""Database access of an evaluation store: opening, reading, writing, and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Row, Select

from engine.database.base import Database, clean
from engine.database.faults import UNUSABLE, cause_at, is_damage
from engine.database.sqlite import SqliteFile
from engine.errors import EngineClosed, EvaluationError, UnknownCollection, WorkbenchError
from engine.messages import N_
from engine.people import current_user

LONGEST_NAME = 120
_DAMAGED = (N_("it is damaged"), N_("Restore it from a backup, or move it away to begin a new one"))


class OpenedStore:
    """A database of evaluations, and the translation of its faults."""

    def __init__(
        self, database: Database | Path, groups_of: Callable[[str], frozenset[str]] = lambda _: frozenset()
    ) -> None:
        """``database`` is a path where the store has an SQLite file of its own; opens it, or raises what is wrong.

        ``groups_of`` says which groups a collection is limited to.
        """
        self._groups_of = groups_of
        self._own_file = isinstance(database, Path)
        if isinstance(database, Path):
            database = SqliteFile(database, "evaluation", durable=True, busy_s=10.0)
        self._database = database
        self._closed = False
        with self._writing():
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the database go; a second call does nothing."""
        self._closed = True
        if self._own_file:
            self._database.close()

    def state(self) -> tuple[int, ...]:
        """Something that changes whenever anything is written here, by any process."""
        with self._translated():
            return self._database.state("evaluation")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        if self._closed:
            raise EngineClosed()
        try:
            yield
        except UNUSABLE as error:
            damaged = _DAMAGED if is_damage(error) else None
            raise self._unusable(*(damaged or cause_at(self._database.place, error))) from None

    def _unusable(self, cause: str, advice: str) -> EvaluationError:
        return EvaluationError.unusable(path=self._database.place, cause=cause, advice=advice)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._translated(), self._database.reading() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._translated(), self._database.writing() as connection:
            yield connection

    def _rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        with self._reading() as connection:
            return connection.execute(query).all()

    def _damaged_entry(self) -> EvaluationError:
        advice = N_("Restore it from a backup, or delete the set or batch that cannot be read")
        return self._unusable(N_("an entry is damaged"), advice)

    def _read(self, data: Any, read: Callable[[Any], Any]) -> Any:
        try:
            return read(json.loads(data))
        except (ValueError, TypeError, KeyError, WorkbenchError):
            raise self._damaged_entry() from None


def now() -> str:
    """The present moment: ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def require_readable(collection: str) -> None:
    """Raise ``UnknownCollection`` where who acts may not read it: nothing is left in it by those outside."""
    if not current_user().may_read(collection):
        raise UnknownCollection(name=collection)


def visible_name(name: str) -> str:
    """A name without the spaces around it; raises ``EvaluationError`` for an empty, too long or unprintable one."""
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= LONGEST_NAME or not trimmed.isprintable():
        raise EvaluationError.bad_name(name=name, longest=LONGEST_NAME)
    return trimmed


def stored_json(value: Any) -> str:
    """A value as it is kept in a column."""
    return clean(json.dumps(value, ensure_ascii=False, default=dict))
