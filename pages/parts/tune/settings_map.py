"""A map of two settings as a grid of buttons: a press on a cell moves the sliders there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing
from components.labels import name_of
from engine.evaluation.figures import Figure
from engine.evaluation.sweep import AxisValue, HeatMap
from engine.model.config import RunConfig

_component = component(
    "settings_map",
    html='<section class="wb map"></section>',
    css=script("tokens.css", "decision_map.css", "settings_map.css"),
    js=script("dom.js", "decision_map.js"),
)
CERTIFIED = "safe"
"""Second look of a cell whose setting is certified: a frame."""


@dataclass(frozen=True, slots=True)
class Face:
    """What a cell shows: a look, a sign next to the colour, and what it says when it is pointed at."""

    look: str
    sign: str
    said: str


Legend = tuple[str, str, str]
"""Look, sign, and what both mean."""


def cells_of(
    heat: HeatMap, current: RunConfig, words: Words, face: Callable[[int, Figure], Face | None]
) -> list[dict[str, Any]]:
    """The cells, rows from the bottom; none where no round can meet the gate, or where there is no ``face``.

    ``face`` is asked with a cell's place in the sweep and its figure.
    """
    x_name, y_name = (words(name_of(axis.name)) for axis in (heat.x, heat.y))
    here = tuple(_nearest(getattr(current, axis.name), axis.values) for axis in (heat.x, heat.y))
    cells = []
    for row, y in enumerate(heat.y.values):
        for column, x in enumerate(heat.x.values):
            found = face(int(heat.settings[row, column]), heat.figures.at((row, column)))
            if found is None or not heat.possible[row, column]:
                continue
            where = f"{x_name} {_text(x)} · {y_name} {_text(y)}"
            cells.append(
                {
                    "columns": [column, column],
                    "rows": [row, row],
                    "x": x,
                    "y": y,
                    "look": found.look,
                    "sign": found.sign,
                    "tip": f"{where}: {found.said}",
                    "here": (column, row) == here,
                }
            )
    return cells


def draw_map(
    heat: HeatMap,
    cells: Sequence[Mapping[str, Any]],
    legend: Iterable[Legend],
    words: Words,
    *,
    key: str,
    title: str,
    note: str = "",
) -> dict[str, AxisValue] | None:
    """Draw the map; returns the settings of the cell that was pressed in this rerun, if any."""
    across, up = (words(name_of(axis.name)) for axis in (heat.x, heat.y))
    hint = words("A press on a cell moves the sliders there.")
    data = {
        "lang": words.declared.html,
        "pairs": [],
        "map": {
            "columns": [{"label": _text(value), "span": 1} for value in heat.x.values],
            "rows": [{"label": _text(value), "span": 1} for value in heat.y.values],
            "cells": list(cells),
            "legend": [*map(list, legend), ["mark", "", words("the sliders")]],
            "across": f"{across} →",
            "up": f"↑ {up}",
            "note": note,
        },
        "words": {"title": title, "axes": "", "hint": hint, "save": words("Save the map as SVG"), "file": key},
    }
    picked = _component(key=key, data=data, on_pick_change=nothing).pick
    if not isinstance(picked, Mapping):
        return None
    return {axis.name: axis.values[_nearest(picked[end], axis.values)] for axis, end in ((heat.x, "x"), (heat.y, "y"))}


def _nearest(value: Any, values: Sequence[AxisValue]) -> int:
    """The place of the value of an axis that is nearest to one that may stand between two."""
    if isinstance(value, str | bool):
        return values.index(value) if value in values else -1
    numbers = [(abs(float(item) - value), place) for place, item in enumerate(values) if not isinstance(item, str)]
    return min(numbers)[1] if numbers else -1


def _text(value: AxisValue) -> str:
    """A value of a setting as an axis writes it."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def settings_text(settings: Mapping[str, AxisValue], words: Words) -> str:
    """``Top-k 5 · Min. similarity 0.30``."""
    return " · ".join(f"{words(name_of(name))} {_text(value)}" for name, value in settings.items())
