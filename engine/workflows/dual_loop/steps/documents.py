"""Steps of the search: routing, the strategy whose turn it is, judging documents, rewriting queries (DL-02, DL-03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from engine.builtin.fallback import fallback_answer
from engine.builtin.strategy_router import choose
from engine.errors import ModelError, StoreError, WebSearchError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, SectionRetrieval, model_of, own_roles
from engine.model.decide import gated, kept_passages, passed_ids
from engine.model.events import AnswerCompleted, Decided, PassageGraded, Retrieved, Rewritten, RouteChosen
from engine.model.language import normalised_query
from engine.model.values import (
    INITIAL,
    Decision,
    Passage,
    PassageId,
    Rewrite,
    Round,
    RouteChoice,
    Strategy,
    TriedRoute,
    Verdict,
)
from engine.roles import RewriteIssue, RewriteProposal, RewriteRequest, StrategyRequest
from engine.roles.rewrite_input import corrective_request
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import (
    WEB,
    Skip,
    decide_documents,
    decide_route,
    draft_stands,
    first_strategy,
    moves_on_to_web,
    skips,
    untried,
    usable_strategies,
)
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import (
    MEMORY_S,
    WEB_S,
    at_most_s,
    evidence_of,
    let_best_stand,
    note,
    note_passed_over,
)
from engine.workflows.steps.rewrite import proposed

_NODE = "route_query"
_RETRIEVE = "retrieve_documents"
_GRADE = "grade_documents"
_REWRITE = "rewrite_query"
"""A proposal and one retry with the refusal in its history (SC-06)."""

INITIAL_ISSUE = RewriteIssue(INITIAL, "Nothing was searched yet. A plain question may stand as it is.")


async def route_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Choose how the run begins, and start ``tried_routes``; the built-in router stands in for one that fails."""
    skipped = await _skipped(run)
    usable = usable_strategies(skipped)
    request = StrategyRequest(state["question"], state["recall"].holding, usable)
    choice = await _chosen(request, run, trace)
    if choice.route != "direct":
        choice = replace(choice, route=first_strategy(choice, usable))
    decision = decide_route(choice)
    run.emit(RouteChosen(choice=choice))
    run.emit(Decided(decision=decision))
    return {"skipped": skipped, "route": choice.route, "tried_routes": (), "decision": decision}


async def _chosen(request: StrategyRequest, run: RunContext, trace: NodeTrace) -> RouteChoice:
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            return await own_roles(run, DualRoles).router.choose(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "router"), seconds=run.config.budget_s), _NODE)
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
    return choose(request)


async def _skipped(run: RunContext) -> dict[Strategy, Skip]:
    roles = own_roles(run, DualRoles)
    try:
        async with run.within(at_most_s(run, MEMORY_S)):
            summaries = await roles.sections.has_summaries()
    except (TimeoutError, WorkbenchError):
        # Taken as usable: the search itself then fails, and says why.
        summaries = True
    return skips(summaries=summaries, web_on=dual_options(run.config).web_search, web_set=roles.web is not None)


async def retrieve_documents(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Search by ``route``; each strategy opens a round of its own, and records its result in ``tried_routes``.

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
    """The round that a strategy opens, and its result; none where the time was over before."""
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
    """Run a strategy; on failure return None with a warning, and add it to ``failures``."""
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
    run.warn(failures[-1], _RETRIEVE)
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


async def grade_documents(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge what has no verdict yet against the question as asked, and decide; verdicts hold for the whole run."""
    rounds: tuple[Round, ...] = state["rounds"]
    current = rounds[-1]
    known = {
        passage_id: verdict
        for item in rounds[:-1]
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }
    wanted = (
        [item.passage for item in current.candidates] if run.config.grade_probe else kept_passages(current, run.config)
    )
    reused = tuple(passage.id for passage in wanted if passage.id in known)
    for passage_id in reused:
        run.emit(PassageGraded(round=current.index, passage_id=passage_id, verdict=known[passage_id], reused=True))
    fresh = [passage for passage in wanted if passage.id not in known] if current.searched else []
    judged, unavailable = await _judge(state, run, trace, fresh)
    graded = replace(current, verdicts={name: known[name] for name in reused} | judged, reused=reused)
    rounds = (*rounds[:-1], graded)
    evidence = evidence_of(state, run, rounds=rounds, grader_unavailable=unavailable)
    decision = decide_documents(evidence, run.config)
    run.emit(Decided(decision=decision))
    passed = set(passed_ids(graded, run.config))
    changed = {
        "rounds": rounds,
        "decision": decision,
        "documents": tuple(item for item in graded.kept if item.id in passed),
        "documents_are_relevant": bool(passed),
    }
    return {**changed, **_gone_on({**state, **changed}, decision, run)}


def _gone_on(state: Mapping[str, Any], decision: Decision, run: RunContext) -> dict[str, Any]:
    """Return the consequence of a decision: the next strategy, or the outcome of the run."""
    attempt, skipped = state["correction_attempts"], state["skipped"]
    tried: tuple[TriedRoute, ...] = state["tried_routes"]
    if decision.route == "retrieve_documents":
        route = untried(evidence_of(state, run).usable, tried, attempt)[0]
        return {"route": route, "tried_routes": note_passed_over(run, route, skipped, tried, attempt)}
    if decision.route != "end" or decision.reason == "grader_failed":
        return {}
    if decision.reason == "strategies_exhausted":
        tried = note_passed_over(run, None, skipped, tried, attempt)
    if draft_stands(decision, state["drafts"], tried):
        return {"tried_routes": tried, "response": let_best_stand(run, state["drafts"], state["contexts"])}
    answer = fallback_answer(state["question"], state["rounds"], tried, decision.reason, rejected=bool(state["drafts"]))
    run.emit(AnswerCompleted(answer=answer))
    return {"tried_routes": tried, "response": answer}


async def _judge(
    state: Mapping[str, Any], run: RunContext, trace: NodeTrace, passages: Sequence[Passage]
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether the grader could not be reached in a run that has an answer already."""
    if not passages or run.clock.left_s() <= 0:
        return {}, False
    try:
        async with run.within(run.clock.left_s()):
            verdicts = await run.roles.grader.grade(state["question"], passages, trace)
    except TimeoutError:
        # What was judged in time counts; the rest has no verdict, and the deadline decides.
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=run.config.budget_s), _GRADE)
        return dict(trace.verdicts), False
    except WorkbenchError as failure:
        if not state["drafts"] and not any(item.passes(run.config.min_confidence) for item in trace.verdicts.values()):
            raise
        run.warn(failure, _GRADE)
        return dict(trace.verdicts), True
    return {passage.id: verdict for passage, verdict in zip(passages, verdicts, strict=True)}, False


