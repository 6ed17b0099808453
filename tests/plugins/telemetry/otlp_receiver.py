"""A receiver of spans over HTTP: it decodes OTLP's binary form, and keeps what came."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.support.gates import PATIENCE_S


class OtlpReceiver:
    """Serves until it is closed; ``answers`` are statuses for the next requests, in the place of 200."""

    def __init__(self, port: int = 0) -> None:
        self.answers: list[int] = []
        self.rejected = 0
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.posted: dict[str, list[Any]] = {}
        """Data of requests in JSON, by path."""
        self.changed = Condition()
        handler = type("Handler", (_Handler,), {"receiver": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def wait(self, runs: int) -> None:
        """Block until so many runs came."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.bodies) >= runs, PATIENCE_S), f"{len(self.bodies)} came"

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes, str]:
        """Status, body and kind of the answer to a request."""
        with self.changed:
            status = self.answers.pop(0) if self.answers else 200
            self.headers.append(headers)
            if status == 200 and path.endswith("/v1/traces"):
                self.bodies.append(body)
            elif status == 200:
                self.posted.setdefault(path, []).extend(json.loads(body)["data"])
            self.changed.notify_all()
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = self.rejected
        return status, answer.SerializeToString(), "application/x-protobuf"


class _Handler(BaseHTTPRequestHandler):
    receiver: OtlpReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, answer, kind = self.receiver.take(self.path, headers, body)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def plain(attributes: Any) -> dict[str, Any]:
    """Attributes as plain values."""
    return {item.key: _value(item.value) for item in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None
