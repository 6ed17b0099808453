"""A server that says far more than it was asked for, in one piece or in many, and counts what it got rid of."""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

from tests.support.http_stand_in import HttpStandIn, begin, body_of

LARGE = 20_000_000
_PART = 50_000


class Flood(HttpStandIn):
    """``head`` once, then ``body`` again and again until 20 MB are sent; ``gate`` is waited for after the first."""

    def __init__(self, head: str, body: str = "x", *, status: int = 200, kind: str = "", encoding: str = "") -> None:
        super().__init__()
        self.sent = 0
        """Bytes of the largest answer that a client took."""
        self.gate: Callable[[], object] = lambda: None
        self._head = head.encode()
        self._body = (body * (_PART // len(body))).encode()
        self._status = status
        self._headers = {"content-type": kind or "application/json"}
        if encoding:
            self._headers["content-encoding"] = encoding

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        body_of(http)
        begin(http, self._status, self._headers)
        http.wfile.write(self._head + self._body)
        http.wfile.flush()
        self.gate()
        for sent in range(0, LARGE + 1, len(self._body)):
            http.wfile.write(self._body)
            self.sent = max(self.sent, sent)
