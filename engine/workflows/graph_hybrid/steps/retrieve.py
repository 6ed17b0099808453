"""The retrieve step of graph + vector retrieval: the lists of a mode, made one, reranked where the mode says so."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from engine.errors import RunWarning, StoreError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, own_roles
from engine.model.events import Retrieved
from engine.model.values import LISTS_OF_MODE, GraphEvidence, RetrievalList, Round
from engine.retrieval.mode_values import ModeFound, ModeRequest
from engine.retrieval.ordering import order
from engine.workflows.graph_hybrid.attached import attached_query, attachment_passages
from engine.workflows.graph_hybrid.roles import GraphRoles
from engine.workflows.graph_hybrid.steps.rerank import rescored_round


async def retrieve(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Search the query in the mode; where there is nothing new to search, or no time, the former candidates stand."""
    rounds: tuple[Round, ...] = state["rounds"]
    rewrites = state.get("rewrites", ())
    last = rewrites[-1] if rewrites else None
    stale = last is not None and (last.repeated or last.failed)
    found = None if stale or run.clock.left_s() <= 0 else await _search(state, run, trace, first=not rounds)
    opened = Round(
        index=len(rounds),
        query=state["query"],
        candidates=(),
        rewrite_input=last.input_hash if last else "",
    )
    if found is None:
        opened = replace(_standing(opened, rounds), searched=False)
        run.emit(Retrieved.opening(opened))
        return {"rounds": (*rounds, opened)}
    opened = replace(
        opened,
        candidates=order(found.lists, run.config),
        floor=found.floor,
        anchors=found.anchors,
        graph=found.evidence,
    )
    run.emit(Retrieved.opening(opened))
    opened = await rescored_round(opened, rounds, state, run, trace)
    return {"rounds": (*rounds, opened)}


def _standing(opened: Round, rounds: tuple[Round, ...]) -> Round:
    """The round with what the former one found."""
    if not rounds:
        return opened
    former = rounds[-1]
    return replace(
        opened,
        candidates=former.candidates,
        reranked=former.reranked,
        floor=former.floor,
        anchors=former.anchors,
        graph=former.graph,
    )


async def _search(state: Mapping[str, Any], run: RunContext, trace: NodeTrace, *, first: bool) -> ModeFound | None:
    """What the mode found; None where nothing could be searched in time, or at all after a first round.

    A list that fails costs its own passages alone; that every one does fails a run without former rounds.
    """
    request = ModeRequest(
        mode=state["mode"],
        query=attached_query(state["query"], run.attachments),
        question=state["question"],
        config=run.config,
        attached=attachment_passages(run.attachments),
    )
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            found = await own_roles(run, GraphRoles).searcher.search(request, lambda: max(0.0, run.clock.left_s()))
    except TimeoutError:
        run.warn(StoreError.slow(seconds=run.config.budget_s), trace.node)
        return None
    _say(found, run, trace, first=first)
    if _without_graph(found.evidence, {name for name, items in found.lists.items() if items}) and not any(
        item.graph and _without_graph(item.graph, _searched(item)) for item in state["rounds"]
    ):
        run.warn(RunWarning.mode_fell_back(mode=request.mode, collection=run.config.collection), trace.node)
    # Lists that were searched and are empty are a result; lists that could not be searched are none.
    return found if found.anything or len(found.faults) < len(found.lists) else None


def _without_graph(evidence: GraphEvidence, found_in: Set[RetrievalList]) -> bool:
    """Whether a mode that is to use the graph found nothing by it: ``mix`` is then vectors alone, as ``naive`` is.

    A graph that cannot be reached is a fault, and warned of as such.
    """
    of_graph = {"local", "global"} & set(LISTS_OF_MODE[evidence.mode])
    unreachable = any(note.code == "graph_unreachable" for note in evidence.notes)
    return bool(evidence.fell_back_to) or (bool(of_graph) and not of_graph & found_in and not unreachable)


def _searched(former: Round) -> set[RetrievalList]:
    return {name for item in former.candidates for name in item.found_in}


def _say(found: ModeFound, run: RunContext, trace: NodeTrace, *, first: bool) -> None:
    failures: list[WorkbenchError] = list(found.faults.values())
    lasting = [item for item in failures if item.code != StoreError.slow.code]
    if first and lasting and len(failures) == len(found.lists):
        raise lasting[0]
    # One store that is gone is one fault, however many lists it owes.
    for failure in {(item.code, item.fact): item for item in failures}.values():
        run.warn(failure, trace.node)
