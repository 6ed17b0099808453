"""The decision map: how a run would have ended at every pair of two settings, as a grid of cells to try.

Cells where a record cannot tell are hatched, never guessed. A chart library would paint the same colours; it has no
hatching, keeps a chosen cell from being chosen again, and weighs most of a megabyte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import streamlit as st

from components.common.i18n import Words
from components.common.markup import nothing, script
from engine.messages import N_, NC_

Look = Literal["answered", "late", "forced", "abstained", "failed", "unknown"]
_LEGEND: Mapping[Look, tuple[str, str]] = {
    "answered": ("✓", NC_("decision map", "answers at once")),
    "late": ("↻", N_("answers after rewrites")),
    "forced": ("!", N_("below the bar, not supported, unverified or refused by the grader")),
    "abstained": ("–", N_("abstains")),
    "failed": ("✗", N_("fails")),
    "unknown": ("?", N_("needs calls")),
}
"""A sign beside the colour, for nothing is told by colour alone, and what both mean."""
SIGNS = {look: sign for look, (sign, _) in _LEGEND.items()}

_component = st.components.v2.component(
    "workbench_decision_map",
    html='<section class="wb map"></section>',
    css=script("tokens.css", "decision_map.css"),
    js=script("dom.js", "decision_map.js"),
)


@dataclass(frozen=True, slots=True)
class Band:
    """One column or row: neighbouring values that no pair of settings tells apart."""

    label: str
    span: int = 1
    """How many steps of the slider it covers."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell; equal neighbours are one tile over several columns or rows, both ends included."""

    columns: tuple[int, int]
    rows: tuple[int, int]
    look: Look
    tip: str
    x: float
    """What the sliders are set to when the cell is tried."""
    y: float
    here: bool = False
    """The sliders stand here."""
    ran: bool = False
    """The run's own settings lie here."""


@dataclass(frozen=True, slots=True)
class MapView:
    """What is drawn: columns from left to right, rows from below."""

    columns: tuple[Band, ...]
    rows: tuple[Band, ...]
    tiles: tuple[Tile, ...]
    across: str
    up: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class MapEvent:
    """What the reader did in this rerun, and which pair of settings is shown."""

    tried: tuple[float, float] | None
    """Values of the cell that was chosen."""
    axes: str | None
    """Name of the pair that was chosen, None where none was."""


def decision_map_card(
    view: MapView | None, pairs: Mapping[str, str], shown: str, words: Words, *, key: str, file_name: str
) -> MapEvent:
    """Draw the map as a card, without a view its head alone; ``pairs`` are the settings to choose from, by name."""
    result = _component(
        key=key,
        data={
            "lang": words.html_language,
            "pairs": list(pairs.items()),
            "shown": shown,
            "map": None if view is None else map_data(view, words),
            "words": {
                "title": words("Decision map"),
                "axes": words("Settings on the axes"),
                "hint": words(
                    "A press on a cell moves the sliders there."
                    if view is not None
                    else "The run recorded no search that could be decided otherwise."
                ),
                "save": words("Save the map as SVG"),
                "file": file_name,
            },
        },
        on_pick_change=nothing,
        on_axes_change=nothing,
    )
    picked, axes = result.pick, result.axes
    return MapEvent(
        tried=(float(picked["x"]), float(picked["y"])) if isinstance(picked, Mapping) else None,
        axes=str(axes["name"]) if isinstance(axes, Mapping) and axes.get("name") in pairs else None,
    )


def map_data(view: MapView, words: Words) -> dict[str, object]:
    """The JSON that the browser draws the grid from."""
    looks = [look for look in SIGNS if any(tile.look == look for tile in view.tiles)]
    return {
        "columns": [asdict(band) for band in view.columns],
        "rows": [asdict(band) for band in view.rows],
        "cells": [{**asdict(tile), "sign": SIGNS[tile.look]} for tile in view.tiles],
        "legend": [
            *([look, SIGNS[look], words(_LEGEND[look][1])] for look in looks),
            ["mark", "", words("the sliders")],
            ["ran", "◆", words("the run")],
        ],
        "across": f"{view.across} →",
        "up": f"↑ {view.up}",
        "note": view.note,
    }
