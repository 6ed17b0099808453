"""The retrieve step: one search, every candidate gated and none lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError, StoreError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.decide import gated
from engine.model.events import Retrieved
from engine.model.values import Round


async def retrieve(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Search the current query; where there is nothing new to search, the former candidates stand.

    A rewrite that repeated itself or failed, or a spent budget, opens a round all the same, so that the decision
    after it has a place of its own in the record.
    """
    rounds: tuple[Round, ...] = state.get("rounds", ())
    parts = await _parts(state["question"], rounds, run, trace)
    rewrites = state.get("rewrites", ())
    last = rewrites[-1] if rewrites else None
    stale = last is not None and (last.repeated or last.failed)
    fresh = None if stale or run.clock.left_s() <= 0 else await _search(state["query"], run, trace)
    rewrite_input = last.input_hash if last else ""
    if fresh is None:
        former = rounds[-1] if rounds else Round(index=0, query=state["query"], candidates=())
        opened = Round(
            index=len(rounds),
            query=state["query"],
            # Gated again: in a branch the former round had the gates of other settings.
            candidates=gated([item.passage for item in former.candidates], run.config),
            floor=former.floor,
            anchors=former.anchors,
            searched=False,
            rewrite_input=rewrite_input,
            parts=parts,
        )
    else:
        opened = Round(
            index=len(rounds),
            query=state["query"],
            candidates=gated(fresh.passages, run.config),
            floor=fresh.floor,
            anchors=fresh.anchors,
            rewrite_input=rewrite_input,
            parts=parts,
        )
    run.emit(Retrieved.opening(opened))
    return {"rounds": (*rounds, opened)}


async def _parts(question: str, rounds: tuple[Round, ...], run: RunContext, trace: NodeTrace) -> tuple[str, ...]:
    """What is to be covered one by one: found before the first search, and the same in every later round."""
    if not run.config.split or run.roles.splitter is None:
        return ()
    if rounds:
        return rounds[-1].parts
    try:
        async with run.within(run.clock.left_s()):
            return await run.roles.splitter.split(question, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "rewriter"), seconds=run.config.budget_s), trace.node)
    except ModelError as failure:
        run.warn(failure, trace.node)
    return ()


async def _search(query: str, run: RunContext, trace: NodeTrace) -> Any:
    try:
        async with run.within(run.clock.left_s()):
            return await run.roles.retriever.search(query, run.config.fetch_k)
    except TimeoutError:
        run.warn(StoreError.slow(seconds=run.config.budget_s), trace.node)
        return None
