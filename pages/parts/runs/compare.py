"""The view Compare of the page Runs: two runs, or one question under two settings or two graders, side by side."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import node_text
from components.common.url_state import put_into_url, take_from_url
from components.runs.compare import SHOW_SAME, comparison
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.values import RunId, RunRecord
from engine.replay.difference import difference
from engine.samples.demos import demos
from pages.parts.common.actions import next_step, run_action, say_fault
from pages.parts.common.following import opening
from pages.parts.common.rights import may
from pages.parts.common.stored_runs import known_answer
from pages.parts.runs.compare_choices import run_choices
from pages.parts.runs.compare_new import Side, Wanted, second_run

_LONGEST_ID = 64
_WATCH_S = 0.5
_RECORDED = ("passes", "forced")
"""The recorded runs that are compared where none is chosen: one passes at once, one never meets the bar."""
_SIDES: tuple[Side, ...] = ("a", "b")


def compare_view(engine: Engine, words: Words) -> None:
    if not engine.ready:
        opening(engine, words)
    ids = pickers(engine, words)
    if any(ids.values()):
        links(words, ids)
    say_fault("compare", words)
    a, b = (record_of(engine, words, ids[side], side) for side in _SIDES)
    if not any(ids.values()):
        _two_recorded(words)
    if a is not None and not ids["b"]:
        st.info(words("Choose a second run, or make one below."), icon=":material/compare_arrows:")
    if may("editor"):
        second_run(engine, a, b, words, partial(begun, engine))
    if a is not None and b is not None:
        if a.active or b.active:
            progress(engine, words, a.id, b.id)
        else:
            side_by_side(engine, words, a, b)


def _two_recorded(words: Words) -> None:
    """Nothing is chosen: what will stand here, and two runs that come with the program."""
    said = words("Choose two runs, or see how it looks with two recorded ones.")
    pair = [demo.id for demo in demos() if demo.language == words.declared.closest and demo.scenario in _RECORDED]
    label = words("Compare two recorded runs")
    next_step(said, label, "compare_arrows", key="compare_recorded", does=lambda: choose_pair(*pair))


def choose_pair(first: str, second: str) -> None:
    """Compare these two from the next run of the page on."""
    for side, run_id in zip(_SIDES, (first, second), strict=True):
        st.session_state[f"compare_next_{side}"] = run_id


def pickers(engine: Engine, words: Words) -> dict[Side, str]:
    """Both pickers, with the ids in the address: a link opens the comparison."""
    opened = str(st.session_state.get("run") or "")
    defaults = _defaults(engine, words, opened)
    for side in _SIDES:
        wanted = st.session_state.pop(f"compare_next_{side}", None)
        if wanted is not None:
            st.session_state[side] = wanted
        elif side not in st.session_state and side not in st.query_params:
            st.session_state[side] = defaults[side]
        take_from_url(side, "", lambda given: len(given) <= _LONGEST_ID)
    choices = run_choices(engine, words, opened, tuple(str(st.session_state[side]) for side in _SIDES))
    if not choices:
        st.info(words("No run yet."), icon=":material/play_arrow:")
    left, right = st.columns(2, gap="medium")
    with left:
        first = picker(words, "a", choices)
    with right:
        second = picker(words, "b", choices)
    return {"a": first, "b": second}


def _defaults(engine: Engine, words: Words, opened: str) -> dict[Side, str]:
    """The open run is A; where it was forked from another one, that one is A and it is B."""
    record = record_of(engine, words, opened, "a", quiet=True) if opened else None
    if record is not None and record.fork is not None:
        return {"a": record.fork.parent, "b": record.id}
    return {"a": record.id if record else "", "b": ""}


def picker(words: Words, side: Side, choices: dict[str, str]) -> str:
    # Said again after a change of language, or the browser keeps showing the old label.
    if st.session_state.get(f"compare_language_{side}") != words.language:
        st.session_state[f"compare_language_{side}"] = words.language
        st.session_state[side] = st.session_state[side]
    chosen = st.selectbox(
        side.upper(),
        ["", *choices],
        format_func=lambda run_id: choices[run_id] if run_id else words("Choose a run, or type to search"),
        key=side,
        persist_state="session",
    )
    put_into_url(side, str(chosen or ""), "")
    return str(chosen or "")


def record_of(engine: Engine, words: Words, run_id: str, side: Side, *, quiet: bool = False) -> RunRecord | None:
    """The record of a chosen run; says so where there is none any more."""
    if not run_id:
        return None
    try:
        return engine.record(run_id)
    except WorkbenchError:
        if not quiet:
            st.warning(words("{run} is not here any more.", run=side.upper()), icon=":material/search_off:")
        return None


def begun(engine: Engine, wanted: dict[Side, Wanted]) -> None:
    """Start the runs that are missing, both at the same time, and open them here."""
    for side, (question, config, attachments) in wanted.items():
        start = partial(engine.start, question, config, attachments=attachments, trial=True)
        run_action("compare", start, into=f"compare_next_{side}")
    st.rerun()


def progress(engine: Engine, words: Words, first: RunId, second: RunId) -> None:
    """Show the progress of both runs until they end."""

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        try:
            running = {side: engine.record(run_id) for side, run_id in zip(_SIDES, (first, second), strict=True)}
        except WorkbenchError:
            st.rerun()
        if not any(record.active for record in running.values()):
            st.rerun()
        for side, record in running.items():
            if record.active:
                running_line(engine, words, side, record)

    watch()


def running_line(engine: Engine, words: Words, side: Side, record: RunRecord) -> None:
    at = next((item.node for item in reversed(record.nodes) if item.duration_ms is None), "")
    step = node_text(at, record.workflow, words) if at else words("starting")
    with st.container(horizontal=True, vertical_alignment="center", key=f"compare_running_{side}"):
        said = words("{run} is running: {step}", run=side.upper(), step=step)
        st.caption(f":material/hourglass_top: {said}", width="content")
        if st.button(words("Stop"), key=f"compare_stop_{side}", icon=":material/stop:", type="tertiary"):
            engine.cancel(record.id)


def side_by_side(engine: Engine, words: Words, a: RunRecord, b: RunRecord) -> None:
    shown = st.session_state.get("compare_all")
    pair = (a.id, b.id)
    known = known_answer(engine, a), known_answer(engine, b)
    pressed = comparison(difference(a, b), words, key="comparison", all_passages=shown == pair, known=known)
    if pressed == SHOW_SAME:
        st.session_state["compare_all"] = pair
        st.rerun()


def links(words: Words, ids: dict[Side, str]) -> None:
    """Show further actions on the two runs."""
    with st.container(horizontal=True, vertical_alignment="center", key="compare_links"):
        if st.button(words("Swap"), icon=":material/swap_horiz:", key="compare_swap", type="tertiary"):
            choose_pair(ids["b"], ids["a"])
            st.rerun()
        for side in _SIDES:
            if ids[side]:
                st.page_link(
                    "workbench.py",
                    label=words("Open {run}", run=side.upper()),
                    icon=":material/open_in_new:",
                    query_params={"run": ids[side], "lang": words.language},
                )
