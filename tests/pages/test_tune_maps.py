"""The maps and the chart of Tune: what a cell and a point stand for, and that a press differs from a redraw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.common.i18n import words_for
from engine.evaluation.aggregate import evaluate
from engine.evaluation.figures import MOSTLY, Figure, Figures
from engine.evaluation.recommend import recommend
from engine.evaluation.sweep import Axis, HeatMap, front, sweep
from engine.model.config import RunConfig
from pages.parts.tune.measure_map import face_of, legend_of, scale_of
from pages.parts.tune.settings_map import cells_of
from pages.parts.tune.trade_off import Point, clicked, points_of
from pages.parts.tune.tried import Tried
from tests.evaluation.test_sweep import hidden

EN = words_for("en")
BEFORE = RunConfig(gate="pass_rate", grade_probe=True, top_k=2)


def heat_of(values: list[list[float]], known: list[list[int]], measure: str = "quality", **more: Any) -> HeatMap:
    """Two by two settings over ten questions; the upper ends are 1 where fewer are known."""
    lower, known_n = np.array(values), np.array(known)
    upper = np.where(known_n < 10, 1.0, lower)
    return HeatMap(
        x=Axis("top_k", (1, 2)),
        y=Axis("max_rewrites", (0, 1)),
        figures=Figures(measure, lower, upper, known_n, np.full((2, 2), 10)),
        settings=np.arange(4).reshape(2, 2),
        possible=np.array(more.pop("possible", [[True, True], [True, True]])),
    )


def cells(heat: HeatMap, safe: frozenset[int] = frozenset()) -> list[dict[str, Any]]:
    return cells_of(heat, RunConfig(), EN, lambda place, figure: face_of(heat, place, figure, EN, safe))


def legend(heat: HeatMap, found: list[dict[str, Any]]) -> list[str]:
    return [text for _, _, text in legend_of(heat.figures, {str(cell["look"]) for cell in found}, EN, "")]


def test_a_cell_is_coloured_by_its_worse_end_and_hatched_where_too_much_is_unknown() -> None:
    """BE-01"""
    heat = heat_of([[0.9, 0.7], [0.5, 0.1]], [[10, 9], [5, 1]])
    found = cells(heat)
    assert [cell["look"] for cell in found] == ["q4", "q3", "unknown", "unknown"]
    assert [cell["sign"] for cell in found] == ["", "╱", "?", "?"]
    assert found[1]["tip"] == "Top-k 2 · Max rewrites 0: 0.70–1.00 · known for 9 of 10"
    said = legend(heat, found)
    assert said == ["0.60–0.80", "0.80–1.00", "more than one in ten unknown", "some unknown, counted as the worst"]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 10)), min_size=4, max_size=4),
    st.sampled_from(["quality", "wrong_given", "steps"]),
)
def test_no_cell_looks_good_by_what_is_not_known_of_it(given_: list[tuple[float, int]], measure: str) -> None:
    heat = heat_of(
        [[value for value, _ in row] for row in (given_[:2], given_[2:])],
        [[known for _, known in row] for row in (given_[:2], given_[2:])],
        measure,
    )
    worse = heat.figures.worse.ravel()
    turned = -worse if measure != "quality" else worse
    for cell, place in zip(found := cells(heat), range(4), strict=True):
        assert (cell["look"] == "unknown") == (heat.figures.known_n.ravel()[place] < MOSTLY * 10)
    shades = [(turned[place], cell["look"]) for place, cell in enumerate(found) if cell["look"] != "unknown"]
    assert [look for _, look in sorted(shades)] == sorted(look for _, look in shades), "better is never paler"


def test_a_share_goes_from_0_to_1_so_that_a_poor_best_looks_poor_and_a_cost_to_its_highest() -> None:
    full = [[10, 10], [10, 10]]
    assert {cell["look"] for cell in cells(heat_of([[0.0, 0.11], [0.05, 0.1]], full))} == {"q0"}
    assert scale_of(heat_of([[0.0, 0.1], [0.05, 0.1]], full).figures) == (0.0, 1.0)
    assert scale_of(heat_of([[2.0, 4.0], [6.0, 12.5]], full, "steps").figures) == (0.0, 12.5)
    assert [cell["look"] for cell in cells(heat_of([[0.0, 4.0], [8.0, 12.0]], full, "steps"))] == [
        "q4",
        "q3",
        "q1",
        "q0",
    ]


def test_certified_cells_have_a_second_look_and_impossible_ones_are_not_drawn() -> None:
    heat = heat_of([[1.0, 1.0], [0.4, 0.4]], [[10, 10], [10, 10]], possible=[[False, False], [True, True]])
    found = cells(heat, safe=frozenset({0, 3}))
    assert [cell["look"] for cell in found] == ["q2", "q2 safe"]
    assert [cell["rows"] for cell in found] == [[1, 1], [1, 1]]


def test_the_cell_of_the_sliders_is_the_nearest_one() -> None:
    heat = heat_of([[1.0, 1.0], [0.4, 0.4]], [[10, 10], [10, 10]])
    here = [(cell["x"], cell["y"]) for cell in cells(heat) if cell["here"]]
    assert here == [(2, 1)], "top-k 5 and 3 rewrites lie beyond both axes"


def test_a_point_stands_at_its_worse_ends_and_is_none_where_nothing_limits_its_cost() -> None:
    quality, endless = Figure(None, 0.08, 1.0, 1, 12), Figure(None, 2.0, None, 1, 12)
    assert Point(quality, Figure(None, 2.0, 31.0, 1, 12), "").place == (31.0, 0.08)
    assert Point(quality, endless, "").place is None
    assert Point(quality, Figure(2.5, 2.5, 2.5, 12, 12), "").known == pytest.approx(1 / 12)


def test_a_click_differs_from_the_selection_before_and_after_it() -> None:
    a, b = {"x": 0.1, "y": 0.2}, {"x": 0.3, "y": 0.2}
    assert clicked([], [a]) == a
    assert clicked([a], [a, b]) == b
    assert clicked([a, b], [b]) == a, "a second click on a mark takes it out of the selection"
    assert clicked([a, b], []) is None, "a chart that was redrawn has lost its selection"
    assert clicked([a], [a]) is None


@pytest.mark.parametrize(("better", "stars"), [(15, [2]), (2, [])])
def test_a_star_stands_only_where_a_setting_is_measurably_better(better: int, stars: list[int]) -> None:
    base = BEFORE
    swept = sweep(hidden(40, better=better), base, [Axis("top_k", (1, 2, 3))])
    made = Tried(
        swept.axes,
        swept.configs,
        tuple(swept.settings(place) for place in range(3)),
        {measure: swept.evaluation.figures(measure) for measure in ("quality", "steps")},
        swept.possible,
        {"steps": front(swept)},
    )
    points = points_of(made, evaluate(swept.evidence, [base, base]), "steps", recommend(swept, base), EN)
    assert [place for place, item in enumerate(points) if item.kind == "recommended"] == stars
    assert [item.kind for item in points].count("current") == 1
