"""The view Present of the page Runs: a recorded run step by step in large type, to show others how the loop thinks."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.ask.answer import answer_card
from components.ask.presenter import presenter, stage_style, what_if_slider, what_if_stage
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.url_state import put_into_url, take_from_url
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import workflow
from engine.model.values import Fault, RunRecord
from engine.records import BATCH
from engine.replay.playback import steps
from engine.samples.demos import demos
from pages.parts.runs.compare_choices import run_choices

_LONGEST_ID = 64
_MOST_STEPS = 10_000
_LOOKED_AT = 20
_MENU = "stage_run"


def stage_view(engine: Engine, words: Words) -> None:
    stage_style()
    run_id = chosen_run(engine, words)
    stage_bar(engine, words, run_id)
    try:
        record = engine.record(run_id)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="present_fault")
        return
    with st.container(key="stage_question"):
        # Untrusted text: never read as Markdown.
        st.text(record.question)
    if record.active:
        st.info(words("This run is still running: watch it on Ask."))
        return
    stage(engine, words, record)


def chosen_run(engine: Engine, words: Words) -> str:
    """The run that the address names, else that which Ask has open, else the newest own one, else the first demo."""
    named = take_from_url("run", "", lambda given: len(given) <= _LONGEST_ID)
    return named or _newest(engine) or next(demo.id for demo in demos() if demo.language == words.declared.closest)


def _newest(engine: Engine) -> str:
    try:
        own = engine.runs(_LOOKED_AT, without_tag=BATCH)
    except WorkbenchError:
        return ""
    return next((item.id for item in own if item.outcome is not None and not item.damaged), "")


def stage_bar(engine: Engine, words: Words, run_id: str) -> None:
    """The way back, and one menu of all that can be presented: own runs, newest first, then the demos."""
    with st.container(key="stage_bar", horizontal=True, vertical_alignment="center"):
        # The run that Ask has open anyway comes back with the sliders as they were left.
        named = {} if st.session_state.get("run_shown") == run_id else {"run": run_id}
        st.page_link("workbench.py", label=words("Open on Ask"), icon=":material/arrow_back:", query_params=named)
        choices = run_choices(engine, words, str(st.session_state.get("run_shown") or ""), (run_id,))
        st.session_state[_MENU] = run_id
        st.selectbox(
            words("Run to present"),
            list(choices),
            format_func=choices.__getitem__,
            key=_MENU,
            on_change=_picked,
            label_visibility="collapsed",
        )
    put_into_url("run", run_id if st.session_state.get("run") else "", "")


def _picked() -> None:
    # Its step goes with it: the stage begins every run at its first.
    st.session_state["run"] = st.session_state[_MENU]


@st.fragment
def stage(engine: Engine, words: Words, record: RunRecord) -> None:
    """The stage and, at its end, the answer and the question what another bar would have done."""
    if st.session_state.get("presented") not in (None, record.id):
        # The step that was left in another run means nothing in this one.
        st.session_state["step"] = "1"
    st.session_state["presented"] = record.id
    events = list(engine.events(record.id))
    followed = steps(events)
    start = int(take_from_url("step", "1", _is_step))
    graph = engine.graph(record.workflow)
    at = presenter(graph, record, events, followed, words, start=start - 1, key="presenter")
    st.session_state["step"] = str(at + 1)
    put_into_url("step", str(at + 1), "1")
    if at < len(followed) - 1:
        return
    answer, asked = st.columns((3, 2))
    if record.answer:
        with answer:
            answer_card(record, words, key="present_answer")
    # The other loops have other bars; their what-if stands on the workbench.
    if record.decisions and workflow(record.workflow).on_grid:
        with asked:
            what_if(engine, words, record)


def what_if(engine: Engine, words: Words, record: RunRecord) -> None:
    with st.container(key="stage_what_if", border=True):
        st.markdown(f"**{words('What if')}**")
        share, count = what_if_slider(record, words, key=f"bar_{record.id}")
        config = replace(record.config, grade_pass_threshold=share, min_relevant=count)
        what_if_stage(engine.what_if(record, config), record, words, key="stage_admits")


def _is_step(given: str) -> bool:
    # Its length first: Python refuses to read numbers of thousands of digits.
    return len(given) <= len(str(_MOST_STEPS)) and given.isdecimal() and int(given) <= _MOST_STEPS
