"""The step that remembers: what passed for later questions, what failed apart from it (DL-06)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.builtin.answer_reading import sources_differ
from engine.builtin.answer_support import Given, unsupported_sentences
from engine.errors import ModelError, RunWarning, StoreError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, own_roles
from engine.model.decide import best_draft
from engine.model.events import MemoryKept
from engine.model.language import language_of, normalised_query
from engine.model.values import Draft, Memory
from engine.model.values.names import WEB_ID
from engine.roles import DistilRequest
from engine.workflows.dual_loop.distil import MOST_READ, cited_sentences, extracted, formless, renumbered, unsaid
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import MEMORY_S, at_most_s

DISTIL_S = 60.0
"""Longest wait for a model that says what is worth remembering."""
_NODE = "consolidate_memory"


async def consolidate_memory(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Keep the answer that stands, unless of a trial; a store that cannot be written is a warning.

    Not kept are answers without a search, which rest on a memory or on nothing, those that no one judged, those whose
    sources contradict each other, and those that say what their sources do not: a memory would tell it as plain facts.
    Nor are those that passed and hold no sentence that answers: what tells a reader what to do is no claim.
    """
    draft = best_draft(state["drafts"])
    remembers = dual_options(run.config).memory and not run.trial
    if draft is None or draft.direct or draft.evaluation is None or not remembers:
        return {}
    given = Given(state["contexts"][draft.index].passages)
    if sources_differ(draft.text) or unsupported_sentences(state["question"], draft.text, given):
        return {}
    memory = await _memory(state["question"], draft, run, trace)
    if memory.passed and not memory.claim:
        return {}
    limit_s = at_most_s(run, MEMORY_S)
    try:
        async with run.within(limit_s):
            await own_roles(run, DualRoles).memory.keep(memory)
    except TimeoutError:
        run.warn(StoreError.memory_slow(seconds=f"{limit_s:.3g}"), _NODE)
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
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
        run.warn(ModelError.budget_spent(model=distiller.name, seconds=round(limit_s, 1)), _NODE)
        return ""
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
        return ""
    if not distiller.name:
        return claim
    if formless(claim, said):
        run.warn(RunWarning.claim_formless(model=distiller.name), _NODE)
        return ""
    if new := unsaid(claim, said):
        run.warn(RunWarning.claim_not_cited(model=distiller.name, what=new[:80]), _NODE)
        return ""
    return claim


def memory_id(question: str, collection: str, *, passed: bool) -> str:
    """The same question asked again replaces its memory; failures have ids of their own."""
    named = "\n".join((collection, normalised_query(question), "passed" if passed else "failed"))
    return hashlib.sha256(named.encode()).hexdigest()[:24]