async def rewrite_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Make the question fit for a search, or another query after a rejected answer; a failure leaves the old query.

    After a corrective rewrite a new pass begins: the first usable strategy is next, and none counts as tried.
    """
    if not state["drafts"]:
        return _record(await _initial(state["question"], run, trace), state, run)
    attempt = state["correction_attempts"] + 1
    changed = _record(await _corrective(state, run, trace), state, run)
    route = first_strategy(None, usable_strategies(state["skipped"]))
    return {
        **changed,
        "correction_attempts": attempt,
        "route": route,
        "tried_routes": note_passed_over(run, route, state["skipped"], (), attempt),
        "documents": (),
        "documents_are_relevant": False,
    }


async def _initial(question: str, run: RunContext, trace: NodeTrace) -> Rewrite:
    request = RewriteRequest(question, question, (), (), (INITIAL_ISSUE,))
    made = Rewrite(-1, question, question, "", strategy=INITIAL, input_hash=request.digest())
    if run.clock.left_s() <= 0:
        return made
    proposal = await _asked_again(request, run, trace)
    if isinstance(proposal, str):
        return replace(made, reason=proposal, failed=True)
    # A proposal without a word in it would search for nothing.
    query = proposal.query if normalised_query(proposal.query) else question
    return replace(made, rewritten_query=query, reason=proposal.reason, keywords=proposal.keywords)


async def _corrective(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> Rewrite:
    query = state["updated_query"]
    request = corrective_request(
        state["question"],
        query,
        state["rounds"],
        state.get("rewrites", ()),
        evaluation=state["drafts"][-1].evaluation,
        config=run.config,
    )
    made = Rewrite(len(state["rounds"]) - 1, query, query, "", input_hash=request.digest())
    ask = partial(_asked_again, run=run, trace=trace)
    proposal, refused, repeated, by = await proposed(request, _tried(state), run, trace, ask)
    if isinstance(proposal, str):
        return replace(made, reason=proposal, failed=True, refused=refused)
    return replace(
        made,
        rewritten_query=query if repeated else proposal.query,
        reason=proposal.reason,
        keywords=proposal.keywords,
        strategy=proposal.strategy,
        repeated=repeated,
        refused=refused,
        by=by,
    )


def _tried(state: Mapping[str, Any]) -> set[str]:
    """Return what a proposal may not repeat, blank ones included; before the first search nothing else."""
    searched = [normalised_query(item.query) for item in state["rounds"]]
    return {"", normalised_query(state["question"]), *searched} if searched else {""}


async def _asked_again(request: RewriteRequest, run: RunContext, trace: NodeTrace) -> RewriteProposal | str:
    """The rewriter's proposal, or why there is none."""
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            return await run.roles.rewriter.rewrite(request, trace)
    except TimeoutError:
        failure: WorkbenchError = ModelError.budget_spent(model=model_of(run, "rewriter"), seconds=run.config.budget_s)
    except WorkbenchError as raised:
        failure = raised
    run.warn(failure, _REWRITE)
    return failure.fact


def _record(made: Rewrite, state: Mapping[str, Any], run: RunContext) -> dict[str, Any]:
    run.emit(Rewritten(rewrite=made))
    former: Sequence[Rewrite] = state.get("rewrites", ())
    return {"rewrites": (*former, made), "query": made.rewritten_query, "updated_query": made.rewritten_query}
