"""Connected: Milvus collections that other programs made, searched under names of one's own and only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.messages import N_
from engine.plugins import Inside, Plugin

# Imported with the declaration: records hold these errors, and their codes lead to their messages.
from plugins.connected import errors  # noqa: F401

if TYPE_CHECKING:
    from components.common.i18n import Words
    from engine.database.databases import Databases
    from engine.database.moving import MovedTable
    from engine.engine import Engine
    from engine.settings import Settings
    from pages.parts.knowledge.state import AddedView, Addition
    from plugins.connected.collections import ForeignCollections
    from plugins.connected.connections import Connections


def _open(engine: Engine, inside: Inside) -> Connections:
    from plugins.connected.connections import Connections

    return Connections(engine, inside.loop)


def _collections(settings: Settings, databases: Databases) -> ForeignCollections:
    from plugins.connected.collections import ForeignCollections

    return ForeignCollections(settings, databases)


def _tables(settings: Settings, source: Databases, target: Databases) -> Callable[[], MovedTable]:
    from plugins.connected.moving import ConnectionMove
    from plugins.connected.stored_connections import kept_connections

    return ConnectionMove.planned(kept_connections(settings, source), kept_connections(settings, target)).done


def _addition(engine: Engine, words: Words) -> Addition:
    from plugins.connected.disconnecting import addition

    return addition(engine, words)


def _view(engine: Engine, words: Words) -> AddedView:
    from plugins.connected.disconnecting import view

    return view(engine, words)


PLUGIN = Plugin(
    name="connected",
    title=N_("Collections of other programs"),
    open=_open,
    collections=_collections,
    tables=_tables,
    panels={"collection": _addition, "knowledge": _view},
)
