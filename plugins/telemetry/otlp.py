"""Spans in the forms of OTLP: the binary one that receivers take, and JSON for files."""

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Iterable
from functools import cache
from typing import Any

from google.protobuf.json_format import MessageToDict
from openinference.semconv.resource import ResourceAttributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from engine.version import __version__
from plugins.telemetry.values import Span, Trace

SERVICE = "rag-workbench"
_IDS = ("traceId", "spanId", "parentSpanId")
_SCOPE = InstrumentationScope("rag-workbench", __version__)


def encoded(traces: Iterable[Trace], project: str) -> bytes:
    """Traces as the body of a request in protobuf."""
    body: bytes = _request(traces, project).SerializeToString()
    return body


def as_json(traces: Iterable[Trace], project: str) -> str:
    """Traces as one line of OTLP's JSON, whose ids are hexadecimal."""
    return json.dumps(_hexadecimal(MessageToDict(_request(traces, project))), ensure_ascii=False)


def _request(traces: Iterable[Trace], project: str) -> ExportTraceServiceRequest:
    resource = _resource(project)
    return encode_spans([_readable(span, trace, resource) for trace in traces for span in trace.spans])


@cache
def _resource(project: str) -> Resource:
    """This program, with what ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES`` say of it."""
    named = "OTEL_SERVICE_NAME" in os.environ or SERVICE_NAME + "=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    own = {SERVICE_VERSION: __version__} | ({} if named else {SERVICE_NAME: SERVICE})
    return Resource.create(own | ({ResourceAttributes.PROJECT_NAME: project} if project else {}))


def _readable(span: Span, trace: Trace, resource: Resource) -> ReadableSpan:
    parent = _context(trace, span.parent, remote=span.remote_parent) if span.parent else None
    status = Status(StatusCode.OK) if span.error is None else Status(StatusCode.ERROR, span.error)
    return ReadableSpan(
        name=span.name,
        context=_context(trace, span.id),
        parent=parent,
        resource=resource,
        attributes=dict(span.attributes),
        events=[Event(event.name, dict(event.attributes), event.at_ns) for event in span.events],
        kind=SpanKind.CLIENT if "gen_ai.request.model" in span.attributes else SpanKind.INTERNAL,
        status=status,
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_SCOPE,
    )


def _context(trace: Trace, span_id: str, *, remote: bool = False) -> SpanContext:
    return SpanContext(int(trace.id, 16), int(span_id, 16), is_remote=remote, trace_flags=TraceFlags.get_default())


def _hexadecimal(value: Any) -> Any:
    """A message as plain values, in which protobuf writes ids in base64."""
    if isinstance(value, list):
        return [_hexadecimal(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: b64decode(item).hex() if key in _IDS and isinstance(item, str) else _hexadecimal(item)
        for key, item in value.items()
    }
