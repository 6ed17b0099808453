"""One short call to a model, asked for on the page System, and what it said."""

from __future__ import annotations

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import box, node
from components.common.phrases import duration_text
from components.system.draw import draw_system, fault_nodes
from engine.engine import Engine
from engine.model.system import ModelTrial
from pages.parts.system.work import Looked, until

_TRIAL = "models_trial"


def begin(engine: Engine, model: str, place: str) -> None:
    """Ask a model for one short reply; its card is drawn where it was asked for."""
    trial: Looked[ModelTrial] = Looked()
    trial.ask(lambda: engine.host.try_model(model))
    st.session_state[_TRIAL] = (place, model, trial)


def newest(place: str, words: Words) -> None:
    """Draw the trial that was asked for at this place, if any."""
    asked: tuple[str, str, Looked[ModelTrial]] | None = st.session_state.get(_TRIAL)
    if asked is None or asked[0] != place:
        return
    _, model, trial = asked
    if trial.value is None and trial.pending is not None:
        # The name is anybody's: as text, not as markup.
        st.text(f"{model}: {words('Checking …')}")
    elif trial.value is not None:
        view(trial.value, words, key=f"trial_{place}")
    elif trial.fault is not None:
        fault_box(trial.fault, words, key=f"trial_fault_{place}")
    until(trial)


def view(trial: ModelTrial, words: Words, *, key: str) -> None:
    """Draw what a model said to one short call, as plain text, or why it said nothing."""
    if trial.fault is not None:
        said = node("strong", "", f"✗ {trial.model}")
        draw_system((box("fault", "", said, *fault_nodes(trial.fault, words)),), words, key=key)
        return
    facts = [duration_text(trial.ms)]
    if trial.prompt_tokens is not None and trial.reply_tokens is not None:
        facts.append(words("{n} tokens", n=f"{trial.prompt_tokens} → {trial.reply_tokens}"))
    figures = node("span", "muted small num", " · ".join(facts))
    head = node("div", "lead", node("strong", "", f"✓ {trial.model}"), figures)
    reply = node("div", "reply", trial.reply.strip() or words("(empty)"))
    draw_system((box("pass", "", head, reply),), words, key=key)
