"""Storage of connections: a file of this machine, or a table that several machines share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from engine.database.databases import Databases
from engine.errors import WorkbenchError
from engine.knowledge.connected import FILE
from engine.settings import Settings
from plugins.connected.file import ConnectionFile
from plugins.connected.sealing import Sealing
from plugins.connected.table import ConnectionTable
from plugins.connected.values import Connection


class KeptConnections(Protocol):
    """Connections with their tokens; used by one caller at a time."""

    place: str
    """What messages call it."""
    shared: bool
    """Whether others may change them while this process runs, so that they are to be read again now and then."""

    def read(self) -> tuple[dict[str, Connection], WorkbenchError | None]:
        """Connections by name, and what was wrong, with which the others are there all the same; raises nothing."""

    def write(self, connections: Iterable[Connection]) -> None:
        """Keep these instead of those that were last read; what others have added since stays.

        Raises ``StoreError`` where they cannot be kept.
        """


def kept_connections(settings: Settings, databases: Databases) -> KeptConnections:
    """The table of a PostgreSQL database, or the file of the data folder."""
    shared = databases.by_part.get("team")
    if shared is None:
        return ConnectionFile(settings.data_dir / FILE)
    return ConnectionTable(shared, Sealing(shared, settings))
