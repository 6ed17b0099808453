"""The step that remembers: what passed for later questions, what failed apart from it (SPEC DL-06)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.builtin.answer_reading import sources_differ
from engine.errors import MemorySlow, WorkbenchError
from engine.events import MemoryKept
from engine.language import normalised_query
from engine.memory.distil import distilled
from engine.nodes.dual.parts import MEMORY_S, at_most_s, dual_roles
from engine.nodes.run_context import NodeTrace, RunContext
from engine.policies.dual import best_draft, dual_options
from engine.values import Draft, Memory

_NODE = "consolidate_memory"


async def consolidate_memory(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Keep the answer that stands, unless of a trial; a store that cannot be written is a warning.

    Not kept are answers without a search, which rest on a memory or on nothing, those that nobody judged, and those
    whose sources contradict each other: a memory would tell them as plain facts.
    """
    draft = best_draft(state["drafts"])
    remembers = dual_options(run.config).memory and not run.trial
    if draft is None or draft.direct or draft.evaluation is None or not remembers:
        return {}
    if sources_differ(draft.text):
        return {}
    memory = _memory(state["question"], draft, run)
    limit_s = at_most_s(run, MEMORY_S)
    try:
        async with asyncio.timeout(limit_s):
            await dual_roles(run).memory.keep(memory)
    except TimeoutError:
        run.warn(MemorySlow.within(limit_s), _NODE)
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
    else:
        run.emit(MemoryKept(memory=memory))
    return {}


def _memory(question: str, draft: Draft, run: RunContext) -> Memory:
    collection = dual_roles(run).collection or run.config.collection
    passed = draft.evaluation is not None and draft.evaluation.passed
    claim, citations = distilled(draft.text, draft.citations)
    return Memory(
        id=memory_id(question, collection, passed=passed),
        question=question,
        answer=draft.text,
        collection=collection,
        run_id=run.run_id,
        kept_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        passed=passed,
        sources=tuple(dict.fromkeys(item.source for item in draft.citations)),
        fingerprint=dual_roles(run).fingerprint,
        claim=claim,
        citations=citations,
    )


def memory_id(question: str, collection: str, *, passed: bool) -> str:
    """The same question asked again replaces its memory; failures have ids of their own."""
    named = "\n".join((collection, normalised_query(question), "passed" if passed else "failed"))
    return hashlib.sha256(named.encode()).hexdigest()[:24]
