"""Marks of the open run on the sliders: a tick at its value, and a line over the range with equal results.

The marks are a few rules of a style sheet that hold numbers only: they cost neither an element nor a rerun.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.ask.what_if_text import value_text
from components.common.i18n import Words
from components.common.run_settings import option_names, setting_of_config
from engine.model.config import RunConfig, number_of
from engine.replay.settings import Column

MARKED: tuple[Column, ...] = (
    "top_k",
    "similarity_threshold",
    "grade_pass_threshold",
    "max_rewrites",
    "min_relevant",
    "min_confidence",
)
"""The sliders whose value a replay can tell something of; probing deeper is never known."""


@dataclass(frozen=True, slots=True)
class StableRange:
    """Values of one setting, both ends included, that give the same what-if as the one it is set to."""

    low: float
    high: float


def slider_marks(
    below: Mapping[str, DeltaGenerator],
    chosen: RunConfig,
    run: RunConfig,
    stable: Mapping[str, StableRange],
    words: Words,
) -> None:
    """Mark the sliders that are drawn, and write below those that were moved what the run had.

    Both configs are of one workflow: its own options are marked as the shared settings are.
    """
    rules = []
    for name in (*MARKED, *option_names(run.workflow)):
        if name not in below:
            continue
        had = setting_of_config(run, name)
        rules.append(mark_rules(name, had, stable.get(name)))
        if setting_of_config(chosen, name) != had:
            place = below[name].container(key=f"tick_{name}")
            place.caption(note_text(name, had, stable.get(name), words))
    st.html(f"<style>{''.join(rules)}</style>")


def note_text(name: str, run_value: float, stable: StableRange | None, words: Words) -> str:
    """``Run: 0.60 · same result from 0.21 to 0.40``."""
    parts = [words("Run: {value}", value=value_text(name, run_value, words))]
    if stable is not None and stable.low < stable.high:
        low, high = (value_text(name, end, words) for end in _shown(name, stable))
        parts.append(
            words(
                "same result only at {low}" if low == high else "same result from {low} to {high}", low=low, high=high
            )
        )
    return words(" · ").join(parts)


def _shown(name: str, stable: StableRange) -> tuple[float, float]:
    """The range in steps of the slider: ends between two of them move inwards."""
    limits = number_of(name)
    assert limits is not None
    low, high = ceil(stable.low / limits.step - 1e-6), floor(stable.high / limits.step + 1e-6)
    ends = (round(low * limits.step, 4), round(high * limits.step, 4))
    return (int(ends[0]), int(ends[1])) if limits.whole else ends


def mark_rules(name: str, run_value: float, stable: StableRange | None) -> str:
    """The rules of one slider; its inner track is as wide as its range."""
    track = f".st-key-{name} .stSlider [role=group] > div"
    rules = (
        f"{track}{{position:relative}}"
        f"{track}::after{{content:'';position:absolute;left:calc({_share(name, run_value)} - 1px);top:12px;width:2px;"
        "height:16px;border-radius:1px;background:currentColor;pointer-events:none}"
    )
    if stable is None or stable.low >= stable.high:
        return rules
    left, right = _share(name, stable.low), _share(name, stable.high)
    return rules + (
        f"{track}::before{{content:'';position:absolute;left:{left};width:calc({right} - {left});top:26px;height:3px;"
        "border-radius:2px;background:currentColor;opacity:.28;pointer-events:none}"
    )


def _share(name: str, value: float) -> str:
    limits = number_of(name)
    assert limits is not None
    share = (value - limits.low) / (limits.high - limits.low)
    return f"{min(1.0, max(0.0, share)):.2%}"
