"""Addresses that pages had in earlier versions, or that one might type: each leads to where that page is now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

FORWARDS: Mapping[str, str] = {
    "ask": "",
    "run": "",
    "workbench": "",
    "compare": "runs?view=compare",
    "loops": "runs?view=loops",
    "side-by-side": "runs?view=loops",
    "present": "runs?view=present",
    "collections": "knowledge?view=collections",
    "graph": "knowledge?view=graph",
    "memory": "knowledge?view=memory",
}


def forwards(base: str = "") -> list[BaseRoute]:
    """A route for each of them; ``base`` stands before every path."""
    return [
        Route(f"{base}/{old}{end}", _forward(f"{base}/{new}")) for old, new in FORWARDS.items() for end in ("", "/")
    ]


def _forward(place: str) -> Callable[[Request], Awaitable[Response]]:
    async def forward(request: Request) -> Response:
        # What the address asked for goes along. Not for good, or browsers would remember it.
        asked = "&" if "?" in place else "?"
        query = request.url.query
        return RedirectResponse(f"{place}{asked}{query}" if query else place, 307)

    return forward
