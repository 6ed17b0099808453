"""Which setting of a sweep to take, and how sure it is that it differs from the one in use.

The best of many settings looks good partly by luck, because it was picked on the questions that it is judged on. Three
things keep this honest: its p-value is corrected for every setting that was tried, its quality is measured once more on
questions that had no part in the pick, and "not distinguishable" is said wherever the corrected test does not tell.
"""

from __future__ import annotations

import numpy as np

from engine.evaluation.aggregate import evaluate
from engine.evaluation.figures import Evaluation, Measure, ratio
from engine.evaluation.rejected import rejected_given
from engine.evaluation.statistics import SEED, corrected_p, mcnemar, paired_means, with_correction
from engine.evaluation.sweep_values import QUALITY_FLOOR, Choice, Recommendation, Sweep
from engine.model.config import PARAMETERS, RunConfig
from engine.replay.masks import BoolArray, FloatArray, IntArray

ENOUGH_KNOWN = 0.9
"""A setting is compared where it tells at least this share of the questions that the best known one tells."""
MIN_LEFT_OUT = 20
"""Questions from which on some can be left out of the pick to judge it."""
_PICKS = 200
"""Resamples for the quality on new questions."""


def enough_known(evaluation: Evaluation) -> BoolArray:
    """Settings [S] that tell the quality of enough questions to be compared with the others."""
    n = evaluation.n("quality")
    return np.asarray((n > 0) & (n >= ENOUGH_KNOWN * n.max(initial=0)))


def recommend(swept: Sweep, baseline: RunConfig) -> Recommendation:
    """The setting of best quality; among those not told apart from it the one with the fewest steps.

    An unknown answer counts as a bad one in the pick, so that nothing is recommended for what is not known of it. Two
    settings count as told apart once the better one's net gain of questions reaches one standard error (McNemar's
    chi-squared of at least 1): a setting is not given up for a cheaper one that loses questions and gains none. What
    gives the generator more rejected passages than the baseline comes after all that does not. Equal cost is decided
    by closeness to the defaults. The baseline takes part, and stays where no other one is cheaper.
    """
    before = evaluate(swept.evidence, [baseline], cutoff=swept.evaluation.cutoff)
    field = _Field(swept, before)
    pick, choice, tied = field.pick()
    stays = pick == field.baseline
    config = baseline if stays else swept.configs[pick]
    evaluation, column = (before, 0) if stays else (swept.evaluation, pick)
    quality = mcnemar(field.of("quality")[:, field.baseline], field.of("quality")[:, pick])
    steps = field.of("steps")
    fewer = paired_means(steps[:, field.baseline], steps[:, pick], lower_is_better=True)
    p_corrected = field.corrected("quality", pick)
    rejected, rejected_before = rejected_given(swept.evidence, [config, baseline])
    return Recommendation(
        setting=_place(swept, config) if stays else pick,
        config=config,
        baseline=baseline,
        choice="baseline_stays" if stays and choice != "too_poor" else choice,
        n=len(swept.evidence),
        unknown_n=int(evaluation.unknown_n[column]),
        tried=field.tried,
        tied=tied,
        quality=evaluation.interval("quality", column),
        steps=evaluation.interval("steps", column),
        seconds=evaluation.interval("seconds", column),
        quality_test=quality,
        p_corrected=p_corrected,
        verdict=with_correction(quality, p_corrected).verdict,
        cost_verdict=with_correction(fewer, field.corrected("steps", pick)).verdict,
        expected_on_new=field.expected_on_new(),
        rejected=int(rejected),
        rejected_before=int(rejected_before),
    )


