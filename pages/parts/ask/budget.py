"""The price of the next run, in one line at the foot of the settings."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import duration_text
from components.common.workflow_view import view_of
from engine.model.config import RunConfig
from engine.model.cost import Cost


def view(config: RunConfig, worst: Cost, words: Words) -> None:
    """Draw the line."""
    once_more = words("Second tries are not counted: where a reply cannot be used, the model is asked once more.")
    st.caption(budget_text(config, worst, words), width="stretch", help=once_more if worst.calls else None)


def budget_text(config: RunConfig, worst: Cost, words: Words) -> str:
    """``Next run: at most 4 rounds · 9 model calls · 40 s``; with a warning where the time limit would cut it short."""
    parts = [words("Next run: at most {rounds}", rounds=view_of(config.workflow).extent(config, words))]
    parts.append(words.count("1 model call", "{n} model calls", worst.calls))
    if worst.seconds is not None:
        parts.append(duration_text(worst.seconds * 1000.0))
        if worst.seconds > config.budget_s:
            parts.append(words("more than the time budget of {budget} s", budget=f"{config.budget_s:g}"))
    return words(" · ").join(parts)
