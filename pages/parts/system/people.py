"""The view People of the page System: tokens for programs, and what people changed."""

from __future__ import annotations

import streamlit as st

from components.common.controls import download
from components.common.i18n import Words
from components.labels.people import ROLE_NAMES
from components.system.people import entry_table, new_token, token_table
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.people import ROLES
from engine.people.audit import as_csv
from engine.people.team import MOST_ENTRIES
from engine.people.tokens import LONGEST_NAME, MOST_DAYS, USUAL_DAYS
from pages.parts.common.presses import attempt, say_fault

_MADE = "people_made"
_BEFORE = "people_before"
_A_PAGE = 50


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
        tokens = engine.team.tokens()
        if not tokens:
            st.caption(words("No token was made yet."))
            return
        revoked = token_table(tokens, words, key="people_token_table")
        if revoked is not None:
            attempt("people", lambda: engine.team.revoke_token(revoked))
            st.rerun()


def _make(engine: Engine, words: Words) -> None:
    # Another key is another popover, closed: what it was opened for is done.
    box = st.popover(words("Make a token"), icon=":material/key:", key=f"people_make_{len(engine.team.tokens())}")
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
        return engine.team.make_token(name, role, int(days), list(only) or None)[1]

    attempt("people", make, into=_MADE)
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
        found = engine.team.entries(before, _A_PAGE + 1)
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
                lambda: as_csv(engine.team.entries(before, MOST_ENTRIES)).encode("utf-8-sig"),
                "changes.csv",
                help=words("The newest {n} lines from here on; the API gives the others.", n=MOST_ENTRIES),
                key="people_csv",
                type="tertiary",
            )
