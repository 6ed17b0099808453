"""The view Speed of the page System: measure a chat model on this host, and see what follows from it."""

from __future__ import annotations

import streamlit as st

from components.common.controls import download
from components.common.i18n import Words
from components.common.widgets import model_name
from components.system.speed import STOP, measuring_card, speed_cards, speeds_csv
from engine.engine import Engine
from engine.host.values import ModelSpeed
from engine.model.config import BUILTIN
from pages.parts.common.following import follow_work
from pages.parts.common.presses import attempt, say_fault
from pages.parts.common.rights import may
from pages.parts.system.models import Seen, seen_models
from pages.parts.system.state import go_to
from pages.parts.system.work import until

_LOOK_S = 0.5
_WANTED = "speed_wanted"
_MODEL = "speed_model"
_CONCURRENCY = "grader_concurrency"


def speed_part(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "Is grading four passages at once really faster here? Measured, not guessed: the same short gradings with "
            "1, 2, 4 and 8 at a time."
        )
    )
    found = seen_models(engine)
    if found.value is None:
        st.caption(f":material/hourglass_top: {words('Looking at every part …')}")
        until(found)
        return
    if may("editor"):
        _begin(engine, found.value, words)
    _progress(engine, words)
    speeds = engine.host.speeds()
    if speeds:
        speed_cards(speeds, _used(engine, found.value, speeds), words, key="speeds")
        download(
            words("Speeds as CSV"), lambda: speeds_csv(speeds, words), "speeds.csv", key="speeds_csv", type="tertiary"
        )
    elif engine.host.measuring is None:
        st.info(
            words(
                "Nothing is measured yet, so chat models grade {n} passages at a time.",
                n=engine.settings.grader_concurrency,
            )
        )
    until(found)


def _begin(engine: Engine, seen: Seen, words: Words) -> None:
    """Which model, what it costs, and the button that begins."""
    measuring = engine.host.measuring
    names = seen.offered
    wanted = st.session_state.pop(_WANTED, None)
    if wanted is not None:
        st.session_state[_MODEL] = wanted
    elif _MODEL not in st.session_state:
        st.session_state[_MODEL] = names[0] if names else None
    chosen = st.session_state[_MODEL]
    with st.container(border=True, key="speed_begin"):
        if not names:
            st.caption(
                words("There is no chat model to measure. Pull one under Models, or type one as provider:model.")
            )
            if st.button(words("Models"), icon=":material/download:", key="speed_models"):
                go_to("models")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            model = st.selectbox(
                words("Chat model"),
                list(dict.fromkeys((*names, *([chosen] if chosen else [])))),
                index=None if not chosen else 0,
                accept_new_options=True,
                placeholder="provider:model",
                key=_MODEL,
                persist_state="session",
                width=420,
            )
            typed = model_name(str(model or ""), seen.offered)
            running = measuring is not None and not measuring.over
            pressed = st.button(
                words("Measure it"),
                type="primary",
                icon=":material/speed:",
                disabled=running or typed == BUILTIN,
                key="speed_go",
            )
        st.caption(
            words(
                "It costs at most 100 short calls in about a minute; a slow model makes fewer. One of Ollama is "
                "unloaded first, so that its warm-up counts. It is busy meanwhile, and a provider that is paid by the "
                "token is paid."
            )
        )
    if pressed:
        attempt("speed", lambda: engine.host.start_measure(typed))
        st.rerun()
    say_fault("speed", words)


def _progress(engine: Engine, words: Words) -> None:
    """The measurement that is running or was the last."""
    first = engine.host.measuring
    if first is None or first.state == "done":
        # Its card says when it was measured.
        return
    follow_work(
        lambda: engine.host.measuring,
        lambda now: measuring_card(now, words, key="measuring") == STOP,
        engine.host.stop_measure,
        _LOOK_S,
    )


def _used(engine: Engine, seen: Seen, speeds: tuple[ModelSpeed, ...]) -> dict[str, tuple[int, str]]:
    """By model, how many passages it grades at once here, and why."""
    fixed = _CONCURRENCY in engine.settings.model_fields_set
    digests = {f"ollama:{item.name}": item.digest for item in seen.models}
    found = {}
    for speed in speeds:
        now = digests.get(speed.model, speed.digest)
        why = "set" if fixed else "measured" if now == speed.digest else "stale"
        found[speed.model] = (engine.host.concurrency_of(speed.model), why)
    return found
