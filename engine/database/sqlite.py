"""Tables of one part in an SQLite file, which several processes of one machine may use at once."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import (
    Cast,
    ColumnElement,
    Connection,
    Engine,
    LargeBinary,
    NullPool,
    Table,
    create_engine,
    event,
    func,
    inspect,
    select,
)

from engine.database.base import Database
from engine.database.faults import UNUSABLE
from engine.database.owners import FileOwners
from engine.database.signals import NoSignals
from engine.database.tables import Part, tables_of
from engine.database.versions import HEAD, migrate, require_known

OpenFile = Callable[[Path], sqlite3.Connection]
Identity = tuple[int, int]


class SqliteFile(Database):
    """One file; with ``durable`` a write that returned outlives a power cut, not only the end of the process.

    Where the file is damaged, moved or deleted, the next write opens what stands there then.
    """

    shared = False

    def __init__(
        self,
        path: Path,
        part: Part,
        *,
        durable: bool = False,
        busy_s: float = 5.0,
        open_file: OpenFile | None = None,
    ) -> None:
        """``busy_s`` is how long a write waits for another process that is writing."""
        self.path = path
        self.place = str(path)
        self._owners = FileOwners(path.parent / "instances")
        self._part: Part = part
        self._busy_s = busy_s
        self._guard = threading.RLock()
        self._kept: Connection | None = None
        self._identity: Identity | None = None
        self._used: Identity | None = None
        """The first file that was used, until it is set aside; one that stands there later lacks what it held."""
        self._opening = 0
        opened = open_file or partial(connect, durable=durable, busy_s=busy_s)
        self._writers = _engine(partial(self._open_for_writing, opened), "BEGIN IMMEDIATE")
        self._readers = _engine(self._open_for_reading, "BEGIN")

    @property
    def owners(self) -> FileOwners:
        return self._owners

    @property
    def signals(self) -> NoSignals:
        return NoSignals()

    @property
    def exists(self) -> bool:
        return self.path.exists()

    @property
    def opening(self) -> int:
        return self._opening

    @property
    def gone(self) -> bool:
        return self._used is not None and identity_of(self.path) != self._used

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        self._used = self._used or identity_of(self.path)
        with self._readers.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._guard:
            connection = self._current()
            try:
                with connection.begin():
                    yield connection
            except UNUSABLE:
                # A new connection has no open transaction, and meets a disk that was mended.
                self._drop()
                raise

    def set_aside(self) -> str:
        """Rename a damaged file and its write-ahead log to ``<name>.damaged-<time>``; returns the new name.

        Empty where another process has replaced the file in the meantime: what stands there now is not the damaged one.
        """
        with self._guard:
            self._drop()
            if identity_of(self.path) != self._identity:
                return ""
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
            target = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
            for suffix in ("-wal", "-shm", ""):
                more = self.path.with_name(self.path.name + suffix)
                if more.exists():
                    os.replace(more, target.with_name(target.name + suffix))
            self._used = None
            return target.name

    def size(self) -> int:
        return self.path.stat().st_size

    def state(self, part: Part) -> tuple[int, ...]:
        found: list[int] = []
        for file in (self.path, self.path.with_name(f"{self.path.name}-wal")):
            with suppress(OSError):
                facts = file.stat()
                found += [facts.st_mtime_ns, facts.st_size]
        return tuple(found)

    def turn(self, name: str) -> AbstractContextManager[bool]:
        return nullcontext(True)

    def found_in(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        return func.instr(func.casefolded(Cast(column, LargeBinary)), text) > 0

    def readable(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        return func.json_valid(column)

    def close(self) -> None:
        with self._guard:
            self._drop()

    # -- for writing --------------------------------------------------------------------------------------------

    def _current(self) -> Connection:
        """The open connection; a file that was moved or deleted under it would take what is written without a word."""
        if self._kept is not None and identity_of(self.path) != self._identity:
            self._drop()
        if self._kept is None:
            if not self._opening:
                # Not later: a folder that was taken away would be made again without what was in it.
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._identity = identity_of(self.path)
            connection = self._writers.connect()
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._kept = connection
            self._identity = identity_of(self.path)
            self._used = self._used or self._identity
            self._opening += 1
        return self._kept

    def _open_for_writing(self, open_file: OpenFile) -> sqlite3.Connection:
        connection = open_file(self.path)
        try:
            require_known(self.place, revision_of(connection))
            connection.execute("PRAGMA journal_mode = WAL")
            if revision_of(connection) == HEAD:
                for table in tables_of((self._part,)):
                    # Walks each, so that a damaged page shows now and not in the middle of a listing.
                    connection.execute(_walk(table)).fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
        """Make or lift the tables where they are not of this revision."""
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        if revision_of(raw) == HEAD:
            return
        with connection.begin():
            # Read again under the lock: another process may have made or lifted the file since.
            found = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
            require_known(self.place, found)
            migrate(connection, (self._part,), found or (1 if inspect(connection).get_table_names() else 0))
            connection.exec_driver_sql(f"PRAGMA user_version = {HEAD}")

    def _drop(self) -> None:
        if self._kept is not None:
            with suppress(*UNUSABLE):
                self._kept.close()
            self._kept = None

    # -- for reading --------------------------------------------------------------------------------------------

    def _open_for_reading(self) -> sqlite3.Connection:
        uri = self.path.absolute().as_uri()
        try:
            return self._readable(f"{uri}?mode=rw")
        except sqlite3.OperationalError:
            # In a folder that cannot be written SQLite cannot place its shared-memory file next to a quiet one.
            if not self.path.is_file() or self.path.with_name(f"{self.path.name}-wal").exists():
                raise
            return self._readable(f"{uri}?immutable=1")

    def _readable(self, uri: str) -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, timeout=self._busy_s, isolation_level=None)
        try:
            revision = revision_of(connection)
            require_known(self.place, revision)
            # Bytes that are no UTF-8 are the damage of one row; refused, they would hide all the others.
            connection.text_factory = _text
            connection.create_function("casefolded", 1, lambda data: _text(data or b"").casefold(), deterministic=True)
            if revision < HEAD:
                _see_as_present(connection, tables_of((self._part,)))
        except BaseException:
            connection.close()
            raise
        return connection


def connect(path: Path, *, durable: bool = False, busy_s: float = 5.0) -> sqlite3.Connection:
    """Open a file for writing, for any one thread at a time."""
    connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def identity_of(path: Path) -> Identity | None:
    """Return the identity of the file at a path, to notice that it was moved or deleted; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def revision_of(connection: sqlite3.Connection) -> int:
    """The revision that the file was written in; 0 for a new one, and for one of the first version of some parts."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _engine(creator: Callable[[], sqlite3.Connection], begin: str) -> Engine:
    engine = create_engine("sqlite://", creator=creator, poolclass=NullPool, execution_options={"among": _among})
    # The driver would begin a transaction only at the first change, so that what was read before no longer holds.
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _among(column: ColumnElement[str], wanted: list[str]) -> ColumnElement[bool]:
    return column.in_(select(func.json_each(json.dumps(wanted)).table_valued("value").c.value))


def _walk(table: Table) -> str:
    # A column that no index has, so that the pages of the table itself are read; of events there may be millions.
    if table.name == "events":
        return "SELECT run_id FROM events LIMIT 1"
    return f'SELECT count("{list(table.columns)[-1].name}") FROM "{table.name}" NOT INDEXED'  # noqa: S608 - our names


def _see_as_present(connection: sqlite3.Connection, tables: list[Table]) -> None:
    """Let a reader see a former file that it cannot lift, as in a folder that may only be read."""
    connection.execute("PRAGMA temp_store = MEMORY")
    for table in tables:
        present = {row[1] for row in connection.execute(f'PRAGMA main.table_info("{table.name}")')}
        columns = ", ".join(
            f'"{column.name}"' if column.name in present else f'{_default(column)} AS "{column.name}"'
            for column in table.columns
        )
        source = f'FROM main."{table.name}"' if present else "WHERE 0"
        connection.execute(f'CREATE TEMP VIEW "{table.name}" AS SELECT {columns} {source}')


def _default(column: ColumnElement[object]) -> str:
    default = getattr(column, "server_default", None)
    return "NULL" if default is None else f"'{getattr(default.arg, 'text', default.arg)}'"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