class _Field:
    """The settings of a sweep side by side, with the baseline as one more column at the end."""

    def __init__(self, swept: Sweep, before: Evaluation) -> None:
        self.swept = swept
        self.before = before
        self.baseline = len(swept.configs)
        self.usable = np.append(enough_known(swept.evaluation), bool(before.n("quality")[0]))
        self.columns: dict[str, FloatArray] = {}
        self.tried = int(self.usable[:-1].sum())

    def of(self, measure: Measure) -> FloatArray:
        """Values by question and setting [N, S + 1]; NaN where not known."""
        if measure not in self.columns:
            parts = [item.measures[measure] for item in (self.swept.evaluation, self.before)]
            self.columns[measure] = np.concatenate([ratio(part.total, part.weight) for part in parts], axis=1)
        return self.columns[measure]

    def pick(self) -> tuple[int, Choice, int]:
        """The column to take, why, and how many settings of the sweep are not told apart from the best."""
        if not self.usable.any():
            return self.baseline, "baseline_stays", 0
        proven = np.nan_to_num(self.of("quality"))
        total = np.where(self.usable, proven.sum(axis=0), -np.inf)
        best = int(np.argmax(total))
        gained = (proven[:, [best]] > proven).sum(axis=0)
        lost = (proven[:, [best]] < proven).sum(axis=0)
        near = self.usable & (((gained - lost) ** 2 < gained + lost) | (gained + lost == 0))
        alike = int(near[:-1].sum())
        if np.where(self.usable, proven.mean(axis=0), 0.0).max() < QUALITY_FLOOR:
            return self.baseline, "too_poor", alike
        tied = self._careful(np.flatnonzero(near))
        more_steps = self._more_steps(tied, best)
        cheapest = tied[more_steps <= more_steps.min() + 1e-9]
        distances = np.array([self._distance(int(place)) for place in cheapest])
        closest = cheapest[distances <= distances.min() + 1e-9]
        if self.baseline in cheapest:
            return self.baseline, "baseline_stays", alike
        pick = int(closest[0])
        if total[pick] > np.delete(total, pick).max():
            return pick, "best", alike
        if len(cheapest) < len(tied):
            return pick, "cheaper", alike
        return pick, "closer_to_defaults" if len(closest) < len(cheapest) else "best", alike

    def corrected(self, measure: Measure, pick: int) -> float:
        """The p-value of the pick, corrected for all settings that were compared."""
        if pick == self.baseline:
            return 1.0
        compared = np.flatnonzero(self.usable)
        if pick not in compared:
            return 1.0
        values = self.of(measure)
        return float(corrected_p(values[:, self.baseline], values[:, compared])[np.flatnonzero(compared == pick)[0]])

    def expected_on_new(self) -> float | None:
        """Mean quality, on the questions that a resample left out, of the setting that is best on the resample."""
        quality = self.of("quality")[:, self.usable]
        n = len(quality)
        if n < MIN_LEFT_OUT or not quality.size:
            return None
        drawn = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=_PICKS)
        picks = np.argmax(drawn @ np.nan_to_num(quality), axis=1)
        left_out = np.where(drawn.T == 0, quality[:, picks], np.nan)
        counted = ~np.isnan(left_out)
        shares = np.nansum(left_out, axis=0)[counted.any(axis=0)] / counted.sum(axis=0)[counted.any(axis=0)]
        return float(shares.mean()) if len(shares) else None

    def _careful(self, places: IntArray) -> IntArray:
        """Those that give the generator no more rejected passages than the baseline; all where every one does."""
        configs = [*self.swept.configs, self.before.configs[0]]
        given = rejected_given(self.swept.evidence, [configs[place] for place in (*places, self.baseline)])
        careful = places[given[:-1] <= given[-1]]
        return careful if careful.size else places

    def _more_steps(self, places: IntArray, best: int) -> FloatArray:
        """Mean steps of each over those of the best, on the questions known under both."""
        steps = self.of("steps")
        difference = steps[:, places] - steps[:, [best]]
        counted = (~np.isnan(difference)).sum(axis=0)
        return np.where(counted > 0, np.nansum(difference, axis=0) / np.maximum(counted, 1), np.inf)

    def _distance(self, place: int) -> float:
        return distance_to_defaults(self.before.configs[0] if place == self.baseline else self.swept.configs[place])


def distance_to_defaults(config: RunConfig) -> float:
    """Sum over the settings of the distance to the default as a share of the range; 1 for another choice."""
    usual = RunConfig()
    numbers = sum(
        abs(getattr(config, name) - getattr(usual, name)) / (limits.high - limits.low)
        for name, limits in PARAMETERS.items()
    )
    return float(numbers) + (config.gate != usual.gate) + (config.context != usual.context)


def _place(swept: Sweep, config: RunConfig) -> int | None:
    return swept.configs.index(config) if config in swept.configs else None
