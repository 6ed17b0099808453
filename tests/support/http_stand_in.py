"""What the stand-ins of HTTP servers share: a server on a free port of 127.0.0.1, with a script of what goes wrong."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self


class HttpStandIn:
    """Answers in threads of its own while the ``with`` block lasts."""

    protocol: ClassVar[str] = "HTTP/1.0"

    def __init__(self) -> None:
        self._script: deque[Any] = deque()
        self._ending = threading.Event()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = stand_in.protocol

            def do_GET(self) -> None:
                try:
                    stand_in.answer(self)
                except OSError:
                    # The client left, which some of the behaviours are there to bring about.
                    self.close_connection = True

            do_POST = do_GET

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        assert self._server is not None
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        assert self._server is not None, "use it in a with statement"
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, *behaviours: Any) -> None:
        """What the next requests meet, one each."""
        self._script.extend(behaviours)

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        raise NotImplementedError


def body_of(http: BaseHTTPRequestHandler) -> bytes:
    return http.rfile.read(int(http.headers.get("Content-Length") or 0))


def begin(http: BaseHTTPRequestHandler, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
    """Send the head of an answer; where it says no length, the end of the connection is its end."""
    http.send_response(status)
    for name, value in (headers or {}).items():
        http.send_header(name, value)
    if "Content-Length" not in (headers or {}):
        http.send_header("Connection", "close")
        http.close_connection = True
    http.end_headers()


def send(
    http: BaseHTTPRequestHandler,
    status: int,
    content: bytes,
    kind: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send a whole answer."""
    begin(http, status, {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})})
    http.wfile.write(content)
