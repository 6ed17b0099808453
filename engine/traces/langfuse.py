"""Langfuse: traces with their observations, as its API and its export write them (untried against the service)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.traces.phoenix import nanoseconds
from engine.traces.spans import Span, items, number

_KINDS = {"GENERATION": "LLM", "SPAN": "CHAIN", "EVENT": "CHAIN"}
"""Kinds of OpenInference by type; RETRIEVER, EVALUATOR, CHAIN, AGENT, TOOL and EMBEDDING have the same names."""


def is_langfuse_trace(value: Any) -> bool:
    """Whether this is a trace with full observations."""
    return isinstance(value, Mapping) and isinstance(value.get("observations"), list) and bool(value.get("id"))


def is_observation(value: Any) -> bool:
    """Whether this is an observation alone, as a list of them has it."""
    return isinstance(value, Mapping) and bool(value.get("traceId")) and "type" in value and "startTime" in value


def langfuse_spans(trace: Mapping[str, Any]) -> Iterator[Span]:
    """The trace itself as the root, and its observations."""
    identity, project = str(trace["id"]), str(trace.get("projectId") or trace.get("project") or "")
    observations = [item for item in trace["observations"] if isinstance(item, Mapping) and item.get("id")]
    times = [
        nanoseconds(item.get(name)) for item in observations for name in ("startTime", "endTime") if item.get(name)
    ]
    began = nanoseconds(trace.get("timestamp")) or min(times, default=0)
    root = f"trace-{identity}"
    yield Span(
        id=root,
        trace_id=identity,
        parent="",
        name=str(trace.get("name") or ""),
        kind="CHAIN",
        start_ns=min([began, *times]),
        end_ns=max([began, *times]),
        attributes=_attributes(trace),
        project=project,
        tool="langfuse",
    )
    for item in observations:
        yield observation_span(item, project, root, identity)


def observation_span(item: Mapping[str, Any], project: str = "", root: str = "", trace_id: str = "") -> Span:
    """One observation; without a parent of its own it is a child of the trace."""
    kind, start = str(item.get("type") or "").upper(), nanoseconds(item.get("startTime"))
    failed = str(item.get("level") or "").upper() == "ERROR"
    return Span(
        id=str(item.get("id")),
        trace_id=trace_id or str(item.get("traceId")),
        parent=str(item.get("parentObservationId") or root),
        name=str(item.get("name") or ""),
        kind=_KINDS.get(kind, kind),
        start_ns=start,
        end_ns=nanoseconds(item.get("endTime")) or start,
        attributes=_attributes(item),
        error=str(item.get("statusMessage") or "error") if failed else "",
        project=project or str(item.get("projectId") or ""),
        tool="langfuse",
    )


def _attributes(item: Mapping[str, Any]) -> dict[str, Any]:
    usage = item.get("usageDetails") or item.get("usage")
    tokens = usage if isinstance(usage, Mapping) else {}
    found: dict[str, Any] = {"input": {"value": item.get("input")}, "output": {"value": item.get("output")}}
    found["llm"] = {
        "model_name": item.get("model") or "",
        "token_count": {
            "prompt": number(tokens.get("input", tokens.get("promptTokens"))),
            "completion": number(tokens.get("output", tokens.get("completionTokens"))),
        },
    }
    return found


def scores_of(trace: Mapping[str, Any]) -> int:
    """How many scores a trace has: they are about steps as a whole, and so are no verdicts on passages."""
    return len(list(items(trace.get("scores"))))
