"""Requests that go to an application as a server would give them to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

Headers = Mapping[str, str]


@dataclass
class Answer:
    """What came of a request."""

    status: int = 0
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


async def answer_of(app: Any, method: str, target: str, headers: Headers | None = None, body: Any = None) -> Answer:
    """The answer to a request whose address no client has tidied up."""
    path, _, query = target.partition("?")
    content = b"" if body is None else json.dumps(body).encode()
    given = {"host": "127.0.0.1:8501", "content-type": "application/json", **(headers or {})}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8501),
    }
    answer, requests = Answer(), [{"type": "http.request", "body": content, "more_body": False}]

    async def receive() -> Any:
        if not requests:
            await asyncio.Event().wait()
        return requests.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer
