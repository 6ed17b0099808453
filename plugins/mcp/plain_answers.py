"""Answers as JSON for clients that take no event stream: the library would refuse them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_JSON, _EVENTS = "application/json", "text/event-stream"


class PlainAnswers:
    """Gives the last message of a stream, the answer, as JSON to a client that accepts nothing else, or names nothing.

    What a tool reports while it works is left out, as it has no place there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = MutableHeaders(scope=scope)
        if scope["method"] != "POST" or not _only_json(headers.get("accept", "")):
            await self._app(scope, receive, send)
            return
        changed = {**scope, "headers": list(scope["headers"])}
        MutableHeaders(scope=changed)["accept"] = f"{_JSON}, {_EVENTS}"
        await self._app(changed, receive, _Gathered(send))


class _Gathered:
    """Sends what comes on, an event stream as its last message once that is over."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and MutableHeaders(raw=message["headers"]).get(
            "content-type", ""
        ).startswith(_EVENTS):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        body = next((data for data in reversed([*_messages(self._body)]) if "method" not in json.loads(data)), b"")
        headers = MutableHeaders(raw=list(self._start["headers"]))
        headers["content-type"] = _JSON
        headers["content-length"] = str(len(body))
        await self._send({**self._start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})


def _messages(stream: bytes) -> Iterator[bytes]:
    """The data of the events of a stream."""
    for event in stream.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:")]
        if data := b"\n".join(lines):
            yield data


def _only_json(accept: str) -> bool:
    """Return whether a client takes JSON and no event stream; one that says nothing takes what is usual."""
    kinds = [kind.split(";")[0].strip().lower() for kind in accept.split(",") if kind.strip()]
    return not {_EVENTS, "text/*", "*/*"} & {*kinds} and (not kinds or bool({_JSON, "application/*"} & {*kinds}))
