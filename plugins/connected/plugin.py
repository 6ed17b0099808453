"""Connected: Milvus collections that other programs made, searched under names of one's own and only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.messages import N_
from engine.plugins import Plugin

if TYPE_CHECKING:
    from engine.database.moving import MovedTable
    from engine.database.opening import Databases
    from engine.settings import Settings


def _tables(settings: Settings, source: Databases, target: Databases) -> Callable[[], MovedTable]:
    from engine.knowledge.foreign_kept import kept_connections
    from plugins.connected.moving import ConnectionMove

    return ConnectionMove.planned(kept_connections(settings, source), kept_connections(settings, target)).done


PLUGIN = Plugin(
    name="connected",
    title=N_("Collections of other programs"),
    tables=_tables,
)
