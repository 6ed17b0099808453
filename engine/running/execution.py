"""One run from its first event to its last: no matter what happens inside, it ends with an outcome and a reason."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from engine.errors import ModelError, RecordError, RunError, StoreError, WorkbenchError
from engine.flow import compiled, workflow
from engine.flow.context import ReasonOf, Roles, RunContext
from engine.llm.connection import PerLoop
from engine.model.config import RunConfig
from engine.model.events import Prepared, ReasonGiven, RunFinished
from engine.model.traceparent import caller
from engine.model.values import Fault, ModelCall, ReasonAsked, RunRecord
from engine.replay.fork import Branch
from engine.roles import SilentTrace
from engine.running.runs import LiveRun
from engine.settings import Settings
from engine.workflows.steps.check import checked

_log = logging.getLogger(__name__)
_asking: PerLoop[asyncio.Lock] = PerLoop()
"""By model: the reasons of many runs that ended must not keep the run at work from it."""


class RoleSource(Protocol):
    """Makes the roles of a run: :class:`engine.running.resources.Resources`, or a test's own."""

    @property
    def settings(self) -> Settings: ...

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]: ...


async def execute(
    run: LiveRun, question: str, config: RunConfig, resources: RoleSource, branch: Branch | None = None
) -> None:
    """Run a question, or continue from ``branch``; every way out, cancelling included, is a ``RunFinished`` event."""
    reason: ReasonOf | None = None
    try:
        ended, reason = await _run(run, question, config, resources, branch)
    except asyncio.CancelledError:
        run.emit(RunFinished(outcome="cancelled", reason="cancelled"))
        raise
    except WorkbenchError as failure:
        why = "grader_failed" if failure.code == ModelError.grader_failed.code else failure.code
        ended = RunFinished(outcome="failed", reason=why, error=Fault.of(failure, _node_at_fault(run.record)))
    except Exception as failure:
        _log.exception("run %s failed", run.id)
        ended = RunFinished(outcome="failed", reason="WB000", error=Fault.of(failure))
    run.emit(ended)
    if reason is not None and not run.record.trial:
        await _give_reasons(run, reason)


async def _run(
    run: LiveRun, question: str, config: RunConfig, resources: RoleSource, branch: Branch | None
) -> tuple[RunFinished, ReasonOf | None]:
    """The end of the run, and who says then why verdicts are so; None where no one is asked."""
    from langgraph.errors import GraphRecursionError

    roles, manifest = await _prepared(run, config, resources)
    manifest = {**manifest, **caller()}
    context = RunContext(
        config=config,
        roles=roles,
        emit=run.emit,
        clock=run.clock,
        generation_allowance_s=resources.settings.generation_allowance_s,
        run_id=run.id,
        attachments=run.record.attachments,
        note_calls=run.note_calls,
        trial=run.record.trial,
    )
    module = workflow(config.workflow)
    state: Mapping[str, Any] = module.initial_state(question)
    limit = module.recursion_limit(config)
    if branch is None:
        run.emit(Prepared(manifest=manifest))
    else:
        run.emit(Prepared(manifest={**manifest, "reused_from": branch.parent.id}))
        _warn_of_other_content(context, branch.parent, manifest)
        # Every workflow's replay is imported with it, for which a start would wait.
        from engine.replay.branch_roles import BranchSteps

        context.override = steps = BranchSteps(branch, roles)
        context.roles = steps.roles
        state = {**state, "query": branch.first_query}
        # Rounds that stand may be more than the branch's own settings would allow.
        limit += sum(item.round < branch.fork.round for item in branch.parent.nodes)
    try:
        await compiled(config.workflow).ainvoke(state, context=context, config={"recursion_limit": limit})
    except GraphRecursionError:
        raise RunError.loop_limit_reached(steps=limit) from None
    last = run.record.decisions[-1] if run.record.decisions else None
    if last is not None and last.reason == "grader_failed":
        raise ModelError.grader_failed(model=config.models.grader.model, passages=last.kept)
    outcome, reason = module.ending(run.record)
    if roles.note is not None:
        try:
            await roles.note(run.record, outcome)
        except WorkbenchError as failure:
            context.warn(failure)
    ended = await checked(context, run.record, outcome, reason, branch.parent if branch else None)
    return ended, roles.reason


async def _give_reasons(run: LiveRun, reason: ReasonOf) -> None:
    """Add the reasons of verdicts of one word to the record, one after another; a failure is kept in their place."""
    passages, grader = run.record.passages, run.record.config.models.grader.model
    turn = _asking.find(grader) or _asking.keep(asyncio.Lock(), grader)
    for passage_id, verdict in run.record.unexplained.items():
        if passage_id not in passages:
            continue
        said, heard, gone = "", _Heard(run), False
        try:
            async with turn:
                said = await reason(run.record.question, passages[passage_id], verdict, heard)
        except ModelError as failure:
            # One without a class of its own is about the server, and would be met at every passage.
            gone = type(failure) is ModelError
        run.amend(ReasonGiven(asked=ReasonAsked(passage_id, said, tuple(heard.calls))))
        if gone:
            return


class _Heard(SilentTrace):
    """Keeps the calls for one reason."""

    def __init__(self, run: LiveRun) -> None:
        self.calls: list[ModelCall] = []
        self._run = run

    def call(self, call: ModelCall) -> None:
        self.calls.append(call)

    def now_ms(self) -> float:
        return self._run.clock.elapsed_ms()


def _warn_of_other_content(context: RunContext, parent: RunRecord, manifest: Mapping[str, str]) -> None:
    former, now = parent.manifest.get("collection_fingerprint"), manifest.get("collection_fingerprint")
    if former and now and former != now:
        context.warn(RecordError.collection_changed(collection=parent.config.collection, run=parent.id[:8]))


async def _prepared(run: LiveRun, config: RunConfig, resources: RoleSource) -> tuple[Roles, Mapping[str, str]]:
    """Roles and manifest, in the run's own time: a store or a model server that hangs must not outlast the budget."""
    limit = asyncio.timeout(max(0.0, run.clock.left_s()))
    try:
        async with limit:
            return await resources.roles(config)
    except TimeoutError:
        if not limit.expired():
            raise
        raise StoreError.slow(seconds=config.budget_s) from None


def _node_at_fault(record: RunRecord) -> str:
    return next((item.node for item in reversed(record.nodes) if item.error), "")
