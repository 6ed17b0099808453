"""The views Self-test, Settings and Diagnosis of the page System."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.controls import download, narrowing
from components.common.copy_text import copy_text
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.widgets import relabel
from components.system.self_test import STOP, self_test_progress
from components.system.settings import how_to_change, settings_found, settings_table
from engine.engine import Engine
from engine.model.config import RunConfig
from pages.parts.common.following import follow_work
from pages.parts.common.next_step import clear, next_step
from pages.parts.common.opening import opening
from pages.parts.common.presses import attempt, say_fault
from pages.parts.common.rights import may
from pages.parts.system.hint import roles_played
from pages.parts.system.state import again_button
from pages.parts.system.work import looked, until

_LOOK_S = 0.4
_OLD_S = 30.0
_COLLECTION = "self_test_collection"


def self_test_part(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "Is what the numbers mean still true on this machine? The embedding model, the store and the grader are "
            "asked questions whose answers are known beforehand. It reads and writes nothing of yours."
        )
    )
    if not engine.ready:
        opening(engine, words)
        return
    names = [item.name for item in engine.collections()]
    usual = RunConfig().collection
    with st.container(border=True, key="self_test_begin", horizontal=True, vertical_alignment="bottom"):
        if st.session_state.get(_COLLECTION) not in names:
            st.session_state[_COLLECTION] = usual if usual in names else next(iter(names), None)
        relabel(words, _COLLECTION)
        collection = st.selectbox(
            words("Collection"),
            names,
            format_func=lambda name: words("Samples") if name == usual else name,
            key=_COLLECTION,
            persist_state="session",
            width=320,
        )
        testing = engine.host.self_testing
        running = testing is not None and not testing.over
        pressed = st.button(
            words("Test the scores"),
            type="primary",
            icon=":material/rule:",
            disabled=running or not collection or not may("editor"),
            key="self_test_go",
        )
    if pressed and collection:
        attempt("self_test", lambda: engine.host.start_self_test(str(collection), roles_played()["grader"]))
        st.rerun()
    say_fault("self_test", words)
    _watched(engine, words)


def _watched(engine: Engine, words: Words) -> None:
    """The self-test that is running or was the last."""
    if engine.host.self_testing is None:
        st.caption(words("Not tested yet. It takes some seconds with built-in models."))
        return
    follow_work(
        lambda: engine.host.self_testing,
        lambda now: self_test_progress(now, words, key="self_test") == STOP,
        engine.host.stop_self_test,
        _LOOK_S,
    )


def settings_part(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "How this machine is set up. Environment variables come first, then .env, then workbench.toml; a change "
            "counts from the next start."
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings_filters"):
        text = narrowing(words("Find a setting"), key="settings_q", placeholder="")
        changed = st.toggle(words("Only what differs from the default"), key="settings_changed")
    shown = settings_found(engine.host.settings(), text, words, changed=changed)
    if shown:
        settings_table(shown, words, key="settings")
    else:
        cleared = clear("settings_q", "settings_changed")
        label = words("Clear the filters")
        next_step(words("No setting matches."), label, "filter_alt_off", key="settings_clear", does=cleared)
    with st.expander(words("How to change one"), icon=":material/edit:"):
        how_to_change(words, key="settings_how")


def diagnosis_part(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    st.caption(
        words(
            "Everything somebody needs who is to help you: versions, parts, models, settings and the newest faults. "
            "No secret, no question and no text of your sources is in it. Read it before you send it."
        )
    )
    found = looked("diagnosis", engine.host.diagnosis, fresh=again_button(words, bar), most_s=_OLD_S)
    if found.fault is not None:
        fault_box(found.fault, words, key="diagnosis_fault")
    if found.value is None:
        st.caption(f":material/hourglass_top: {words('Gathering it …')}")
    else:
        text = found.value
        copy_text(text, words, key="diagnosis")
        download(words("Download it"), text.encode(), "diagnosis.md", key="diagnosis_download", type="tertiary")
    until(found)
