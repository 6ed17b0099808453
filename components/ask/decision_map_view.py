"""A decision map in words and looks: what every cell says, and where the sliders and the run stand."""

from __future__ import annotations

from components.ask.decision_map import Band, Look, MapView, Tile
from components.ask.what_if_text import value_text
from components.common.i18n import Words
from components.common.phrases import noted_text, probability_text
from components.labels.runs import ENDS_AT_ROUND, VARIED_SETTINGS
from engine.model.config import PARAMETERS, RunConfig
from engine.model.values import Origin
from engine.replay.decision_map import Cell, Coupling, DecisionMap
from engine.replay.lines import numbers_of
from engine.replay.settings import Column

_LETTER = 0.016
"""Share of the width that a character of a label takes."""
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
    """What to draw of a map under the sliders' settings, with the place of the run's own."""
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
        parts = [noted_text(words(ENDS_AT_ROUND[str(cell.outcome)], round=cell.round), words, cell.answer_note)]
        if cell.rewrites:
            parts.append(words.count("{n} rewrite", "{n} rewrites", cell.rewrites))
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
    """Why a stricter similarity threshold makes the grader's gate pass."""
    return words(
        "Stricter can pass: at similarity {low} → {high} weak passages fall away in round {round}, and the pass rate "
        "rises from {from_rate} to {to_rate}, over the bar of {bar}.",
        low=value_text("similarity_threshold", found.similarity_from, words),
        high=value_text("similarity_threshold", found.similarity_to, words),
        round=found.round,
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
