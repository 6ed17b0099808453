"""Guards around pages and API: security headers, host list and origin for both, and type and size for the API.

Pure ASGI: Starlette's ``BaseHTTPMiddleware`` would buffer event streams.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.api.incoming import MOST_NAMES, CallerLeft, Refused, drain, read_body, replayed
from engine.model.origins import plain_origin
from engine.plugins import plugins
from engine.settings import Settings

INLINE = "'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='"
CSP = "; ".join(
    (
        "default-src 'self'",
        # Streamlit's components are blob modules, and Graphviz runs as WebAssembly. The hash is of the one script that
        # stands in Streamlit's page; tests/api compares it.
        f"script-src 'self' 'wasm-unsafe-eval' blob: {INLINE}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
Ending = Callable[[], Awaitable[None]]
_HEADER_NAMES = frozenset(name for name, _ in HEADERS)
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_Refusal = tuple[int, str, str, str]
"""Status, code, fact and remedy."""
_OTHER_HOST = (400, "WB700", "This host name is not allowed.", "Add it to WORKBENCH_ALLOWED_HOSTS, or use 127.0.0.1.")
_OTHER_ORIGIN = (
    403,
    "WB701",
    "Requests from other origins are refused.",
    "Use the app at its own address, or add the origin to WORKBENCH_ALLOWED_ORIGINS.",
)
_NOT_JSON = (415, "WB703", "The content type must be application/json.", "Set it and send the body as JSON.")
INVALID_FACT = "The request is not valid."
INVALID_REMEDY = "Correct the fields named and send it again."
INTERNAL_FACT = "The workbench failed on this request."
INTERNAL_REMEDY = "Look at its log; if the request is right, report the fault."
_MAX_BODY = 64 * 1024
_MAX_UPLOAD = 32 * 1024 * 1024
# A file travels as base64 in JSON, which makes 4/3 of it; the rest is for the JSON around it.
_UPLOAD_BYTES_PER_MB = 1_500_000


def guards(settings: Settings) -> list[Middleware]:
    """Return the middleware before pages and API, outermost first: headers are set on refusals too."""
    return [
        Middleware(SecurityHeaders),
        Middleware(HostList, allowed=settings.allowed_hosts),
        Middleware(OwnOrigin, allowed=settings.allowed_origins),
    ]


_UPLOAD = re.compile(r"(/collections/[^/]+/sources|/api/runs|/api/attachments)$")
"""The routes of the core that take files."""


class SecurityHeaders:
    """Puts :data:`HEADERS` on every response, in place of any that the application set under the same name.

    A crash of the application is answered here: further out, the answer would lack them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                started = True
                own = [item for item in message.get("headers", []) if item[0].lower() not in _HEADER_NAMES]
                message = {**message, "headers": [*own, *HEADERS]}
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        except Exception:
            if scope["type"] == "http" and not started:
                await refuse(with_headers, 500, "WB000", INTERNAL_FACT, INTERNAL_REMEDY)
            raise


