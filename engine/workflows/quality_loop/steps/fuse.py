"""The fuse step: the lists of a round become one, and every candidate gets its rank and its gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.flow.context import NodeTrace, RunContext
from engine.model.events import Fused
from engine.model.values import Round
from engine.retrieval.fuse import fuse, lists_of


async def fuse_lists(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Fuse by the round's own routing; candidates of a former round come out as they went in."""
    rounds: tuple[Round, ...] = state["rounds"]
    current = rounds[-1]
    assert current.routing is not None
    candidates = fuse(lists_of(current.candidates), current.routing, run.config)
    run.emit(Fused(round=current.index, candidates=candidates))
    return {"rounds": (*rounds[:-1], replace(current, candidates=candidates)), "fused_results": candidates}
