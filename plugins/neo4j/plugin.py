"""Neo4j: knowledge graphs on a server, through its official driver (GH-03)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.messages import N_
from engine.plugins import Plugin
from plugins.neo4j.errors import GraphDriverMissing
from plugins.neo4j.settings import Neo4jSettings

if TYPE_CHECKING:
    from engine.settings import Settings
    from plugins.neo4j.store import Neo4jGraphs


def _graphs(settings: Settings) -> Callable[[], Neo4jGraphs] | None:
    return partial(_opened, settings) if settings.of(Neo4jSettings).neo4j_uri else None


def _opened(settings: Settings) -> Neo4jGraphs:
    if find_spec("neo4j") is None:
        raise GraphDriverMissing(package="neo4j")
    from plugins.neo4j.store import Neo4jGraphs

    chosen = settings.of(Neo4jSettings)
    space = settings.store_space or str(settings.store_path.absolute())
    password = chosen.neo4j_password.get_secret_value()
    return Neo4jGraphs(chosen.neo4j_uri, chosen.neo4j_user, password, database=chosen.neo4j_database, space=space)


PLUGIN = Plugin(
    name="neo4j",
    title=N_("Neo4j"),
    modules=("neo4j",),
    packages="neo4j",
    settings=Neo4jSettings,
    graphs=_graphs,
)
