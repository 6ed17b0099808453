"""The MCP server at ``/mcp`` of the app: who comes in, and in which mode; behind the guards of pages and API.

Nothing of the library is imported before the first request that is let in.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from contextvars import Context
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.api.incoming import replayed
from engine.api.strangers import for_strangers, turn_away
from engine.api.web import ApiGuard
from engine.errors import NotSignedIn, WorkbenchError
from engine.model.ending import ENDING_S
from engine.model.people import Person
from engine.people.current_user import LOCAL, acting_as
from engine.plugins import Front
from engine.settings import Settings
from plugins.mcp.errors import NOT_INSTALLED, OFF
from plugins.mcp.plain_answers import PlainAnswers
from plugins.mcp.settings import PATH, McpSettings

if TYPE_CHECKING:
    from plugins.mcp.declared import Mode

MODE_HEADER: Final = "x-workbench-mcp"
"""In which mode the command ``mcp`` hands over; only read with its token."""
MOST_AT_ONCE: Final = 32
"""Requests of one session that are worked on at a time."""
INVALID_REQUEST: Final = -32600
"""What JSON-RPC calls a message that is no request as it should be."""
_MOST_READ = 64 * 1024
_UPLOAD_BYTES_PER_MB = 1_500_000


class McpFirst:
    """Gives the MCP server the path ``/mcp``, also below the ``base`` of the app, and ends it with the app."""

    def __init__(self, app: ASGIApp, door: McpDoor, base: str = "") -> None:
        self._app = app
        self._door = door
        self._paths = (PATH, base + PATH)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                await self._app(scope, receive, send)
            finally:
                await self._door.close()
        elif (
            scope["type"] == "http"
            and scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/") in self._paths
        ):
            await self._door(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class McpDoor:
    """Lets in whom the settings let in: no one (404), everybody, or where people sign in those with a token (401).

    The command ``mcp`` of this machine is let in by the secret that the app keeps in its data folder: a user of
    that folder can open it without the app too.
    """

    def __init__(self, front: Front) -> None:
        self._get_engine = front.get_engine
        self._settings: Settings = front.settings
        self._mode = self._settings.of(McpSettings).mcp
        self._sign_in = front.sign_in
        self._base = front.base
        self._starting = asyncio.Lock()
        self._serving: dict[Mode, _Serving] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            person, mode = await asyncio.to_thread(self._caller, Headers(scope=scope))
        except WorkbenchError as error:
            await turn_away(receive, send, error if error.code == OFF.code else for_strangers(error))
            return
        try:
            serving = await self._served(mode)
        except WorkbenchError as error:
            await turn_away(receive, send, error)
            return
        with acting_as(person):
            await serving.app({**scope, "root_path": scope.get("root_path", "") + self._base}, receive, send)

    async def close(self) -> None:
        """End every session and what it runs."""
        serving, self._serving = self._serving, {}
        for item in serving.values():
            await item.stop()

    def _caller(self, headers: Headers) -> tuple[Person, Mode]:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip() if scheme.lower() == "bearer" else ""
        if token and self._is_command(token):
            mode: Mode = "write" if headers.get(MODE_HEADER) == "write" else "read"
            return self._sign_in.of_token(token) if self._sign_in else LOCAL, mode
        if self._mode == "off":
            raise OFF()
        if self._sign_in is None:
            return LOCAL, self._mode
        if not token:
            raise NotSignedIn()
        return self._sign_in.of_token(token), self._mode

    def _is_command(self, token: str) -> bool:
        return secrets.compare_digest(token.encode("utf-8", "replace"), self._get_engine().local_token.encode())

    async def _served(self, mode: Mode) -> _Serving:
        async with self._starting:
            if mode not in self._serving:
                made = await asyncio.to_thread(self._made, mode)
                await made.start()
                self._serving[mode] = made
            return self._serving[mode]

    def _made(self, mode: Mode) -> _Serving:
        try:
            from plugins.mcp.declared import Bench
            from plugins.mcp.server import WorkbenchServer
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
                raise
            raise NOT_INSTALLED() from None
        server = WorkbenchServer(Bench(self._get_engine, mode))
        # Requests of one session may reach any of several replicas: there each stands alone.
        return _Serving(server, self._settings, mode, alone=bool(self._settings.database_url.get_secret_value()))


class _Serving:
    """The sessions of one mode, in a task of their own."""

    def __init__(self, server: Any, settings: Settings, mode: Mode, *, alone: bool) -> None:
        from mcp.server.transport_security import TransportSecuritySettings

        most = _MOST_READ if mode == "read" else settings.max_upload_mb * _UPLOAD_BYTES_PER_MB
        # Hosts and origins are looked at by the guards of the app, which stand before this.
        guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=alone, transport_security=guarded, max_request_body_size=most)
        self._manager = server.session_manager
        handle: ASGIApp = PlainAnswers(self._manager.handle_request)
        self.app: ASGIApp = ApiGuard(handle if alone else _Turns(handle), max_body=most)
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        ready = asyncio.Event()
        # In a context of its own: none of what it starts acts for the user who happened to come first.
        self._task = asyncio.get_running_loop().create_task(self._run(ready), context=Context())
        await asyncio.wait_for(ready.wait(), ENDING_S)

    async def stop(self) -> None:
        self._over.set()
        if self._task is not None:
            await self._task

    async def _run(self, ready: asyncio.Event) -> None:
        try:
            async with self._manager.run():
                ready.set()
                await self._over.wait()
        finally:
            ready.set()


class _Turns:
    """Lets each request of a session have an id of its own while it is worked on, and so many at a time.

    Answers find their way by the id: of two with the same one the library answers the second, and the first never.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._at_work: dict[str, set[str]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get("mcp-session-id", "")
        if scope["method"] != "POST" or not session:
            await self._app(scope, receive, send)
            return
        # The guard before this has read the body, so that it comes as one piece.
        body = (await receive()).get("body", b"")
        named = await asyncio.to_thread(_request_id, body) if len(body) > _MOST_READ else _request_id(body)
        if named is None:
            await self._app(scope, replayed(body, receive), send)
            return
        at_work = self._at_work.setdefault(session, set())
        if named in at_work or len(at_work) >= MOST_AT_ONCE:
            await _refuse_request(send, body, twice=named in at_work)
            return
        at_work.add(named)
        try:
            await self._app(scope, replayed(body, receive), send)
        finally:
            at_work.discard(named)
            if not at_work:
                self._at_work.pop(session, None)


def _request_id(body: bytes) -> str | None:
    """Return the id of a request within its session; None if it expects no answer, or is no message."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    named = message.get("id") if isinstance(message, dict) and "method" in message else None
    if isinstance(named, bool) or not isinstance(named, int | str):
        return None
    # The library takes a number and the same one as a text for the same.
    text = str(named).strip()
    return str(int(text)) if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else text


async def _refuse_request(send: Send, body: bytes, *, twice: bool) -> None:
    said = (
        "A request with this id is being worked on in this session. Give each request an id of its own."
        if twice
        else f"This session has {MOST_AT_ONCE} requests at work. Wait for one of them, or begin another session."
    )
    error = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "error": {"code": INVALID_REQUEST, "message": said}}
    content = json.dumps(error).encode("utf-8", "replace")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 409 if twice else 429, "headers": headers})
    await send({"type": "http.response.body", "body": content})
