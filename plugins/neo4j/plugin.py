"""Neo4j: a server that keeps the knowledge graphs instead of a file of the data folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.messages import N_
from engine.plugins import Plugin

# Imported with the declaration: records hold these errors, and their codes lead to their messages.
from plugins.neo4j.errors import DRIVER_MISSING
from plugins.neo4j.settings import Neo4jSettings

if TYPE_CHECKING:
    from engine.knowledge.graph.place import GraphHome, KeptGraphs
    from engine.settings import Settings


def _graphs(settings: Settings) -> GraphHome | None:
    from engine.knowledge.graph.place import GraphHome
    from engine.system.masking import masked_addresses

    own = settings.of(Neo4jSettings)
    if not own.neo4j_uri:
        return None

    def open_store() -> KeptGraphs:
        if PLUGIN.missing:
            raise DRIVER_MISSING(package=PLUGIN.packages)
        from plugins.neo4j.store import Neo4jGraphs

        space = settings.store_space or str(settings.store_path.absolute())
        password = own.neo4j_password.get_secret_value()
        return Neo4jGraphs(own.neo4j_uri, own.neo4j_user, password, database=own.neo4j_database, space=space)

    return GraphHome({"kind": PLUGIN.name, "address": masked_addresses(own.neo4j_uri)}, open_store)


PLUGIN = Plugin(
    name="neo4j",
    title=N_("Neo4j"),
    modules=("neo4j",),
    packages="neo4j",
    settings=Neo4jSettings,
    graphs=_graphs,
)
