"""Charts of many settings over a query set, where a click tries one: a heat map, and quality against cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.labels import name_of
from components.tune.figures import figure_text, known_text, value_text
from components.tune.vega import ACCENT, AMBER, GREY, LEGEND_BELOW, TEAL, Spec, layer, number, text
from engine.evaluation.figures import Figure
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.sweep import Axis, AxisValue, HeatMap
from engine.messages import N_
from engine.model.config import RunConfig

_FRONT = {
    "current": N_("under test"),
    "recommended": N_("recommended"),
    "front": N_("none better for less"),
    "others": N_("other settings"),
}

Tried = Callable[[Mapping[str, AxisValue]], None]
"""Told the settings of a cell or a point that was clicked, before the page is drawn again."""

_PALEST = 0.12
"""Measures that are no share."""
CLICKED = "clicked"
"""Name of the layer that can be pressed."""
_AXIS: Spec = {
    "domain": False,
    "ticks": False,
    "labelAngle": 0,
    "labelFlush": False,
    "labelPadding": 6,
    "gridOpacity": 0.6,
    "titleFontWeight": 500,
}
_PICK = "pick"
_HEIGHT = 330
_PADDING = {"left": 4, "top": 8, "right": 8, "bottom": 4}
Kind = Literal["others", "front", "current", "recommended"]
_KINDS: tuple[Kind, ...] = get_args(Kind)
"""Of the points, in the order in which they are drawn over each other."""
_SIZES: Mapping[Kind, int] = {"others": 26, "front": 60, "current": 190, "recommended": 330}
"""Square pixels."""
_STAR_PATH = (
    "M0,-1L0.2245,-0.309L0.9511,-0.309L0.3633,0.118L0.5878,0.809L0,0.382L-0.5878,0.809L-0.3633,0.118"
    "L-0.9511,-0.309L-0.2245,-0.309Z"
)
_LOOKS = ((GREY, "circle"), (ACCENT, "circle"), (TEAL, "diamond"), (AMBER, _STAR_PATH))
"""Colours and shapes of the kinds."""
_SEQUENCE = ("#e3f4f1", "#8fd6cc", "#2fa699", "#0f766e", "#0a4f4b")
_SEQUENCE_DARK = ("#16302f", "#1b5650", "#23857a", "#3bb5a5", "#8debdc")
"""Teal away from the background: read alike by the colour-blind, and what stands out is always better."""
_UNKNOWN, _UNKNOWN_DARK = "#d5d9e2", "#3b4252"
"""Of cells of which too much is unknown to be told from others by a colour."""
_MARK, _MARK_DARK = "#1f2937", "#f3f4f6"
"""Outline of the cell that the sliders stand on."""


def heat_map(
    heat: HeatMap,
    current: RunConfig,
    words: Words,
    *,
    key: str,
    tried: Tried,
    safe: frozenset[int] = frozenset(),
    promise: str = "",
) -> None:
    """One cell a setting, coloured by the worse end of its figure: the stronger the better.

    A cell with an unknown question is hatched, one with more than a tenth of them grey as well; where no round can meet
    the gate there is none. ``safe`` are settings that get a frame; where the map has any, it says so, and ``promise``
    with it.
    """
    rows = _cells(heat, current, words)
    if not rows:
        st.caption(words("no question can tell"))
        return
    dark = st.context.theme.type == "dark"
    values = [row["value"] for row in rows if not row["grey"]]
    domain = scale_of(heat.measure, max(values, default=0.0))
    st.caption(
        _colours_text(heat.measure, (min(values), max(values)), domain, words, dark=dark)
        if values
        else words(
            "{measure}: too much is unknown of every setting for a colour; click to try",
            measure=words(MEASURES[heat.measure].name),
        )
    )
    ends = {"x": ordinal("x", heat.x, words), "y": ordinal("y", heat.y, words, downwards=True)}
    sequence = _SEQUENCE_DARK if dark else _SEQUENCE
    colours = sequence[::-1] if MEASURES[heat.measure].lower_is_better else sequence
    cells = layer(
        rows,
        {"type": "rect", "cornerRadius": 3, "cursor": "pointer"},
        color={
            "condition": {"test": "datum.grey", "value": _UNKNOWN_DARK if dark else _UNKNOWN},
            **number("value", scale={"domain": list(domain), "range": list(colours), "clamp": True}, legend=None),
        },
        tooltip=[
            *(text(f"{end}_name", ends[end]["title"]) for end in ends),
            text("text", words(MEASURES[heat.measure].name)),
            text("known_text", words("Evidence")),
        ],
        **ends,
    )
    stroke = _MARK_DARK if dark else _MARK
    # How much is unknown is drawn apart from the colour, which shows the worse end of the measure alone.
    lines = {"type": "text", "color": stroke, "opacity": 0.45, "fontSize": 13, "tooltip": None}
    hatched = layer((row for row in rows if row["hatching"]), lines, text=text("hatching"), **ends)
    frame = {"type": "rect", "cornerRadius": 3, "filled": False, "stroke": stroke, "strokeWidth": 5 if safe else 2.5}
    thin = {**frame, "stroke": AMBER, "strokeWidth": 2, "tooltip": None}
    framed = [row for row in rows if row["setting"] in safe]
    marked = layer((row for row in rows if row["current"]), frame, **ends)
    clickable(
        # The thin frame over the wide one, so that a certified setting under test shows both.
        [{**cells, "name": CLICKED}, hatched, marked, layer(framed, thin, **ends)],
        ("x", "y"),
        key,
        lambda point: tried({heat.x.name: point["x"], heat.y.name: point["y"]}),
    )
    if notes := _cells_text(heat, words):
        st.caption(notes)
    if framed:
        st.caption(words.joined([words("Framed in amber: certified."), promise]))


def _colours_text(
    measure: Measure, seen: tuple[float, float], domain: tuple[float, float], words: Words, *, dark: bool
) -> str:
    """Explain the colours of a map, and the range of its values."""
    note = (
        N_("{measure}: {low} to {high} here; colours from {floor} to {top}, the brighter the better; click to try")
        if dark
        else N_("{measure}: {low} to {high} here; colours from {floor} to {top}, the stronger the better; click to try")
    )
    low, high, floor, top = (value_text(measure, edge) for edge in (*seen, *domain))
    return words(note, measure=words(MEASURES[measure].name), low=low, high=high, floor=floor, top=top)


def _cells_text(heat: HeatMap, words: Words) -> str:
    """Explain hatched, grey and empty cells, as far as the map has any."""
    figures = heat.figures
    shown = heat.possible & (figures.n > 0)
    said = []
    if (shown & (figures.known_n < figures.n)).any():
        said.append(
            words("Hatched: some questions are unknown and count as the longest run they can be.")
            if MEASURES[heat.measure].kind == "cost"
            else words("Hatched: some questions are unknown and count as the worst they can be.")
        )
    if (shown & ~figures.mostly_known).any():
        said.append(words("Grey: more than one in ten is unknown."))
    if not heat.possible.all():
        said.append(words("Empty: more passages must pass than can be kept."))
    return words.joined(said)


def ordinal(end: str, axis: Axis, words: Words, *, downwards: bool = False) -> Spec:
    """One end of a map whose cells stand for the values of a setting."""
    names = [value_name(value) for value in axis.values][:: -1 if downwards else 1]
    return {
        **text(f"{end}_name", words(name_of(axis.name)), sort=names, axis=_AXIS),
        "type": "ordinal",
        # The whole range, so that a layer of one cell has the same scale.
        "scale": {"domain": names, "paddingInner": 0.06, "paddingOuter": 0.03},
    }


@dataclass(frozen=True, slots=True)
class Point:
    """One setting in the chart of quality against cost, both at their worse ends."""

    quality: Figure
    cost: Figure
    text: str
    """What tells the setting from the others."""
    settings: Mapping[str, AxisValue] = field(default_factory=dict)
    """What a click moves the sliders to; nothing where there is nothing to move."""
    on_front: bool = False
    kind: Kind = "others"

    @property
    def place(self) -> tuple[float, float] | None:
        """Cost and quality; None where nothing limits the cost, or no question can tell."""
        if self.quality.lower is None or self.cost.upper is None:
            return None
        return self.cost.upper, self.quality.lower

    @property
    def known(self) -> float:
        """The share of the questions that both figures are known for."""
        return min(item.known_n / item.n for item in (self.quality, self.cost))


def quality_against_cost(points: Sequence[Point], cost: Measure, words: Words, *, key: str, tried: Tried) -> None:
    """Every setting as a point at its worse ends; a line through those that none beats in both quality and cost."""
    shown = [item for item in points if item.place is not None]
    # The later a row, the higher it is drawn: what is recommended is never under other points.
    shown.sort(key=lambda item: _KINDS.index(item.kind))
    if not shown:
        st.caption(words("no question can tell"))
        return
    rows = [
        {
            "place": place,
            "cost": item.cost.upper,
            "quality": item.quality.lower,
            "kind": words(_FRONT[item.kind]),
            "size": _SIZES[item.kind],
            "opacity": max(_PALEST, item.known**2),
            "text": item.text,
            "quality_text": figure_text("quality", item.quality, words),
            "cost_text": figure_text(cost, item.cost, words),
            "known_text": known_text(item.quality, words),
        }
        for place, item in enumerate(shown)
    ]
    scale = {"zero": False, "nice": False, "padding": 14}
    axis = {**_AXIS, "format": ".3~g"}
    ends = {
        "x": number("cost", words(MEASURES[cost].name), scale=scale, axis=axis),
        "y": number("quality", words(MEASURES["quality"].name), scale=scale, axis=axis),
    }
    front = (row for row, item in zip(rows, shown, strict=True) if item.on_front)
    line = layer(front, {"type": "line", "color": ACCENT, "strokeWidth": 1.8, "opacity": 0.8}, **ends)
    marks = _front_marks(rows, ends, cost, words)
    clickable([line, marks], ("place",), key, lambda point: tried(shown[int(point["place"])].settings))


def _front_marks(rows: Sequence[Spec], ends: Mapping[str, Spec], cost: Measure, words: Words) -> Spec:
    """The points themselves, by kind; what is recommended is a star."""
    present = {row["kind"] for row in rows}
    looks = [
        (words(_FRONT[name]), *look)
        for name, look in zip(_KINDS, _LOOKS, strict=True)
        if words(_FRONT[name]) in present
    ]
    kinds, colours, shapes = (list(column) for column in zip(*looks, strict=True))
    legend = {**LEGEND_BELOW, "columns": 2, "labelLimit": 180, "symbolSize": 80}
    marks = layer(
        rows,
        {"type": "point", "filled": True, "cursor": "pointer"},
        color=text("kind", scale={"domain": kinds, "range": colours}, legend=legend),
        shape=text("kind", scale={"domain": kinds, "range": shapes}),
        size=number("size", scale=None, legend=None),
        # As on the map: what is based on few questions is pale.
        opacity=number("opacity", scale=None, legend=None),
        tooltip=[
            text("text", words("Settings under test")),
            text("quality_text", words(MEASURES["quality"].name)),
            text("cost_text", words(MEASURES[cost].name)),
            text("known_text", words("Evidence")),
        ],
        **ends,
    )
    return {**marks, "name": CLICKED}


def settings_text(settings: Mapping[str, AxisValue], words: Words) -> str:
    """``Top-k 5 · Min. similarity 0.30``."""
    return " · ".join(f"{words(name_of(name))} {value_name(value)}" for name, value in settings.items())


def _cells(heat: HeatMap, current: RunConfig, words: Words) -> list[dict[str, Any]]:
    rows = []
    worse, mostly_known = heat.figures.worse, heat.figures.mostly_known
    for y_place, y in enumerate(heat.y.values):
        for x_place, x in enumerate(heat.x.values):
            at = y_place, x_place
            figure = heat.figures.at(at)
            if figure.lower is None or not heat.possible[at]:
                continue
            grey = not bool(mostly_known[at]) or not np.isfinite(worse[at])
            rows.append(
                {
                    "x": x,
                    "y": y,
                    "x_name": value_name(x),
                    "y_name": value_name(y),
                    "setting": int(heat.settings[at]),
                    "value": float(worse[at]) if np.isfinite(worse[at]) else None,
                    "text": figure_text(heat.measure, figure, words),
                    "grey": grey,
                    "hatching": "" if not figure.unknown_n else "╱╱╱" if grey else "╱",
                    "known_text": known_text(figure, words),
                    "current": is_nearest(getattr(current, heat.x.name), x, heat.x.values)
                    and is_nearest(getattr(current, heat.y.name), y, heat.y.values),
                }
            )
    return rows


def is_nearest(value: Any, cell: AxisValue, values: Sequence[AxisValue]) -> bool:
    """Return whether a cell is the one nearest to a value that may lie between two."""
    if isinstance(cell, str | bool) or isinstance(value, str | bool):
        return bool(value == cell)
    numbers = [item for item in values if not isinstance(item, str)]
    return cell == min(numbers, key=lambda item: (abs(item - value), item))


def scale_of(measure: Measure, most: float) -> tuple[float, float]:
    """Both ends of the colours: those of the measure itself, so that a poor best never looks good."""
    return (0.0, most or 1.0) if MEASURES[measure].kind == "cost" else (0.0, 1.0)


def value_name(value: AxisValue) -> str:
    """A value of a setting as an axis writes it."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def clickable(
    layers: Sequence[Spec], fields: Sequence[str], key: str, pressed: Callable[[Mapping[str, Any]], None]
) -> None:
    """Draw layers, one of them called :data:`CLICKED`."""
    seen = _selected(key)

    def chosen() -> None:
        point = clicked(seen, _selected(key))
        if point is not None:
            pressed(point)

    # Every click changes the selection, also a second one on the same mark: without that the browser would say nothing
    # when a reader moves a slider away and clicks the same cell again.
    select = {"type": "point", "fields": list(fields), "toggle": "true", "clear": False}
    spec = {
        "layer": list(layers),
        "params": [{"name": _PICK, "select": select, "views": [CLICKED]}],
        "height": _HEIGHT,
        "padding": _PADDING,
    }
    st.vega_lite_chart(spec=spec, key=key, width="stretch", on_select=chosen, selection_mode=_PICK)


def clicked(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The mark that a click put into the selection or took out of it; None where the selection was reset."""
    fresh = [point for point in after if point not in before]
    gone = [point for point in before if point not in after]
    if fresh:
        return fresh[-1]
    return gone[0] if len(gone) == 1 else None


def _selected(key: str) -> list[Mapping[str, Any]]:
    state = st.session_state.get(key)
    found = state.get("selection", {}).get(_PICK) if state else None
    return list(found or ())
