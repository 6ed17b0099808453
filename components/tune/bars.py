"""Outcomes and pass rates of a question set before and after a change of settings."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from components.common.i18n import Words
from components.common.outcomes import NOTES, OUTCOMES, end_mark, outcome_text
from components.tune.figures import AFTER, BEFORE
from components.tune.vega import ACCENT, GREY, LEGEND_BELOW, draw_chart, layer, number, text
from components.tune.vega import count as counted
from engine.evaluation.figures import ANSWERED, Evaluation
from engine.messages import N_
from engine.model.values import AnswerNote, Outcome

_SIDES = ((BEFORE, N_("before")), (AFTER, N_("after")))
_BAR = {"type": "bar", "cornerRadius": 3}


def outcome_bars(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """Draw the outcomes before and after as two stacked bars; questions without a usable run failed on both sides."""
    labels = _labels(words)
    rows = outcome_rows(evaluation, words)
    present = [label for label in labels if any(row["outcome"] == label for row in rows)]
    scale = {"domain": present, "range": [labels[label] for label in present]}
    bars = layer(
        rows,
        _BAR,
        x=counted("count", words("questions")),
        y=text("side", sort=None, axis={"labelLimit": 160}),
        color=text("outcome", scale=scale, legend=LEGEND_BELOW),
        order=number("order"),
        tooltip=[text("outcome", words("Outcomes")), number("count", words("questions"))],
    )
    draw_chart(bars, key=key, title=words("How the questions end"), height=220)


def outcome_rows(evaluation: Evaluation, words: Words) -> list[dict[str, str | int]]:
    """Count by side and label; an answer that is not supported stands by itself, and not with the good ones."""
    order = list(_labels(words))
    rows: list[dict[str, str | int]] = []
    for side, name in _SIDES:
        counts: Counter[str] = Counter()
        for (outcome, note), count in evaluation.outcome_counts(side).items():
            counts[outcome_label(outcome, words, note)] += count
        counts[outcome_label("failed", words)] += len(evaluation.failed)
        rows += [
            {"side": words(name), "outcome": label, "count": counts[label], "order": place}
            for place, label in enumerate(order)
            if counts[label]
        ]
    return rows


def _labels(words: Words) -> dict[str, str]:
    """Every label with its colour, from the best end to what is not known."""
    answered = [outcome for outcome in OUTCOMES if outcome in ANSWERED]
    ends: list[tuple[Outcome | None, AnswerNote]] = [(outcome, "") for outcome in answered]
    ends += [(outcome, note) for outcome in answered for note in NOTES]
    ends += [(outcome, "") for outcome in OUTCOMES if outcome not in ANSWERED] + [(None, "")]
    return {outcome_label(outcome, words, note): end_mark(outcome, note).colour for outcome, note in ends}


def pass_rate_bars(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """Draw the distribution of the last round's pass rates, before and after."""
    rows = []
    for side, name in _SIDES:
        counts, edges = np.histogram(evaluation.pass_rates(side), bins=10, range=(0.0, 1.0))
        rates = [f"{low:.1f}–{high:.1f}" for low, high in pairwise(edges)]
        rows += [
            {"side": words(name), "rate": rate, "count": int(count)} for rate, count in zip(rates, counts, strict=True)
        ]
        if unknown := evaluation.figure("pass_rate", side).unknown_n:
            rows.append({"side": words(name), "rate": words("not known"), "count": unknown})
    bars = layer(
        rows,
        _BAR,
        x={
            **text("rate", words("pass rate"), sort=None),
            "type": "ordinal",
            "axis": {"labelAngle": 0, "labelFlush": False},
        },
        xOffset=text("side", sort=None),
        y=counted("count", words("questions")),
        color=text("side", sort=None, scale={"range": [GREY, ACCENT]}, legend=LEGEND_BELOW),
        tooltip=[text("rate", words("pass rate")), number("count", words("questions"))],
    )
    draw_chart(bars, key=key, title=words("Pass rates of the last round"), height=330)


def outcome_label(outcome: Outcome | None, words: Words, note: AnswerNote = "") -> str:
    return words("not known") if outcome is None else outcome_text(outcome, words, note)
