"""The grid is ``what_if`` many times over: SC-02 to SC-07 and SC-10."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.errors import InvalidConfig
from engine.model.config import (
    ContextPolicy,
    Expand,
    GatePolicy,
    Mode,
    Options,
    RoleModel,
    RoleModels,
    RunConfig,
    SearchMethod,
)
from engine.model.config.role_models import Reasons
from engine.model.decide import Evidence, decide, passed_ids
from engine.model.events import fold_all
from engine.model.values import Decision, Fork, Outcome, PassageId, RunId, RunRecord, Verdict
from engine.replay import WhatIf, what_if
from engine.replay.grid import at_once, paths
from engine.replay.settings import GAPS, OUTCOMES, REASONS, ROUTES, STATES, Paths, SettingsGrid
from engine.replay.table import RunTable, run_table
from tests.engine.strategies import fractions
from tests.engine.whatif.world import SCORING, World, recordings, run_in, settings, variations, worlds
from tests.support.recorded import recorded_run

WORLD = World(
    found=(((0, 0.6), (1, 0.5), (2, 0.4), (3, 0.2)), (), (), ()),
    verdicts=(
        Verdict(True, 0.9, "yes"),
        Verdict(False, 0.9, "no"),
        Verdict(True, 0.8, "yes"),
        Verdict(True, 0.7, "yes"),
    ),
    rewriting=("new", "repeated", "repeated", "repeated"),
)


def facts(found: WhatIf, table: RunTable) -> dict[str, object]:
    """What a what-if says, in the words of :class:`Paths`."""
    last = found.decisions[-1] if found.decisions else None
    where = {name: index for index, name in enumerate(table.passages)}
    given_ids = {passage.id for passage in found.passages}
    kept_ids = {passage.id for passage in found.steps[-1].round.kept} if found.steps else set()
    first = [
        next(
            (
                index
                for index, step in enumerate(found.steps)
                if any(place in table.met[where[name]] for name in passed_ids(step.round, found.config))
            ),
            -1,
        )
        for place in range(table.expectations)
    ]

    def met(ids: set[PassageId]) -> list[bool]:
        return [any(place in table.met[where[name]] for name in ids) for place in range(table.expectations)]

    return {
        "state": found.state,
        "gap": found.gap,
        "outcome": found.outcome,
        "route": last.route if last else None,
        "reason": last.reason if last else None,
        "round": len(found.steps) - 1,
        "rewrites": found.rewrites,
        "passed": last.passed if last else 0,
        "kept": last.kept if last else 0,
        "pass_rate": last.pass_rate if last else 0.0,
        "calls": found.cost.calls,
        "built_in_calls": found.cost.built_in_calls,
        "seconds": None if found.cost.seconds is None else round(found.cost.seconds, 6),
        "context": given_ids,
        "given": met(given_ids),
        "found": met(kept_ids),
        "first_given": first,
    }


def facts_at(every: Paths, place: int) -> dict[str, object]:
    def named(codes: tuple[str, ...], code: int) -> str | None:
        return codes[code] if code >= 0 else None

    seconds = float(every.seconds[place])
    return {
        "state": STATES[every.state[place]],
        "gap": named(GAPS, every.gap[place]),
        "outcome": named(OUTCOMES, every.outcome[place]),
        "route": named(ROUTES, every.route[place]),
        "reason": named(REASONS, every.reason[place]),
        "round": every.round[place],
        "rewrites": every.rewrites[place],
        "passed": every.passed[place],
        "kept": every.kept[place],
        "pass_rate": every.pass_rate[place],
        "calls": every.calls[place],
        "built_in_calls": every.built_in_calls[place],
        "seconds": None if math.isnan(seconds) else round(seconds, 6),
        "context": set(every.context_ids(place)),
        "given": every.given[place].tolist(),
        "found": every.found[place].tolist(),
        "first_given": every.first_given[place].tolist(),
    }


def table_of(record: RunRecord) -> RunTable:
    """With an expectation that every third passage meets, and one that only a few meet."""
    names = {item.passage.id for current in record.rounds for item in current.candidates}
    met = {name: tuple(place for place in range(2) if int(name[1:]) % (place + 3) == 0) for name in names}
    return run_table(record, met, expectations=2)


@hypothesis_settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_a_grid_says_of_every_setting_what_a_what_if_of_it_says(data: st.DataObject) -> None:
    """SC-02, SC-03, SC-04, SC-05, SC-06, SC-07, SC-10: runs of any ending, with every fault that a record can show."""
    recorded = run_in(data.draw(worlds()), data.draw(recordings()))
    table = table_of(recorded)
    assert table.plain
    base = data.draw(variations(recorded.config))
    configs = [base, *(data.draw(settings(base)) for _ in range(4))]
    every = paths(table, SettingsGrid.of(configs))
    for place, config in enumerate(configs):
        assert facts_at(every, place) == facts(what_if(recorded, config), table), config


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_a_run_whose_rewriter_inputs_cannot_be_made_again_is_replayed_one_by_one(outcome: Outcome) -> None:
    """SC-06, SC-10: the fixtures' hashes are made up, so nothing may be concluded from them."""
    recorded = fold_all(recorded_run(2, outcome))
    table = run_table(recorded)
    grid = SettingsGrid.product(recorded.config, {"top_k": [1, 5, 7], "grade_pass_threshold": [0, 0.2, 1]})
    every = paths(table, grid)
    assert not table.plain
    for place in range(len(grid)):
        assert facts_at(every, place) == facts(what_if(recorded, grid.config(place)), table)


