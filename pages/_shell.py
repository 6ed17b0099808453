"""The frame around every page: navigation, language, theme and the badge of built-in roles.

It is next to the pages and not above them: a main script with a ``pages`` folder next to it lets Streamlit
open those pages without this frame.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from components.common.i18n import LANGUAGES, Words, ui_language, words_for
from components.common.url_state import note_page, put_into_url, take_from_url
from engine.api.process import get_engine
from engine.errors import NotSignedIn
from engine.messages import NC_
from engine.people import Person, current_user, signing_in
from engine.plugins import Place, panels
from pages.parts.ask.tour import begin_tour
from pages.parts.common.document import dress_document
from pages.parts.common.job_line import show_job_line
from pages.parts.common.page_help import page_help
from pages.parts.common.rights import viewers_line
from pages.parts.system.health import trouble

_ICON = Path(__file__).parent.parent / "components" / "assets" / "icon.png"
_SHEET = Path(__file__).parents[1] / "components" / "assets" / "page.css"


def apply_style() -> None:
    """Put the page's own style sheet into the document; it holds no text of anybody else."""
    st.html(_SHEET)


def _language() -> Words:
    preferred = ui_language((st.context.locale or "").lower()[:2])
    with st.container(key="top", horizontal=True, vertical_alignment="center"):
        st.session_state["top_hint"] = st.container(key="trouble", width="content")
        # Pages put the badge of built-in roles next to the language.
        st.session_state["top_bar"] = st.container(key="badge", width="content")
        take_from_url("lang", preferred, lambda code: code in LANGUAGES)
        chosen = st.segmented_control(
            "Language / 语言",
            tuple(LANGUAGES),
            required=True,
            format_func=lambda code: LANGUAGES[code].name,
            key="lang",
            label_visibility="collapsed",
            persist_state="session",
        )
        put_into_url("lang", str(chosen), preferred)
        st.session_state["help_place"] = st.container(key="help_place", width="content")
        st.session_state["person_line"] = st.container(key="person_line", width="content")
    return words_for(ui_language(chosen))


def known() -> Person | None:
    """Return the current user; None if they must sign in first."""
    try:
        return current_user()
    except NotSignedIn:
        return None


def draw_panels(place: Place) -> None:
    for draw in panels(place):
        draw(get_engine(), words)


def system_page(words: Words, *, down: bool) -> st.Page:
    """The page System; its mark in the navigation says when something that is needed does not work."""
    return st.Page(
        "system.py",
        title=words("System"),
        icon=":material/error:" if down else ":material/monitor_heart:",
        url_path="system",
        help=words("System: something needs attention") if down else None,
    )


st.set_page_config(page_title="Self-Corrective RAG Workbench", page_icon=_ICON, layout="wide")
apply_style()
note_page()
words = _language()
st.session_state["words"] = words
dress_document(words)
if signing_in():
    person = known()
    if person is None:
        st.navigation(
            [
                st.Page(lambda: draw_panels("sign_in"), title=words("Sign in"), url_path=path, default=path == "ask")
                for path in ("ask", "tune", "runs", "knowledge", "system")
            ],
            position="hidden",
        ).run()
        st.stop()
    with st.session_state["person_line"]:
        draw_panels("person")
    viewers_line(person, words)
down = trouble(get_engine())
# One word each, which is their address too.
page = st.navigation(
    [
        st.Page(
            "workbench.py",
            title=words(NC_("page", "Ask")),
            icon=":material/account_tree:",
            url_path="ask",
            default=True,
        ),
        st.Page("tune.py", title=words("Tune"), icon=":material/tune:", url_path="tune"),
        st.Page("runs.py", title=words("Runs"), icon=":material/history:", url_path="runs"),
        st.Page("knowledge.py", title=words("Knowledge"), icon=":material/library_books:", url_path="knowledge"),
        system_page(words, down=down),
    ],
    position="top",
)
if down:
    # On a page that is not wide enough the navigation folds its last entries away.
    with st.session_state["top_hint"]:
        st.page_link(
            "system.py",
            label=words("System: something needs attention"),
            icon=":material/error:",
            help=words("System: something needs attention"),
        )
with st.container(key="brand"):
    st.html(f"<b>Workbench</b> <span>{page.title}</span>")
st.set_page_config(page_title=f"{page.title} · Workbench")
with st.session_state["help_place"]:
    if st.button(words("Help with this page"), icon=":material/help:", key="help", type="tertiary"):
        page_help(page.url_path or "ask", page.title, words, begin_tour)
if page.url_path != "knowledge":  # there they stand as cards
    show_job_line(get_engine(), words)
page.run()
