"""The cards over a query set: each figure, its change against the settings compared, and whether that can be told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.i18n import Words
from components.markup import Node, draw, node
from components.phrases import duration_text
from engine.evaluation.figures import MEASURES, Evaluation, Measure
from engine.evaluation.statistics import PairedTest

BEFORE, AFTER = 0, 1
"""Columns of an evaluation of two settings: those compared with, and those under test."""


@dataclass(frozen=True, slots=True)
class Card:
    label: str
    value: str
    note: str
    look: str = "muted"
    help: str = ""


def tune_figures(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """Draw the five cards of an evaluation of the two settings."""
    draw((node("div", "figures", *(_drawn(card) for card in cards_of(evaluation, words))),), words, key=key)


def cards_of(evaluation: Evaluation, words: Words) -> tuple[Card, ...]:
    """Right passage in context (or answered, without labels), wasted rewrites, refusals if any is due, cost, time."""
    labelled = evaluation.n("context_hit")[AFTER] > 0
    refusals = max(evaluation.n("refused_unanswerable")) > 0
    calls = bool(evaluation.value("calls")[AFTER] > 0)
    chosen: tuple[Measure, ...] = (
        "context_hit" if labelled else "quality",
        "false_rewrites" if labelled else "rewrites",
        "refused_unanswerable" if refusals else "quality" if labelled else "pass_rate",
        "calls" if calls else "steps",
        "seconds",
    )
    return tuple(_card(evaluation, measure, words) for measure in chosen)


def test_of(evaluation: Evaluation, measure: Measure) -> PairedTest:
    """The paired test of the settings under test against those compared, question by question."""
    return evaluation.paired(measure, BEFORE, AFTER)


def value_text(measure: Measure, value: float | None) -> str:
    """A figure in the unit of its measure; a dash where no question can tell."""
    if value is None or math.isnan(value):
        return "–"
    if measure == "seconds":
        return duration_text(value * 1000.0)
    if measure in ("calls", "built_in_calls", "steps"):
        return f"{value:.1f}"
    return f"{value:.2f}"


def measures_table(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """Every measure before and after, with its interval and how many questions it is based on."""
    rows = []
    for measure in MEASURES:
        after = evaluation.figure(measure, AFTER)
        if after.value is None and evaluation.figure(measure, BEFORE).value is None:
            continue
        interval = evaluation.interval(measure, AFTER)
        rows.append(
            {
                words("tune.measures.name"): words(f"tune.measure.{measure}"),
                words("tune.measures.before"): value_text(measure, evaluation.figure(measure, BEFORE).value),
                words("tune.measures.after"): value_text(measure, after.value),
                words("tune.measures.change"): _change(evaluation, measure, words)[0],
                words("tune.measures.interval"): ""
                if interval is None
                else f"{value_text(measure, interval.low)} – {value_text(measure, interval.high)}",
                words("tune.measures.n"): after.n,
                words("tune.measures.meaning"): words(f"tune.measure.{measure}.help"),
            }
        )
    st.dataframe(rows, hide_index=True, key=key, width="stretch", height="content")


def _card(evaluation: Evaluation, measure: Measure, words: Words) -> Card:
    label = words(f"tune.card.{measure}")
    help_text = words(f"tune.measure.{measure}.help")
    figure = evaluation.figure(measure, AFTER)
    if figure.value is None:
        rewrites = evaluation.figure("rewrites", AFTER)
        none = measure == "false_rewrites" and rewrites.value == 0
        return Card(label, "–", words("tune.card.no_rewrites" if none else "tune.card.none"), help=help_text)
    value = value_text(measure, figure.value)
    if measure == "refused_unanswerable":
        value = f"{round(figure.value * figure.n)} / {figure.n}"
    elif measure == "seconds":
        value = value_text(measure, evaluation.quantile(measure, 0.5, AFTER))
    note, look = _change(evaluation, measure, words)
    if measure == "seconds" and note.startswith(("▲", "▼")):
        # The value beside it is a median.
        note = words("tune.card.average", change=note)
    return Card(label, value, note, look, help_text)


def _change(evaluation: Evaluation, measure: Measure, words: Words) -> tuple[str, str]:
    test = test_of(evaluation, measure)
    if test.n == 0 or test.difference is None:
        return words("tune.card.n", n=evaluation.figure(measure, AFTER).n), "muted"
    change = test.difference.value
    if test.gained == test.lost == 0:
        # Questions that are not known on both sides are not compared, and the figure itself may rest on others.
        sides = [evaluation.figure(measure, side) for side in (BEFORE, AFTER)]
        before, after = (value_text(measure, side.value) for side in sides)
        if before != after:
            counts = {"before_n": sides[BEFORE].n, "after_n": sides[AFTER].n}
            return words("tune.card.moved", before=before, n=test.n, **counts), "muted"
        everyone = test.n == max(evaluation.n(measure)[BEFORE], evaluation.n(measure)[AFTER])
        return words("tune.card.same") if everyone else words("tune.card.same_of", n=test.n), "muted"
    if test.verdict == "not_distinguishable":
        return words("tune.card.undecided", n=test.n), "muted"
    half = (test.difference.high - test.difference.low) / 2
    sign = "▲" if change > 0 else "▼"
    text = f"{sign} {value_text(measure, abs(change))} (±{value_text(measure, half)})"
    return text, "pass" if test.verdict == "better" else "warn"


def _drawn(card: Card) -> Node:
    return node(
        "div",
        "figure",
        node("div", "label", card.label),
        node("div", "value num", card.value),
        node("div", f"note num {card.look}", card.note),
        title=card.help,
    )


def failures_list(failed: Sequence[tuple[str, str]], words: Words, *, key: str) -> None:
    """Questions without a usable run, each with what happened."""
    if not failed:
        st.caption(words("tune.failures.none"))
        return
    items = [node("li", "", node("span", "sign warn", "!"), node("strong", "", who), f" {why}") for who, why in failed]
    draw((node("ul", "report", *items),), words, key=key)
