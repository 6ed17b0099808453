"""Copying all records from one database into another of either kind, block by block, with counts and checksums.

What is there already is compared and left, so a copy that was cut off is finished by doing it once more; rows that are
not those of the source are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table, func, insert, select

from engine.database.base import Database, clean
from engine.database.databases import Databases
from engine.database.faults import UNUSABLE, cause_or_damage
from engine.database.moving import Checksum, MovedTable, Row
from engine.database.tables import INSTANCES, MODEL_PACES, MODEL_SLOTS, tables_of
from engine.errors import RecordError

PASSING = frozenset({INSTANCES.name, MODEL_SLOTS.name, MODEL_PACES.name})
"""Tables whose rows mean nothing outside of the database that they stand in; never copied."""
_BLOCK = 500
"""Rows of one transaction, and of what is in memory."""

CopyProgress = Callable[[str, int, int], None]
"""Hears of a table's name, of rows done and of all its rows."""


def move(source: Databases, target: Databases, progress: CopyProgress = lambda *_: None) -> list[MovedTable]:
    """Copy every table that both have a place for, those first that others refer to.

    Nothing is written before every row of the target was found in the source. Raises ``RecordError`` where that is not
    so, where a workbench uses either of them, or where one cannot be used; ``RecordError.database_newer``.
    """
    require_free(source, target)
    here, there = source.by_part, target.by_part
    pairs = [
        (table, here[table.info["part"]], there[table.info["part"]])
        for table in tables_of(here.keys() & there.keys())
        if table.name not in PASSING
    ]
    for table, one, other in pairs:
        _require_own(table, one, other)
    moved = [_copy(table, one, other, progress) for table, one, other in pairs]
    for (table, one, other), item in zip(pairs, moved, strict=True):
        found = checksum_of(other, table)
        if (found.rows, found.text) != (item.rows, item.checksum):
            raise RecordError.move_differs(table=table.name, source=one.place, target=other.place)
    return moved


def require_free(source: Databases, target: Databases) -> None:
    """Raise ``RecordError`` where both are the same, or a workbench uses one of them."""
    _require_apart(source, target)
    for databases in (source, target):
        for database in databases.each:
            _require_unused(database)


def checksum_of(database: Database, table: Table) -> Checksum:
    """Read a whole table, a block at a time."""
    found = Checksum()
    with closing(_rows(database, table)) as rows:
        for row in rows:
            found.add(row)
    return found


def _require_apart(source: Databases, target: Databases) -> None:
    places = {database.place for database in source.each}
    for database in target.each:
        if database.place in places:
            raise RecordError.move_same(place=database.place)


def _require_unused(database: Database) -> None:
    with _usable(database):
        if database.exists and database.owners.living():
            raise RecordError.move_in_use(place=database.place)


def _require_own(table: Table, source: Database, target: Database) -> None:
    with closing(_rows(source, table)) as rows, closing(_rows(target, table)) as there:
        for _ in _compared(table, source, target, rows, there):
            pass


def _copy(table: Table, source: Database, target: Database, progress: CopyProgress) -> MovedTable:
    """Write the rows that the target does not have; each block is there whole or not at all."""
    found, written, block = Checksum(), 0, []
    total = _count(source, table)
    with closing(_rows(source, table)) as rows, closing(_rows(target, table)) as there:
        progress(table.name, 0, total)
        for row, present in _compared(table, source, target, rows, there, all_rows=True):
            found.add(row)
            if not present:
                block.append(row)
            if len(block) == _BLOCK:
                written += _write(target, table, block)
                block = []
            if not found.rows % _BLOCK:
                progress(table.name, found.rows, total)
    written += _write(target, table, block)
    progress(table.name, found.rows, total)
    return MovedTable(table.name, found.rows, written, found.text)


def _write(target: Database, table: Table, block: list[Row]) -> int:
    if block:
        names = [column.name for column in table.columns]
        with _usable(target), target.writing() as connection:
            # Not `put`: a row that appeared since it was compared belongs to another writer.
            connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in block])
    return len(block)


def _compared(
    table: Table,
    source: Database,
    target: Database,
    rows: Iterator[Row],
    there: Iterator[Row],
    *,
    all_rows: bool = False,
) -> Iterator[tuple[Row, bool]]:
    """Rows of the source, each with whether the target has it; both come in the order of the key.

    Ends with the last row of the target unless ``all_rows`` is set. Raises ``RecordError`` at a row of the target that
    the source does not have.
    """
    places = [list(table.columns).index(column) for column in table.primary_key]

    def key(row: Row) -> Row:
        return tuple(row[place] for place in places)

    other = next(there, None)
    for row in rows:
        if other is None and not all_rows:
            return
        present = other is not None and key(other) == key(row)
        if other is not None and (other != row if present else key(other) < key(row)):
            break
        if present:
            other = next(there, None)
        yield row, present
    if other is not None:
        raise RecordError.move_other_rows(table=table.name, source=source.place, target=target.place)


def _rows(database: Database, table: Table) -> Generator[Row]:
    """All rows of one moment in the order of the key, as both kinds of database can hold them."""
    with _usable(database):
        if not database.exists:
            return
        with database.reading() as connection:
            query = select(table).order_by(*table.primary_key).execution_options(yield_per=_BLOCK)
            with connection.execute(query) as found:
                for row in found:
                    yield tuple(_held(value) for value in row)


def _count(database: Database, table: Table) -> int:
    with _usable(database):
        if not database.exists:
            return 0
        with database.reading() as connection:
            return connection.scalar(select(func.count()).select_from(table)) or 0


def _held(value: Any) -> Any:
    """A value as both kinds give it back: texts that have a UTF-8 form, and times of UTC."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


@contextmanager
def _usable(database: Database) -> Iterator[None]:
    try:
        yield
    except UNUSABLE as error:
        cause, advice = cause_or_damage(error)
        raise RecordError.move_unusable(place=database.place, cause=cause, advice=advice) from error
