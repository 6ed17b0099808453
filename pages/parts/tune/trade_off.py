"""The tab *Trade-off*: every swept setting as a point of quality against cost, where a click tries one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import streamlit as st

from components.common.controls import pick
from components.common.i18n import Words
from components.common.panel import want_settings
from components.labels import name_of
from components.sentences.measured import figure_text, known_text
from engine.evaluation.figures import Evaluation, Figure
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.recommend import Aim, Recommendation
from engine.evaluation.sweep import MAX_AXES, AxisValue, Cost
from engine.messages import N_
from pages.parts.tune.evidence import Shown
from pages.parts.tune.settings_map import settings_text
from pages.parts.tune.tiles import AFTER
from pages.parts.tune.tried import AIM, AXES, COSTS, Tried, offered_axes, recommended, swept_axes, tried
from pages.parts.tune.vega import ACCENT, AMBER, GREY, LEGEND_BELOW, TEAL, Spec, layer, number, text

_FRONT = {
    "current": N_("Settings under test"),
    "recommended": N_("Recommended"),
    "front": N_("Best for the cost"),
    "others": N_("other settings"),
}
_PALEST = 0.12
_CLICKED, _PICK = "clicked", "pick"
"""Names of the layer that can be pressed, and of the selection."""
_AXIS: Spec = {
    "domain": False,
    "ticks": False,
    "labelFlush": False,
    "labelPadding": 6,
    "labelFontSize": 12,
    "gridOpacity": 0.6,
    "titleFontWeight": 500,
    "titleFontSize": 12,
    "format": ".3~g",
}
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


def tab(shown: Shown, evaluation: Evaluation, words: Words) -> None:
    """What is swept, against which cost, and the chart."""
    before, config = evaluation.configs
    swept, against = st.columns([3, 1], gap="small")
    swept.multiselect(
        words("Settings tried"),
        offered_axes(config),
        default=None if AXES in st.session_state else swept_axes(config),
        format_func=lambda name: words(name_of(name)),
        max_selections=MAX_AXES,
        key=AXES,
        persist_state="session",
    )
    cost: Cost = against.selectbox(
        words("Cost"),
        COSTS,
        format_func=lambda name: words(MEASURES[name].name),
        key="tune_front_cost",
        persist_state="session",
    )
    aims = {aim: words(MEASURES[aim].name) for aim in get_args(Aim)}
    pick(words("Recommend by"), aims, key=AIM, label_visibility="visible")
    names = swept_axes(config)
    made = tried(shown, config, names)
    points = points_of(made, evaluation, cost, recommended(shown, config, names, before), words)
    drawn = sum(item.place is not None for item in points if item.kind != "current")
    st.caption(
        words(
            "{n} of {total} settings, each by the worse end of what is known; click one to try it.",
            n=drawn,
            total=len(made.configs),
        )
    )
    view(points, cost, words, key="tune_front", tried=want_settings)


def points_of(made: Tried, evaluation: Evaluation, cost: Cost, found: Recommendation, words: Words) -> list[Point]:
    """The settings of the sweep that are possible, and those under test, which may lie between them."""
    star = found.setting if found.better else None
    on_front = frozenset(made.fronts[cost].settings)
    points = [
        Point(
            quality=made.figures["quality"].at(place),
            cost=made.figures[cost].at(place),
            text=settings_text(settings, words),
            settings=settings,
            on_front=place in on_front,
            kind="recommended" if place == star else "front" if place in on_front else "others",
        )
        for place, settings in enumerate(made.settings)
        if made.possible[place]
    ]
    own = Point(
        quality=evaluation.figure("quality", AFTER),
        cost=evaluation.figure(cost, AFTER),
        text=settings_text({axis.name: getattr(evaluation.configs[AFTER], axis.name) for axis in made.axes}, words),
        kind="current",
    )
    return [*points, own]


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


def view(
    points: Sequence[Point], cost: Measure, words: Words, *, key: str, tried: Callable[[Mapping[str, AxisValue]], None]
) -> None:
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
    ends = {
        "x": number("cost", words(MEASURES[cost].name), scale=scale, axis=_AXIS),
        "y": number("quality", words(MEASURES["quality"].name), scale=scale, axis=_AXIS),
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
            text("text", words("Settings")),
            text("quality_text", words(MEASURES["quality"].name)),
            text("cost_text", words(MEASURES[cost].name)),
            text("known_text", words("Evidence")),
        ],
        **ends,
    )
    return {**marks, "name": _CLICKED}


def clickable(
    layers: Sequence[Spec], fields: Sequence[str], key: str, pressed: Callable[[Mapping[str, Any]], None]
) -> None:
    """Draw layers, one of them called :data:`_CLICKED`."""
    seen = _selected(key)

    def chosen() -> None:
        point = clicked(seen, _selected(key))
        if point is not None:
            pressed(point)

    # Every click changes the selection, also a second one on the same mark: without that the browser would say nothing
    # when a reader moves a slider away and clicks the same cell again.
    select = {"type": "point", "fields": list(fields), "on": "pointerdown", "toggle": "true", "clear": False}
    spec = {
        "layer": list(layers),
        "params": [{"name": _PICK, "select": select, "views": [_CLICKED]}],
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
