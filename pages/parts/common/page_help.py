"""The help of the page at hand: what it shows, and what each of its settings means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from components.common.i18n import Words
from components.common.run_settings import workflow_chosen
from components.common.widgets import explained
from components.labels import help_of, name_of
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import USUAL, WorkflowName, every_setting, settings_of

SHOWS: Mapping[str, str] = {
    "ask": N_(
        "Asks one question and shows the whole loop: what each round retrieved, how every passage was graded, what was "
        "rewritten and why it ended. Then move a setting: **What if** says how the run would have ended, without a "
        "model call."
    ),
    "tune": N_(
        "Runs a set of questions once and keeps all that was seen. Every setting can then be tried on all of them at "
        "once, without a model call. A figure that rests on part of the questions is shown as its bounds."
    ),
    "runs": N_("Holds every run: search, compare two of them, lay workflows side by side, present one step by step."),
    "knowledge": N_("Holds the collections: add files, look at passages and graphs, search them, draft questions."),
    "system": N_("Shows what works and what does not: models, stores, jobs and plug-ins."),
}
"""By the address of a page."""


@st.dialog(" ", width="medium")
def page_help(page: str, title: str, words: Words, begin_tour: Callable[[], None]) -> None:
    """Open the dialog for a page, named by its address; that of Ask can begin the tour."""
    st.markdown(f"#### {title}")
    st.markdown(words(SHOWS[page]))
    if page == "ask" and st.button(words("Start the tour"), key="help_tour", on_click=begin_tour):
        st.rerun()
    if page in ("ask", "tune"):
        view(settings_shown(workflow_chosen(USUAL) if page == "ask" else USUAL), words)


def settings_shown(name: WorkflowName) -> tuple[str, ...]:
    """The settings of a workflow that have an explanation, in the order of the panel."""
    names = (*settings_of(name), *workflow(name).own_settings, "num_ctx", "temperature")
    return tuple(item for item in names if help_of(item))


def view(settings: Sequence[str], words: Words) -> None:
    """Explain each of these settings."""
    st.markdown(f"**{words('Settings')}**")
    known = every_setting()
    for name in settings:
        said = explained(words, known[name]) if name in known else words(help_of(name))
        st.markdown(f"**{words(name_of(name))}** · {said}")
