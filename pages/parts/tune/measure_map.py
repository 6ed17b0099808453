"""The tab *Map*: one measure over two settings, coloured by the worse end of what is known."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.panel import want_settings
from components.labels import name_of
from components.sentences.measured import figure_text, known_text, value_text
from engine.evaluation.figures import Figure, Figures
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.sweep import AxisValue, HeatMap
from engine.messages import N_
from engine.model.config import RunConfig
from pages.parts.tune.evidence import Shown
from pages.parts.tune.guarantee import promise_text
from pages.parts.tune.settings_map import CERTIFIED, Face, Legend, cells_of, draw_map
from pages.parts.tune.tried import map_of, offered_axes, promised, safe_places, swept_axes, tried

_MEASURES: tuple[Measure, ...] = (
    *("quality", "answered_right", "wrong_given", "context_hit", "refused_unanswerable"),
    *("steps", "rewrites", "seconds", "calls", "left_to_grader"),
)
_AXES = (
    *("max_rewrites", "min_confidence", "similarity_threshold"),
    *("top_k", "min_relevant", "grade_pass_threshold", "cascade_low", "cascade_high"),
)
_SHADES = 5
_NAMES = {"x": N_("Across"), "y": N_("Up")}


def tab(shown: Shown, config: RunConfig, words: Words) -> None:
    """The choices and the map; what is certified has a frame where the map is of the settings that were swept."""
    across, up, over = st.columns(3, gap="small")
    # Of all pairs, most is known of these two: neither asks for passages that no run has seen.
    x = _axis(across, "x", "max_rewrites", config, words)
    y = _axis(up, "y", "min_confidence", config, words)
    measure = over.selectbox(
        words("Measure"),
        _MEASURES,
        format_func=lambda name: words(MEASURES[name].name),
        key="tune_map_measure",
        persist_state="session",
    )
    if x == y:
        st.caption(words("Choose two different settings."))
        return
    names = swept_axes(config)
    heat = tried(shown, config, names).heat(measure, x, y, config) if {x, y} <= set(names) else None
    found = promised(shown, config, names) if heat is not None else None
    if heat is None:
        heat = map_of(shown, config, (x, y), measure, names)
    safe, promise = (safe_places(found), promise_text(found, words)) if found is not None else (frozenset(), "")
    if picked := view(heat, config, words, key="tune_map", safe=safe, promise=promise):
        want_settings(picked)
        st.rerun()


def _axis(place: DeltaGenerator, name: str, default: str, config: RunConfig, words: Words) -> str:
    key, axes = f"tune_map_{name}", [item for item in _AXES if item in offered_axes(config)]
    st.session_state[key] = kept if (kept := st.session_state.get(key)) in axes else default
    chosen = place.selectbox(
        words(_NAMES[name]),
        axes,
        format_func=lambda axis: words(name_of(axis)),
        key=key,
        persist_state="session",
    )
    return str(chosen)


def view(
    heat: HeatMap,
    current: RunConfig,
    words: Words,
    *,
    key: str,
    safe: frozenset[int] = frozenset(),
    promise: str = "",
) -> dict[str, AxisValue] | None:
    """Draw the map; returns the settings of the cell that was pressed.

    A cell with more than a tenth of its questions unknown is hatched and has no colour. ``safe`` are settings that
    get a frame; where the map has any, it says so, and ``promise`` with it.
    """
    cells = cells_of(heat, current, words, lambda place, figure: face_of(heat, place, figure, words, safe))
    if not cells:
        st.caption(words("no question can tell"))
        return None
    looks = {part for cell in cells for part in str(cell["look"]).split()}
    note = words("More passages must pass than can be kept: no cell.") if not heat.possible.all() else ""
    legend = legend_of(heat.figures, looks, words, promise)
    return draw_map(heat, cells, legend, words, key=key, title=words(MEASURES[heat.measure].name), note=note)


def face_of(heat: HeatMap, place: int, figure: Figure, words: Words, safe: frozenset[int]) -> Face | None:
    """Colour of a cell by its worse end, or hatching where too much is unknown; None where no question can tell."""
    if figure.lower is None:
        return None
    shade = _shade(heat.figures, int(np.flatnonzero(heat.settings.ravel() == place)[0]))
    look = f"{shade} {CERTIFIED}" if place in safe else shade
    sign = "?" if shade == "unknown" else "╱" if figure.unknown_n else ""
    said = f"{figure_text(heat.measure, figure, words)} · {known_text(figure, words)}"
    return Face(look, sign, said)


def _shade(figures: Figures, place: int) -> str:
    worse = figures.worse.ravel()[place]
    if not figures.mostly_known.ravel()[place] or not np.isfinite(worse):
        return "unknown"
    low, high = scale_of(figures)
    share = min(1.0, max(0.0, (worse - low) / (high - low)))
    if MEASURES[figures.measure].lower_is_better:
        share = 1.0 - share
    return f"q{min(_SHADES - 1, int(share * _SHADES))}"


def scale_of(figures: Figures) -> tuple[float, float]:
    """Both ends of the colours: those of the measure itself, so that a poor best never looks good."""
    if MEASURES[figures.measure].kind != "cost":
        return 0.0, 1.0
    worse = figures.worse[figures.mostly_known & np.isfinite(figures.worse)]
    return 0.0, float(worse.max(initial=0.0)) or 1.0


def legend_of(figures: Figures, looks: set[str], words: Words, promise: str) -> list[Legend]:
    """What the looks on the map mean."""
    low, high = scale_of(figures)
    found: list[Legend] = []
    for shade in range(_SHADES):
        ends = [low + (high - low) * edge / _SHADES for edge in (shade, shade + 1)]
        if MEASURES[figures.measure].lower_is_better:
            ends = [high - end for end in reversed(ends)]
        if f"q{shade}" in looks:
            found.append((f"q{shade}", "", "–".join(value_text(figures.measure, end) for end in ends)))
    if "unknown" in looks:
        found.append(("unknown", "?", words("more than one in ten unknown")))
    if (figures.mostly_known & (figures.known_n < figures.n)).any():
        found.append(("q0", "╱", words("some unknown, counted as the worst")))
    if CERTIFIED in looks:
        found.append((CERTIFIED, "", words("certified: {promise}", promise=promise)))
    return found
