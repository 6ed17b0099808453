"""Which store keeps the knowledge graphs of this machine: a file of the data folder, or one that a plug-in has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from engine.knowledge.graph.place import GraphPlace
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.plugins import plugins
from engine.roles.graph import GraphStore
from engine.settings import Settings

_FILE = "graphs.db"


class KeptGraphs(GraphStore, Protocol):
    """A store of graphs that can also say where they are kept."""

    @property
    def where(self) -> Mapping[str, str]:
        """Its ``kind``, and its ``path`` or its ``address``."""
        ...

    async def look(self) -> GraphPlace: ...


def graph_file(settings: Settings) -> Path | None:
    """The file of the graphs; None where they are kept somewhere else."""
    return None if _opener(settings) else settings.data_dir / _FILE


def graph_store(settings: Settings) -> KeptGraphs:
    """The store of the settings; nothing is opened before the first call.

    Raises ``GraphStoreError`` where a package is missing that it needs.
    """
    if (opener := _opener(settings)) is not None:
        return opener()
    # Collections of another passage store may have the same names, and the file stays where it is.
    return SqliteGraphs(settings.data_dir / _FILE, settings.store_space)


def _opener(settings: Settings) -> Callable[[], KeptGraphs] | None:
    found = (plugin.graphs(settings) for plugin in plugins() if plugin.graphs is not None)
    return next((opener for opener in found if opener is not None), None)
