"""Replaying records under other settings: one at a time, and over a grid."""

from __future__ import annotations

import random
from collections.abc import Iterator

from engine.model.config import RunConfig
from engine.model.values import RunRecord, Verdict
from engine.replay import what_if
from engine.replay.decision_boundaries import Sweep
from engine.replay.decision_map import decision_map
from engine.replay.grid import paths
from engine.replay.settings import SettingsGrid
from engine.replay.table import run_table
from tests.benchmarks.harness import Bench, Row, in_turn, ratio
from tests.engine.whatif.world import World, run_in

_DEPTH = 20
_PASSAGES = 60
_STEPS = [place / _DEPTH for place in range(_DEPTH)]


def what_ifs(bench: Bench) -> Iterator[Row]:
    """One what-if, a grid of 400 settings over many runs, a decision map and the decision boundaries."""
    records = _records(min(bench.sizes.swept, 50))
    tables = [run_table(record) for record in records]
    # Beyond these the runs repeat: what a grid costs does not depend on having seen a run before.
    times = max(1, bench.sizes.swept // len(tables))
    base = RunConfig()
    thresholds = SettingsGrid.product(base, {"similarity_threshold": _STEPS, "grade_pass_threshold": _STEPS})
    depths = SettingsGrid.product(base, {"top_k": range(1, 21), "similarity_threshold": _STEPS})
    chosen = [thresholds.config(place) for place in range(0, len(thresholds), 57)]

    def grid(settings: SettingsGrid, rounds: int = 1) -> None:
        for _ in range(rounds):
            for table in tables:
                paths(table, settings)

    def one_by_one() -> None:
        for record in records:
            for config in chosen:
                what_if(record, config)

    repeats = bench.sizes.repeats
    single_ms, grid_ms = in_turn(one_by_one, lambda: grid(thresholds), repeats=repeats)
    each_ms = [taken / (len(records) * len(chosen)) for taken in single_ms]
    yield Row("what-if of one run", "ms", tuple(each_ms), "< 1 ms")
    swept_ms = [taken / (len(records) * len(thresholds)) for taken in grid_ms]
    yield ratio("one setting of a grid / one what-if", swept_ms, each_ms)
    for name, settings in (("similarity × pass threshold", thresholds), ("top_k × similarity", depths)):
        (taken,) = in_turn(lambda settings=settings: grid(settings, times), repeats=max(2, repeats // 5))  # type: ignore[misc]
        figures = tuple(item / 1000.0 for item in taken)
        yield Row(f"{times * len(tables)} runs × {len(settings)} settings, {name}", "s", figures, "< 1 s")
    (built,) = in_turn(lambda: [run_table(record) for record in records], repeats=repeats)
    yield Row("table of one run", "ms", tuple(taken / len(records) for taken in built))
    (drawn,) = in_turn(lambda: _map(records[0]), repeats=repeats)
    yield Row("decision map of 101 × 101 settings", "ms", drawn, "< 50 ms")
    (boundaries,) = in_turn(lambda: Sweep(run_table(records[0]), records[0].config).boundaries(), repeats=repeats)
    yield Row("decision boundaries", "ms", boundaries)


def _map(record: RunRecord) -> object:
    return decision_map(record, record.config, "similarity_threshold", "grade_pass_threshold")


def _records(count: int) -> list[RunRecord]:
    """Runs of one to four rounds over twenty candidates each."""
    chance = random.Random(3)
    return [run_in(_world(chance), RunConfig()) for _ in range(count)]


def _world(chance: random.Random) -> World:
    relevant = chance.choice((0.1, 0.3, 0.6))
    verdicts = [Verdict(chance.random() < relevant, chance.choice((0.5, 0.7, 0.8, 0.95)), "") for _ in range(_PASSAGES)]
    found = tuple(
        tuple(
            zip(
                chance.sample(range(_PASSAGES), _DEPTH),
                sorted((round(chance.random() * 0.7, 4) for _ in range(_DEPTH)), reverse=True),
                strict=True,
            )
        )
        for _ in range(4)
    )
    return World(found, tuple(verdicts), ("new",) * 4)
