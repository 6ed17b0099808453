"""Format of the decorators of ``rag_workbench.observe``: one JSON object a question, its steps in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plugins.traces.phoenix import nanoseconds
from plugins.traces.spans import LATEST_NS, Span, items, number

_KINDS = {"retrieval": "RETRIEVER", "grading": "EVALUATOR", "generation": "LLM", "rewriting": "CHAIN"}
_NAMES = {"retrieval": "retrieve", "grading": "grade_documents", "generation": "generate", "rewriting": "rewrite"}


def is_observed(value: Any) -> bool:
    """Return whether this is a question that was observed."""
    return isinstance(value, Mapping) and value.get("workbench_trace") == 1 and isinstance(value.get("steps"), list)


def observed_spans(value: Mapping[str, Any]) -> Iterator[Span]:
    """The question as the root, and its steps."""
    identity, project = str(value.get("id") or ""), str(value.get("project") or "")
    began = nanoseconds(value.get("started_at"))
    steps = [item for item in items(value["steps"]) if isinstance(item, Mapping) and item.get("kind") in _KINDS]
    duration = number(value.get("duration_ms")) or max((_ends(item) for item in steps), default=0.0)
    attributes = {"input": {"value": value.get("question")}, "output": {"value": value.get("answer") or ""}}
    yield Span(
        f"{identity}/", identity, "", "run", "CHAIN", began, _after(began, duration), attributes,
        str(value.get("error") or ""), project, "observed",
    )  # fmt: skip
    for place, item in enumerate(steps):
        kind = str(item["kind"])
        yield Span(
            id=f"{identity}/{place:06d}",
            trace_id=identity,
            parent=f"{identity}/",
            name=_NAMES[kind],
            kind=_KINDS[kind],
            start_ns=_after(began, number(item.get("start_ms")) or 0.0),
            end_ns=_after(began, _ends(item)),
            attributes=_attributes(item),
            error=str(item.get("error") or ""),
            project=project,
            tool="observed",
        )


def _after(began_ns: int, ms: float) -> int:
    return min(max(0, began_ns + int(min(max(ms, -1e15), 1e15) * 1e6)), LATEST_NS)


def _ends(item: Mapping[str, Any]) -> float:
    return (number(item.get("start_ms")) or 0.0) + (number(item.get("duration_ms")) or 0.0)


def _attributes(item: Mapping[str, Any]) -> dict[str, Any]:
    if item["kind"] == "retrieval":
        return {"input": {"value": item.get("query")}, "output": {"value": {"documents": item.get("documents")}}}
    given = {"question": item.get("question"), "documents": item.get("documents")}
    if item["kind"] == "grading":
        return {"input": {"value": given}, "output": {"value": {"verdicts": item.get("verdicts")}}}
    return {
        "input": {"value": given},
        "output": {"value": item.get("answer") or item.get("query") or ""},
        "llm": {"model_name": item.get("model") or ""},
    }
