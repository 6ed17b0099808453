"""Which store keeps the knowledge graphs of this machine: a file of the data folder, or the server of the settings."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from engine.errors import GraphDriverMissing
from engine.knowledge.graph.place import GraphPlace
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.roles.graph import GraphStore
from engine.settings import Settings

_FILE = "graphs.db"


class KeptGraphs(GraphStore, Protocol):
    """A store of graphs that can also say where they are kept."""

    async def look(self) -> GraphPlace: ...


def graph_file(settings: Settings) -> Path | None:
    """The file of the graphs; None where a server keeps them."""
    return None if settings.neo4j_uri else settings.data_dir / _FILE


def graph_store(settings: Settings) -> KeptGraphs:
    """The store of the settings; nothing is opened before the first call.

    Raises ``GraphDriverMissing`` where a server is set and the package for it is not installed.
    """
    path = graph_file(settings)
    if path is not None:
        # Collections of another passage store may have the same names, and the file stays where it is.
        return SqliteGraphs(path, settings.store_space)
    if find_spec("neo4j") is None:
        raise GraphDriverMissing(package="neo4j")
    from engine.knowledge.graph.neo4j_store import Neo4jGraphs

    space = settings.store_space or str(settings.store_path.absolute())
    password = settings.neo4j_password.get_secret_value()
    return Neo4jGraphs(settings.neo4j_uri, settings.neo4j_user, password, database=settings.neo4j_database, space=space)
