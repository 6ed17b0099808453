"""What tests of the core and of other plug-ins need of it (``tests/support/brought.py``)."""

from typing import Any

from engine.database.databases import Databases
from engine.engine import Engine
from engine.settings import Settings


def connect_as(engine: Engine, uri: str, collection: str, name: str) -> None:
    """Connect a collection with the fields that are proposed."""
    from plugins.connected.connections import Connections
    from plugins.connected.values import Connection, Place

    fields = Connections.of(engine).inspect(Place(uri), collection).proposed
    assert fields is not None
    Connections.of(engine).connect(Connection(name, Place(uri), collection, fields, 0, "", "hashing"))


def keep(settings: Settings, databases: Databases) -> None:
    """Leave a connection with a token."""
    from plugins.connected.stored_connections import kept_connections
    from tests.plugins.connected.test_kept_connections import AWAY

    kept_connections(settings, databases).write([AWAY])


def kept(settings: Settings, databases: Databases) -> Any:
    """Return the connections of an installation, which are those that were left."""
    from plugins.connected.stored_connections import kept_connections
    from tests.plugins.connected.test_kept_connections import AWAY

    found = kept_connections(settings, databases).read()
    assert found == ({"wiki": AWAY}, None)
    return found


KEPT = {"connections": (keep, kept)}
WAITS = {("plugins/connected/background_calls.py", "result"): "it is over already"}
