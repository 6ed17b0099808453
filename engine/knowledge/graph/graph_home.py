"""Place of this machine's knowledge graphs: a file of the data folder, unless a plug-in has another."""

from __future__ import annotations

from engine.knowledge.graph.place import GraphHome
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.plugins import plugins
from engine.settings import Settings

_FILE = "graphs.db"


def graph_home(settings: Settings) -> GraphHome:
    """Return the place that the settings choose."""
    offered = (plugin.graphs(settings) for plugin in plugins() if plugin.graphs is not None)
    return next((home for home in offered if home is not None), _in_file(settings))


def _in_file(settings: Settings) -> GraphHome:
    path = settings.data_dir / _FILE
    # Collections of another passage store may have the same names, and the file stays where it is.
    facts = {"kind": "graph_file", "path": str(path)}
    return GraphHome(facts, lambda: SqliteGraphs(path, settings.store_space), path)
