"""Figures over many questions as text: a value, its bounds while questions are unknown, and how sure it is."""

from __future__ import annotations

import math

from components.common.i18n import Words
from components.common.phrases import duration_text
from engine.evaluation.figures import Figure
from engine.evaluation.measures import MEASURES, Measure


def value_text(measure: Measure, value: float | None) -> str:
    """A number in the unit of its measure; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if measure == "seconds":
        return duration_text(value * 1000.0)
    return f"{value:.{MEASURES[measure].digits}f}"


def figure_text(measure: Measure, figure: Figure, words: Words) -> str:
    """The value, or its bounds while questions are unknown, such as ``0.08–1.00``; a dash where none is due."""
    if figure.lower is None:
        return "–"
    lower = value_text(measure, figure.lower)
    if not figure.unknown_n:
        return lower
    if figure.upper is None:
        return words("{lower} or more", lower=lower)
    upper = value_text(measure, figure.upper)
    return lower if lower == upper else f"{lower}–{upper}"


def known_text(figure: Figure, words: Words) -> str:
    """On how many questions of its population a figure rests."""
    return words("known for {known} of {n}", known=figure.known_n, n=figure.n)


def sampling_text(measure: Measure, low: float, high: float) -> str:
    """The interval of sampling error: other questions of the same kind might have said as much."""
    return f"95 %: {value_text(measure, low)}–{value_text(measure, high)}"


def p_text(p: float) -> str:
    """``p = 0.031``; below a thousandth that it is below."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
