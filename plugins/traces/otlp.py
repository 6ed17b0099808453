"""OTLP: spans as OpenTelemetry sends them, as JSON or in binary form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plugins.traces.errors import DECODER_MISSING
from plugins.traces.spans import LATEST_NS, PassageNote, Span, items, nested, number

_OPERATIONS = {"chat": "LLM", "text_completion": "LLM", "generate_content": "LLM", "execute_tool": "TOOL"}
"""Kinds by ``gen_ai.operation.name``, for programs that follow OpenTelemetry's own conventions."""
_FAILED = (2, "STATUS_CODE_ERROR")


def is_otlp(value: Any) -> bool:
    """Return whether this is the JSON of an export request."""
    return isinstance(value, Mapping) and isinstance(value.get("resourceSpans"), list)


def otlp_spans(value: Mapping[str, Any]) -> Iterator[Span]:
    """The spans of an export request; what is none is passed over."""
    for resource in value["resourceSpans"]:
        if not isinstance(resource, Mapping):
            continue
        source = resource.get("resource")
        about = _attributes(source.get("attributes") if isinstance(source, Mapping) else None)
        project = str(about.get("openinference.project.name") or about.get("service.name") or "")
        for scope in items(resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans")):
            for raw in items(scope.get("spans") if isinstance(scope, Mapping) else None):
                if (span := otlp_span(raw, project)) is not None:
                    yield span


def _camel(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object with its keys as OTLP has them: Phoenix writes ``trace_id``, and every kind of value as null."""
    return {
        first + "".join(part.capitalize() for part in rest): value
        for key, value in raw.items()
        if value is not None
        for first, *rest in (str(key).split("_"),)
    }


def otlp_span(given: Any, project: str) -> Span | None:
    """One span of OTLP's JSON; None where it has no ids."""
    raw = _camel(given) if isinstance(given, Mapping) else {}
    if not raw.get("traceId") or not raw.get("spanId"):
        return None
    attributes = _attributes(raw.get("attributes"))
    reported = raw.get("status")
    status: Mapping[str, Any] = reported if isinstance(reported, Mapping) else {}
    failed = status.get("code") in _FAILED
    kind = str(attributes.get("openinference.span.kind") or "").upper()
    return Span(
        id=str(raw["spanId"]),
        trace_id=str(raw["traceId"]),
        parent=str(raw.get("parentSpanId") or ""),
        name=str(raw.get("name") or ""),
        kind=kind or _OPERATIONS.get(str(attributes.get("gen_ai.operation.name")), ""),
        start_ns=_nanoseconds(raw.get("startTimeUnixNano")),
        end_ns=_nanoseconds(raw.get("endTimeUnixNano")),
        attributes=nested(attributes.items()),
        error=str(status.get("message") or "error") if failed else "",
        project=project,
        passage_notes=tuple(_passage_notes(raw.get("events"))),
    )


def _passage_notes(events: Any) -> Iterator[PassageNote]:
    """Judgements of documents among the events of a span, in OpenTelemetry's form."""
    for event in items(events):
        if not isinstance(event, Mapping) or event.get("name") != "gen_ai.evaluation.result":
            continue
        said = _attributes(event.get("attributes"))
        if document := said.get("document.id"):
            label, why = said.get("gen_ai.evaluation.score.label"), said.get("gen_ai.evaluation.explanation")
            score = number(said.get("gen_ai.evaluation.score.value"))
            yield PassageNote(str(document), str(label or ""), score, str(why or ""))


def _attributes(listed: Any) -> dict[str, Any]:
    found = {}
    for item in items(listed):
        if isinstance(item, Mapping) and isinstance(item.get("key"), str):
            found[item["key"]] = _value(item.get("value"))
    return found


def _value(value: Any, depth: int = 0) -> Any:
    """Decode an ``AnyValue``."""
    if not isinstance(value, Mapping) or depth > 20:
        return None
    value = _camel(value)
    if "intValue" in value:
        try:
            return int(value["intValue"])
        except (TypeError, ValueError, OverflowError):
            return None
    if "doubleValue" in value:
        return number(value["doubleValue"])
    if isinstance(value.get("arrayValue"), Mapping):
        return [_value(item, depth + 1) for item in items(value["arrayValue"].get("values"))]
    if isinstance(value.get("kvlistValue"), Mapping):
        listed = (item for item in items(value["kvlistValue"].get("values")) if isinstance(item, Mapping))
        return {str(item.get("key")): _value(item.get("value"), depth + 1) for item in listed}
    return value.get("stringValue", value.get("boolValue"))


def _nanoseconds(value: Any) -> int:
    try:
        return min(max(0, int(value)), LATEST_NS)
    except (TypeError, ValueError, OverflowError):
        return 0


def decoded(name: str, data: bytes) -> Mapping[str, Any] | None:
    """The export request in a binary message as its JSON; None where it is none.

    Raises ``DECODER_MISSING`` without the package that knows its form.
    """
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        raise DECODER_MISSING(name=name) from None
    message = TracesData()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    if not message.resource_spans:
        return None
    plain: dict[str, Any] = MessageToDict(message)
    # Ids are bytes there, which this JSON has in base64 and OTLP's own in hexadecimal.
    spans = (span for resource in message.resource_spans for scope in resource.scope_spans for span in scope.spans)
    shown = (
        span
        for resource in plain["resourceSpans"]
        for scope in resource.get("scopeSpans", ())
        for span in scope.get("spans", ())
    )
    for span, own in zip(spans, shown, strict=True):
        own["spanId"], own["traceId"] = span.span_id.hex(), span.trace_id.hex()
        own["parentSpanId"] = span.parent_span_id.hex()
    return plain
