"""Steps of long-term memory: what was answered before to questions like this one, and what is remembered (DL-06)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from engine.builtin.answer_reading import begins_with_gap, sources_differ
from engine.builtin.answer_support import unsupported_sentences
from engine.builtin.sameness import near_enough
from engine.errors import ModelError, RunWarning, StoreError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.decide import best_draft
from engine.model.events import MemoryKept, MemoryRecalled
from engine.model.language import language_of, normalised_query
from engine.model.values import Draft, Memory, Recall, Verdict
from engine.model.values.names import WEB_ID
from engine.roles import DistilRequest, Given
from engine.workflows.dual_loop.distil import MOST_READ, cited_sentences, extracted, formless, renumbered, unsaid
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import MOST_RECALLED, of_this_question, recalled
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import MEMORY_S, at_most_s, read_for
from engine.workflows.steps.heard import Heard

_NODE = "retrieve_memory"
DISTIL_S = 60.0
"""Longest wait for a model that says what is worth remembering."""
_CONSOLIDATE = "consolidate_memory"


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


async def consolidate_memory(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Keep the answer that stands, unless of a trial; a store that cannot be written is a warning.

    Not kept are answers without a search, which rest on a memory or on nothing, those that no one judged, those whose
    sources contradict each other or lack what was asked, and those that say what their sources do not: a memory would
    tell it as plain facts.
    Nor are those that passed and hold no sentence that answers: what tells a reader what to do is no claim.
    """
    draft = best_draft(state["drafts"])
    remembers = dual_options(run.config).memory and not run.trial
    if draft is None or draft.direct or draft.evaluation is None or not remembers:
        return {}
    given = Given(read_for(state, draft.index))
    text = draft.text
    if sources_differ(text) or begins_with_gap(text) or unsupported_sentences(state["question"], text, given):
        return {}
    memory = await _memory(state["question"], draft, run, trace)
    if memory.passed and not memory.claim:
        return {}
    limit_s = at_most_s(run, MEMORY_S)
    try:
        async with run.within(limit_s):
            await own_roles(run, DualRoles).memory.keep(memory)
    except TimeoutError:
        run.warn(StoreError.memory_slow(seconds=f"{limit_s:.3g}"), _CONSOLIDATE)
    except WorkbenchError as failure:
        run.warn(failure, _CONSOLIDATE)
    else:
        run.emit(MemoryKept(memory=memory))
    return {}


async def _memory(question: str, draft: Draft, run: RunContext, trace: NodeTrace) -> Memory:
    collection = own_roles(run, DualRoles).collection or run.config.collection
    passed = draft.evaluation is not None and draft.evaluation.passed
    # What did not pass is kept apart and never recalled: no call is worth its words.
    worded = await _worded(question, draft, run, trace) if passed else ""
    claim, citations = renumbered(worded or extracted(question, draft.text, draft.citations), draft.citations)
    return Memory(
        id=memory_id(question, collection, passed=passed),
        question=question,
        answer=draft.text,
        collection=collection,
        run_id=run.run_id,
        kept_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        passed=passed,
        sources=tuple(dict.fromkeys(item.source for item in draft.citations)),
        fingerprint=own_roles(run, DualRoles).fingerprint,
        claim=claim,
        citations=citations,
        claim_by=own_roles(run, DualRoles).distiller.name if worded else "",
        from_web=any(item.passage_id.startswith(WEB_ID) for item in draft.citations),
    )


async def _worded(question: str, draft: Draft, run: RunContext, trace: NodeTrace) -> str:
    """The claim in the distiller's words; empty where it failed, or said what no cited sentence says."""
    distiller, said = own_roles(run, DualRoles).distiller, cited_sentences(draft.text, draft.citations)[:MOST_READ]
    limit_s = at_most_s(run, DISTIL_S)
    if not said or limit_s <= 0:
        return ""
    try:
        async with run.within(limit_s):
            claim = await distiller.distil(DistilRequest(question, said, language_of(question)), trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=distiller.name, seconds=round(limit_s, 1)), _CONSOLIDATE)
        return ""
    except WorkbenchError as failure:
        run.warn(failure, _CONSOLIDATE)
        return ""
    if not distiller.name:
        return claim
    if formless(claim, said):
        run.warn(RunWarning.claim_formless(model=distiller.name), _CONSOLIDATE)
        return ""
    if new := unsaid(claim, said):
        run.warn(RunWarning.claim_not_cited(model=distiller.name, what=new[:80]), _CONSOLIDATE)
        return ""
    return claim


def memory_id(question: str, collection: str, *, passed: bool) -> str:
    """The same question asked again replaces its memory; failures have ids of their own."""
    named = "\n".join((collection, normalised_query(question), "passed" if passed else "failed"))
    return hashlib.sha256(named.encode()).hexdigest()[:24]
