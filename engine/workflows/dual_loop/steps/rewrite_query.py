"""The rewriting step in its two modes: before the first search, and after an answer that was off (DL-05)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.config import BUILTIN
from engine.model.events import Rewritten
from engine.model.language import normalised_query
from engine.model.values import INITIAL, Rewrite
from engine.roles import RewriteIssue, RewriteProposal, RewriteRequest
from engine.roles.rewrite_input import corrective_request
from engine.workflows.dual_loop.policy import first_strategy, usable_strategies
from engine.workflows.dual_loop.steps.parts import note_passed_over
from engine.workflows.steps.rewrite import refusing, stood_in

_NODE = "rewrite_query"
_PROPOSALS = 2
"""A proposal and one retry with the refusal in its history (SC-06)."""

INITIAL_ISSUE = RewriteIssue(INITIAL, "Nothing was searched yet. A plain question may stand as it is.")


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
    proposal = await _asked(request, run, trace)
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
    proposal, refused, repeated, by = await _proposed(request, _tried(state), run, trace)
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
    """What a proposal may not repeat, a blank one among it; before the first search that is nothing else."""
    searched = [normalised_query(item.query) for item in state["rounds"]]
    return {"", normalised_query(state["question"]), *searched} if searched else {""}


async def _proposed(
    request: RewriteRequest, tried: set[str], run: RunContext, trace: NodeTrace
) -> tuple[RewriteProposal | str, tuple[str, ...], bool, str]:
    """The proposal, or why there is none; the queries refused; whether the last was refused too; who stood in."""
    refused: tuple[str, ...] = ()
    asked = request
    proposal: RewriteProposal | str = ""
    for _ in range(_PROPOSALS):
        proposal = await _asked(asked, run, trace)
        if isinstance(proposal, str) or normalised_query(proposal.query) not in tried:
            return proposal, refused, False, ""
        refused = (*refused, proposal.query)
        asked = refusing(request, proposal.query, refused)
    instead = await stood_in(asked, tried, run, trace)
    return (instead, refused, False, BUILTIN) if instead is not None else (proposal, refused, True, "")


async def _asked(request: RewriteRequest, run: RunContext, trace: NodeTrace) -> RewriteProposal | str:
    """The rewriter's proposal, or why there is none."""
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            return await run.roles.rewriter.rewrite(request, trace)
    except TimeoutError:
        failure: WorkbenchError = ModelError.budget_spent(model=model_of(run, "rewriter"), seconds=run.config.budget_s)
    except WorkbenchError as raised:
        failure = raised
    run.warn(failure, _NODE)
    return failure.fact


def _record(made: Rewrite, state: Mapping[str, Any], run: RunContext) -> dict[str, Any]:
    run.emit(Rewritten(rewrite=made))
    former: Sequence[Rewrite] = state.get("rewrites", ())
    return {"rewrites": (*former, made), "query": made.rewritten_query, "updated_query": made.rewritten_query}
