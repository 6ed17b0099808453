"""The views Settings and Diagnosis of the page System."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.controls import download, narrowing
from components.common.copy_text import copy_text
from components.common.faults import fault_box
from components.common.i18n import Words
from components.system.settings import how_to_change, settings_found, settings_table
from engine.engine import Engine
from pages.parts.common.next_step import clear, next_step
from pages.parts.system.state import again_button
from pages.parts.system.work import looked, until

_OLD_S = 30.0


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
