"""The part People of System: tokens for programs, and what people changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache

import streamlit as st

# The engine imports it late; it declares what the log calls its changes, as other parts do at the start.
import engine.evaluation.batch  # noqa: F401
from components.common.amounts import moment
from components.common.controls import download
from components.common.i18n import Words
from components.common.markup import Node, button, chip, command, node, table
from components.system.draw import draw_system
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_, NC_
from engine.people import ROLES
from engine.people.authorization import OPERATIONS
from pages.parts.common.actions import run_action, say_fault
from plugins.team.audit import ROLE_NAMES, SIGNED_IN, Entry, as_csv
from plugins.team.team import MOST_ENTRIES, Team
from plugins.team.tokens import LONGEST_NAME, MOST_DAYS, USUAL_DAYS, Token

_MADE = "people_made"
_BEFORE = "people_before"
_A_PAGE = 50
REVOKE = "revoke:"
_TOKEN = (
    N_("Name"),
    N_("Role"),
    N_("Collections"),
    N_("Expires"),
    N_("Last used"),
    N_("State"),
    "",
)
_ENTRY = (N_("When (UTC)"), NC_("people", "Who"), NC_("people", "What"), N_("On what"))


def people_part(engine: Engine, words: Words) -> None:
    say_fault("people", words)
    _tokens(engine, words)
    _changes(engine, words)


def _tokens(engine: Engine, words: Words) -> None:
    with st.container(border=True, key="people_tokens"):
        st.markdown(f"**{words('Tokens of the API')}**")
        st.caption(words("A program sends one as Authorization: Bearer. It does what its role may, until it expires."))
        _make(engine, words)
        if text := st.session_state.pop(_MADE, ""):
            new_token(text, words, key="people_new")
        tokens = Team.of(engine).tokens()
        if not tokens:
            st.caption(words("No token was made yet."))
            return
        revoked = token_table(tokens, words, key="people_token_table")
        if revoked is not None:
            run_action("people", lambda: Team.of(engine).revoke_token(revoked))
            st.rerun()


def _make(engine: Engine, words: Words) -> None:
    # Another key is another popover, closed: what it was opened for is done.
    box = st.popover(words("Make a token"), icon=":material/key:", key=f"people_make_{len(Team.of(engine).tokens())}")
    with box, st.form("people_form", border=False):
        name = st.text_input(words("The program that uses it"), max_chars=LONGEST_NAME)
        role = st.selectbox(words("Role"), ROLES, format_func=lambda item: words(ROLE_NAMES[item]))
        days = st.number_input(words("Days until it expires"), 1, MOST_DAYS, USUAL_DAYS)
        only = st.multiselect(
            words("Collections"),
            _names(engine),
            placeholder=words("all that are not limited"),
            help=words("With some chosen, it reads these and no others, limited ones too."),
        )
        pressed = st.form_submit_button(words("Make it"), type="primary")
    if not pressed:
        return

    def make() -> str:
        return Team.of(engine).make_token(name, role, int(days), list(only) or None)[1]

    run_action("people", make, into=_MADE)
    st.rerun()


def _names(engine: Engine) -> list[str]:
    try:
        return [item.name for item in engine.collections()] if engine.ready else []
    except WorkbenchError:
        return []


def _changes(engine: Engine, words: Words) -> None:
    with st.container(border=True, key="people_changes"):
        st.markdown(f"**{words('What people changed')}**")
        before: int | None = st.session_state.get(_BEFORE)
        found = Team.of(engine).entries(before, _A_PAGE + 1)
        if not found and before is None:
            st.caption(words("Nothing was changed yet."))
            return
        entry_table(found[:_A_PAGE], words, key="people_entries")
        with st.container(horizontal=True, vertical_alignment="center", key="people_pages"):
            if before is not None and st.button(words("Newest"), icon=":material/first_page:", key="people_newest"):
                st.session_state[_BEFORE] = None
                st.rerun()
            older = len(found) > _A_PAGE
            if older and st.button(words("Older"), icon=":material/chevron_right:", key="people_older"):
                st.session_state[_BEFORE] = found[_A_PAGE - 1].number
                st.rerun()
            download(
                words("Export CSV"),
                lambda: as_csv(Team.of(engine).entries(before, MOST_ENTRIES)).encode("utf-8-sig"),
                "changes.csv",
                help=words("The newest {n} lines from here on; the API gives the others.", n=MOST_ENTRIES),
                key="people_csv",
                type="tertiary",
            )


def token_table(tokens: Sequence[Token], words: Words, *, key: str) -> str | None:
    """Draw the tokens; returns the id of the one to revoke."""
    now = datetime.now(UTC)
    rows = [_token(item, now, words) for item in tokens]
    head = [words(text) if text else "" for text in _TOKEN]
    pressed = draw_system((table("sheet", head, rows),), words, key=key)
    return pressed.removeprefix(REVOKE) if pressed and pressed.startswith(REVOKE) else None


def new_token(text: str, words: Words, *, key: str) -> None:
    """Draw the text of a token that was made a moment ago, to be copied."""
    said = node("strong", "", words("Copy it now: it is shown this once."))
    draw_system((node("section", "card", said, command(text, words)),), words, key=key)


def entry_table(entries: Sequence[Entry], words: Words, *, key: str) -> None:
    """Draw lines of the log."""
    rows = [_entry(item, words) for item in entries]
    draw_system((table("sheet", [words(text) for text in _ENTRY], rows),), words, key=key)


def change_text(operation: str, words: Words) -> str:
    """Describe a change; the name of the operation if a later version or a missing plug-in recorded it."""
    change = _change_texts().get(operation)
    return words(change) if change else operation


@cache
def _change_texts() -> Mapping[str, str]:
    return {
        SIGNED_IN: N_("Signed in"),
        **{
            f"{kind.__name__}.{name}": operation.log
            for kind, operations in OPERATIONS.items()
            for name, operation in operations.items()
            if operation is not None and operation.log
        },
        # Of earlier versions.
        "Library.set_breadth": N_("Breadth of a search changed"),
        "Library.load_vectors": N_("Passages put in with their vectors"),
        "Ingestions.start_index": N_("Index of a collection measured or changed"),
        "Host.start_measure": N_("Model measured"),
        "Host.start_self_test": N_("Self-test begun"),
    }


def _token(item: Token, now: datetime, words: Words) -> list[Node | str]:
    if item.revoked_at:
        state = chip("grey", words("revoked"))
    elif not item.usable(now):
        state = chip("grey", words("expired"))
    else:
        state = chip("pass", words("valid"))
    only = words("all that are not limited") if item.collections is None else words(", ").join(item.collections)
    made = words("made by {who}, {when}", who=item.made_by, when=moment(item.made_at)[:10])
    actions = [button(words("Revoke"), f"{REVOKE}{item.id}", "button quiet")] if item.usable(now) else []
    return [
        node("div", "", node("span", "name", node("bdi", "", item.name)), node("span", "under", made)),
        words(ROLE_NAMES[item.role]),
        node("bdi", "", only),
        node("span", "num", moment(item.expires_at)[:10]),
        node("span", "num", moment(item.used_at) if item.used_at else words("never")),
        state,
        node("div", "actions", *actions),
    ]


def _entry(item: Entry, words: Words) -> list[Node | str]:
    role = words(ROLE_NAMES[item.role]) if item.role in ROLE_NAMES else item.role
    who = node(
        "div", "", node("span", "name", node("bdi", "", item.name)), node("span", "under", f"{item.who} · {role}")
    )
    return [
        node("span", "num", item.at.replace("T", " ")[:19]),
        who,
        change_text(item.operation, words),
        node("bdi", "", item.on),
    ]
