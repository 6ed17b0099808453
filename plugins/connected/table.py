"""The table of connections in a database that replicas share, each with its token encrypted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from sqlalchemy import delete, select

from engine.database.base import Database, among, put
from engine.database.faults import UNUSABLE, cause_of
from engine.database.tables import CONNECTIONS
from engine.errors import StoreError
from plugins.connected.errors import ConnectionsDamaged, SecretKeyUnfit
from plugins.connected.file import UNREADABLE, connection_of, plain_connection
from plugins.connected.sealing import Sealing
from plugins.connected.values import Connection

_Rows = Mapping[str, tuple[str, str]]
_ALL = select(CONNECTIONS.c.name, CONNECTIONS.c.data, CONNECTIONS.c.secret)


class ConnectionTable:
    """One row a connection, so that replicas which change different ones do not undo each other's work."""

    shared = True

    def __init__(self, database: Database, sealing: Sealing) -> None:
        self._database = database
        self._sealing = sealing
        self.place = database.place
        self._rows: _Rows | None = None
        self._known: dict[str, Connection] = {}
        self._fault: StoreError | None = None

    def read(self) -> tuple[dict[str, Connection], StoreError | None]:
        """Connections by name, and what was wrong; nothing is decrypted again that did not change."""
        try:
            self._sealing.renew()
            with self._database.reading() as connection:
                rows = {name: (data, secret) for name, data, secret in connection.execute(_ALL)}
                if rows != self._rows or self._fault is not None:
                    opened = {name: self._sealing.open(connection, secret) for name, (_, secret) in rows.items()}
                    self._take(rows, opened)
        except SecretKeyUnfit as error:
            return {}, error
        except UNUSABLE as error:
            return {}, self._unusable(error)
        return dict(self._known), self._fault

    def write(self, connections: Iterable[Connection]) -> None:
        """Write what differs from what was last read; raises ``ConnectionsDamaged`` and ``SecretKeyUnfit``."""
        wanted = {item.name: item for item in connections}
        changed = [item for name, item in wanted.items() if self._known.get(name) != item]
        try:
            with self._database.writing() as connection:
                gone = self._known.keys() - wanted.keys()
                connection.execute(delete(CONNECTIONS).where(among(connection, CONNECTIONS.c.name, gone)))
                rows = []
                for item in changed:
                    plain = plain_connection(item)
                    secret = self._sealing.seal(connection, plain.pop("token"))
                    rows.append({"name": item.name, "data": json.dumps(plain), "secret": secret})
                put(connection, CONNECTIONS, rows)
        except UNUSABLE as error:
            raise self._unusable(error) from error
        self._known, self._rows = wanted, None

    def _take(self, rows: _Rows, tokens: Mapping[str, str]) -> None:
        self._rows, self._known, self._fault = rows, {}, None
        for name, (data, _) in rows.items():
            try:
                self._known[name] = connection_of({**json.loads(data), "token": tokens[name]})
            except UNREADABLE:
                why = "an entry is not as this program writes it"
                self._fault = ConnectionsDamaged.bad_row(name=name, place=self.place, why=why)

    def _unusable(self, error: Exception) -> ConnectionsDamaged:
        cause, advice = cause_of(error)
        return ConnectionsDamaged.no_database(place=self.place, cause=cause, advice=advice)
