"""Upper bound of a question's cost under settings: the longest run within their limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

import numpy as np

from engine.evaluation.evidence import Evidence
from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.replay.cost import CostModel, cost_model
from engine.replay.masks import BoolArray, FloatArray
from engine.replay.table import RoundTable

_MEASURED = ("search", "grading", "screening", "rewrite", "generation", "checking")
"""Steps of which a run may have measured the time; nothing limits that of any other."""
_FREE = CostModel(search=Cost())
THRESHOLDS = (
    *("similarity_threshold", "grade_pass_threshold", "min_confidence", "min_relevant"),
    *("cascade_low", "cascade_high"),
)
"""Settings that choose among the ways of a run and make none of them longer: most of what a sweep tries."""
_limiting = attrgetter(*(item.name for item in fields(RunConfig) if item.name not in THRESHOLDS))


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """At most so much for one question."""

    rounds: FloatArray
    calls: FloatArray
    built_in_calls: FloatArray
    """[S]; infinite where no question was gathered, so that no prices are known."""
    seconds: FloatArray
    """[N, S]: by the times that each run measured itself; infinite where it measured no such step."""


def limits_of(evidence: Evidence, configs: Sequence[RunConfig]) -> Limits:
    """The longest runs of the gathered questions under each of the settings."""
    places: dict[object, int] = {}
    shares: list[RunConfig] = []
    place = []
    for config in configs:
        place.append(places.setdefault(_limiting(config), len(shares)))
        if place[-1] == len(shares):
            shares.append(config)
    found = _limits_of(evidence, shares)
    return Limits(found.rounds[place], found.calls[place], found.built_in_calls[place], found.seconds[:, place])


def _limits_of(evidence: Evidence, configs: Sequence[RunConfig]) -> Limits:
    rounds = np.array([workflow(config.workflow).rounds(config) for config in configs], dtype=np.float64)
    if not evidence.gathered:
        endless = np.full(len(configs), np.inf)
        return Limits(rounds, endless, endless, np.zeros((0, len(configs))))
    record = evidence.gathered[0].table.record
    prices: dict[object, CostModel] = {}
    longest = []
    for config in configs:
        key = (config.workflow, config.models, config.cascade)
        if key not in prices:
            prices[key] = cost_model(record, config)
        longest.append(prices[key].longest_run(config))
    return Limits(
        rounds,
        np.array([cost.calls for cost in longest], dtype=np.float64),
        np.array([cost.built_in_calls for cost in longest], dtype=np.float64),
        _seconds(evidence, configs),
    )


def repeatable(evidence: Evidence, configs: Sequence[RunConfig]) -> BoolArray:
    """[N, S]: what a run says of the steps of its rounds would hold of another run, too.

    Not where time ran out or its grader could not be reached: how far a round is judged then differs from run to run.
    """
    cut = [any(map(_cut_short(item.table.config), item.table.rounds)) for item in evidence.gathered]
    own = [[item.table.as_judged and item.table.config == config for config in configs] for item in evidence.gathered]
    return ~np.array(cut, np.bool_).reshape(-1, 1) | np.array(own, np.bool_).reshape(len(cut), len(configs))


def fetched_whole(evidence: Evidence, configs: Sequence[RunConfig]) -> BoolArray:
    """[N, S]: the searches of a run found all that is judged under a setting; False where deeper ones may find more."""
    found = [
        [not config.grade_probe or all(map(_reaching(config), item.table.rounds)) for config in configs]
        for item in evidence.gathered
    ]
    return np.array(found, np.bool_).reshape(len(found), len(configs))


def _reaching(config: RunConfig) -> Callable[[RoundTable], bool]:
    return lambda found: found.exhausted or found.depth >= config.fetch_k


def _cut_short(config: RunConfig) -> Callable[[RoundTable], bool]:
    def cut(found: RoundTable) -> bool:
        unjudged = found.searched and bool(found.left.any())
        late = found.over or found.left_out or found.ended_s >= config.budget_s
        return late or found.unreached or unjudged

    return cut


def _seconds(evidence: Evidence, configs: Sequence[RunConfig]) -> FloatArray:
    """Times of the longest run, by counting its steps and what each of them took in the question's own run."""
    total = np.zeros((len(evidence), len(configs)))
    for item in fields(CostModel):
        counts = _counts(item.name, configs)
        each = [
            [getattr(gathered.table, f"{item.name}_s") if item.name in _MEASURED else np.nan]
            for gathered in evidence.gathered
        ]
        total += _product(np.array(each, dtype=np.float64), counts)
    # Times of one model say nothing of another.
    kinds: dict[object, int] = {}
    own = [kinds.setdefault(gathered.table.config.models, len(kinds)) for gathered in evidence.gathered]
    wanted = [kinds.setdefault(config.models, len(kinds)) for config in configs]
    same = np.array(own)[:, None] == np.array(wanted)
    return np.where(same, total, np.inf)


def _counts(step: str, configs: Sequence[RunConfig]) -> FloatArray:
    """Count one kind of step in the longest run [S]: its price if one step took a second and all else none."""
    prices = replace(_FREE, **{step: Cost(seconds=1.0)})
    return np.array([prices.longest_run(config).seconds or 0.0 for config in configs], dtype=np.float64)


def _product(each_s: FloatArray, counts: FloatArray) -> FloatArray:
    """[N, S]; infinite where a step is taken that no time is known of."""
    return np.where(np.isnan(each_s), np.where(counts > 0, np.inf, 0.0), np.nan_to_num(each_s) * counts)
