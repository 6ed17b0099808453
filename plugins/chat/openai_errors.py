"""Errors in OpenAI's form: what every guard, door and route below ``/v1`` refuses is put into it here, once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def body_of(status: int, code: str, fact: str, remedy: str, param: str | None = None) -> dict[str, Any]:
    """An error as OpenAI's clients read it."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": f"{fact} {remedy}".strip(), "type": kind, "param": param, "code": code}}


class OpenAIErrors:
    """Stands in front of all guards and puts their errors, and those of the routes, into OpenAI's form."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        """``base`` stands before every path of the app."""
        self._app = app
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ours = scope["type"] == "http" and below_v1(scope["path"], scope.get("root_path", ""), self._base)
        await self._app(scope, receive, _Translating(send) if ours else send)


def below_v1(path: str, root: str, base: str) -> bool:
    """Return whether a path is one of this API."""
    return path.removeprefix(root).removeprefix(base).lstrip("/").partition("/")[0].strip().lower() == "v1"


class _Translating:
    """Holds back what an error says until all of it is there, and sends it in the other form."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""
        self._sent = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            self._start = message
            return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not self._sent and (whole := _translated(self._start["status"], self._body)) is not None:
            self._sent = True
            await self._answer(whole, message.get("more_body", False))
        elif self._sent and not message.get("more_body", False):
            await self._send({"type": "http.response.body", "body": b""})
        elif not self._sent and not message.get("more_body", False):
            await self._answer(self._body, more=False)

    async def _answer(self, body: bytes, more: bool) -> None:
        assert self._start is not None
        start = {**self._start, "headers": list(self._start.get("headers", []))}
        headers = MutableHeaders(raw=start["headers"])
        headers["content-length"] = str(len(body))
        if "retry-after" not in headers:
            # OpenAI's clients repeat what failed by themselves, and every time is a run.
            headers["x-should-retry"] = "false"
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


def _translated(status: int, body: bytes) -> bytes | None:
    """The error of a whole body of ours; None where it is none, or not whole."""
    try:
        said = json.loads(body)
    except ValueError:
        return None
    if not isinstance(said, dict) or said.get("success") is not False:
        return None
    problems = [item for item in said.get("errors") or () if isinstance(item, dict)]
    named = "; ".join(f"{item['field']}: {item['problem']}" for item in problems)
    fact = f"{said['fact']} {named}." if named else said["fact"]
    param = said.get("field") or (problems[0]["field"] if problems else None)
    run = {"workbench": {"run": said["runId"]}} if said.get("runId") else {}
    return json.dumps({**body_of(status, said["code"], fact, said["remedy"], param), **run}).encode()