class HostList:
    """Refuses requests under a host name that is not listed (400), WebSockets included; ``*`` lists every name."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        self._app = app
        self._allowed = frozenset(host_name(f"[{name}]" if _bare_ipv6(name) else name) for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._listed(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
        else:
            await _turned_away(scope, send, _OTHER_HOST)

    def _listed(self, host: str) -> bool:
        return "*" in self._allowed or host_name(host) in self._allowed


class OwnOrigin:
    """Refuses what a page of another origin sends (403), WebSockets included, unless its origin is ``allowed``.

    An origin is scheme, host and port: another program's page on this very machine is foreign too. Clients that are
    not browsers send none.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str] = ()) -> None:
        self._app = app
        self._allowed = frozenset(map(plain_origin, allowed))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._own(scope):
            await self._app(scope, receive, send)
        else:
            await _turned_away(scope, send, _OTHER_ORIGIN)

    def _own(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        sent = headers.getlist("origin")
        scheme = "https" if scope.get("scheme") in ("https", "wss") else "http"
        taken = {plain_origin(f"{scheme}://{headers.get('host', '')}"), *self._allowed} - {""}
        return all(plain_origin(origin) in taken for origin in sent)


class ApiFirst:
    """Gives each API every path below its name, however it is spelt, so that all of them are answered in its form.

    The server of the pages has an opinion of its own on line breaks, zero bytes and dots in paths, and answers what it
    does not know with a page.
    """

    def __init__(self, app: ASGIApp, apis: Mapping[str, ASGIApp], base: str = "") -> None:
        """``apis`` by the first part of their paths, such as ``api``, also below the ``base`` of the app."""
        self._app = app
        self._apis = apis
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        root = scope.get("root_path", "")
        path = scope["path"].removeprefix(root).lstrip("/")
        if self._base and f"/{path}".startswith(f"{self._base}/"):
            root, path = root + self._base, f"/{path}".removeprefix(self._base).lstrip("/")
        first = path.partition("/")[0].strip()
        if (api := self._apis.get(first)) is not None:
            await api({**scope, "root_path": f"{root}/{first}", "path": f"{root}/{path}"}, receive, send)
        elif (api := self._apis.get(first.lower())) is not None:
            # Below its root no path has a second ``API``: refused like any other unknown path.
            await api(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class ApiGuard:
    """Guards the API: a body of at most ``max_body`` bytes (413), not too full of anything (422), and JSON (415).

    It wraps the API itself and not the whole application, so that no spelling of a path leads past it and uploads
    through the pages do not meet it. ``max_upload`` applies to the routes that take file contents.
    """

    def __init__(
        self, app: ASGIApp, max_body: int = _MAX_BODY, max_upload: int = _MAX_UPLOAD, most_names: int = MOST_NAMES
    ) -> None:
        self._app = app
        self._max_body = max_body
        self._max_upload = max_upload
        self._most_names = most_names

    @classmethod
    def around(cls, app: ASGIApp, settings: Settings, most_names: int = MOST_NAMES) -> ApiGuard:
        """The guard with the upload limit of these settings."""
        return cls(app, max_upload=settings.max_upload_mb * _UPLOAD_BYTES_PER_MB, most_names=most_names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] not in _BODY_METHODS:
            await self._app(scope, receive, send)
            return
        await self._with_body(scope, receive, send, Headers(scope=scope))

    async def _with_body(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        limit = self._max_upload if _takes_files(scope["path"]) else self._max_body
        announced = headers.get("content-length", "")
        is_json = headers.get("content-type", "").split(";")[0].strip().lower() == "application/json"
        refused = partial(refuse, send, ending=partial(drain, receive))
        try:
            if announced.isdecimal() and _exceeds(announced, limit):
                raise Refused
            body = await read_body(receive, limit, self._most_names)
        except CallerLeft:
            return
        except Refused as error:
            if not error.problem:
                await refused(413, "WB702", "The body of the request is too large.", "Send a shorter request.")
            elif is_json:
                problems = [{"field": "body", "problem": error.problem}]
                await refused(422, "WB705", INVALID_FACT, INVALID_REMEDY, errors=problems)
            else:
                await refused(*_NOT_JSON)
            return
        if body and not is_json:
            await refused(*_NOT_JSON)
            return
        await self._app(scope, replayed(body, receive), send)


def host_name(host: str) -> str:
    """The name of a ``Host`` header without its port, lower-cased; IPv6 keeps its brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[: host.find("]") + 1]
    return host.rsplit(":", 1)[0] if ":" in host else host


def error_body(code: str, fact: str, remedy: str, **more: Any) -> dict[str, Any]:
    """The one form of an error in the API."""
    return {"success": False, "code": code, "fact": fact, "remedy": remedy, **more}


def _exceeds(length: str, limit: int) -> bool:
    # Compared by digits first: int() refuses numbers of thousands of digits.
    digits = length.lstrip("0")
    return len(digits) > len(str(limit)) or int(digits or "0") > limit


def _bare_ipv6(name: str) -> bool:
    return name.count(":") > 1 and not name.startswith("[")


async def _turned_away(scope: Scope, send: Send, answer: _Refusal) -> None:
    """Refuse a request or a WebSocket, which is closed where the server cannot answer it."""
    if scope["type"] == "websocket" and "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008})
    else:
        await refuse(send, *answer, prefix="websocket." if scope["type"] == "websocket" else "")


async def refuse(
    send: Send,
    status: int,
    code: str,
    fact: str,
    remedy: str,
    *,
    prefix: str = "",
    ending: Ending | None = None,
    headers: Sequence[tuple[bytes, bytes]] = (),
    **more: Any,
) -> None:
    """Answer with an error; where there is an ``ending``, it is awaited once the answer is sent, before its end is."""
    content = json.dumps(error_body(code, fact, remedy, **more)).encode()
    own = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": [*own, *headers]})
    if ending is None:
        await send({"type": f"{prefix}http.response.body", "body": content})
        return
    await send({"type": f"{prefix}http.response.body", "body": content, "more_body": True})
    await ending()
    await send({"type": f"{prefix}http.response.body", "body": b""})


def _takes_files(path: str) -> bool:
    theirs = tuple(end for plugin in plugins() for end in plugin.uploads)
    return bool(_UPLOAD.search(path)) or path.endswith(theirs)
