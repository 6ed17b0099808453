"""The retrieve step: one search, every candidate gated and none lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import ModelError, RunWarning, StoreError
from engine.flow.context import NodeTrace, Retrieval, RunContext, model_of
from engine.model.decide import gated
from engine.model.events import Retrieved
from engine.model.values import Round, Translation


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
    translation: Translation | None = None
    fresh: Retrieval | None = None
    if not stale and run.clock.left_s() > 0:
        translation = await _translation(state["query"], run, trace)
        fresh = await _search(state["query"], translation, run, trace)
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
            candidates=tuple(
                replace(item, found_by=fresh.found_by.get(item.passage.id, {}))
                for item in gated(fresh.passages, run.config)
            ),
            floor=fresh.floor,
            anchors=fresh.anchors,
            rewrite_input=rewrite_input,
            parts=parts,
            translation=translation
            and replace(translation, floor=fresh.translated_floor, anchors=fresh.translated_anchors),
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


async def _translation(query: str, run: RunContext, trace: NodeTrace) -> Translation | None:
    """The query in the language of the collection; one that could not be had is said, and the query stands."""
    if not run.config.translate:
        return None
    if run.roles.translator is None:
        if not trace.round:
            run.warn(RunWarning.translator_missing(), trace.node)
        return None
    found: Translation | None = None
    try:
        async with run.within(run.clock.left_s()):
            found = await run.roles.translator.translate(query, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "rewriter"), seconds=run.config.budget_s), trace.node)
    except ModelError as failure:
        run.warn(failure, trace.node)
    if found is not None and not found.query:
        run.warn(RunWarning.not_translated(model=model_of(run, "rewriter"), query=query), trace.node)
    return found


async def _search(query: str, translation: Translation | None, run: RunContext, trace: NodeTrace) -> Retrieval | None:
    try:
        async with run.within(run.clock.left_s()):
            if run.roles.translator is not None and translation is not None and translation.query:
                return await run.roles.translator.search_both(query, translation.query, run.config.fetch_k)
            return await run.roles.retriever.search(query, run.config.fetch_k)
    except TimeoutError:
        run.warn(StoreError.slow(seconds=run.config.budget_s), trace.node)
        return None
