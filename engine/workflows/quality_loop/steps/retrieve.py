"""The retrieve step of the quality-control loop: every routed kind searched at the same time, none lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import StoreError, WorkbenchError
from engine.flow.context import NodeTrace, Retrieval, RunContext, own_roles
from engine.model.events import Retrieved
from engine.model.values import Round, Routing, SourceKind
from engine.retrieval.fuse import listed
from engine.workflows.quality_loop.policy import deadline_s
from engine.workflows.quality_loop.roles import QualityRoles
from engine.workflows.quality_loop.steps.common import bounded, nothing_new


async def retrieve(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Open a round with the lists of all routed kinds; where there is nothing new to search, the former ones stand.

    A kind that cannot be searched costs its own passages alone; that none can be fails a run without former rounds.
    """
    rounds: tuple[Round, ...] = state["rounds"]
    routing: Routing = state["routing"]
    rewrites = state.get("rewrites", ())
    left_s = bounded(run, trace)
    found = {} if nothing_new(state) or left_s <= 0 else await _search(routing, run, trace, first=not rounds)
    opened = Round(
        index=len(rounds),
        query=state["query"],
        candidates=(),
        rewrite_input=rewrites[-1].input_hash if rewrites else "",
        routing=routing,
    )
    if found:
        any_list = next(iter(found.values()))
        opened = replace(
            opened,
            candidates=listed({kind: item.passages for kind, item in found.items()}, run.config),
            floor=any_list.floor,
            anchors=any_list.anchors,
        )
    elif rounds:
        former = rounds[-1]
        opened = replace(
            opened,
            candidates=former.candidates,
            floor=former.floor,
            anchors=former.anchors,
            # The candidates got their places by this routing, and by no other.
            routing=former.routing,
            searched=False,
        )
    else:
        opened = replace(opened, searched=False)
    run.emit(Retrieved.opening(opened))
    return {"rounds": (*rounds, opened)}


async def _search(routing: Routing, run: RunContext, trace: NodeTrace, *, first: bool) -> dict[SourceKind, Retrieval]:
    kinds = tuple(routing.shares)
    answers = await run.together(*(_list(routing.query_for(kind), kind, run, trace) for kind in kinds))
    found = {kind: item for kind, item in zip(kinds, answers, strict=True) if isinstance(item, Retrieval)}
    failures = [item for item in answers if isinstance(item, WorkbenchError)]
    slow = [item for item in failures if item.code == StoreError.slow.code]
    if first and not found and len(slow) < len(failures):
        raise next(item for item in failures if item not in slow)
    # One store that is gone is one fault, however many lists it owes.
    for failure in {(item.code, item.fact): item for item in failures}.values():
        run.warn(failure, trace.node)
    return found


async def _list(query: str, kind: SourceKind, run: RunContext, trace: NodeTrace) -> Retrieval | WorkbenchError:
    try:
        async with run.within(trace.time_left_s()):
            return await own_roles(run, QualityRoles).retriever.search_kind(query, kind, run.config.fetch_k)
    except TimeoutError:
        return StoreError.slow(seconds=deadline_s(run.config))
    except WorkbenchError as failure:
        # Of the store, or of the model that embeds the query.
        return failure
