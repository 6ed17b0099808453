"""Parts of the server that the pages bring: old addresses, sign-in by secrets, and the view of a live run."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope
from streamlit.auth_util import get_secrets_auth_section
from streamlit.runtime.secrets import secrets_singleton

from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import InvalidSettings
from engine.model.values import RunRecord
from engine.plugins import SignIn, plugins, sign_in

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
PAGES = ("ask", "tune", "runs", "knowledge", "system")
_OF_STREAMLIT = ("_stcore", "app", "component", "media", "static", "vendor", "oauth2callback")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_MOST_KEPT = 16

_kept: dict[tuple[str, str, str], tuple[int, Mapping[str, Any]]] = {}
"""By run, language and plan the newest view; only the loop that serves pages writes here."""


def forwards(base: str = "") -> list[BaseRoute]:
    """A route for each of them, and one for addresses of no page; ``base`` stands before every path."""
    known = [
        Route(f"{base}/{old}{end}", _forward(f"{base}/{new}")) for old, new in FORWARDS.items() for end in ("", "/")
    ]
    return [*known, _NoPage(f"{base}/{{name}}", _no_page(base))]


class _NoPage(Route):
    """What a browser asks for as a page and is none; Streamlit would show its first page, with a note in English."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        name = child.get("path_params", {}).get("name", "")
        asked = any(key == b"accept" and b"text/html" in value for key, value in scope.get("headers", ()))
        ours = name in PAGES or name in _OF_STREAMLIT or not _PLAIN.fullmatch(name)
        return (Match.NONE, {}) if match is not Match.NONE and (ours or not asked) else (match, child)


def _no_page(base: str) -> Callable[[Request], Awaitable[Response]]:
    async def missing(request: Request) -> Response:
        # Not before it is needed: a start has to be quick.
        from components.common.i18n import ui_language, words_for

        wanted = request.query_params.get("lang") or request.headers.get("accept-language", "")[:2]
        words = words_for(ui_language(wanted))
        asked = escape(request.path_params["name"])
        said = words("There is no page {name} here.", name=f"<code>{asked}</code>")
        home = f'<a href="{base}/?lang={words.language}">{words("Go to Ask")}</a>'
        style = "body{font:1rem system-ui;max-width:30rem;margin:20vh auto;padding:1rem;color-scheme:light dark}"
        return HTMLResponse(
            f'<!doctype html><html lang="{words.declared.html}"><meta name="viewport" content="width=device-width">'
            f"<title>Workbench</title><style>{style}</style><h1>Workbench</h1><p>{said}</p><p>{home}</p></html>",
            404,
        )

    return missing


def _forward(place: str) -> Callable[[Request], Awaitable[Response]]:
    async def forward(request: Request) -> Response:
        # What the address asked for goes along. Not for good, or browsers would remember it.
        asked = "&" if "?" in place else "?"
        query = request.url.query
        return RedirectResponse(f"{place}{asked}{query}" if query else place, 307)

    return forward


def check_secrets() -> None:
    """Raise ``InvalidSettings`` where Streamlit does not read its secrets, or no plug-in does what they ask for.

    The workbench would stand open because of a typing error, or of what is not installed.
    """
    read = [str(name) for name in st.get_option("secrets.files")]
    # Only `streamlit run` reads the variable, not another server that is given the app.
    named = os.environ.get("STREAMLIT_SECRETS_FILES", "")
    if named and named not in read:
        raise InvalidSettings.secrets_unreadable(path=named)
    there = [name for name in read if Path(name).exists()]
    if there and not secrets_singleton.load_if_toml_exists():
        raise InvalidSettings.secrets_unreadable(path=there[-1])
    if get_secrets_auth_section() and not any(plugin.sign_in for plugin in plugins()):
        raise InvalidSettings.sign_in_missing()


def sign_in_asked(engine: Engine) -> SignIn | None:
    """Set up sign-in; None if the secrets do not ask for it. Raises ``InvalidSettings``."""
    found = sign_in(engine)
    if found is None and get_secrets_auth_section():
        raise InvalidSettings.sign_in_missing()
    return found


def view_of(record: RunRecord, asked: Mapping[str, str]) -> Mapping[str, Any]:
    """The view that an address asks for by ``language`` and ``plan``; tabs that show the same share it."""
    # Not before a run is followed: a start has to be quick, and these draw.
    from components.ask.live_view import moment
    from components.common.i18n import ui_language, words_for

    language = ui_language(asked.get("language"))
    key = (record.id, language, asked.get("plan", ""))
    known = _kept.get(key)
    if known is not None and known[0] == record.last_seq:
        return known[1]
    view = moment(get_engine().graph(record.workflow), record, words_for(language), key[2])
    _kept[key] = (record.last_seq, view)
    while len(_kept) > _MOST_KEPT:
        del _kept[next(iter(_kept))]
    return view
