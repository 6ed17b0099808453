"""The tab What-if map: how the run would have ended over two settings; a cell moves the sliders there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal

import streamlit as st

from components.ask.what_if_text import begun_small, range_text, value_text
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing
from components.common.outcomes import OUTCOMES, end_text, round_text
from components.common.panel import want_settings
from components.common.phrases import probability_text
from components.labels import VARIED_SETTINGS
from engine.engine import Engine
from engine.messages import N_
from engine.model.config import PARAMETERS, RunConfig, settings_of
from engine.model.values import Origin, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_map import Cell, Coupling, DecisionMap, decision_map
from engine.replay.grid import at_once
from engine.replay.lines import numbers_of
from engine.replay.settings import Column
from pages.parts.ask import what_if_details
from pages.parts.ask.what_if import replayed, table_of
from pages.parts.common.fits import fits_for
from pages.parts.common.judging_rest import judge_all
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session, is_cached

_AXES = "map_axes"
_LETTER = 0.016
"""Share of the width that a character of a label takes."""
_LEAST_KNOWN = 0.3
"""Share of known cells below which a map would mostly be question marks."""
PAIRS: tuple[tuple[Column, Column], ...] = (
    ("grade_pass_threshold", "similarity_threshold"),
    ("grade_pass_threshold", "top_k"),
    ("grade_pass_threshold", "max_rewrites"),
    ("grade_pass_threshold", "min_confidence"),
    ("similarity_threshold", "top_k"),
    ("similarity_threshold", "min_confidence"),
    ("similarity_threshold", "max_rewrites"),
    ("min_confidence", "top_k"),
)
"""Across and up; with the other gate its number stands where the pass rate stands."""
Look = Literal["answered", "late", "forced", "abstained", "failed", "unknown"]
_LEGEND: Mapping[Look, tuple[str, str]] = {
    "answered": ("✓", OUTCOMES["answered"].label),
    "late": ("↻", N_("answers after rewrites")),
    "forced": ("!", N_("below the bar, not supported, unverified or refused by the grader")),
    "abstained": ("–", OUTCOMES["abstained"].label),
    "failed": ("✗", OUTCOMES["failed"].label),
    "unknown": ("?", N_("unknown")),
}
"""A sign next to the colour, for colour alone must say nothing, and what both mean."""
SIGNS = {look: sign for look, (sign, _) in _LEGEND.items()}

_component = component(
    "decision_map",
    html='<section class="wb map"></section>',
    css=script("tokens.css", "decision_map.css"),
    js=script("dom.js", "decision_map.js"),
)


def panel(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> None:
    """Draw the tab of a run that has ended: the map, and its details next to it."""
    if not record.rounds or found.gap == "retrieval":
        what_if_details.panel(engine, record, found, words)
        return
    left, right = st.columns((0.58, 0.42), gap="medium")
    with left:
        _map(engine, record, found.config, words)
    with right:
        what_if_details.panel(engine, record, found, words)


def _map(engine: Engine, record: RunRecord, config: RunConfig, words: Words) -> None:
    """Draw the map on the pair of settings with the most known cells, or on the one chosen."""
    record, own = replayed(record), record
    pairs = pairs_for(config, record.origin)
    quick = at_once(table_of(engine, own, config), config)
    asked = (record.id, record.last_seq, config)
    fits = fits_for(engine, record.collection, record.config, config)
    offer = st.empty()
    # A second of work, which no move of a slider should wait for.
    if not (quick or is_cached("maps", asked) or offer.button(words("Draw the map"), key="draw_map")):
        return
    offer.empty()
    offered = pairs if quick else dict([next(iter(pairs.items()))])
    maps: Mapping[str, DecisionMap] = cached_in_session(
        "maps",
        asked,
        lambda: {name: reachable(decision_map(record, config, x, y, fits), config) for name, (x, y) in offered.items()},
    )
    best = max(maps, key=lambda name: known_share(maps[name]))
    shown = str(st.session_state.get(_AXES))
    shown = shown if shown in maps else best
    if known_share(maps[best]) < _LEAST_KNOWN:
        _too_little(engine, own, words)
        return
    view = map_view(maps[shown], config, own.config, words)
    names = {name: f"{words(VARIED_SETTINGS[x])} × {words(VARIED_SETTINGS[y])}" for name, (x, y) in offered.items()}
    event = decision_map_card(view, names, shown, words, key="decision_map", file_name=f"decision-map-{record.id[:8]}")
    if event.axes is not None and event.axes != shown:
        st.session_state[_AXES] = event.axes
        st.rerun()
    if event.tried is not None:
        want_settings(dict(zip((maps[shown].x, maps[shown].y), event.tried, strict=True)))
        st.rerun()


def reachable(drawn: DecisionMap, config: RunConfig) -> DecisionMap:
    """The map without numbers of passages that cannot pass, since top-k keeps fewer."""
    if drawn.x != "min_relevant" or drawn.y == "top_k":
        return drawn
    width, most = len(drawn.columns), float(config.top_k)
    columns = tuple((low, min(high, most)) for low, high in drawn.columns if low <= most)
    cells = tuple(cell for place, cell in enumerate(drawn.cells) if place % width < len(columns))
    within = (replace(cell, x1=min(cell.x1, most), x_try=min(cell.x_try, most)) for cell in cells)
    return replace(drawn, columns=columns, cells=tuple(within))


def _too_little(engine: Engine, record: RunRecord, words: Words) -> None:
    """Say that the record knows too little for a map, and offer what would change that."""
    st.markdown(words("Too few outcomes are known without calls to draw a map."))
    judged = {name for current in record.rounds for name in current.verdicts}
    missing = not judged.issuperset(record.passages)
    can = may("editor") and record.origin is None and "grade_probe" in settings_of(record.workflow)
    if missing and can and not record.config.grade_probe:
        label = words("Judge all candidates")
        if st.button(label, key="judge_for_map", icon=":material/fact_check:"):
            judge_all(engine, record)


def known_share(drawn: DecisionMap) -> float:
    """The share of all pairs of values whose end is known."""
    across = [_steps(drawn.x, band) for band in drawn.columns]
    up = [_steps(drawn.y, band) for band in drawn.rows]
    sizes = [height * width for height in up for width in across]
    known = sum(size for size, cell in zip(sizes, drawn.cells, strict=True) if look_of(cell) != "unknown")
    return known / sum(sizes)


def pairs_for(config: RunConfig, origin: Origin | None = None) -> dict[str, tuple[Column, Column]]:
    """The pairs of settings to choose from, by name, the usual one first; none that a trace cannot tell."""
    gate: Column = "grade_pass_threshold" if config.gate == "pass_rate" else "min_relevant"
    found = [(gate if x == "grade_pass_threshold" else x, y) for x, y in PAIRS]
    usable = [name for name in numbers_of(config) if origin is None or name not in _unmeasured(origin)]
    return {f"{x}.{y}": (x, y) for x, y in found if x in usable and y in usable}


def _unmeasured(origin: Origin) -> tuple[Column, ...]:
    unknown: dict[Column, str] = {"similarity_threshold": origin.similarity, "min_confidence": origin.confidence}
    return tuple(name for name, scale in unknown.items() if scale == "unknown")


def map_view(drawn: DecisionMap, config: RunConfig, run: RunConfig, words: Words) -> MapView:
    """Build the map for the sliders' settings, with the run's own settings marked."""
    across, up = (words(VARIED_SETTINGS[name]) for name in (drawn.x, drawn.y))
    total = sum(_steps(drawn.x, band) for band in drawn.columns)
    here = drawn.cell_of(float(getattr(config, drawn.x)), float(getattr(config, drawn.y)))
    ran = drawn.cell_of(float(getattr(run, drawn.x)), float(getattr(run, drawn.y)))
    width = len(drawn.columns)
    tiles = (
        Tile(
            columns=(place % width, place % width),
            rows=(place // width, place // width),
            look=look_of(cell),
            tip=tip_of(cell, drawn, words),
            x=cell.x_try,
            y=cell.y_try,
            here=place == here,
            ran=place == ran,
        )
        for place, cell in enumerate(drawn.cells)
    )
    return MapView(
        columns=tuple(_column(drawn.x, band, _steps(drawn.x, band) / total, words) for band in drawn.columns),
        rows=tuple(Band(range_text(drawn.y, band, words), _steps(drawn.y, band)) for band in drawn.rows),
        tiles=tuple(tiles),
        across=across,
        up=up,
        note=coupling_text(drawn.coupling, words) if drawn.coupling else "",
    )


def look_of(cell: Cell) -> Look:
    """The meaning that colours a cell."""
    if cell.state == "needs_calls" or cell.outcome is None:
        return "unknown"
    if cell.refused or cell.answer_note in ("unsupported", "uncited", "unchecked"):
        return "forced"
    match cell.outcome:
        case "answered":
            return "late" if cell.rewrites else "answered"
        case "answered_forced" | "answered_unverified":
            return "forced"
        case "abstained" | "fallback":
            return "abstained"
        case _:
            return "failed"


def tip_of(cell: Cell, drawn: DecisionMap, words: Words) -> str:
    """The cell in one line: ranges of both settings, how the run would end, and after what work."""
    if look_of(cell) == "unknown":
        end = words("unknown")
    else:
        parts = [end_text(cell.outcome, cell.rewrites or 0, words, cell.answer_note)]
        if cell.refused:
            parts.append(words("from passages that were refused"))
        if cell.state == "generation":
            parts.append(begun_small(words("Answer not generated yet"), words))
        end = words(", ").join(parts)
    return words(
        "{across} {x}, {up} {y}: {end}",
        across=words(VARIED_SETTINGS[drawn.x]),
        x=range_text(drawn.x, (cell.x0, cell.x1), words),
        up=words(VARIED_SETTINGS[drawn.y]),
        y=range_text(drawn.y, (cell.y0, cell.y1), words),
        end=end,
    )


def coupling_text(found: Coupling, words: Words) -> str:
    """Explain why a stricter similarity threshold makes the grader's gate pass."""
    return words(
        "Stricter can pass: at similarity {low} → {high} weak passages fall away ({round}), and the pass rate rises "
        "from {from_rate} to {to_rate}, over the bar of {bar}.",
        low=value_text("similarity_threshold", found.similarity_from, words),
        high=value_text("similarity_threshold", found.similarity_to, words),
        round=round_text(found.round, words),
        from_rate=probability_text(found.pass_rate_from),
        to_rate=probability_text(found.pass_rate_to),
        bar=probability_text(found.threshold),
    )


