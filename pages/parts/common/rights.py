"""Rights of a page's user: the engine refuses the rest, so the pages do not offer it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.common.i18n import Words
from components.common.markup import offer
from engine.engine import Engine
from engine.model.people import Person, Role
from engine.people import current_user

_EVENTS: Mapping[str, Role] = {
    **dict.fromkeys(("run", "fork", "pin", "unpin", "mark", "stop"), "editor"),
    **dict.fromkeys(("stop:", "resume:", "discard:", "try:"), "editor"),
    **dict.fromkeys(("pull:", "unload:", "disconnect:"), "admin"),
}
"""Presses of drawn buttons, or how they begin, that change something."""


def may(least: Role) -> bool:
    """Return whether who looks at the page has at least this role."""
    return current_user().may(least)


def seen_by(engine: Engine) -> str:
    """A key for what is kept for all sessions: people who may read other collections see something else."""
    return f"{engine.instance}/{current_user().scope}"


def may_press(event: str) -> bool:
    """Return whether a drawn button with this event is for who looks at the page."""
    beginning, colon, _ = event.partition(":")
    least = _EVENTS.get(beginning + colon)
    return least is None or may(least)


def viewers_line(person: Person, words: Words) -> None:
    """The one sentence that tells a viewer why some things cannot be pressed."""
    if not person.may("editor"):
        st.caption(
            ":material/visibility: "
            + words("You are signed in as a viewer: look at everything and try settings; asking and changing are off.")
        )


offer(may_press)
