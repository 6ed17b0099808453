"""Current user of a page where people sign in, and the sign-in page.

Streamlit signs people in (``[auth]`` in its secrets) and keeps what their provider says of them in a signed cookie. A
page's script, its callbacks and its fragments ask :func:`person_here`; requests other than pages are known by
:func:`person_of_cookies`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal

import streamlit as st
from streamlit.auth_util import get_cookie_with_chunks, get_secrets_auth_section, get_signing_secret
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.common.i18n import Words
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import InvalidSettings
from engine.messages import N_
from engine.model.people import Person
from engine.people.authorization import note_changes
from engine.people.current_user import current_user, require_sign_in
from plugins.team.audit import ROLE_NAMES
from plugins.team.claims import RoleRules, SignedIn, signed_in
from plugins.team.page_cookie import PageCookies
from plugins.team.signed_in import Doors
from plugins.team.team import Team

_SHARED = frozenset({"redirect_uri", "cookie_secret", "expose_tokens", "client_id", "client_secret"})
_noted: dict[str, float] = {}
"""Until when the last sign-in of each person holds that was written into the log."""


def set_up_sign_in(engine: Engine) -> Doors | None:
    """Require sign-in where Streamlit's secrets have a section ``[auth]``; None where they have none.

    Raises ``InvalidSettings`` where the package that signs people in is not installed.
    """
    if not get_secrets_auth_section():
        return None
    if find_spec("authlib") is None:
        why = N_("the package Authlib is not installed; it comes with the extra `team`")
        raise InvalidSettings.unusable(name="[auth]", why=why)
    team = Team.of(engine)
    require_sign_in(person_here)
    note_changes(team.note_change)
    return Doors(PageCookies.of(get_signing_secret()), person_of_cookies, team.person_of_token, engine.limits.admitted)


def person_here() -> Person | None:
    """Return the user of the page whose script runs in this thread; None without one."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return None
    found = _signed_in(context.user_info)
    return get_engine().limits.admitted(found.person) if found is not None else None


def person_of_cookies(cookies: Mapping[str, str]) -> SignedIn | None:
    """Return the signed-in user by Streamlit's cookie."""

    def signed(name: str) -> bytes | None:
        value = cookies.get(name)
        return decode_signed_value(get_cookie_secret(), name, value.encode("latin-1", "replace")) if value else None

    found = get_cookie_with_chunks(signed, USER_COOKIE_NAME) if cookies.get(USER_COOKIE_NAME) else None
    return _signed_in(json.loads(found)) if found else None


def _signed_in(claims: Mapping[str, Any]) -> SignedIn | None:
    if not claims.get("is_logged_in"):
        return None
    return signed_in(claims, RoleRules.of(get_engine().settings), time.time())


def note_sign_in(person: Person) -> None:
    """Write into the log of changes that a person signed in, once for each time, however many pages they open."""
    found = _signed_in(st.user.to_dict())
    if found is not None and _noted.get(person.id) != found.until:
        _noted[person.id] = found.until
        Team.of(get_engine()).note_sign_in(person)


def sign_in_page(_: Engine, words: Words) -> None:
    """The page that stands in place of every other until a person has signed in."""
    with st.container(key="sign_in", border=True):
        st.markdown("## :primary[:material/account_tree:] Self-Corrective RAG Workbench")
        st.markdown(words("Answers from your own documents, with every step that led to them."))
        for place, (provider, name) in enumerate(_providers()):
            label = words("Sign in with {provider}", provider=name) if name else words("Sign in")
            look: Literal["primary", "secondary"] = "secondary" if place else "primary"
            if st.button(label, key=f"sign_in_{provider}", type=look, icon=":material/login:", width="stretch"):
                st.login(provider or None)
        st.caption(words("Afterwards you come to the page you asked for."))


def _providers() -> list[tuple[str, str]]:
    """The providers of the secrets and their names; one without either where it stands in the section itself."""
    section = get_secrets_auth_section()
    named = [name for name, value in section.items() if name not in _SHARED and isinstance(value, Mapping)]
    own = [("", "")] if "client_id" in section else []
    return own + [(name, name.replace("-", " ").title()) for name in named if name != "client_kwargs"]


def signed_in_line(_: Engine, words: Words) -> None:
    """Show the signed-in user, with the sign-out button."""
    person = current_user()
    note_sign_in(person)
    with st.popover(person.name, icon=":material/person:", key="person"):
        st.text(person.name)
        if person.id != person.name:
            st.text(person.id)
        st.caption(words("Role: {role}", role=words(ROLE_NAMES[person.role])))
        if st.button(words("Sign out"), key="sign_out", icon=":material/logout:"):
            st.logout()
