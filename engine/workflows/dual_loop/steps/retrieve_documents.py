"""The searching step: the strategy whose turn it is, and the web after it where nothing was found (DL-03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import StoreError, WebSearchError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, SectionRetrieval, own_roles
from engine.model.decide import gated, kept_passages
from engine.model.events import Retrieved
from engine.model.values import Round, Strategy, TriedRoute
from engine.workflows.dual_loop.policy import WEB, moves_on_to_web, untried, usable_strategies
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import WEB_S, at_most_s, note

_NODE = "retrieve_documents"


async def retrieve_documents(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Search by ``route``; each strategy opens a round of its own, and says in ``tried_routes`` what came of it.

    A search that fails is a warning as long as there is another way; where nothing else was ever found it ends the run.
    """
    attempt, skipped = state["correction_attempts"], state["skipped"]
    rounds: tuple[Round, ...] = state["rounds"]
    tried: tuple[TriedRoute, ...] = state["tried_routes"]
    strategy: Strategy = state["route"]
    failures: list[WorkbenchError] = []
    while True:
        opened, came = await _search(strategy, {**state, "rounds": rounds}, run, failures)
        run.emit(Retrieved.opening(opened))
        rounds, tried = (*rounds, opened), (*tried, *note(run, *came))
        left = untried(usable_strategies(skipped), tried, attempt)
        if not came or came[0].status != "nothing_found":
            break
        if strategy != WEB and WEB in skipped and all(item.strategy != WEB for item in tried):
            tried = (*tried, *note(run, TriedRoute(WEB, attempt, "skipped", skipped[WEB])))
        if not moves_on_to_web(opened, run.config, left):
            break
        strategy = WEB
    nothing_ever = not state["drafts"] and not any(item.searched for item in rounds)
    if failures and nothing_ever and not left and run.clock.left_s() > 0:
        raise failures[-1]
    return {
        "rounds": rounds,
        "tried_routes": tried,
        "route": strategy,
        "documents": (),
        "documents_are_relevant": False,
    }


async def _search(
    strategy: Strategy, state: Mapping[str, Any], run: RunContext, failures: list[WorkbenchError]
) -> tuple[Round, tuple[TriedRoute, ...]]:
    """The round that a strategy opens, and what came of it; nothing came where the time was over before."""
    attempt, query = state["correction_attempts"], state["updated_query"]
    former = _searched_before(strategy, state)
    found: SectionRetrieval | None = None
    if former is None and run.clock.left_s() > 0:
        found = await _found(strategy, query, run, failures)
        if found is None:
            failed = TriedRoute(strategy, attempt, "failed", failures[-1].code)
            return _opened(strategy, state, searched=False), (failed,)
    if found is not None:
        retrieval = found.retrieval
        opened = _opened(
            strategy,
            state,
            candidates=gated(retrieval.passages, run.config),
            floor=retrieval.floor,
            anchors=retrieval.anchors,
            sections=found.sections,
        )
    elif former is not None:
        opened = _opened(
            strategy,
            state,
            candidates=gated([item.passage for item in former.candidates], run.config),
            floor=former.floor,
            anchors=former.anchors,
            sections=former.sections,
            searched=False,
        )
    else:
        return _opened(strategy, state, searched=False), ()
    kept = kept_passages(opened, run.config)
    return opened, (TriedRoute(strategy, attempt, "searched" if kept else "nothing_found"),)


async def _found(
    strategy: Strategy, query: str, run: RunContext, failures: list[WorkbenchError]
) -> SectionRetrieval | None:
    """What a strategy finds; None with a warning where it fails, and the failure is added to ``failures``."""
    limit_s = at_most_s(run, WEB_S) if strategy == WEB else at_most_s(run)
    try:
        async with run.within(limit_s):
            return await _asked(strategy, query, run)
    except TimeoutError:
        failures.append(
            WebSearchError.slower_than_budget(seconds=f"{limit_s:.3g}")
            if strategy == WEB
            else StoreError.slow(seconds=float(f"{limit_s:.2g}"))
        )
    except WorkbenchError as failure:
        failures.append(failure)
    run.warn(failures[-1], _NODE)
    return None


async def _asked(strategy: Strategy, query: str, run: RunContext) -> SectionRetrieval:
    roles = own_roles(run, DualRoles)
    if strategy == "hierarchical_search":
        return await roles.sections.search_sections(query, run.config.fetch_k)
    if strategy == WEB and roles.web is not None:
        return SectionRetrieval((), await roles.web.search(query, run.config.fetch_k))
    return SectionRetrieval((), await run.roles.retriever.search(query, run.config.fetch_k))


def _searched_before(strategy: Strategy, state: Mapping[str, Any]) -> Round | None:
    """The round that searched the same in an earlier pass: a rewrite that brought nothing new is not searched again."""
    same = (item for item in state["rounds"] if item.strategy == strategy and item.query == state["updated_query"])
    return next((item for item in same if item.searched), None)


def _opened(strategy: Strategy, state: Mapping[str, Any], **more: Any) -> Round:
    rewrites = state.get("rewrites", ())
    known: dict[str, Any] = {
        "index": len(state["rounds"]),
        "query": state["updated_query"],
        "candidates": (),
        "rewrite_input": rewrites[-1].input_hash if rewrites else "",
        "strategy": strategy,
        "attempt": state["correction_attempts"],
    }
    return Round(**{**known, **more})
