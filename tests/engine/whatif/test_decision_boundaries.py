"""Decision boundaries and the decision map: both are the grid, looked at from where the sliders stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.ask.what_if_text import boundary_text
from components.common.i18n import words_for
from engine.flow.declaration import OF_CASCADE
from engine.model.config import PARAMETERS, RunConfig
from engine.model.values import RunRecord, Verdict
from engine.replay import what_if
from engine.replay.decision_boundaries import DecisionBoundary, Sweep
from engine.replay.decision_map import DecisionMap, decision_map
from engine.replay.lines import numbers_of, round_value
from engine.replay.table import run_table
from tests.engine.whatif.world import World, recordings, run_in, worlds

YES, NO = Verdict(True, 0.9, "yes"), Verdict(False, 0.9, "no")


def forced(**changes: Any) -> tuple[RunRecord, RunConfig]:
    """Two of five kept passages pass where three would have to; the best rank highest."""
    found = ((0, 0.8123), (1, 0.7), (2, 0.5), (3, 0.4567), (4, 0.4))
    around = World(found=(found,) * 4, verdicts=(YES, YES, NO, NO, NO), rewriting=("new",) * 4)
    config = RunConfig(gate="pass_rate", max_rewrites=2, **changes)
    return run_in(around, config), config


def by_setting(found: tuple[DecisionBoundary, ...]) -> dict[tuple[str, bool], DecisionBoundary]:
    return {(item.name, item.value_to > item.value_from): item for item in found if item.name != "gate"}  # type: ignore[operator]


def test_the_nearest_flip_is_a_value_that_can_be_said() -> None:
    """SC-04: pass threshold 0.60 → 0.40 would have answered at round 0."""
    record, config = forced()
    assert record.outcome == "answered_forced"
    boundaries = by_setting(Sweep(run_table(record), config).boundaries())
    lower = boundaries["grade_pass_threshold", False]
    assert (lower.value_from, lower.value_to, lower.outcome, lower.round) == (0.6, 0.4, "answered", 0)
    assert (lower.rewrites_saved, lower.steps_saved) == (2, 2)
    stricter = boundaries["similarity_threshold", True]
    assert (stricter.value_to, stricter.outcome) == (0.46, "answered"), "not 0.4568, which is nearer"
    fewer = boundaries["top_k", False]
    assert (fewer.value_to, fewer.outcome) == (3, "answered")
    assert boundaries["max_rewrites", False].value_to == 1


def test_the_nearest_comes_first_another_gate_next_and_what_lets_rejected_passages_in_last() -> None:
    """SC-05"""
    record, config = forced()
    boundaries = Sweep(run_table(record), config).boundaries()
    assert [boundary.share for boundary in boundaries[:-1]] == sorted(boundary.share for boundary in boundaries[:-1])
    assert (boundaries[-2].name, boundaries[-2].value_to, boundaries[-2].outcome) == (
        "gate",
        "min_relevant",
        "answered",
    )
    lowered = boundaries[-1]
    assert (lowered.name, lowered.outcome, lowered.rejected) == ("min_confidence", "answered", 3)
    assert not any(boundary.rejected for boundary in boundaries[:-1])
    assert "lets in s.md (not relevant, P(relevant) 0.10); s.md (not" in boundary_text(lowered, words_for("en"))
    assert "放入 s.md（评为不相关，相关概率 0.10）" in boundary_text(lowered, words_for("zh"))


def test_nothing_is_said_of_flips_where_the_path_itself_is_not_known() -> None:
    record, config = forced()
    assert Sweep(run_table(record), replace(config, top_k=4, max_rewrites=5)).boundaries() == ()


@hypothesis_settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(worlds(), recordings())
def test_every_flip_is_confirmed_and_none_of_the_sliders_steps_before_it_flips(
    around: World, config: RunConfig
) -> None:
    """SC-04"""
    record = run_in(around, config)
    here = what_if(record, config)
    for boundary in Sweep(run_table(record), config).boundaries():
        there = what_if(record, _changed(config, boundary.name, boundary.value_to))
        assert there.path_known and there.outcome == boundary.outcome
        assert len(there.steps) - 1 == boundary.round
        assert (there.outcome, len(there.steps)) != (here.outcome, len(here.steps))
        if boundary.name in ("top_k", "max_rewrites", "min_relevant"):
            assert isinstance(boundary.value_to, int) and isinstance(boundary.value_from, int)
            low, high = sorted((boundary.value_from, boundary.value_to))
            for value in range(low + 1, high):
                between = what_if(record, _changed(config, boundary.name, value))
                known = between.path_known and between.outcome is not None
                assert not known or (between.outcome, len(between.steps)) == (here.outcome, len(here.steps))


@hypothesis_settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_every_cell_of_a_map_holds_what_a_what_if_of_its_corners_and_its_try_value_says(data: st.DataObject) -> None:
    """SC-04: equal neighbours are one cell, unequal ones are not."""
    record = run_in(data.draw(worlds()), data.draw(recordings()))
    x, y = data.draw(st.permutations(numbers_of(record.config)))[:2]
    found = decision_map(record, record.config, x, y)
    place = found.cell_of(getattr(record.config, x), getattr(record.config, y))
    assert place is not None
    here = found.cells[place]
    assert here.x0 <= getattr(record.config, x) <= here.x1
    assert here.y0 <= getattr(record.config, y) <= here.y1
    for cell in data.draw(st.lists(st.sampled_from(found.cells), min_size=1, max_size=5)):
        for at_x, at_y in ((cell.x0, cell.y0), (cell.x1, cell.y1), (cell.x_try, cell.y_try)):
            real = what_if(record, _changed(_changed(record.config, x, at_x), y, at_y))
            assert (cell.state, cell.outcome, cell.rewrites) == (real.state, real.outcome, real.rewrites)
            assert cell.round == len(real.steps) - 1
            assert cell.steps == real.cost.calls + real.cost.built_in_calls - (real.checks or 0)
            assert cell.reason == (real.decisions[-1].reason if real.decisions else None)
    assert_tiled(found)


def assert_tiled(found: DecisionMap) -> None:
    assert len(found.cells) == len(found.columns) * len(found.rows)
    for name, bands in ((found.x, found.columns), (found.y, found.rows)):
        ends, whole = (bands[0][0], bands[-1][1]), (PARAMETERS[name].low, PARAMETERS[name].high)
        # No two cuts cross: each ends at the other.
        assert ends == whole or name in OF_CASCADE
        assert all(low <= high for low, high in bands)
        assert [low for low, _ in bands] == sorted(low for low, _ in bands)


def test_equal_thresholds_are_one_row() -> None:
    """SC-04: five kept passages have six pass rates, and here one is reached."""
    record, config = forced()
    found = decision_map(record, config, "max_rewrites", "grade_pass_threshold")
    assert found.rows == ((0.0, 0.4), (0.41, 1.0))
    assert found.cells[0].y_try == 0.2
    assert found.cells[0].outcome == "answered"


def test_a_stricter_similarity_threshold_that_makes_the_gate_pass_is_named() -> None:
    """SC-04: it drops what the grader would have failed."""
    record, config = forced()
    coupling = decision_map(record, config, "similarity_threshold", "grade_pass_threshold").coupling
    assert coupling is not None
    assert (coupling.similarity_from, coupling.similarity_to, coupling.round) == (0.45, 0.46, 0)
    assert coupling.pass_rate_from == 0.5 < coupling.threshold <= coupling.pass_rate_to == pytest.approx(2 / 3)
    assert decision_map(record, replace(config, gate="min_relevant"), "top_k", "min_relevant").coupling is None


def test_a_map_of_one_setting_or_of_words_is_refused() -> None:
    record, config = forced()
    for x, y in (("top_k", "top_k"), ("top_k", "gate")):
        with pytest.raises(ValueError, match="two different settings"):
            decision_map(record, config, x, y)  # type: ignore[arg-type]


def test_the_value_to_try_is_the_one_that_is_easily_said() -> None:
    assert round_value([0.41, 0.42, 0.45, 0.47], whole=False) == 0.45
    assert round_value([round(0.01 * place, 2) for place in range(41, 101)], whole=False) == 0.7
    assert round_value([0.4567], whole=False) == 0.4567
    assert round_value([6.0, 7.0, 8.0, 9.0], whole=True) == 7.0


def _changed(config: RunConfig, name: str, value: float | str) -> RunConfig:
    change: dict[str, Any] = {name: value}
    return replace(config, **change)
