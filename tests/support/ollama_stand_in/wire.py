"""Just enough HTTP/1.1 for Ollama's clients: keep-alive, chunked answers, and noticing when the client leaves."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from tests.support.ollama_stand_in.recorder import RecordedRequest, Recorder

JSON_TYPE = "application/json; charset=utf-8"
NDJSON_TYPE = "application/x-ndjson"
TEXT_TYPE = "text/plain; charset=utf-8"
_LINGER_OFF = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class RawRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes


async def read_request(reader: asyncio.StreamReader) -> RawRequest | None:
    """The next request of a connection, or None once the client has closed it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *rest = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return RawRequest(method, target.partition("?")[0], headers, content)


Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter, asyncio.Event], Awaitable[None]]


class WatchedConnection(asyncio.StreamReaderProtocol):
    """A stream connection that sets ``gone`` as soon as the client closes its side.

    Reading ahead to find that out would swallow the first byte of the next request.
    """

    def __init__(self, converse: Conversation) -> None:
        self.gone = asyncio.Event()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await converse(reader, writer, self.gone)

        super().__init__(asyncio.StreamReader(), connected)

    def eof_received(self) -> bool:
        self.gone.set()
        return bool(super().eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class Exchange:
    """The answer to one request, written as one body or as a stream of JSON lines."""

    def __init__(self, writer: asyncio.StreamWriter, recorder: Recorder, request: RecordedRequest) -> None:
        self.request = request
        self.dropped = False
        self._writer = writer
        self._recorder = recorder
        self._head_sent = False

    @property
    def head_sent(self) -> bool:
        return self._head_sent

    async def json(self, body: Mapping[str, Any], status: int = 200) -> None:
        await self.text(json.dumps(body, ensure_ascii=False), status, JSON_TYPE)

    async def text(self, text: str, status: int = 200, content_type: str = TEXT_TYPE) -> None:
        """The whole answer at once; to HEAD only its head."""
        content = text.encode()
        self._head(status, content_type, f"Content-Length: {len(content)}")
        self._writer.write(b"" if self.request.method == "HEAD" else content)
        await self._close()

    def start_stream(self) -> None:
        if not self._head_sent:
            self._head(200, NDJSON_TYPE, "Transfer-Encoding: chunked")

    async def line(self, body: Mapping[str, Any]) -> None:
        await self.raw_line(json.dumps(body, ensure_ascii=False))

    async def raw_line(self, text: str) -> None:
        """One line of the stream as one chunk; sends the head before the first, not earlier, as Ollama does."""
        self.start_stream()
        content = text.encode() + b"\n"
        self._writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self._recorder.sent(self.request, 200, pieces=1)
        await self._writer.drain()

    async def end_stream(self) -> None:
        self.start_stream()
        self._writer.write(b"0\r\n\r\n")
        await self._close()

    async def drop(self, *, reset: bool = False) -> None:
        """Close the connection with the answer unfinished, politely (FIN) or not (RST)."""
        self.dropped = True
        if reset:
            self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_OFF)
        self._recorder.end(self.request)
        self._writer.close()

    async def _close(self) -> None:
        # Before anything is awaited: another connection must not be served, and counted as concurrent, in between.
        self._recorder.end(self.request)
        await self._writer.drain()

    def _head(self, status: int, content_type: str, framing: str) -> None:
        self._head_sent = True
        reason = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Status"
        date = formatdate(usegmt=True)
        head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nDate: {date}\r\n{framing}\r\n\r\n"
        self._writer.write(head.encode())
        self._recorder.sent(self.request, status)
