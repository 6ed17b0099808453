"""How the questions of a set end, and how their pass rates are spread, before and after a change of settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.common.phrases import outcome_text
from components.tune.figures import AFTER, BEFORE
from engine.evaluation.figures import Evaluation
from engine.messages import N_
from engine.model.values import Outcome

_TUNE_OUTCOMES = {
    "before": N_("before"),
    "after": N_("after"),
}

_ACCENT, _GREY = "#4f46e5", "#b8bdd6"
_OUTCOMES: dict[Outcome | None, str] = {
    "answered": "#0d9488",
    "answered_forced": "#e0a53f",
    "answered_unverified": "#b45309",
    "abstained": "#7b8494",
    "fallback": "#6366f1",
    "cancelled": "#a3a3a3",
    "failed": "#dc2626",
    "interrupted": "#b91c1c",
    None: "#d5d9e2",
}


def outcome_bars(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """How the questions end, before and after, as two stacked bars."""
    import altair as alt

    rows = []
    order = [outcome_label(outcome, words) for outcome in _OUTCOMES]
    for side, name in ((BEFORE, "before"), (AFTER, "after")):
        for outcome, count in evaluation.outcome_counts(side).items():
            label = outcome_label(outcome, words)
            rows.append(
                {
                    "side": words(_TUNE_OUTCOMES[name]),
                    "outcome": label,
                    "count": count,
                    "order": order.index(label),
                }
            )
    present = [name for name in order if any(row["outcome"] == name for row in rows)]
    colours = [colour for outcome, colour in _OUTCOMES.items() if outcome_label(outcome, words) in present]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(cornerRadius=3)
        .encode(
            x=alt.X("count:Q", title=words("questions")),
            y=alt.Y("side:N", title=None, sort=None, axis=alt.Axis(labelLimit=160)),
            color=alt.Color(
                "outcome:N",
                scale=alt.Scale(domain=present, range=colours),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("outcome:N", title=words("Outcomes")),
                alt.Tooltip("count:Q", title=words("questions")),
            ],
        )
        .properties(height=220, title=words("How the questions end"))
    )
    st.altair_chart(chart, key=key, width="stretch")


def pass_rate_bars(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """How the pass rates of the last round are spread, before and after."""
    import altair as alt

    rows = []
    for side, name in ((BEFORE, "before"), (AFTER, "after")):
        counts, edges = np.histogram(evaluation.pass_rates(side), bins=10, range=(0.0, 1.0))
        rows += [
            {
                "side": words(_TUNE_OUTCOMES[name]),
                "rate": f"{edges[place]:.1f}–{edges[place + 1]:.1f}",
                "count": int(count),
            }
            for place, count in enumerate(counts)
        ]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(cornerRadius=3)
        .encode(
            x=alt.X("rate:O", title=words("pass rate"), axis=alt.Axis(labelAngle=0, labelFlush=False)),
            xOffset=alt.XOffset("side:N", sort=None),
            y=alt.Y("count:Q", title=words("questions")),
            color=alt.Color(
                "side:N",
                sort=None,
                scale=alt.Scale(range=[_GREY, _ACCENT]),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
            tooltip=[
                alt.Tooltip("rate:O", title=words("pass rate")),
                alt.Tooltip("count:Q", title=words("questions")),
            ],
        )
        .properties(height=330, title=words("Pass rates of the last round"))
    )
    st.altair_chart(chart, key=key, width="stretch")


def outcome_label(outcome: Outcome | None, words: Words) -> str:
    return words("not known") if outcome is None else outcome_text(outcome, words)


def _data(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    # Plain rows: a data frame would bring pandas in for nothing.
    return alt.InlineData(values=rows)
