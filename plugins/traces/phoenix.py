"""Arize Phoenix: spans of its REST API, of its client's data frames, and annotations of documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from plugins.traces.spans import LATEST_NS, DocumentNote, Span, loaded, nested, number

_ATTRIBUTES = "attributes."
_DATA_FRAME = ("context.span_id", "context.trace_id")


def is_phoenix_span(value: Any) -> bool:
    """Return whether this is a span of the REST API, or a row of a data frame of spans."""
    if not isinstance(value, Mapping):
        return False
    context = value.get("context")
    return (isinstance(context, Mapping) and bool(context.get("span_id"))) or all(
        value.get(name) for name in _DATA_FRAME
    )


def phoenix_span(raw: Mapping[str, Any], project: str) -> Span:
    """One span; its attributes may be flat, nested, or columns of a data frame."""
    context = raw.get("context")
    given = (
        context
        if isinstance(context, Mapping)
        else {name: raw.get(f"context.{name}") for name in ("span_id", "trace_id")}
    )
    attributes = loaded(raw.get("attributes"))
    flat = list(_flat(attributes)) if isinstance(attributes, Mapping) else []
    flat += [
        (key[len(_ATTRIBUTES) :], item)
        for key, value in raw.items()
        if key.startswith(_ATTRIBUTES) and value is not None
        for item in (value,)
    ]
    failed = str(raw.get("status_code") or "").upper().endswith("ERROR")
    return Span(
        id=str(given.get("span_id")),
        trace_id=str(given.get("trace_id")),
        parent=str(raw.get("parent_id") or ""),
        name=str(raw.get("name") or ""),
        kind=str(raw.get("span_kind") or "").upper().rpartition(".")[2],
        start_ns=nanoseconds(raw.get("start_time")),
        end_ns=nanoseconds(raw.get("end_time")),
        attributes=nested(flat),
        error=str(raw.get("status_message") or "error") if failed else "",
        project=project,
        tool="phoenix",
    )


def _flat(value: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Nested attributes as dotted keys, so that both forms become one."""
    if depth < 30 and isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _flat(item, f"{prefix}.{key}" if prefix else str(key), depth + 1)
    elif value is not None:
        yield prefix, value


def nanoseconds(value: Any) -> int:
    """Nanoseconds since 1970 of an ISO 8601 text, or of a number as data frames write them; 0 where it is neither."""
    found = number(value)
    if found is not None:
        # Seconds, milliseconds, microseconds or nanoseconds, by their size.
        scale = next((scale for limit, scale in ((1e11, 1e9), (1e14, 1e6), (1e17, 1e3)) if abs(found) < limit), 1.0)
        return min(max(0, int(found * scale)), LATEST_NS)
    try:
        moment = datetime.fromisoformat(str(value))
        if moment.tzinfo is None:
            # Services write UTC without saying so.
            moment = moment.replace(tzinfo=UTC)
        return max(0, int(moment.timestamp() * 1e6) * 1000)
    except (ValueError, OverflowError, OSError):
        return 0


def is_annotation(value: Any) -> bool:
    """Return whether this is an annotation of a document of a span, as the REST API gives and takes them."""
    return isinstance(value, Mapping) and bool(value.get("span_id")) and isinstance(value.get("document_position"), int)


def annotated(spans: Iterable[Span], annotations: Iterable[Mapping[str, Any]]) -> list[Span]:
    """The spans with what annotations say of their documents; the newest of a document counts."""
    by_span: dict[str, dict[int, DocumentNote]] = defaultdict(dict)
    for item in sorted(annotations, key=lambda item: str(item.get("updated_at") or item.get("created_at") or "")):
        said = item.get("result")
        result: Mapping[str, Any] = said if isinstance(said, Mapping) else item
        by_span[str(item["span_id"])][item["document_position"]] = DocumentNote(
            position=item["document_position"],
            label=str(result.get("label") or ""),
            score=number(result.get("score")),
            explanation=str(result.get("explanation") or ""),
            by=str(item.get("name") or item.get("annotator_kind") or "annotation"),
        )
    return [replace(span, notes=tuple(by_span[span.id].values())) if span.id in by_span else span for span in spans]
