"""What surrounds the candidates of a run in their sources, read before the answer is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import StoreError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext
from engine.model.events import Surrounded
from engine.model.surroundings import from_store
from engine.model.values import Surrounding

_LIMIT_S = 10.0
"""Longest wait for the store."""


async def surroundings(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> tuple[Surrounding, ...] | None:
    """Read what every candidate could bring along, those that did not pass too: a what-if may give them.

    None where nothing is asked for, or could be read: a store that fails costs a run this alone, with a warning.
    """
    candidates = from_store(state.get("rounds", ()))
    if run.config.expand == "none" or not candidates:
        return None
    known: tuple[Surrounding, ...] | None = state.get("surroundings")
    try:
        async with run.within(_LIMIT_S):
            read = await run.roles.retriever.around(tuple(candidates.values()), run.config.expand)
    except TimeoutError:
        run.warn(StoreError.slow(seconds=_LIMIT_S), trace.node)
        return known
    except WorkbenchError as failure:
        run.warn(failure, trace.node)
        return known
    there = {*candidates, *(item.id for item in known or ())}
    fresh = tuple(item for item in read if item.id not in there)
    run.emit(Surrounded(surroundings=fresh))
    return (*(known or ()), *fresh)
