"""LangSmith: runs, as its client and its bulk export write them (untried against the service)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.phoenix import nanoseconds
from engine.traces.spans import Span, items, loaded, number

_KINDS = {"retriever": "RETRIEVER", "llm": "LLM", "chain": "CHAIN", "tool": "TOOL", "embedding": "EMBEDDING"}


def is_langsmith_run(value: Any) -> bool:
    """Whether this is a run of LangSmith."""
    return isinstance(value, Mapping) and bool(value.get("id")) and "run_type" in value


def langsmith_spans(run: Mapping[str, Any], depth: int = 0, parent: str = "", trace_id: str = "") -> Iterator[Span]:
    """A run and, where they are nested inside, its children."""
    trace_id = str(run.get("trace_id") or trace_id or run["id"])
    outputs, inputs = loaded(run.get("outputs")), loaded(run.get("inputs"))
    extra = loaded(run.get("extra"))
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    model = metadata.get("ls_model_name") if isinstance(metadata, Mapping) else None
    start = nanoseconds(run.get("start_time"))
    yield Span(
        id=str(run["id"]),
        trace_id=trace_id,
        parent=str(run.get("parent_run_id") or parent),
        name=str(run.get("name") or ""),
        kind=_KINDS.get(str(run.get("run_type") or "").lower(), "CHAIN"),
        start_ns=start,
        end_ns=nanoseconds(run.get("end_time")) or start,
        attributes={
            "input": {"value": _single(inputs, "input", "query")},
            "output": {"value": _single(outputs, "output")},
            "llm": {
                "model_name": model or "",
                "token_count": {
                    "prompt": number(run.get("prompt_tokens")),
                    "completion": number(run.get("completion_tokens")),
                },
            },
        },
        error=str(run.get("error") or ""),
        project=str(run.get("session_name") or run.get("session_id") or ""),
        tool="langsmith",
    )
    if depth < 40:
        for child in items(run.get("child_runs")):
            if is_langsmith_run(child):
                yield from langsmith_spans(child, depth + 1, str(run["id"]), trace_id)


def _single(value: Any, *names: str) -> Any:
    """The one value of an object that holds nothing else, as functions are traced; else the object."""
    if isinstance(value, Mapping) and len(value) == 1:
        return next((value[name] for name in names if name in value), value)
    return value
