"""The tab What-if map: endings over two settings, and beside it the sentence, the smallest changes, stable ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, floor
from typing import Literal

import streamlit as st

from components.ask.admitted import admits_text, rests_on_text
from components.ask.notes import setting_of, smallest_change_nodes
from components.ask.what_if_text import price_text, rich, sentence_text, value_text
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import Node, button, draw, node, nothing
from components.common.outcomes import end_text, round_text
from components.common.panel import want_settings
from components.common.phrases import place_text, probability_text
from components.common.run_settings import differing, unread_by
from components.labels import VARIED_SETTINGS, name_of
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.messages import N_, NC_
from engine.model.config import PARAMETERS, RunConfig, settings_of
from engine.model.values import COMPLETE, Origin, Passage, PassageId, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_map import Cell, Coupling, DecisionMap, decision_map
from engine.replay.grid import at_once
from engine.replay.lines import numbers_of
from engine.replay.settings import Column
from engine.samples.demos import is_demo
from pages.parts.ask.pinned_runs import effect_nodes, effect_on_pinned, pin, pin_button, pinned_ids
from pages.parts.ask.what_if import StableRange, begin, replayed, stable_ranges, sweep_of, table_of
from pages.parts.common.actions import run_action
from pages.parts.common.judging_rest import judge_all
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session, is_cached

_AXES = "map_axes"
_LETTER = 0.016
"""Share of the width that a character of a label takes."""
_LEAST_KNOWN = 0.3
"""Share of known cells below which a map would mostly be question marks."""
_SHOWN_UNGRADED = 3
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
    "answered": ("✓", NC_("decision map", "answers at once")),
    "late": ("↻", N_("answers after rewrites")),
    "forced": ("!", N_("below the bar, not supported, unverified or refused by the grader")),
    "abstained": ("–", N_("abstains")),
    "failed": ("✗", N_("fails")),
    "unknown": ("?", N_("needs calls")),
}
"""A sign beside the colour, for nothing is told by colour alone, and what both mean."""
SIGNS = {look: sign for look, (sign, _) in _LEGEND.items()}

_component = component(
    "decision_map",
    html='<section class="wb map"></section>',
    css=script("tokens.css", "decision_map.css"),
    js=script("dom.js", "decision_map.js"),
)


def panel(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> None:
    """Draw the tab of a run that has ended, and do what was pressed."""
    if not record.rounds or found.gap == "retrieval":
        pressed = details(found, record, words, [], key="what_if_details")
    else:
        left, right = st.columns((0.58, 0.42), gap="medium")
        with left:
            _map(engine, record, found.config, words)
        with right:
            pressed = details(found, record, words, _beside(engine, record, found, words), key="what_if_details")
    _act_on(engine, record, found, pressed)


def _beside(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> list[Node]:
    """What stands beside the map: the smallest changes, stable ranges, and what becomes of the watch list."""
    nodes: list[Node] = []
    sweep = sweep_of(record, found.config) if found.path_known else None
    if sweep is not None:
        answerable = known_right(engine, record)[1]
        nodes += smallest_change_nodes(sweep.smallest_changes(answerable=answerable), words, answerable=answerable)
        ranges = stable_ranges(record, found.config)
        nodes += stable_nodes({name: ranges[name] for name in ranges if name != unread_by(found.config)}, words)
    nodes += effect_nodes(effect_on_pinned(engine, record.config, found.config, name="card"), words)
    if not is_demo(record.id):
        nodes.append(node("div", "actions", pin_button(record.id in pinned_ids(engine), words)))
    return nodes


def _act_on(engine: Engine, record: RunRecord, found: WhatIf, pressed: str | None) -> None:
    match pressed:
        case "fork":
            begin(lambda: engine.fork(record, found.config))
        case "pin" | "unpin":
            run_action("ask", lambda: pin(engine, record.id, pinned=pressed == "pin"))
            st.rerun()
        case str() if pressed.startswith("run:"):
            st.session_state["run"] = pressed.removeprefix("run:")
            st.rerun()
        case str() if (wanted := setting_of(pressed)) is not None:
            name, value = wanted
            want_settings({name: float(value) if name in PARAMETERS else value})
            st.rerun()
        case str() if pressed.startswith("open:"):
            st.session_state["cited_elsewhere"] = PassageId(pressed.removeprefix("open:"))
            st.rerun()


def details(found: WhatIf, record: RunRecord, words: Words, beside: Sequence[Node], *, key: str) -> str | None:
    """Draw the sentence, what is missing and ``beside``; returns the action that was pressed.

    ``fork``: go on from the record where it stops being known; ``open:ID``: show a passage; ``set:NAME:VALUE``.
    """
    return draw((node("section", "details", *detail_nodes(found, record, words), *beside),), words, key=key)


def detail_nodes(found: WhatIf, record: RunRecord, words: Words) -> list[Node]:
    """Build the sentence on the settings, what it rests on, and what is missing with its price."""
    whole = record.outcome in COMPLETE and record.origin is None
    if not differing(found.config, record.config) and (whole or found.path_known):
        # What a finished run did under its own settings is its recording, no matter what a replay could tell.
        refused = [item for item in found.admits if item.unaccepted]
        return [node("p", "note", rests_on_text(refused, words))] if refused else []
    parts = [node("p", "say", *rich(sentence_text(found, record, words)))]
    if admits := admits_text(found.admits, words):
        parts.append(node("p", "note", admits))
    if found.gap == "verdicts" and found.config.models.grader == record.config.models.grader:
        parts += _ungraded(found, words)
    if found.state == "known" or found.gap == "retrieval":
        return parts
    first, worst = price_text(found.calls_needed.next, words), price_text(found.calls_needed.worst, words)
    cost = words(
        "Costs {next}." if first == worst else "Next step: {next}. At worst: {worst}.", next=first, worst=worst
    )
    parts.append(node("p", "muted small num", cost))
    # What an imported run still needs is with the other program: it can be judged further, not run on.
    if record.origin is None:
        parts.append(node("div", "actions", button(_fork_label(found, words), "fork", "button primary")))
    return parts


def _fork_label(found: WhatIf, words: Words) -> str:
    """Describe the first step when a run continues from its record."""
    if found.state == "generation":
        return words("Generate the answer")
    return words("Grade the missing ones" if found.gap in ("verdicts", "candidates") else "Continue from there")


def ungraded_passages(found: WhatIf) -> tuple[Passage, ...]:
    """The kept passages of the last known round that no one judged."""
    if not found.steps:
        return ()
    last = found.steps[-1]
    wanted: frozenset[PassageId] = frozenset(last.ungraded)
    return tuple(item.passage for item in last.round.candidates if item.passage.id in wanted)


def _ungraded(found: WhatIf, words: Words) -> list[Node]:
    passages = ungraded_passages(found)
    if not passages:
        return []
    chips = [
        button(place_text(item.source, item.section, words), f"open:{item.id}", "chip link")
        for item in passages[:_SHOWN_UNGRADED]
    ]
    if len(passages) > _SHOWN_UNGRADED:
        chips.append(node("span", "muted small", words("and {n} more", n=len(passages) - _SHOWN_UNGRADED)))
    return [node("div", "chips", node("span", "muted small", words("No verdict:")), *chips)]


def stable_nodes(ranges: Mapping[Column, StableRange], words: Words) -> list[Node]:
    """List the values of each setting that lead to the same end."""
    rows = [
        node("li", "", f"{words(name_of(name))} ", node("span", "num", _range(name, _inside(name, item), words)))
        for name, item in ranges.items()
        if item.low < item.high
    ]
    return [node("p", "muted small", words("Same outcome within")), node("ul", "ranges", *rows)] if rows else []


def _inside(name: Column, found: StableRange) -> tuple[float, float]:
    """The range in steps of its slider: ends between two of them move inwards."""
    step = PARAMETERS[name].step
    return round(ceil(found.low / step - 1e-6) * step, 4), round(floor(found.high / step + 1e-6) * step, 4)


def _map(engine: Engine, record: RunRecord, config: RunConfig, words: Words) -> None:
    """Draw the map on the pair of settings with the most known cells, or on the one chosen."""
    record, own = replayed(record), record
    pairs = pairs_for(config, record.origin)
    quick = at_once(table_of(own), config)
    asked = (record.id, record.last_seq, config)
    offer = st.empty()
    # A second of work, which no move of a slider should wait for.
    if not (quick or is_cached("maps", asked) or offer.button(words("Draw the decision map"), key="draw_map")):
        return
    offer.empty()
    offered = pairs if quick else dict([next(iter(pairs.items()))])
    maps: Mapping[str, DecisionMap] = cached_in_session(
        "maps", asked, lambda: {name: decision_map(record, config, x, y) for name, (x, y) in offered.items()}
    )
    best = max(maps, key=lambda name: known_share(maps[name]))
    shown = str(st.session_state.get(_AXES))
    shown = shown if shown in maps else best
    if known_share(maps[best]) < _LEAST_KNOWN:
        _too_little(engine, own, words)
        return
    view = map_view(maps[shown], config, own.config, words)
    names = {
        name: words("{across} × {up}", across=words(VARIED_SETTINGS[x]), up=words(VARIED_SETTINGS[y]))
        for name, (x, y) in offered.items()
    }
    event = decision_map_card(view, names, shown, words, key="decision_map", file_name=f"decision-map-{record.id[:8]}")
    if event.axes is not None and event.axes != shown:
        st.session_state[_AXES] = event.axes
        st.rerun()
    if event.tried is not None:
        want_settings(_values((maps[shown].x, maps[shown].y), event.tried))
        st.rerun()


def _too_little(engine: Engine, record: RunRecord, words: Words) -> None:
    """Say that the record knows too little for a map, and offer what would change that."""
    st.markdown(words("Too few outcomes are known without calls to draw a map."))
    judged = {name for current in record.rounds for name in current.verdicts}
    missing = sum(name not in judged for name in record.passages)
    can = may("editor") and record.origin is None and "grade_probe" in settings_of(record.workflow)
    if missing and can and not record.config.grade_probe:
        label = words.count("Judge 1 more candidate", "Judge {n} more candidates", missing)
        if st.button(label, key="judge_for_map", icon=":material/fact_check:"):
            judge_all(engine, record)


def known_share(drawn: DecisionMap) -> float:
    """The share of all pairs of values whose end is known."""
    across = [_steps(drawn.x, band) for band in drawn.columns]
    up = [_steps(drawn.y, band) for band in drawn.rows]
    sizes = [height * width for height in up for width in across]
    known = sum(size for size, cell in zip(sizes, drawn.cells, strict=True) if look_of(cell) != "unknown")
    return known / sum(sizes)


def _values(names: tuple[Column, Column], tried: tuple[float, float]) -> dict[str, float]:
    return dict(zip(names, tried, strict=True))


def pairs_for(config: RunConfig, origin: Origin | None = None) -> dict[str, tuple[Column, Column]]:
    """The pairs of settings to choose from, by name, the usual one first; none that a trace cannot tell."""
    gate: Column = "grade_pass_threshold" if config.gate == "pass_rate" else "min_relevant"
    found = [(gate if x == "grade_pass_threshold" else x, y) for x, y in PAIRS]
    usable = [name for name in numbers_of(config.workflow) if origin is None or name not in _unmeasured(origin)]
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
        rows=tuple(Band(_range(drawn.y, band, words), _steps(drawn.y, band)) for band in drawn.rows),
        tiles=tuple(tiles),
        across=across,
        up=up,
        note=coupling_text(drawn.coupling, words) if drawn.coupling else "",
    )


def look_of(cell: Cell) -> Look:
    """The meaning that colours a cell."""
    if cell.state == "needs_calls" or cell.outcome is None:
        return "unknown"
    if cell.refused or cell.answer_note in ("unsupported", "uncited"):
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
        end = words("not known without calls")
    else:
        parts = [end_text(cell.outcome, cell.rewrites or 0, words, cell.answer_note)]
        if cell.refused:
            parts.append(words("from passages that were refused"))
        if cell.state == "generation":
            parts.append(words("the answer to be generated"))
        end = words(", ").join(parts)
    return words(
        "{across} {x}, {up} {y}: {end}",
        across=words(VARIED_SETTINGS[drawn.x]),
        x=_range(drawn.x, (cell.x0, cell.x1), words),
        up=words(VARIED_SETTINGS[drawn.y]),
        y=_range(drawn.y, (cell.y0, cell.y1), words),
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
    label = _range(name, band, words)
    return Band(label if share >= _LETTER * len(label) else "", _steps(name, band))


def _range(name: Column, band: tuple[float, float], words: Words) -> str:
    low, high = (value_text(name, _as_set(name, value), words) for value in band)
    return low if low == high else words("{low}–{high}", low=low, high=high)


def _steps(name: Column, band: tuple[float, float]) -> int:
    return round((band[1] - band[0]) / PARAMETERS[name].step) + 1


def _as_set(name: Column, value: float) -> float | int:
    return int(value) if PARAMETERS[name].whole else value


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
    view: MapView | None, pairs: Mapping[str, str], shown: str, words: Words, *, key: str, file_name: str
) -> MapEvent:
    """Draw the map as a card, without a view its head alone; ``pairs`` are the settings to choose from, by name."""
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
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
