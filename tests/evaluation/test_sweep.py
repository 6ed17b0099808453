"""Sweeps over made-up evidence, and what is recommended from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.errors import InvalidConfig
from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case, Expectation
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.figures import Measured
from engine.evaluation.measures import LOWER_IS_BETTER, MEASURES
from engine.evaluation.question_changes import changes_between
from engine.evaluation.recommend import distance_to_defaults, recommend
from engine.evaluation.sweep import Axis, Sweep, can_pass, front, rows, sweep
from engine.model.config import RunConfig
from engine.model.values import RunId, Verdict
from tests.engine.whatif.world import World, run_in, settings, worlds
from tests.evaluation.gathered import evidence_of, questions
from tests.evaluation.test_aggregate import cases

BASE = RunConfig(grade_probe=True)
TWO = replace(BASE, top_k=2)
AXES = (
    Axis("similarity_threshold", (0.1, 0.3, 0.5)),
    Axis("grade_pass_threshold", (0.2, 0.4, 0.6, 0.8)),
    Axis("top_k", (3, 5)),
)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(40, BASE)


@pytest.fixture(scope="module")
def swept(evidence: Evidence) -> Sweep:
    return sweep(evidence, BASE, AXES)


def expecting(questions: int, passage: Callable[[int], str], config: RunConfig = TWO) -> Evidence:
    """Questions that find the same three passages, which all pass, and expect one passage each."""
    search = ((0, 0.9), (1, 0.8), (2, 0.7))
    record = run_in(World((search,) * 4, (Verdict(True, 0.9, "yes"),) * 3, ("new",) * 4), config)
    names = [f"case-{number}" for number in range(questions)]
    cases = [
        Case(name, "?", (Expectation("passage", passage(number)),), answerable=True)
        for number, name in enumerate(names)
    ]
    return gather(cases, {name: replace(record, id=RunId(name)) for name in names})


def hidden(questions: int, better: int) -> Evidence:
    """Questions whose right passage stands third; of them ``better`` are lost to a top_k of 2 and found with 3."""
    return expecting(questions, lambda number: "p02" if number < better else "p00")


def test_every_combination_is_tried_in_the_order_of_the_axes(swept: Sweep) -> None:
    assert swept.shape == (3, 4, 2)
    assert len(swept.configs) == 24
    setting = swept.index((1, 2, 0))
    assert swept.configs[setting] == replace(BASE, similarity_threshold=0.3, grade_pass_threshold=0.6, top_k=3)
    assert swept.settings(setting) == {"similarity_threshold": 0.3, "grade_pass_threshold": 0.6, "top_k": 3}


def test_a_heat_map_has_the_values_of_its_settings(evidence: Evidence, swept: Sweep) -> None:
    heat = swept.heat("steps", x="similarity_threshold", y="grade_pass_threshold")
    assert heat.figures.lower.shape == (4, 3)
    for row, pass_threshold in enumerate((0.2, 0.4, 0.6, 0.8)):
        for column, similarity in enumerate((0.1, 0.3, 0.5)):
            config = replace(BASE, similarity_threshold=similarity, grade_pass_threshold=pass_threshold)
            assert heat.figures.at((row, column)) == evaluate(evidence, [config]).figure("steps")
            assert swept.configs[heat.settings[row, column]] == config
    turned = swept.heat("steps", x="grade_pass_threshold", y="similarity_threshold")
    np.testing.assert_array_equal(turned.figures.worse, heat.figures.worse.T)
    held = swept.heat("steps", x="similarity_threshold", y="grade_pass_threshold", at={"top_k": 3})
    assert {swept.configs[setting].top_k for setting in held.settings.ravel()} == {3}


def test_no_setting_on_the_front_is_beaten_by_any_other(swept: Sweep) -> None:
    for cost in ("steps", "seconds"):
        line = front(swept, cost)
        quality, price = swept.evaluation.figures("quality").lower, swept.evaluation.figures(line.cost).upper
        usable = np.flatnonzero(swept.possible & np.isfinite(price))
        assert line.settings
        for setting in line.settings:
            beaten = (quality[usable] >= quality[setting]) & (price[usable] <= price[setting])
            strictly = (quality[usable] > quality[setting]) | (price[usable] < price[setting])
            assert not (beaten & strictly).any()
        for setting in set(usable.tolist()) - set(line.settings):
            on = list(line.settings)
            assert ((quality[on] >= quality[setting]) & (price[on] <= price[setting])).any()


def test_rows_for_a_file_hold_axes_measures_counts_and_outcomes(swept: Sweep) -> None:
    made = rows(swept)
    assert len(made) == 24
    assert {tuple(row) for row in made} == {tuple(made[0])}
    for setting in (0, 13, 23):
        row = made[setting]
        assert row["top_k"] == swept.configs[setting].top_k
        steps = swept.evaluation.figure("steps", setting)
        assert (row["steps"], row["steps_lower"], row["steps_upper"]) == (steps.value, steps.lower, steps.upper)
        assert (row["steps_known_n"], row["steps_n"]) == (steps.known_n, steps.n)
        outcomes = sum(int(value or 0) for name, value in row.items() if name.startswith("outcome_"))
        assert outcomes + swept.evaluation.outcome_counts(setting)[None, ""] == row["questions"] == 40


def test_axes_are_checked(evidence: Evidence) -> None:
    with pytest.raises(ValueError, match="axes"):
        sweep(evidence, BASE, [])
    with pytest.raises(ValueError, match="axes"):
        sweep(evidence, BASE, [AXES[0], AXES[0]])
    with pytest.raises(ValueError, match="no values"):
        sweep(evidence, BASE, [Axis("top_k", ())])
    with pytest.raises(ValueError, match="without calls"):
        sweep(evidence, BASE, [Axis("collection", ("a", "b"))])
    with pytest.raises(InvalidConfig):
        sweep(evidence, BASE, [Axis("top_k", (0,))])


def test_values_of_an_axis_are_those_of_a_config_and_each_once(evidence: Evidence) -> None:
    made = sweep(evidence, BASE, [Axis("similarity_threshold", (0.1 + 0.2, 0.3)), Axis("gate", ("min_relevant",))])
    assert made.axes[0].values == (0.3,)
    assert len(made.configs) == 1


def test_a_setting_that_gains_on_many_questions_is_recommended_as_better() -> None:
    base = TWO
    found = recommend(sweep(hidden(40, better=15), base, [Axis("top_k", (1, 2, 3))]), base)
    assert found.config.top_k == 3
    assert (found.verdict, found.choice, found.setting) == ("better", "best", 2)
    assert (found.quality_test.gained, found.quality_test.lost, found.n) == (15, 0, 40)
    assert found.p_corrected >= found.quality_test.p
    assert found.quality.value == 1.0
    assert found.expected_on_new == 1.0


def test_by_right_answers_another_setting_is_recommended_than_by_what_was_found() -> None:
    """Every setting finds the right passage; only the answers of one say what was asked for."""
    search = ((0, 0.9), (1, 0.8), (2, 0.7))
    world = World((search,) * 4, (Verdict(True, 0.9, "yes"),) * 3, ("new",) * 4)
    few, more = (replace(BASE, top_k=top_k) for top_k in (2, 3))
    names = [f"case-{number}" for number in range(30)]
    gold = ("The text of 2",)
    cases = [Case(name, "?", (Expectation("passage", "p00"),), answerable=True, gold_answers=gold) for name in names]
    records, others = (
        {name: replace(run_in(world, config), id=RunId(f"{name}-{config.top_k}")) for name in names}
        for config in (few, more)
    )
    swept = sweep(gather(cases, records, [others]), few, [Axis("top_k", (2, 3))])
    found = recommend(swept, few)
    assert (found.aim, found.config, found.choice) == ("quality", few, "baseline_stays")
    right = recommend(swept, few, "answered_right")
    assert (right.aim, right.config, right.verdict) == ("answered_right", more, "better")
    assert right.quality.value == 1.0
    assert (right.quality_test.gained, right.quality_test.lost) == (30, 0)


def test_a_gain_on_two_of_forty_is_recommended_and_said_to_be_not_distinguishable() -> None:
    base = TWO
    found = recommend(sweep(hidden(40, better=2), base, [Axis("top_k", (1, 2, 3))]), base)
    assert (found.config.top_k, found.verdict) == (3, "not_distinguishable")
    assert found.quality_test.difference is not None
    assert found.quality_test.difference.n == 40


@pytest.mark.parametrize(("right", "choice"), [(5, "too_poor"), (14, "best")])
def test_below_a_floor_of_quality_nothing_is_recommended_however_much_better_it_is(right: int, choice: str) -> None:
    """The right passage of all other questions is nowhere in what was found."""
    base = TWO
    evidence = expecting(40, lambda number: "p02" if number < right else "p99")
    found = recommend(sweep(evidence, base, [Axis("top_k", (1, 2, 3))]), base)
    assert (found.choice, found.tried) == (choice, 3)
    assert (found.config == base) == (choice == "too_poor")


def test_equal_quality_is_decided_by_fewer_steps() -> None:
    base = replace(BASE, grade_probe=False, top_k=2)
    evidence = expecting(30, lambda _: "p00", base)
    found = recommend(sweep(evidence, base, [Axis("top_k", (1, 2))]), base)
    assert (found.config.top_k, found.choice) == (1, "cheaper")
    assert (found.verdict, found.cost_verdict) == ("not_distinguishable", "better")
    assert found.tied == 2


def test_equal_quality_and_cost_are_decided_by_closeness_to_the_defaults() -> None:
    base = TWO
    axes = [Axis("similarity_threshold", (0.6, 0.35, 0.1)), Axis("top_k", (3,))]
    found = recommend(sweep(hidden(40, better=15), base, axes), base)
    assert (found.config.similarity_threshold, found.choice) == (0.35, "closer_to_defaults")
    assert distance_to_defaults(found.config) < distance_to_defaults(replace(found.config, similarity_threshold=0.6))


def rejected_or_dropped(questions: int) -> Evidence:
    """A right passage that the grader rejects by a hair, and another one below the similarity threshold."""
    search = ((0, 0.9), (1, 0.8), (2, 0.2))
    verdicts = (Verdict(True, 0.9, "yes"), Verdict(False, 0.55, "no"), Verdict(True, 0.9, "yes"))
    record = run_in(World((search,) * 4, verdicts, ("new",) * 4), BASE)
    names = [f"case-{number}" for number in range(questions)]
    expected = (Expectation("passage", "p01"), Expectation("passage", "p02"))
    return gather([Case(name, "?", expected, answerable=True) for name in names], dict.fromkeys(names, record))


def test_what_lets_rejected_passages_in_is_recommended_last_and_counts_them() -> None:
    evidence, lower = rejected_or_dropped(30), Axis("min_confidence", (0.45, 0.5))
    both = recommend(sweep(evidence, BASE, [lower, Axis("similarity_threshold", (0.1, 0.3))]), BASE)
    assert (both.config.min_confidence, both.config.similarity_threshold) == (0.5, 0.1)
    assert (both.rejected, both.rejected_before) == (0, 0)
    alone = recommend(sweep(evidence, BASE, [lower]), BASE)
    assert (alone.config.min_confidence, alone.rejected, alone.rejected_before) == (0.45, 30, 0)


def test_the_baseline_stays_where_nothing_is_gained() -> None:
    base = TWO
    found = recommend(sweep(hidden(30, better=0), base, [Axis("top_k", (2, 3))]), base)
    assert (found.config, found.choice, found.verdict) == (base, "baseline_stays", "not_distinguishable")
    assert found.quality_test.p == found.p_corrected == 1.0


@hypothesis_settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_nothing_shown_prefers_a_setting_whose_worse_end_is_worse(data: st.DataObject) -> None:
    """BE-01: order and colours, the front, the recommendation and its verdicts, over evidence of any kind."""
    base = data.draw(settings())
    found = {f"case-{number}": data.draw(worlds()) for number in range(6)}
    made = [data.draw(cases(name)) for name in found]
    evidence = gather(made, {name: run_in(world, base) for name, world in found.items() if data.draw(st.booleans())})
    swept = sweep(evidence, base, [Axis("similarity_threshold", (0.0, 0.3, 0.7)), Axis("min_relevant", (1, 2, 6))])
    evaluation, before = swept.evaluation, evaluate(evidence, [base])
    for measure in MEASURES:
        figures = evaluation.figures(measure)
        proven = -figures.worse if measure in LOWER_IS_BETTER else figures.worse
        heat = swept.heat(measure, "similarity_threshold", "min_relevant").figures
        assert sorted(map(str, heat.worse.ravel())) == sorted(map(str, figures.worse))
        verdicts = [evaluation.paired(measure, 0, other).verdict for other in range(len(swept.configs))]
        for other, verdict in enumerate(verdicts):
            if verdict == "better":
                assert proven[other] >= proven[0]
            if verdict == "worse":
                assert proven[other] <= proven[0]
    quality, steps = evaluation.figures("quality"), evaluation.figures("steps")
    for other in range(len(swept.configs)):
        compared = changes_between(evidence, evaluation, 0, other).test.verdict
        if compared != "not_distinguishable":
            worse, better = (0, other) if compared == "better" else (other, 0)
            assert quality.lower[better] > quality.upper[worse] - 1e-9
    line = front(swept).settings
    for setting in line:
        dearer_or_no_better = (quality.lower <= quality.lower[setting] + 1e-9) | (
            steps.upper > steps.upper[setting] - 1e-9
        )
        assert dearer_or_no_better[swept.possible].all()
    if not len(evidence):
        return
    pick = recommend(swept, base)
    lower = pick.quality.lower
    was = before.figure("quality").lower
    assert lower is not None and was is not None
    assert lower >= was - 1e-9, "what is recommended proves no less than what is in use"
    if pick.verdict == "better":
        assert lower > was
    if pick.cost_verdict == "better":
        dearest, used = pick.steps.upper, before.figure("steps").lower
        assert dearest is not None and used is not None and dearest <= used
    if pick.setting is not None:
        assert can_pass(pick.config) or pick.config == base


def with_figures(swept: Sweep, **measured: Measured) -> Sweep:
    """The sweep with other figures by question and setting."""
    whole = swept.evaluation
    measures = {name: measured.get(name, own) for name, own in whole.measures.items()}
    return replace(swept, evaluation=replace(whole, measures=measures))


def test_the_cheapest_of_equal_settings_is_so_by_its_worse_end() -> None:
    """One seems to take a single step, because thirty of its forty questions are not known."""
    base = TWO
    swept = sweep(hidden(40, better=0), base, [Axis("top_k", (1, 2, 3))])
    unknown = np.zeros((40, 3), dtype=np.bool_)
    unknown[10:, 0] = True
    steps = np.where(unknown, 0.0, np.array([[1.0, 9.0, 2.0]]))
    seeming = Measured(steps, (~unknown).astype(float), unknown, np.zeros((40, 3)), np.where(unknown, 50.0, 0.0))
    found = recommend(with_figures(swept, steps=seeming), base)
    assert (found.config.top_k, found.choice, found.cost_verdict) == (3, "cheaper", "better")
    known = recommend(with_figures(swept, steps=Measured(np.ones((40, 3)) * [1.0, 9.0, 2.0], np.ones((40, 3)))), base)
    assert known.config.top_k == 1


def test_no_setting_is_named_the_cheapest_equal_one_that_does_worse_than_what_is_in_use() -> None:
    """Two fewer right than the best is within chance where six questions differ, and still one fewer than before."""
    base = TWO
    swept = sweep(hidden(40, better=3), base, [Axis("top_k", (1, 3))])
    quality = np.ones((40, 2))
    quality[[0, 1, 4, 5], 0] = quality[[2, 3], 1] = 0.0
    steps = np.ones((40, 2)) * [0.5, 99.0]
    measures = {"quality": Measured(quality, np.ones((40, 2))), "steps": Measured(steps, np.ones((40, 2)))}
    found = recommend(with_figures(swept, **measures), base)
    assert (found.config, found.choice) == (base, "baseline_stays")


def test_a_setting_with_one_question_known_of_twelve_reads_as_a_wide_interval_and_is_on_no_front() -> None:
    """Similarity 1.00 and 17 passages that must pass: eleven unknown, one rightly refused."""
    cases_, records = questions(12, BASE)
    alone = [replace(case, answerable=False, expected=()) if place == 0 else case for place, case in enumerate(cases_)]
    nothing_found = World(((),), (), ("failed",))
    records["case-0"] = replace(run_in(nothing_found, BASE), id=RunId("run-0"))
    wide = replace(BASE, similarity_threshold=1.0, min_relevant=17, max_rewrites=5)
    axes = [Axis("similarity_threshold", (0.1, 0.3, 1.0)), Axis("min_relevant", (1, 17))]
    swept = sweep(gather(alone, records), replace(BASE, max_rewrites=5), axes)
    setting = swept.configs.index(wide)
    quality = swept.evaluation.figure("quality", setting)
    assert (quality.value, quality.known_n, quality.n) == (None, 1, 12)
    assert quality.lower == pytest.approx(1 / 12) and quality.upper == 1.0
    figures = swept.evaluation.figures("quality")
    assert not figures.mostly_known[setting]
    assert figures.worse[setting] == figures.worse.min()
    assert setting not in front(swept).settings
    assert recommend(swept, BASE).config != wide


@pytest.mark.parametrize(
    ("config", "possible"),
    [
        (replace(BASE, gate="min_relevant", min_relevant=6, top_k=5, context="last_round"), False),
        (replace(BASE, gate="min_relevant", min_relevant=5, top_k=5, context="last_round"), True),
        (replace(BASE, gate="min_relevant", min_relevant=17, top_k=5, max_rewrites=3, context="union"), True),
        (replace(BASE, gate="min_relevant", min_relevant=17, top_k=5, max_rewrites=2, context="union"), False),
        (replace(BASE, gate="pass_rate", min_relevant=17, top_k=5, context="last_round"), True),
    ],
)
def test_a_gate_that_no_round_can_meet_is_no_result(config: RunConfig, possible: bool) -> None:
    assert can_pass(config) is possible
    swept = sweep(evidence_of(8, BASE), config, [Axis("similarity_threshold", (0.1, 0.3))])
    assert swept.possible.tolist() == [possible, possible]
    assert bool(front(swept).settings) is possible


def test_nothing_gathered_recommends_the_baseline_and_says_n_0() -> None:
    found = recommend(sweep(gather([], {}), BASE, [Axis("top_k", (1, 2))]), BASE)
    assert (found.config, found.n, found.quality.value, found.verdict) == (BASE, 0, None, "not_distinguishable")
    assert found.expected_on_new is None
    assert front(sweep(gather([], {}), BASE, [Axis("top_k", (1, 2))])).settings == ()
