"""How the store of knowledge graphs is."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import GraphStoreError
from engine.knowledge.graph.opening import graph_home
from engine.model.host import PartHealth
from engine.model.values import Fault
from engine.running.resources import Resources


async def graph_health(resources: Resources) -> Sequence[PartHealth]:
    """One part; a file that is not there yet is well, and is not made for a look."""
    facts = dict(graph_home(resources.settings).facts)
    try:
        found = await resources.knowledge.graphs.look()
    except GraphStoreError as error:
        return [PartHealth("graphs", "down", facts, Fault.of(error))]
    facts |= {"version": found.version, "graphs": str(found.graphs)}
    if found.size is not None:
        facts["bytes"] = str(found.size)
    return [PartHealth("graphs", "ok", facts)]
