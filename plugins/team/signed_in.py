"""Identity of callers: bearer tokens and the cookie of pages, in front of the API and of the files that pages serve.

Pure ASGI, as the other guards. None of this stands there where sign-in is not set up.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.api.strangers import for_strangers, turn_away
from engine.errors import NotSignedIn, WorkbenchError
from engine.model.people import Person
from engine.people.current_user import WORKBENCH, acting_as
from plugins.team.claims import SignedIn
from plugins.team.page_cookie import NAME, PageCookies

_NEXT = "workbench_next"
"""The address that a person wanted before signing in."""
_NEXT_S = 900
_LONGEST_NEXT = 1500
_READ_ONLY = frozenset({"GET", "HEAD"})
_OPEN = r"(health|script-health-check|host-config|stream)$|bidi-components/"
_NEEDS_PERSON = re.compile(rf"/*(media/|_stcore/(?!{_OPEN}))")
"""Files to save, pictures and uploads of pages, and all else of Streamlit that a page to sign in does not need."""
_NO_PAGE = re.compile(
    r"(^|/)(static|component|_stcore|app|media|auth|oauth2callback|favicon[^/]*|[^/]+\.[a-z0-9]+)(/|$)"
)


@dataclass(frozen=True, slots=True)
class Doors:
    """The :class:`~engine.plugins.SignIn` of an installation."""

    cookies: PageCookies
    of_page: Callable[[Mapping[str, str]], SignedIn | None]
    """Who signed in by a page, from the cookies of its requests."""
    person_of_token: Callable[[str], Person]
    """Who a bearer token stands for; raises ``NotSignedIn``; blocks."""
    admitted: Callable[[Person], Person]
    """The person with what is kept from them; blocks."""

    def of_token(self, text: str) -> Person:
        """Who a bearer token stands for, with what is kept from them; raises ``NotSignedIn``."""
        return self.admitted(self.person_of_token(text))

    def of_cookie(self, scope: Scope) -> Person | None:
        """Return the owner of a request's page cookie."""
        return self.cookies.read(_cookies(scope).get(NAME, ""), time.time())

    def api(self, app: ASGIApp, open_path: str = "") -> ASGIApp:
        """Put :class:`SignedInApi` in front of an API."""
        return SignedInApi(app, self, open_path)

    def pages(self, base: str) -> Middleware:
        """Put :class:`PageDoor` in front of pages."""
        return Middleware(PageDoor, doors=self, base=base)


class SignedInApi:
    """Lets nothing through to the API without a token, or without the cookie of a page where nothing is changed.

    What a token may do is for the routes to say (``QuickRoute``); a cookie changes nothing at all, so that no page of
    another origin can use it.
    """

    def __init__(self, app: ASGIApp, doors: Doors, open_path: str = "") -> None:
        """``open_path`` is the one path that needs no token; empty where all do."""
        self._app = app
        self._doors = doors
        self._open_path = open_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _turned_away(scope, receive, send, NotSignedIn())
            return
        try:
            person = await asyncio.to_thread(self._caller, scope)
        except WorkbenchError as error:
            await _turned_away(scope, receive, send, for_strangers(error))
            return
        with acting_as(person):
            await self._app(scope, receive, send)

    def _caller(self, scope: Scope) -> Person:
        if self._open_path and scope["path"] == scope["root_path"] + self._open_path:
            return WORKBENCH
        given = Headers(scope=scope).get("authorization")
        if given is not None:
            scheme, _, token = given.partition(" ")
            if scheme.lower() != "bearer":
                raise NotSignedIn()
            return self._doors.of_token(token.strip())
        person = self._doors.of_cookie(scope) if scope["method"] in _READ_ONLY else None
        if person is None:
            raise NotSignedIn()
        return self._doors.admitted(person)


class PageDoor:
    """Gives a signed-in page its cookie, keeps its files from everybody else, and brings people where they wanted to.

    The page itself is open to all, as it is where people sign in; its script reads nothing before that.
    """

    def __init__(self, app: ASGIApp, doors: Doors, base: str = "") -> None:
        """``base`` stands before every path of the app."""
        self._app = app
        self._doors = doors
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http" and _NEEDS_PERSON.match(self._path(scope)) and self._stranger(scope):
            await _turned_away(scope, receive, send, NotSignedIn())
            return
        cookies = self._cookies_after(scope)
        onward = self._onward(scope)

        async def sending(message: Message) -> None:
            if message["type"] in ("websocket.accept", "http.response.start"):
                message = {**message, "headers": list(message.get("headers", []))}
                answered = MutableHeaders(raw=message["headers"])
                if onward and answered.get("location"):
                    answered["location"] = onward
                for cookie in cookies:
                    answered.append("set-cookie", cookie)
            await send(message)

        await self._app(scope, receive, sending)

    def _path(self, scope: Scope) -> str:
        """The path of a request below what stands before every path, for the app or for the server that runs it."""
        path: str = scope["path"]
        return path.removeprefix(scope.get("root_path", "")).removeprefix(self._base)

    def _stranger(self, scope: Scope) -> bool:
        return self._doors.of_cookie(scope) is None and self._doors.of_page(_cookies(scope)) is None

    def _cookies_after(self, scope: Scope) -> list[str]:
        """The cookies that go along with the answer."""
        place = f"Path={self._base or '/'}; HttpOnly" + ("; Secure" if scope.get("scheme") in ("https", "wss") else "")
        path = self._path(scope)
        if scope["type"] == "websocket":
            known = self._doors.of_page(_cookies(scope))
            if known is None:
                return []
            value = self._doors.cookies.made(known.person, known.until)
            return [f"{NAME}={value}; Max-Age={max(0, int(known.until - time.time()))}; {place}; SameSite=Strict"]
        if path == "/auth/logout":
            return [f"{NAME}=; Max-Age=0; {place}; SameSite=Strict"]
        if path == "/oauth2callback":
            return [f"{_NEXT}=; Max-Age=0; {place}; SameSite=Lax"]
        wanted = self._wanted(scope)
        return [f"{_NEXT}={wanted}; Max-Age={_NEXT_S}; {place}; SameSite=Lax"] if wanted else []

    def _wanted(self, scope: Scope) -> str:
        """The address of a page requested before signing in; empty where there is none to keep."""
        path, query = self._path(scope), scope.get("query_string", b"").decode("latin-1")
        if scope["method"] != "GET" or _NO_PAGE.search(path) or (path in ("", "/") and not query):
            return ""
        wanted = quote(f"{path}?{query}" if query else path, safe="")
        return wanted if len(wanted) <= _LONGEST_NEXT and self._doors.of_page(_cookies(scope)) is None else ""

    def _onward(self, scope: Scope) -> str:
        """Return the destination after sign-in; empty for the first page. Always a path of this app."""
        if self._path(scope) != "/oauth2callback":
            return ""
        wanted = unquote(_cookies(scope).get(_NEXT, ""))
        sound = re.fullmatch(r"/(?![/\\])[!-~]*", wanted)
        return self._base + wanted if sound else ""


def _cookies(scope: Scope) -> Mapping[str, str]:
    return HTTPConnection(scope).cookies


async def _turned_away(scope: Scope, receive: Receive, send: Send, error: WorkbenchError) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await turn_away(receive, send, error)
