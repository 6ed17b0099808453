"""Requests to what receives spans, and what its answers mean; every fault is one of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from engine.llm.connection import http_options, without_userinfo
from engine.settings import Settings
from plugins.telemetry.errors import TelemetryError, TelemetryUnreachable
from plugins.telemetry.header_list import headers_in
from plugins.telemetry.otlp import encoded
from plugins.telemetry.settings import TelemetrySettings
from plugins.telemetry.values import Score, Trace

_TRACES = "/v1/traces"
_PROTOBUF = "application/x-protobuf"
_REQUEST_S = 10.0
_LATER = frozenset({408, 425, 429, 502, 503, 504})
"""Answers after which OTLP has the same request sent again."""


def traces_url(endpoint: str) -> str:
    """Return where spans are posted: the endpoint itself, or its base with OTLP's usual path."""
    bare = endpoint.rstrip("/")
    return bare if bare.endswith(_TRACES) else bare + _TRACES


class Receiver:
    """One address that takes spans; every call blocks, at most ten seconds, and is made by one thread at a time."""

    def __init__(self, endpoint: str, headers: Mapping[str, str], *, project: str, phoenix: bool) -> None:
        self._url = traces_url(endpoint)
        self._project = project
        self._phoenix = phoenix
        self.shown = without_userinfo(self._url)
        # A receiver that lives behind a redirect is set with its own address: keys go to no other host.
        self._client = httpx.Client(headers=headers, **http_options(self.shown, timeout_s=_REQUEST_S))

    @classmethod
    def of(cls, settings: Settings, endpoint: str = "") -> Receiver:
        """The one of the settings; their headers are for no other ``endpoint``."""
        chosen = settings.of(TelemetrySettings)
        own = not endpoint or traces_url(endpoint) == traces_url(chosen.otlp_endpoint)
        headers = headers_in(chosen.otlp_headers.get_secret_value()) if own else {}
        address = endpoint or chosen.otlp_endpoint
        return cls(address, headers, project=chosen.otlp_project, phoenix=own and chosen.otlp_phoenix)

    def send(self, trace: Trace) -> None:
        """Send a run, and to an Arize Phoenix its judgements; raises ``TelemetryError``."""
        answer = self._post(self._url, content=encoded([trace], self._project), kind=_PROTOBUF)
        _raise_for(answer.status_code, self.shown)
        _raise_for_rejected(answer, self.shown)
        if self._phoenix:
            self._annotate(trace)

    def close(self) -> None:
        self._client.close()

    def _annotate(self, trace: Trace) -> None:
        judged = [(span.id, score) for span in trace.spans for score in span.scores]
        base = self._url.removesuffix(_TRACES)
        for path, wanted in (("document_annotations", True), ("span_annotations", False)):
            data = [_annotation(span, score) for span, score in judged if (score.document is not None) == wanted]
            if not data:
                continue
            answer = self._post(f"{base}/v1/{path}", json={"data": data})
            if answer.status_code in _LATER:
                raise TelemetryUnreachable.busy(address=self.shown, status=answer.status_code)
            if not answer.is_success:
                raise TelemetryError.judgements_refused(address=self.shown, status=answer.status_code)

    def _post(self, url: str, *, kind: str = "", **body: Any) -> httpx.Response:
        try:
            return self._client.post(url, headers={"Content-Type": kind} if kind else {}, **body)
        except httpx.ConnectTimeout as failure:
            raise TelemetryUnreachable.silent(address=self.shown) from failure
        except httpx.TimeoutException as failure:
            raise TelemetryUnreachable.slow(address=self.shown, seconds=_REQUEST_S) from failure
        except httpx.TransportError as failure:
            raise TelemetryUnreachable.silent(address=self.shown) from failure


def _annotation(span: str, score: Score) -> dict[str, Any]:
    """A judgement as the REST API of an Arize Phoenix takes it; one that is sent again replaces itself."""
    result = {"label": score.label, "score": score.score, "explanation": score.explanation or None}
    place = {} if score.document is None else {"document_position": score.document}
    values = {name: value for name, value in result.items() if value is not None}
    return {"span_id": span, "name": score.name, "annotator_kind": score.by, "result": values, **place}


def _raise_for(status: int, address: str) -> None:
    if 200 <= status < 300:
        return
    if status in _LATER:
        raise TelemetryUnreachable.busy(address=address, status=status)
    if status in (401, 403):
        raise TelemetryError.key_refused(address=address, status=status)
    if status in (404, 405) or 300 <= status < 400:
        raise TelemetryError.path_unknown(address=address, status=status)
    raise TelemetryError.refused(address=address, status=status)


def _raise_for_rejected(answer: httpx.Response, address: str) -> None:
    """Raise ``TelemetryError`` where a receiver says that it took only some of the spans."""
    reply = ExportTraceServiceResponse()
    try:
        reply.ParseFromString(answer.content if _PROTOBUF in answer.headers.get("content-type", "") else b"")
    except DecodeError:
        return
    if reply.partial_success.rejected_spans:
        raise TelemetryError.rejected(address=address, rejected=reply.partial_success.rejected_spans)
