"""The steps of the quality-control loop that only it has: its roles, and what waits until its deadline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.builtin.rerank import by_relevance
from engine.builtin.source_router import everywhere, routed
from engine.errors import ModelError, RunWarning, StoreError, WorkbenchError
from engine.flow.context import NodeTrace, Retrieval, RunContext, model_of, own_roles
from engine.model.decide import Evidence, kept_passages, passed_ids
from engine.model.events import Decided, Fused, PassageGraded, QualityChecked, Reranked, Retrieved, Routed
from engine.model.values import Decision, Passage, PassageId, Round, Routing, SourceKind, Verdict, operands
from engine.retrieval.fuse import fuse, listed, lists_of
from engine.roles import RoutingRequest
from engine.workflows.quality_loop.policy import (
    bar_warnings,
    check_quality,
    deadline_s,
    decide_quality,
    rewrite_issues,
    score_ceiling,
)
from engine.workflows.quality_loop.roles import QualityRoles
from engine.workflows.steps import generate as shared
from engine.workflows.steps.grade import known_verdicts
from engine.workflows.steps.rewrite import rewrite_for


async def question_router(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask the router; where it fails, answers nonsense or has no time left, the built-in one stands in for it.

    A rewrite that repeated itself or failed changes nothing, so the former routing stands unasked.
    """
    rounds: tuple[Round, ...] = state["rounds"]
    former = rounds[-1].routing if rounds else None
    left_s = bounded(run, trace)
    if former is not None and (nothing_new(state) or left_s <= 0):
        routing = former
    else:
        request = RoutingRequest(state["question"], state["query"], await _kinds(state, run, trace))
        routing = await _routing(request, run, trace)
        if not rounds:
            # A router sets shares; what there is to be found is not known before everything was looked at once.
            routing = replace(routing, shares=everywhere(routing.shares, request.kinds))
            warn_of_the_bar(run, request.kinds, routing)
    run.emit(Routed(round=len(rounds), routing=routing))
    return {"routing": routing}


def warn_of_the_bar(run: RunContext, kinds: tuple[SourceKind, ...], routing: Routing) -> None:
    """Say before anything is searched that the bar is out of reach, of every round or of this one (QL-08)."""
    for warning in bar_warnings(score_ceiling(run.config, kinds, routing), run.config):
        run.warn(warning, "question_router")


async def _kinds(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> tuple[SourceKind, ...]:
    """Kinds that the collection has; ``vector`` where that cannot be learned after a first round, or in time."""
    try:
        async with run.within(trace.time_left_s()):
            return await own_roles(run, QualityRoles).retriever.kinds(state["question"]) or ("vector",)
    except TimeoutError:
        run.warn(StoreError.slow(seconds=deadline_s(run.config)), trace.node)
    except WorkbenchError as failure:
        if not state["rounds"]:
            raise
        run.warn(failure, trace.node)
    return ("vector",)


async def _routing(request: RoutingRequest, run: RunContext, trace: NodeTrace) -> Routing:
    try:
        async with run.within(trace.time_left_s()):
            answered = await own_roles(run, QualityRoles).router.route(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "router"), seconds=deadline_s(run.config)), trace.node)
    except ModelError as failure:
        run.warn(failure, trace.node)
    else:
        return usable(answered, request) or routed(request)
    return routed(request)


def usable(routing: Routing, request: RoutingRequest) -> Routing | None:
    """A routing of kinds there are, shares summing to 1, with a query to search; None where nothing of it can be used.

    A router that breaks its contract must not be able to stop or to blind a run.
    """
    shares = {
        kind: share
        for kind, share in routing.shares.items()
        if kind in request.kinds and math.isfinite(share) and share > 0
    }
    # Not fsum, which raises where the plain sum is only infinite.
    total = sum(shares.values())
    if not total or not math.isfinite(total):
        return None
    return Routing(
        query=routing.query if routing.query.strip() else request.query,
        shares={kind: share / total for kind, share in shares.items()},
        wide=routing.wide,
        code=routing.code,
        reason=routing.reason,
        missing=routing.missing,
        history_query=routing.history_query,
    )


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


