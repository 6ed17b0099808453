"""Connected: Milvus collections that other programs made, searched under names of one's own and only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.messages import N_
from engine.model.later import later
from engine.plugins import Plugin

# Imported with the declaration: records hold these errors, and their codes lead to their messages.
from plugins.connected import errors  # noqa: F401

if TYPE_CHECKING:
    from engine.database.databases import Databases
    from engine.database.moving import MovedTable
    from engine.settings import Settings


def _tables(settings: Settings, source: Databases, target: Databases) -> Callable[[], MovedTable]:
    from plugins.connected.moving import ConnectionMove
    from plugins.connected.stored_connections import kept_connections

    return ConnectionMove.planned(kept_connections(settings, source), kept_connections(settings, target)).done


PLUGIN = Plugin(
    name="connected",
    title=N_("Collections of other programs"),
    open=later("plugins.connected.connections:Connections"),
    collections=later("plugins.connected.collections:ForeignCollections"),
    tables=_tables,
    panels={
        "collection": later("plugins.connected.disconnecting:addition"),
        "knowledge": later("plugins.connected.disconnecting:view"),
    },
)
