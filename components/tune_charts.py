"""Charts over a query set: a heat map of two settings, quality against cost, outcomes and pass rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from components.i18n import Words
from components.phrases import outcome_text
from components.tune_figures import AFTER, BEFORE, value_text
from engine.config import RunConfig
from engine.evaluation.figures import LOWER_IS_BETTER, Evaluation
from engine.evaluation.recommend import enough_known
from engine.evaluation.sweep_values import AxisValue, Front, HeatMap, Sweep
from engine.values import Outcome

if TYPE_CHECKING:
    import altair as alt

Tried = Callable[[Mapping[str, AxisValue]], None]
"""Told the settings of a cell or a point that was clicked, before the page is drawn again."""

_PICK = "pick"
_HEIGHT = 300
_KINDS = ("others", "front", "current", "recommended")
"""Of the points, in the order in which they are drawn over each other."""
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
_SEQUENCE = ("#e3f4f1", "#8fd6cc", "#2fa699", "#0f766e", "#0a4f4b")
_SEQUENCE_DARK = ("#16302f", "#1b5650", "#23857a", "#3bb5a5", "#8debdc")
"""Teal away from the background: read alike by the colour-blind, and what stands out is always better."""
_ACCENT = "#4f46e5"
_STAR = "#d97706"


def heat_map(heat: HeatMap, current: RunConfig, words: Words, *, key: str, tried: Tried, total: int) -> None:
    """One cell a setting, darker is better; cells resting on fewer than ``total`` questions are pale."""
    import altair as alt

    rows = _cells(heat, current, words, total)
    if not rows:
        st.caption(words("tune.card.none"))
        return
    best_first = "descending" if heat.measure in LOWER_IS_BETTER else "ascending"
    sequence = _SEQUENCE_DARK if st.context.theme.type == "dark" else _SEQUENCE
    colours = sequence if best_first == "ascending" else tuple(reversed(sequence))
    pick = alt.selection_point(name=_PICK, fields=["x", "y"], empty=False)
    base = alt.Chart(_data(rows)).encode(
        x=alt.X(
            "x_name:O", title=words(f"settings.{heat.x.name}"), sort=None, axis=alt.Axis(labelAngle=0, labelFlush=False)
        ),
        y=alt.Y(
            "y_name:O", title=words(f"settings.{heat.y.name}"), sort=[str(name) for name in _names(heat.y.values)][::-1]
        ),
    )
    cells = (
        base.mark_rect(cornerRadius=4, cursor="pointer")
        .encode(
            color=alt.Color("value:Q", scale=alt.Scale(range=list(colours)), legend=None),
            opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.12, 1]), legend=None),
            tooltip=[
                alt.Tooltip("x_name:N", title=words(f"settings.{heat.x.name}")),
                alt.Tooltip("y_name:N", title=words(f"settings.{heat.y.name}")),
                alt.Tooltip("text:N", title=words(f"tune.measure.{heat.measure}")),
                alt.Tooltip("known_text:N", title=words("tune.evidence")),
            ],
        )
        .add_params(pick)
    )
    marked = (
        base.transform_filter("datum.current")
        .mark_rect(cornerRadius=4, filled=False, stroke=_ACCENT, strokeWidth=3)
        .encode()
    )
    chart = alt.layer(cells, marked).properties(height=_HEIGHT, padding={"left": 4, "top": 6, "right": 6, "bottom": 4})
    _clickable(chart, key, lambda point: tried({heat.x.name: point["x"], heat.y.name: point["y"]}))


def quality_against_cost(
    sweep: Sweep, front: Front, words: Words, *, key: str, tried: Tried, current: RunConfig, recommended: int | None
) -> None:
    """Every setting of a sweep as a point; a line through those that none beats in both quality and cost."""
    import altair as alt

    quality, cost = sweep.evaluation.value("quality"), sweep.evaluation.value(front.cost)
    known, total = sweep.evaluation.known_n, len(sweep.evaluation.case_ids)
    telling = enough_known(sweep.evaluation)
    rows = []
    for place, config in enumerate(sweep.configs):
        if np.isnan(quality[place]) or np.isnan(cost[place]) or not telling[place]:
            continue
        kind = "front" if place in front.settings else "others"
        if place == recommended:
            kind = "recommended"
        elif config == current:
            kind = "current"
        rows.append(
            {
                "place": place,
                "cost": float(cost[place]),
                "quality": float(quality[place]),
                "kind": words(f"tune.front.{kind}"),
                "order": _KINDS.index(kind),
                "known_text": words("tune.map.unknown", known=int(known[place]), n=total),
                "text": settings_text(sweep.settings(place), words),
                "cost_text": value_text(front.cost, float(cost[place])),
            }
        )
    if not rows:
        st.caption(words("tune.card.none"))
        return
    left_out = len(sweep.configs) - len(rows)
    if left_out:
        st.caption(words("tune.front.left_out", n=left_out))
    pick = alt.selection_point(name=_PICK, fields=["place"], empty=False)
    kinds = [words(f"tune.front.{name}") for name in _KINDS]
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("cost:Q", title=words(f"tune.measure.{front.cost}"), scale=alt.Scale(zero=False, nice=True)),
        y=alt.Y("quality:Q", title=words("tune.measure.quality"), scale=alt.Scale(zero=False, nice=True)),
    )
    on_front = alt.FieldOneOfPredicate(field="place", oneOf=list(front.settings))
    line = base.transform_filter(on_front).mark_line(color=_ACCENT, strokeWidth=1.5, opacity=0.8)
    points = (
        base.mark_point(filled=True, cursor="pointer")
        .encode(
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=["#b8bdd6", _ACCENT, "#0d9488", _STAR]),
                legend=alt.Legend(title=None, orient="bottom", columns=2, labelLimit=200),
            ),
            shape=alt.Shape(
                "kind:N", scale=alt.Scale(domain=kinds, range=["circle", "circle", "diamond", _STAR_PATH]), legend=None
            ),
            size=alt.Size("kind:N", scale=alt.Scale(domain=kinds, range=[28, 60, 160, 260]), legend=None),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("text:N", title=words("tune.under_test")),
                alt.Tooltip("quality:Q", title=words("tune.measure.quality"), format=".2f"),
                alt.Tooltip("cost_text:N", title=words(f"tune.measure.{front.cost}")),
                alt.Tooltip("known_text:N", title=words("tune.evidence")),
            ],
        )
        .add_params(pick)
    )
    chart = alt.layer(line, points).properties(height=_HEIGHT)
    _clickable(chart, key, lambda point: tried(sweep.settings(int(point["place"]))))


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
                    "side": words(f"tune.outcomes.{name}"),
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
            x=alt.X("count:Q", title=words("tune.outcomes.count")),
            y=alt.Y("side:N", title=None, sort=None),
            color=alt.Color(
                "outcome:N",
                scale=alt.Scale(domain=present, range=colours),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
            order=alt.Order("order:Q"),
            tooltip=["side:N", "outcome:N", "count:Q"],
        )
        .properties(height=120, title=words("tune.outcomes.title"))
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
                "side": words(f"tune.outcomes.{name}"),
                "rate": f"{edges[place]:.1f}–{edges[place + 1]:.1f}",
                "count": int(count),
            }
            for place, count in enumerate(counts)
        ]
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(cornerRadius=3)
        .encode(
            x=alt.X("rate:O", title=words("tune.rates.axis"), axis=alt.Axis(labelAngle=0, labelFlush=False)),
            xOffset=alt.XOffset("side:N", sort=None),
            y=alt.Y("count:Q", title=words("tune.outcomes.count")),
            color=alt.Color(
                "side:N",
                sort=None,
                scale=alt.Scale(range=["#b8bdd6", _ACCENT]),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
            tooltip=["side:N", "rate:O", "count:Q"],
        )
        .properties(height=240, title=words("tune.rates.title"))
    )
    st.altair_chart(chart, key=key, width="stretch")


def outcome_label(outcome: Outcome | None, words: Words) -> str:
    return words("tune.outcomes.unknown") if outcome is None else outcome_text(outcome, words)


def settings_text(settings: Mapping[str, AxisValue], words: Words) -> str:
    """``Top-k 5 · Similarity at least 0.30``."""
    return " · ".join(f"{words(f'settings.{name}')} {_name(value)}" for name, value in settings.items())


def _cells(heat: HeatMap, current: RunConfig, words: Words, total: int) -> list[dict[str, Any]]:
    rows = []
    for y_place, y in enumerate(heat.y.values):
        for x_place, x in enumerate(heat.x.values):
            value = float(heat.values[y_place, x_place])
            if np.isnan(value):
                continue
            known = int(heat.known_n[y_place, x_place])
            rows.append(
                {
                    "x": x,
                    "y": y,
                    "x_name": _name(x),
                    "y_name": _name(y),
                    "value": value,
                    "text": value_text(heat.measure, value),
                    "share": (known / total) ** 2 if total else 0.0,
                    "known_text": words("tune.map.unknown", known=known, n=total),
                    "current": _near(getattr(current, heat.x.name), x, heat.x.values)
                    and _near(getattr(current, heat.y.name), y, heat.y.values),
                }
            )
    return rows


def _near(value: Any, cell: AxisValue, values: Sequence[AxisValue]) -> bool:
    """Whether a cell is the one nearest to a value that may lie between two."""
    if isinstance(cell, str | bool) or isinstance(value, str | bool):
        return bool(value == cell)
    numbers = [item for item in values if not isinstance(item, str)]
    return cell == min(numbers, key=lambda item: (abs(item - value), item))


def _names(values: Sequence[AxisValue]) -> list[str]:
    return [_name(value) for value in values]


def _name(value: AxisValue) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _data(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    # Plain rows: a data frame would bring pandas in for nothing.
    return alt.InlineData(values=rows)


def _clickable(chart: alt.LayerChart | alt.FacetChart, key: str, pressed: Callable[[Mapping[str, Any]], None]) -> None:
    def chosen() -> None:
        points = st.session_state[key].get("selection", {}).get(_PICK) or []
        if points:
            pressed(points[0])

    st.altair_chart(chart, key=key, width="stretch", on_select=chosen, selection_mode=_PICK)


_STAR_PATH = (
    "M0,-1L0.2245,-0.309L0.9511,-0.309L0.3633,0.118L0.5878,0.809L0,0.382L-0.5878,0.809L-0.3633,0.118"
    "L-0.9511,-0.309L-0.2245,-0.309Z"
)
