"""All tables in one PostgreSQL database, which any number of processes and machines may use at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Text,
    any_,
    bindparam,
    create_engine,
    func,
    inspect,
    literal,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import ArgumentError

from engine.database.base import Database
from engine.database.faults import UNUSABLE, translators
from engine.database.tables import PARTS, Part, tables_of
from engine.database.versions import HEAD, migrate, require_known, revision_name
from engine.errors import InvalidSettings
from engine.messages import N_
from plugins.team.causes import postgres_cause
from plugins.team.errors import DRIVER_MISSING
from plugins.team.leases import LeaseOwners
from plugins.team.notifications import Notifications

if TYPE_CHECKING:
    import psycopg

_VARIABLE = "WORKBENCH_DATABASE_URL"
_MIGRATING = 0x5C_0A_6B
"""Number of the lock under which one replica makes or lifts the tables while the others wait."""
_CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
    "application_name": "workbench",
}
"""A server that went without a word is noticed after half a minute instead of hours, also with a query on its way."""
translators.append(postgres_cause)


class PostgresDatabase(Database):
    """One database for all parts; its connections are shared by all that a process does.

    Raises ``InvalidSettings`` for an address that is none, ``DRIVER_MISSING`` where psycopg is not installed.
    """

    shared = True

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._readers = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self.place = self._engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
        self._owners = LeaseOwners(self)
        self._signals = Notifications(self, self._connected)
        self._guard = threading.Lock()
        self._opening = 0

    @property
    def owners(self) -> LeaseOwners:
        return self._owners

    @property
    def signals(self) -> Notifications:
        return self._signals

    @property
    def exists(self) -> bool:
        return True

    @property
    def opening(self) -> int:
        return self._opening

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        self._require_prepared()
        with self._readers.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        self._require_prepared()
        with self._engine.begin() as connection:
            yield connection

    def size(self) -> int:
        with self.reading() as connection:
            return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)

    def state(self, part: Part) -> tuple[int, ...]:
        # A row carries the number of the transaction that wrote it.
        written = "SELECT count(*), coalesce(sum(xmin::text::bigint), 0) FROM {}"
        with self.reading() as connection:
            rows = [connection.execute(text(written.format(table.name))).one() for table in tables_of((part,))]
        return tuple(int(value) for row in rows for value in row)

    @contextmanager
    def turn(self, name: str) -> Iterator[bool]:
        self._require_prepared()
        key = func.hashtextextended(name, 0)
        # The server lets the lock go with its connection, however the process ends.
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            held = bool(connection.scalar(select(func.pg_try_advisory_lock(key))))
            try:
                yield held
            finally:
                if held:
                    _let_go(connection, key)

    def found_in(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        # In the language of the database: compared byte by byte, only the letters of ASCII have a case.
        return func.strpos(func.lower(column.collate("default")), func.lower(literal(text).collate("default"))) > 0

    def readable(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        # PostgreSQL checks its pages itself, and has a test for JSON only since version 16.
        return column.like("{%")

    def close(self) -> None:
        self._signals.close()
        self._owners.close()
        self._engine.dispose()

    def _connected(self) -> psycopg.Connection:
        """A connection of its own, apart from those that are lent."""
        import psycopg

        address = self._engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        return psycopg.connect(address, autocommit=True, **_CONNECTING)

    def _require_prepared(self) -> None:
        """Make or lift the tables at the first use that finds the server."""
        if self._opening:
            return
        with self._guard:
            if self._opening:
                return
            with self._engine.begin() as connection:
                connection.execute(select(func.pg_advisory_xact_lock(_MIGRATING)))
                found = _revision_of(connection)
                require_known(self.place, found)
                migrate(connection, PARTS, found)
                if not found:
                    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
                    connection.execute(
                        text("INSERT INTO alembic_version VALUES (:head)"), {"head": revision_name(HEAD)}
                    )
            self._opening = 1


def _among(column: ColumnElement[str], wanted: list[str]) -> ColumnElement[bool]:
    return column == any_(bindparam(None, wanted, type_=postgresql.ARRAY(Text)))


def _let_go(connection: Connection, key: ColumnElement[int]) -> None:
    """Unlock; a connection that was lost has let its lock go with it, and what was done under it is done."""
    try:
        connection.execute(select(func.pg_advisory_unlock(key)))
    except UNUSABLE:
        connection.invalidate()


def _revision_of(connection: Connection) -> int:
    """The revision of the tables there; 0 where there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return 0
    return int(connection.scalar(text("SELECT version_num FROM alembic_version")) or 0)


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in ("postgresql", "postgres"):
            raise ArgumentError
        return create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            # A connection that the server closed, as at its restart, is noticed before it is used.
            pool_pre_ping=True,
            execution_options={"among": _among},
            pool_size=5,
            max_overflow=15,
            connect_args=_CONNECTING,
        )
    except (ArgumentError, ValueError):
        why = N_("it must be an address such as `postgresql://user:password@host/name`")
        raise InvalidSettings.unusable(name=_VARIABLE, why=why) from None
    except ImportError:
        raise DRIVER_MISSING(package="psycopg[binary]") from None
