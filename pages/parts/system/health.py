"""The view Health of the page System: every part, the worst first, with what to do."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.faults import fault_box
from components.common.i18n import Words
from components.system.health import MODELS, health_view, judged
from engine.engine import Engine
from pages.parts.common.opening import opening
from pages.parts.system.hint import note_parts, roles_played
from pages.parts.system.state import again_button, go_to
from pages.parts.system.work import looked, until

_OLD_S = 30.0
_SEEN_OPEN = "health_seen_open"


def health_part(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    again = again_button(words, bar)
    if not engine.ready:
        opening(engine, words)
    # What was seen while the knowledge base was being opened is of no use once it is open.
    opened = engine.ready and not st.session_state.get(_SEEN_OPEN, False)
    st.session_state[_SEEN_OPEN] = engine.ready
    found = looked("health", engine.host.health, fresh=again or opened, most_s=_OLD_S)
    if found.fault is not None:
        fault_box(found.fault, words, key="health_fault")
    if found.value is None:
        if found.pending is not None:
            st.caption(f":material/hourglass_top: {words('Looking at every part …')}")
    else:
        note_parts(engine, found.value)
        note = words("Looking at every part …") if found.pending else words("Checked at {time} UTC", time=found.moment)
        pressed = health_view(judged(found.value, roles_played()), words, key="health", note=note)
        if pressed == MODELS:
            go_to("models")
    until(found)
