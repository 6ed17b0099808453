"""A server that says far more than it was asked for, in one piece or in many, and counts what it got rid of."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LARGE = 20_000_000
_PART = 50_000


class Flood:
    """``head`` once, then ``body`` again and again until 20 MB are sent; ``gate`` is waited for after the first."""

    def __init__(self, head: str, body: str = "x", *, status: int = 200, kind: str = "", encoding: str = "") -> None:
        self.sent = 0
        """Bytes of the largest answer that somebody took."""
        self.gate: Callable[[], object] = lambda: None
        self.url = ""
        self._head = head.encode()
        self._body = (body * (_PART // len(body))).encode()
        self._status = status
        self._headers = {"content-type": kind or "application/json", "connection": "close"}
        if encoding:
            self._headers["content-encoding"] = encoding

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", 0))
        handler.rfile.read(length)
        handler.send_response(self._status)
        for name, value in self._headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(self._head + self._body)
        handler.wfile.flush()
        self.gate()
        for sent in range(0, LARGE + 1, len(self._body)):
            handler.wfile.write(self._body)
            self.sent = max(self.sent, sent)


@contextmanager
def flooding(flood: Flood) -> Iterator[Flood]:
    """The server at ``flood.url``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                flood.answer(self)
            except OSError:
                return  # the client left

        do_POST = do_GET

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    flood.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield flood
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
