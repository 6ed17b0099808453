"""The rewrite step: another query, never one that was tried already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from engine.builtin.parts import part_rewrite
from engine.errors import ModelError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.config import BUILTIN, RunConfig
from engine.model.decide import open_parts
from engine.model.events import Rewritten
from engine.model.language import normalised_query
from engine.model.values import Rewrite, Round
from engine.roles import RewriteIssue, RewriteProposal, RewriteRequest, TriedRewrite
from engine.roles.rewrite_input import rewrite_request

Asked = TypeVar("Asked", bound=RewriteProposal | str)
_PROPOSALS = 2
"""A proposal and one retry with the refusal in its history (SC-06)."""


async def rewrite(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask the rewriter for a new query; a repetition gets one retry, a failure leaves the old query in place.

    A part of the question that is still open is searched as it is first, without a call; then it is what the rewriter
    is given in place of the question.
    """
    return await rewrite_for(state, run, trace, ())


async def rewrite_for(
    state: Mapping[str, Any],
    run: RunContext,
    trace: NodeTrace,
    issues: Sequence[RewriteIssue],
    *,
    shows_nearest: bool = False,
) -> dict[str, Any]:
    """:func:`rewrite` with issues for the rewriter to answer, in the time that the trace has left.

    ``shows_nearest`` shows it passages that came close without being kept.
    """
    rounds: tuple[Round, ...] = state["rounds"]
    history: tuple[Rewrite, ...] = state.get("rewrites", ())
    part = _part(rounds, history, run.config)
    about = part or state["question"]
    request = rewrite_request(about, rounds, history, run.config, issues, shows_nearest=shows_nearest)
    # A blank query is none, and searching it again would be no better.
    tried = {normalised_query(item.query) for item in rounds} | {normalised_query(state["question"]), ""}
    if part and normalised_query(part) not in tried:
        return _record(part_rewrite(part, rounds[-1], request), history, run)
    try:
        async with run.within(trace.time_left_s()):
            proposal, refused, repeated, by = await proposed(
                request, tried, run, trace, lambda asked: run.roles.rewriter.rewrite(asked, trace)
            )
    except TimeoutError:
        error: ModelError = ModelError.budget_spent(model=model_of(run, "rewriter"), seconds=trace.over_at_s)
        return _record(_failed(rounds[-1], request, error, run, trace), history, run)
    except ModelError as failure:
        return _record(_failed(rounds[-1], request, failure, run, trace), history, run)
    made = Rewrite(
        round=rounds[-1].index,
        query=rounds[-1].query,
        rewritten_query=rounds[-1].query if repeated else proposal.query,
        reason=proposal.reason,
        keywords=proposal.keywords,
        strategy=proposal.strategy,
        repeated=repeated,
        refused=refused,
        input_hash=request.digest(),
        part=part,
        by=by,
    )
    return _record(made, history, run)


def _part(rounds: Sequence[Round], history: Sequence[Rewrite], config: RunConfig) -> str:
    """The open part that was searched for least, the first of several; empty where none is open."""
    asked = Counter(item.part for item in history)
    return min(open_parts(rounds, config), key=lambda part: asked[part], default="")


async def proposed(
    request: RewriteRequest,
    tried: set[str],
    run: RunContext,
    trace: NodeTrace,
    ask: Callable[[RewriteRequest], Awaitable[Asked]],
) -> tuple[Asked | RewriteProposal, tuple[str, ...], bool, str]:
    """The proposal, or why there is none; the queries refused; whether the last was refused too; who stood in."""
    refused: tuple[str, ...] = ()
    asked = request
    for _ in range(_PROPOSALS):
        proposal = await ask(asked)
        if isinstance(proposal, str) or normalised_query(proposal.query) not in tried:
            return proposal, refused, False, ""
        refused = (*refused, proposal.query)
        asked = _refusing(request, proposal.query, refused)
    instead = await _stood_in(asked, tried, run, trace)
    return (instead, refused, False, BUILTIN) if instead is not None else (proposal, refused, True, "")


def _refusing(request: RewriteRequest, query: str, refused: tuple[str, ...]) -> RewriteRequest:
    """The request with what was refused in its history."""
    refusal = TriedRewrite(request.current_query, query, "refused: it repeats a query already tried", refused)
    return replace(request, history=(*request.history, refusal))


async def _stood_in(
    request: RewriteRequest, tried: set[str], run: RunContext, trace: NodeTrace
) -> RewriteProposal | None:
    """Return the built-in rewriter's proposal for a model that only repeats; None if that is nothing new."""
    if run.roles.stand_in is None:
        return None
    proposal = await run.roles.stand_in.rewrite(request, trace)
    return proposal if normalised_query(proposal.query) not in tried else None


def _failed(current: Round, request: RewriteRequest, error: ModelError, run: RunContext, trace: NodeTrace) -> Rewrite:
    run.warn(error, trace.node)
    return Rewrite(
        round=current.index,
        query=current.query,
        rewritten_query=current.query,
        reason=error.fact,
        failed=True,
        input_hash=request.digest(),
    )


def _record(made: Rewrite, history: tuple[Rewrite, ...], run: RunContext) -> dict[str, Any]:
    run.emit(Rewritten(rewrite=made))
    return {"rewrites": (*history, made), "query": made.rewritten_query}