def test_a_branch_is_replayed_one_by_one() -> None:
    """SC-10: its first rounds stand as another run had them."""
    recorded = fold_all(recorded_run(0))
    branch = replace(recorded, fork=Fork(RunId("run-0")))
    assert run_table(recorded).plain
    assert not run_table(branch).plain
    grid = SettingsGrid.product(recorded.config, {"grade_pass_threshold": [0.2, 0.6, 1]})
    assert paths(run_table(branch), grid).outcome.tolist() == paths(run_table(recorded), grid).outcome.tolist()


@dataclass(frozen=True, slots=True)
class _Wider(RunConfig):
    """A config with a setting that no part of the arrays has heard of."""

    least_kept: int = 0


def _stricter(evidence: Evidence, config: RunConfig) -> Decision:
    """The policy, made to obey the new setting: with fewer passages kept than that, the run is refused."""
    made = decide(evidence, config)
    short = made.kept < getattr(config, "least_kept", 0)
    return replace(made, route="end", reason="grader_failed") if short else made


@pytest.mark.parametrize("recorded_with", [0, 4])
def test_a_setting_that_the_arrays_do_not_know_is_replayed_and_never_overlooked(
    recorded_with: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-04, SC-10: whether the run had it already or only the what-if does, the grid says what the replay says."""
    monkeypatch.setattr("engine.workflows.steps.grade.decide", _stricter)
    recorded = replace(run_in(WORLD, RunConfig()), config=_Wider(least_kept=recorded_with))
    table = table_of(recorded)
    grid = SettingsGrid.product(_Wider(least_kept=4), {"similarity_threshold": [0.1, 0.3, 0.5]})
    every = paths(table, grid)
    assert [facts_at(every, place)["reason"] for place in range(3)] != ["passed"] * 3
    for place in range(3):
        assert facts_at(every, place) == facts(what_if(recorded, grid.config(place)), table)


def test_every_field_of_a_config_is_modelled_or_replayed() -> None:
    """SC-10: a run or a what-if that gives any other field a value of its own is not tried in arrays."""
    table = run_table(run_in(WORLD, RunConfig()))
    assert at_once(table, RunConfig())
    assert at_once(table, RunConfig(top_k=3, gate="min_relevant", budget_s=5, answer_unverified=True))
    assert not at_once(table, _Wider(least_kept=1))
    assert not at_once(table, RunConfig(workflow="quality_loop"))


_MODEL = st.sampled_from([RoleModel(), RoleModel("ollama:other")])
ANY_VALUE: dict[str, st.SearchStrategy[Any]] = {
    "workflow": st.just("self_corrective"),
    "collection": st.sampled_from(["samples", "other"]),
    "milvus_address": st.sampled_from(["", "http://127.0.0.1:19530"]),
    "mode": st.sampled_from(get_args(Mode)),
    "search": st.sampled_from(get_args(SearchMethod)),
    "top_k": st.integers(1, 20),
    "similarity_threshold": fractions,
    "grade_pass_threshold": fractions,
    "max_rewrites": st.integers(0, 5),
    "min_confidence": fractions,
    "gate": st.sampled_from(get_args(GatePolicy)),
    "min_relevant": st.integers(1, 20),
    "cascade": st.booleans(),
    "cascade_low": st.just(0.0),
    "cascade_high": st.just(1.0),
    "needs_whole": st.booleans(),
    "split": st.booleans(),
    "translate": st.booleans(),
    "context": st.sampled_from(get_args(ContextPolicy)),
    "answer_unverified": st.booleans(),
    "refine": st.booleans(),
    "sentence_threshold": fractions,
    "min_support": fractions,
    "expand": st.sampled_from(get_args(Expand)),
    "probe_k": st.integers(1, 40),
    "grade_probe": st.booleans(),
    "reasons": st.sampled_from(get_args(Reasons)),
    "ignore_cache": st.booleans(),
    "budget_s": st.sampled_from([1.0, 60.0, 120.0, 600.0]),
    "models": st.builds(
        RoleModels,
        **{item.name: _MODEL for item in fields(RoleModels)} | {"screener": st.sampled_from([RoleModel(), SCORING])},
    ),
    "options": st.just(Options()),
}
"""By field of a config: any value of it. A field that is new stands here before the grid may be asked about it."""


@hypothesis_settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_a_grid_around_any_config_says_what_a_what_if_of_it_says(data: st.DataObject) -> None:
    """SC-10: whichever fields run and what-if differ in, those that no array models among them."""
    assert set(ANY_VALUE) == {item.name for item in fields(RunConfig)}
    recorded = run_in(data.draw(worlds()), data.draw(recordings()))
    names = data.draw(st.lists(st.sampled_from(sorted(ANY_VALUE)), min_size=1, max_size=6, unique=True))
    config = replace(recorded.config, **{name: data.draw(ANY_VALUE[name]) for name in names})
    table = table_of(recorded)
    grid = SettingsGrid.product(config, {"similarity_threshold": [0.2, 0.45], "top_k": [2, 6]})
    every = paths(table, grid)
    for place in range(len(grid)):
        assert facts_at(every, place) == facts(what_if(recorded, grid.config(place)), table), grid.config(place)


@pytest.mark.parametrize("change", [{"collection": "other"}, {"mode": "local"}])
def test_another_search_is_never_guessed(change: dict[str, str]) -> None:
    """SC-10: settings that search elsewhere need calls from the start."""
    recorded = fold_all(recorded_run(1))
    base = replace(recorded.config, **change)  # type: ignore[arg-type]
    every = paths(run_table(recorded), SettingsGrid.of([base]))
    assert facts_at(every, 0)["state"] == "needs_calls"
    assert facts_at(every, 0)["gap"] == "retrieval"


def test_a_table_can_be_pickled_and_says_the_same() -> None:
    table = table_of(run_in(WORLD, RunConfig(grade_pass_threshold=0.9)))
    grid = SettingsGrid.product(RunConfig(), {"similarity_threshold": [0.0, 0.3, 0.5]})
    thawed = pickle.loads(pickle.dumps(table))
    assert [facts_at(paths(thawed, grid), place) for place in range(3)] == [
        facts_at(paths(table, grid), place) for place in range(3)
    ]


def test_a_table_names_what_each_place_of_a_ranking_meets() -> None:
    table = table_of(run_in(WORLD, RunConfig()))
    names = [table.passages[place] for place in range(len(table.passages))]
    assert names == ["p00", "p01", "p02", "p03"]
    assert table.met_by_rank(0) == [(0, 1), (), (), (0,)]
    assert table.ids(table.rounds[0].kept) == ("p00", "p01", "p02")


def test_a_product_runs_its_last_axis_fastest_and_rounds_as_a_config_does() -> None:
    """SC-08"""
    grid = SettingsGrid.product(RunConfig(), {"top_k": [1, 2.0], "similarity_threshold": [0.1, 0.30000000001]})
    assert [(grid.config(i).top_k, grid.config(i).similarity_threshold) for i in range(len(grid))] == [
        (1, 0.1),
        (1, 0.3),
        (2, 0.1),
        (2, 0.3),
    ]
    assert grid.config(3) == RunConfig(top_k=2, similarity_threshold=0.3)


def test_a_grid_refuses_what_is_no_column_what_is_out_of_range_and_configs_that_differ_elsewhere() -> None:
    """SC-08"""
    with pytest.raises(ValueError, match="no column 'budget_s'"):
        SettingsGrid.product(RunConfig(), {"budget_s": [1]})
    with pytest.raises(InvalidConfig):
        SettingsGrid.product(RunConfig(), {"top_k": [0]})
    with pytest.raises(ValueError, match="columns alone"):
        SettingsGrid.of([RunConfig(), RunConfig(probe_k=5)])
    with pytest.raises(ValueError, match="at least one"):
        SettingsGrid.of([])
