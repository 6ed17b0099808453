"""Copying connections between the file of a machine and the table of a database, where their tokens are encrypted."""

from __future__ import annotations

import json
from dataclasses import dataclass

from engine.database.moving import Checksum, MovedTable
from engine.errors import RecordError
from plugins.connected.file import plain_connection
from plugins.connected.stored_connections import KeptConnections
from plugins.connected.values import Connection

_NAME = "connections"


@dataclass(frozen=True, slots=True)
class ConnectionMove:
    """Plan of a copy, after a check of both sides."""

    found: dict[str, Connection]
    present: dict[str, Connection]
    source: KeptConnections
    target: KeptConnections

    @classmethod
    def planned(cls, source: KeptConnections, target: KeptConnections) -> ConnectionMove:
        """Read both; raises ``RecordError`` where the target has others, and what makes one of them unreadable."""
        both = []
        for side in (source, target):
            found, fault = side.read()
            if fault is not None:
                raise fault
            both.append(found)
        if not both[1].items() <= both[0].items():
            raise RecordError.move_other_rows(table=_NAME, source=source.place, target=target.place)
        return cls(both[0], both[1], source, target)

    def done(self) -> MovedTable:
        """Write what is missing, and read it again; raises ``StoreError`` and ``RecordError``."""
        if self.found != self.present:
            self.target.write(self.found.values())
        if self.target.read()[0] != self.found:
            raise RecordError.move_differs(table=_NAME, source=self.source.place, target=self.target.place)
        written = len(self.found) - len(self.present)
        return MovedTable(_NAME, len(self.found), written, _checksum(self.found).text)


def _checksum(connections: dict[str, Connection]) -> Checksum:
    """Without tokens: what is printed should say nothing of them."""
    found = Checksum()
    for name, item in connections.items():
        found.add((name, json.dumps({**plain_connection(item), "token": ""}, sort_keys=True)))
    return found