def _column(name: Column, band: tuple[float, float], share: float, words: Words) -> Band:
    """A column with its whole range as its label where that fits; its end alone would say something else."""
    label = range_text(name, band, words)
    return Band(label if share >= _LETTER * len(label) else "", _steps(name, band))


def _steps(name: Column, band: tuple[float, float]) -> int:
    return round((band[1] - band[0]) / PARAMETERS[name].step) + 1


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
    """Map to draw: columns from left to right, rows from the bottom."""

    columns: tuple[Band, ...]
    rows: tuple[Band, ...]
    tiles: tuple[Tile, ...]
    across: str
    up: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class MapEvent:
    """User action in this rerun, and the pair of settings shown."""

    tried: tuple[float, float] | None
    """Values of the cell that was chosen."""
    axes: str | None
    """Name of the pair that was chosen, None where none was."""


def decision_map_card(
    view: MapView, pairs: Mapping[str, str], shown: str, words: Words, *, key: str, file_name: str
) -> MapEvent:
    """Draw the map as a card; ``pairs`` are the settings to choose from, by name."""
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "pairs": list(pairs.items()),
            "shown": shown,
            "map": map_data(view, words),
            "words": {
                "title": words("What-if map"),
                "axes": words("Settings on the axes"),
                "hint": words("A press on a cell moves the sliders there."),
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