async def fuse_lists(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Fuse by the round's own routing; candidates of a former round come out as they went in."""
    rounds: tuple[Round, ...] = state["rounds"]
    current = rounds[-1]
    assert current.routing is not None
    candidates = fuse(lists_of(current.candidates), current.routing, run.config)
    run.emit(Fused(round=current.index, candidates=candidates))
    return {"rounds": (*rounds[:-1], replace(current, candidates=candidates)), "fused_results": candidates}


async def rerank(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge what has no readable verdict yet, against the question as asked; verdicts of former rounds stand."""
    rounds: tuple[Round, ...] = state["rounds"]
    current = rounds[-1]
    bounded(run, trace)
    kept = kept_passages(current, run.config)
    wanted = [item.passage for item in current.candidates] if run.config.grade_probe else kept
    known = known_verdicts(rounds[:-1])
    reused = [passage.id for passage in wanted if passage.id in known]
    for passage_id in reused:
        run.emit(PassageGraded(round=current.index, passage_id=passage_id, verdict=known[passage_id], reused=True))
    current = replace(current, verdicts={name: known[name] for name in reused}, reused=tuple(reused))
    # Where nothing was searched again, nothing is asked again either.
    fresh = [passage for passage in wanted if passage.id not in known] if current.searched else []
    judged, unavailable = await _judge(state, run, trace, fresh, (*rounds[:-1], current))
    current = replace(current, verdicts={**current.verdicts, **judged})
    order = tuple(passage.id for passage in by_relevance(kept, current.verdicts))
    run.emit(Reranked(round=current.index, order=order))
    current = replace(current, reranked=order)
    return {"rounds": (*rounds[:-1], current), "reranker_unavailable": unavailable}


async def _judge(
    state: Mapping[str, Any], run: RunContext, trace: NodeTrace, passages: Sequence[Passage], rounds: Sequence[Round]
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether the reranker could not be reached although something has passed already."""
    if not passages or trace.time_left_s() <= 0:
        return {}, False
    try:
        async with run.within(trace.time_left_s()):
            ranked = await own_roles(run, QualityRoles).reranker.rerank(state["question"], passages, trace)
    except TimeoutError:
        # What was judged in time counts; the rest has no verdict, and the deadline decides.
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=deadline_s(run.config)), trace.node)
        return dict(trace.verdicts), False
    except ModelError as failure:
        judged = dict(trace.verdicts)
        last = replace(rounds[-1], verdicts={**rounds[-1].verdicts, **judged})
        if not any(passed_ids(item, run.config) for item in (*rounds[:-1], last)):
            raise
        run.warn(failure, trace.node)
        return judged, True
    asked = {passage.id for passage in passages}
    return {passage.id: _reported(passage, verdict, trace) for passage, verdict in ranked if passage.id in asked}, False


def _reported(passage: Passage, verdict: Verdict, trace: NodeTrace) -> Verdict:
    # A reranker that scores all passages in one go may have written nothing to the trace yet.
    if trace.verdicts.get(passage.id) != verdict:
        trace.verdict(passage.id, verdict)
    return verdict


async def grade_documents(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Check the round that was reranked and decide; nothing outside is asked."""
    rounds: tuple[Round, ...] = state["rounds"]
    check = check_quality(rounds[-1], run.config)
    run.emit(QualityChecked(round=rounds[-1].index, check=check))
    rounds = (*rounds[:-1], replace(rounds[-1], quality=check))
    last = state["rewrites"][-1] if state.get("rewrites") else None
    decision = decide_quality(
        Evidence(
            rounds=rounds,
            elapsed_s=run.clock.elapsed_s(),
            repeated_rewrite=bool(last and last.repeated),
            rewriter_failed=bool(last and last.failed),
            grader_unavailable=bool(state.get("reranker_unavailable")),
        ),
        run.config,
    )
    run.emit(Decided(decision=decision))
    return {
        "rounds": rounds,
        "decision": decision,
        "quality_grade": check.routing_grade,
        "quality_score": check.routing_score,
        "quality_issues": check.issues,
    }


async def rewrite(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask for a query that answers the issues; every visit counts as a retry, with any result."""
    bounded(run, trace)
    changes = await rewrite_for(state, run, trace, rewrite_issues(state["rounds"][-1], run.config), shows_nearest=True)
    return {
        **changes,
        "retry_count": state["retry_count"] + 1,
        "original_queries": (*state["original_queries"], state["query"]),
    }


async def generate(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer in what is left of the budget, generation included; an answer on low quality says so in a warning."""
    changes = await shared.generate(state, replace(run, generation_allowance_s=0.0), trace)
    decision: Decision = state["decision"]
    # An abstention streams nothing, and is based on nothing.
    if trace.text and decision.reason != "quality_met":
        score, bar = operands(decision.comparisons[0])
        run.warn(RunWarning.quality_low(score=score, bar=bar), trace.node)
    return changes


def bounded(run: RunContext, trace: NodeTrace) -> float:
    """Bind the visit to the loop's deadline, which is before the run's own; seconds left, 0 after it."""
    trace.began_s = run.clock.elapsed_s()
    trace.limit_s = max(0.0, deadline_s(run.config) - trace.began_s)
    return trace.limit_s


def nothing_new(state: Mapping[str, Any]) -> bool:
    """Return whether the last rewrite left nothing to search: it repeated a query, or failed."""
    rewrites = state.get("rewrites", ())
    return bool(rewrites and (rewrites[-1].repeated or rewrites[-1].failed))
