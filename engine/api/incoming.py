"""Bodies of requests while they come in: their size, and how many names and values they hold and how deep they lie.

Anything that reads JSON makes an object of every name and value, and a fault of every one that it does not know: a few
megabytes of them would hold up everybody else for a minute. So they are counted before anything reads them, piece by
piece, and other requests have their turn in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive

from engine.model.people import Role
from engine.people import current_user, signing_in
from engine.people.authorization import declared, require_role

OPEN: Final = "/ready"
"""The one route that needs no token: it says whether this replica takes work, and a proxy that asks has none."""
MOST_NAMES: Final = 1000
MOST_VALUES: Final = 200_000
"""More than the cells of any table that is kept."""
DEEPEST: Final = 40
MOST_SIGNS: Final = 4_000_000
"""Bytes other than letters, digits and the rest of base64: a file has none, and six long texts have fewer."""

_PIECE = 1 << 16
"""Bytes looked through at once, in less than a millisecond."""
_DRAIN_S = 1.0
_STRUCTURE = b'"{}[]:,'
_ALL_ELSE = bytes(set(range(256)) - set(_STRUCTURE))
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_DIGITS = b"0123456789"
_OPENING = frozenset(b"{[")


class CallerLeft(Exception):
    """The connection closed before the whole request had come."""


class Refused(Exception):
    """The body is not read any further; ``problem`` says why, and is empty where it is too large."""

    def __init__(self, problem: str = "") -> None:
        super().__init__(problem)
        self.problem = problem


class Shape:
    """Counts what JSON text holds without reading it; up to the first mistake in the text it counts exactly."""

    def __init__(self, most_names: int = MOST_NAMES) -> None:
        self.names = 0
        self._most_names = most_names
        self._values = 0
        self._texts = 0
        self._signs = 0
        self._depth = 0
        self.depth_reached = 0
        self._in_text = False
        self._held = b""
        self._begun = False

    def add(self, piece: bytes) -> None:
        """Count the next piece; raises ``Refused`` as soon as there is too much of something."""
        if not self._begun and (start := piece.lstrip(b" \t\r\n\xef\xbb\xbf")):
            self._begun = True
            if start[0] not in b"{":
                raise Refused("not an object" if start[0] in b'["-0123456789tfn' else "not valid JSON")
        # Other encodings than UTF-8 hide their quotation marks from the count, and no number is as long as a piece.
        if b"\0" in piece or (len(piece) >= _PIECE and not piece.strip(_DIGITS)):
            raise Refused("not valid JSON")
        self._signs += len(piece.translate(None, _BASE64))
        data = self._held + piece
        # A backslash at the end belongs to what comes next, unless it is the second of a pair.
        odd = (len(data) - len(data.rstrip(b"\\"))) % 2
        data, self._held = (data[:-1], b"\\") if odd else (data, b"")
        bare = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _ALL_ELSE)
        self._texts += bare.count(b'"') // 2
        self._within_limits()
        parts = bare.split(b'"')
        outside = b"".join(parts[self._in_text :: 2])
        self._in_text ^= (len(parts) - 1) % 2 == 1
        self.names += outside.count(b":")
        self._values += outside.count(b",") + outside.count(b"{") + outside.count(b"[")
        self._within_limits()
        for mark in outside.translate(None, b":,"):
            self._depth += 1 if mark in _OPENING else -1
            self.depth_reached = max(self.depth_reached, self._depth)
            if self._depth > DEEPEST:
                raise Refused("nested too deeply")

    def _within_limits(self) -> None:
        if self.names > self._most_names:
            raise Refused(f"must hold at most {self._most_names} names")
        # Every text is a name or a value.
        if self._values > MOST_VALUES or self._texts > self._most_names + MOST_VALUES:
            raise Refused(f"must hold at most {MOST_VALUES} values")
        if self._signs > MOST_SIGNS:
            raise Refused("must be shorter, apart from files in base64")


async def read_body(receive: Receive, limit: int, most_names: int = MOST_NAMES) -> bytes:
    """The whole body; raises ``Refused`` as soon as it holds too much, ``CallerLeft`` where it breaks off."""
    pieces: list[bytes] = []
    size = 0
    shape = Shape(most_names)
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise CallerLeft
        data: bytes = message.get("body", b"")
        size += len(data)
        if size > limit:
            raise Refused
        pieces.append(data)
        for start in range(0, len(data), _PIECE):
            shape.add(data[start : start + _PIECE])
            # Where pieces come faster than they are looked through, nothing else would ever have its turn.
            await asyncio.sleep(0)
        if not message.get("more_body", False):
            return b"".join(pieces)


async def drain(receive: Receive) -> None:
    """Take in what a refused caller still sends, for a moment: closed on at once, it would never see its answer."""
    try:
        async with asyncio.timeout(_DRAIN_S):
            while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                pass
    except TimeoutError:
        return


def replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives the body read already, and after it what the server has: the end of the connection."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


class QuickRequest(Request):
    """Reads JSON with pydantic's parser: the library's would hold up everybody else for 50 ms over a file of 25 MB."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            try:
                self._json = from_json(await self.body())
            except ValueError:
                # It refuses more, half surrogate pairs above all, and says it in other words.
                return await super().json()
        return self._json


class QuickRoute(APIRoute):
    """A route whose requests are :class:`QuickRequest`, and which asks first whether its caller may use it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def quickly(request: Request) -> Response:
            if signing_in():
                require_role(current_user(), self.least)
            return await handle(QuickRequest(request.scope, request.receive))

        return quickly

    @property
    def least(self) -> Role:
        """The role that it needs; a route that declares none is for admins."""
        try:
            operation = declared(self.endpoint)
        except LookupError:
            operation = None
        return operation.least if operation else "admin"
