"""The recalling step: what was answered before to questions like this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.builtin.sameness import near_enough
from engine.errors import ModelError, StoreError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import MemoryRecalled
from engine.model.values import Recall, Verdict
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import MOST_RECALLED, of_this_question, recalled
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import MEMORY_S, at_most_s
from engine.workflows.steps.heard import Heard

_NODE = "retrieve_memory"


async def retrieve_memory(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Recall answers of this collection to questions like this one, graded as passages are (DL-06).

    A failing memory is a warning.
    """
    recall = await _recall(state["question"], run) if dual_options(run.config).memory else Recall(off=True)
    if recall.holding:
        recall = await _graded(state["question"], recall, run, trace)
    run.emit(MemoryRecalled(recall=recall))
    return {"recall": recall}


async def _recall(question: str, run: RunContext) -> Recall:
    roles = own_roles(run, DualRoles)
    collection = roles.collection or run.config.collection
    limit_s = at_most_s(run, MEMORY_S)
    try:
        async with run.within(limit_s):
            found = await roles.memory.recall(question, collection, MOST_RECALLED + run.trial)
    except TimeoutError:
        run.warn(StoreError.memory_slow(seconds=f"{limit_s:.3g}"), _NODE)
        return Recall(failed=True)
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
        return Recall(failed=True)
    own = [item.id for item in found if run.trial and of_this_question(item, question)]
    others = [item for item in found if item.id not in own and near_enough(item)]
    return replace(recalled(others[:MOST_RECALLED], collection, roles.fingerprint), own=tuple(own))


async def _graded(question: str, recall: Recall, run: RunContext, trace: NodeTrace) -> Recall:
    """The recall with what the grader says of it; what it cannot judge may not answer."""
    holding, limit_s = recall.holding, at_most_s(run)
    verdicts: list[Verdict] = []
    try:
        async with run.within(limit_s):
            verdicts = await own_roles(run, DualRoles).recall_grader.grade(question, holding, Heard(trace, tell=False))
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=round(limit_s, 1)), _NODE)
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
    judged = {item.id: verdict for item, verdict in zip(holding, verdicts, strict=False)}
    passed = {name for name, verdict in judged.items() if verdict.passes(run.config.min_confidence)}
    return replace(recall, verdicts=judged, refused=tuple(item.id for item in holding if item.id not in passed))
