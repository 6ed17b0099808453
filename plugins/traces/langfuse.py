"""Langfuse: traces and observations as its pages, tables, API and storage write them (untried against the service)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.knowledge.loaders.separated import allow_long_cells
from plugins.traces.foreign import LeftOut
from plugins.traces.phoenix import nanoseconds
from plugins.traces.spans import Span, items, loaded, number

_KINDS = {"GENERATION": "LLM", "SPAN": "CHAIN", "EVENT": "CHAIN"}
"""Kinds of OpenInference by type; RETRIEVER, EVALUATOR, CHAIN, AGENT, TOOL and EMBEDDING have the same names."""
_OF_TRACES = ("bookmarked", "public", "htmlPath", "release", "scores")
"""Fields that tell a trace from an object of another program."""
_SNAKE = re.compile(r"(?<=[a-z0-9])_([a-z])")


@dataclass(slots=True)
class LangfuseFound:
    """Traces, observations and scores as they come, in one file or several, some of them twice."""

    _traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    _steps: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """By trace and id."""
    _scores: dict[str, set[str]] = field(default_factory=dict)

    def take(self, value: Mapping[str, Any]) -> bool:
        """Keep a trace, an observation, or a page of one trace; False where it is none of these."""
        raw, listed, scores = value.get("trace"), value.get("observations"), value.get("scores")
        if isinstance(raw, Mapping) and raw.get("id") and (_listed(listed) or _listed(raw.get("observations"))):
            self._take_trace(_camel(raw))
            self._take_steps(listed, str(raw["id"]))
            self._take_scores(scores, str(raw["id"]))
            return True
        item = _camel(value)
        if _is_observation(item):
            self._take_steps([item], "")
        elif _is_trace(item):
            self._take_trace(item)
        elif _listed(listed) and _listed(scores):
            self._take_steps(listed, "")
            self._take_scores(scores, "")
        else:
            return False
        return True

    def _take_trace(self, trace: Mapping[str, Any]) -> None:
        identity = str(trace["id"])
        self._traces[identity] = _fuller(self._traces.get(identity, {}), trace)
        self._take_steps(trace.get("observations"), identity)
        self._take_scores(trace.get("scores"), identity)

    def _take_steps(self, listed: Any, identity: str) -> None:
        for raw in items(listed):
            item = _camel(raw) if isinstance(raw, Mapping) else {}
            if item.get("id") and (identity or _is_observation(item)):
                steps = self._steps.setdefault(identity or str(item["traceId"]), {})
                # A page writes each observation twice, and may have what went in and came out in one place alone.
                steps[str(item["id"])] = _fuller(steps.get(str(item["id"]), {}), item)

    def _take_scores(self, listed: Any, identity: str) -> None:
        for place, raw in enumerate(items(listed)):
            of = raw.get("traceId") if isinstance(raw, Mapping) else None
            name = raw.get("id") if isinstance(raw, Mapping) else raw
            self._scores.setdefault(identity or str(of or ""), set()).add(str(name or place))

    def spans(self) -> Iterator[Span]:
        """All of it, trace by trace."""
        for identity in dict.fromkeys((*self._traces, *self._steps)):
            yield from _spans(identity, self._traces.get(identity), self._steps.get(identity, {}))

    def left_out(self) -> Iterator[LeftOut]:
        """The scores: they are about steps as a whole, and so are no verdicts on passages."""
        for identity, names in self._scores.items():
            yield LeftOut("scores", {"n": str(len(names)), "trace": identity})


def langfuse_rows(text: str) -> list[dict[str, Any]] | None:
    """The rows of a table of traces or observations as CSV; None where the text is no such table.

    Raises ``csv.Error``.
    """
    allow_long_cells()
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    names = {_SNAKE.sub(_upper, name) for name in reader.fieldnames or ()}
    if not {"id", "traceId", "startTime"} <= names and not {"id", "timestamp", "bookmarked"} <= names:
        return None
    return [{str(key): loaded(value) if value else None for key, value in row.items()} for row in reader]


def _spans(identity: str, trace: Mapping[str, Any] | None, steps: Mapping[str, Mapping[str, Any]]) -> Iterator[Span]:
    """The trace as the root of its observations; one outermost observation is the root itself where no trace came."""
    tops = [item for item in steps.values() if str(item.get("parentObservationId") or "") not in steps]
    first: Mapping[str, Any] = tops[0] if tops else {}
    project = str((trace or first).get("projectId") or (trace or first).get("project") or "")
    root = "" if trace is None and len(tops) == 1 else f"trace-{identity}"
    if root:
        times = [nanoseconds(item.get(name)) for item in steps.values() for name in ("startTime", "endTime")]
        times = [time for time in (nanoseconds((trace or {}).get("timestamp")), *times) if time]
        # A trace that has none of its own has those of its outermost observation.
        contents = dict(first) if len(tops) == 1 else {}
        yield Span(
            id=root,
            trace_id=identity,
            parent="",
            name=str((trace or {}).get("name") or first.get("traceName") or ""),
            kind="CHAIN",
            start_ns=min(times, default=0),
            end_ns=max(times, default=0),
            attributes=_contents(_fuller(contents, trace or {})),
            project=project,
            tool="langfuse",
        )
    for name, item in steps.items():
        parent = str(item.get("parentObservationId") or "")
        yield _span(item, name, parent if parent in steps else root, identity, project)


def _span(item: Mapping[str, Any], name: str, parent: str, trace_id: str, project: str) -> Span:
    kind, start = str(item.get("type") or "").upper(), nanoseconds(item.get("startTime"))
    failed = str(item.get("level") or "").upper() == "ERROR"
    usage = loaded(item.get("usageDetails")) or loaded(item.get("usage"))
    tokens = usage if isinstance(usage, Mapping) else {}
    llm = {
        "model_name": item.get("model") or item.get("providedModelName") or "",
        "token_count": {
            "prompt": number(tokens.get("input", tokens.get("promptTokens"))),
            "completion": number(tokens.get("output", tokens.get("completionTokens"))),
        },
    }
    return Span(
        id=name,
        trace_id=trace_id,
        parent=parent,
        name=str(item.get("name") or ""),
        kind=_KINDS.get(kind, kind),
        start_ns=start,
        end_ns=nanoseconds(item.get("endTime")) or start,
        attributes={**_contents(item), "llm": llm},
        error=str(item.get("statusMessage") or "error") if failed else "",
        project=project,
        tool="langfuse",
    )


def _contents(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"input": {"value": _argument(item.get("input"))}, "output": {"value": item.get("output")}}


def _argument(value: Any) -> Any:
    """Return a function's arguments as its decorator records them: the only one, or all by name."""
    held = loaded(value)
    if not isinstance(held, Mapping) or set(held) != {"args", "kwargs"}:
        return value
    placed, named = list(items(held["args"])), held["kwargs"]
    if named:
        return value if placed else named
    return placed[0] if len(placed) == 1 else value


def _is_trace(item: Mapping[str, Any]) -> bool:
    if not item.get("id"):
        return False
    return _listed(item.get("observations")) or ("timestamp" in item and any(name in item for name in _OF_TRACES))


def _is_observation(item: Mapping[str, Any]) -> bool:
    return all(item.get(name) for name in ("id", "traceId", "startTime")) and "type" in item


def _listed(value: Any) -> bool:
    return isinstance(value, list)


def _fuller(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both together: what is null in the other stays as it is in the one."""
    return {**one, **{name: value for name, value in other.items() if value is not None}}


def _camel(item: Mapping[str, Any]) -> dict[str, Any]:
    """The names of fields as the API has them; files in storage have them with underscores."""
    return {_SNAKE.sub(_upper, str(name)): value for name, value in item.items()}


def _upper(found: re.Match[str]) -> str:
    return found[1].upper()
