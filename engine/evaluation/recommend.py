"""Recommend a setting of a sweep, and say how sure it is that it differs from the one in use.

The best of many settings looks good partly by luck, because it was picked on the questions that it is judged on. Four
things keep this honest: every unknown question counts at the worse end, its p-value is corrected for every setting that
was tried, its quality is measured once more on questions that had no part in the pick, and only what the corrected test
tells from the baseline is called better. Else a setting is at most the cheapest of equal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from engine.evaluation.aggregate import evaluate, on_one_grid
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import Evaluation, Figure, ratio
from engine.evaluation.measures import Measure
from engine.evaluation.statistics import (
    SEED,
    Interval,
    PairedTest,
    Verdict,
    corrected_p,
    mcnemar,
    paired_means,
    with_correction,
)
from engine.evaluation.sweep import Sweep
from engine.model.config import PARAMETERS, RunConfig
from engine.replay.grid import paths
from engine.replay.masks import FloatArray, IntArray, column, counted
from engine.replay.settings import SettingsGrid
from engine.replay.table import RunTable

Aim = Literal["quality", "answered_right"]
"""What a setting is to do well: find and answer, or answer right (:data:`figures.Measure`)."""
Choice = Literal["best", "cheaper", "closer_to_defaults", "baseline_stays", "too_poor"]
"""Why a setting was picked. ``best``: none does as well. Of those too close to call, ``cheaper``: it takes the
fewest steps; ``closer_to_defaults``: several take as few; ``baseline_stays``: the baseline is one of these, or nothing
tells the pick from it, neither its quality nor its cost.
``too_poor``: none reaches :data:`QUALITY_FLOOR`, so none is recommended."""
QUALITY_FLOOR = 0.3
"""Share of the questions that a setting must do well on to be recommended: below it the best of many is luck."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One setting of a sweep, and how sure it is, on these questions, that it differs from the baseline."""

    setting: int | None
    """Index in the sweep; None where the pick is the baseline, which need not be one of the sweep's settings."""
    config: RunConfig
    choice: Choice
    n: int
    """Gathered questions, the failed ones left out."""
    unknown_n: int
    """Of these, questions whose path under the pick is not known."""
    tried: int
    """Settings of the sweep that were compared: those whose gate a round can meet."""
    tied: int
    """Of these, how many cannot be distinguished from the best one."""
    quality: Figure
    steps: Figure
    seconds: Figure
    """Of the pick."""
    quality_interval: Interval | None
    """Sampling error; None while a question is unknown."""
    quality_test: PairedTest
    """Against the baseline: McNemar's exact test on questions known under both, the others counted against it."""
    p_corrected: float
    """The same for the best of ``tried`` settings: without it, the luckiest of many would seem better."""
    verdict: Verdict
    """On quality, by the greater of the two p-values."""
    cost_verdict: Verdict
    """On steps: ``better`` means fewer."""
    expected_on_new: float | None
    """Quality of the best setting on questions that had no part in picking it (out-of-bag bootstrap: picked on each
    resample, measured on the questions it left out; unknown ones count as bad); None under 20 questions. Lower than
    ``quality`` where the pick owes something to luck."""
    rejected: int = 0
    """Passages, over all questions, that the pick gives to the generator although the grader called them not relevant;
    where it is not known what would be given, all that might be."""
    rejected_before: int = 0
    """The same under the baseline."""
    aim: Aim = "quality"
    """What ``quality`` and its tests are of."""
    never_corrects: bool = False
    """The pick never rewrites a query, and the baseline does."""

    @property
    def better(self) -> bool:
        """True if the pick is measurably better than the baseline, and not merely equal and cheaper."""
        return self.verdict == "better"


MIN_LEFT_OUT = 20
"""Questions from which on some can be left out of the pick to judge it."""
_PICKS = 200
"""Resamples for the quality on new questions."""


def recommend(swept: Sweep, baseline: RunConfig, aim: Aim = "quality") -> Recommendation:
    """The setting that does best by ``aim``; among those not significantly worse, the one with the fewest steps.

    Both go by their worse ends: an unknown question counts as a bad one, and as one that takes the most steps, so that
    nothing is recommended for what is not known of it. Two settings count as different once the better one's net gain
    of questions reaches one standard error (McNemar's chi-squared of at least 1): a setting is not given up for a
    cheaper one that loses questions and gains none. Nothing is picked that does worse than the baseline. What gives the
    generator more rejected passages than the baseline comes after all that does not. Equal cost is decided by closeness
    to the defaults. The baseline takes part, and stays where no other one is cheaper.
    """
    before = evaluate(swept.evidence, [baseline], cutoff=swept.evaluation.cutoff)
    field = _Field(swept, before, aim)
    pick, choice, tied = field.pick()
    verdict, cost_verdict = field.verdict(pick), field.cost_verdict(pick)
    gains = choice == "best" and field.share(pick) > field.share(field.baseline)
    if choice != "too_poor" and not (gains or "better" in (verdict, cost_verdict)):
        pick, choice = field.baseline, "baseline_stays"
    stays = pick == field.baseline
    config = baseline if stays else swept.configs[pick]
    evaluation, column = (before, 0) if stays else (swept.evaluation, pick)
    rejected, rejected_before = rejected_given(swept.evidence, [config, baseline])
    return Recommendation(
        setting=_place(swept, config) if stays else pick,
        config=config,
        choice="baseline_stays" if stays and choice != "too_poor" else choice,
        n=len(swept.evidence),
        unknown_n=int(evaluation.unknown_n[column]),
        tried=field.tried,
        tied=tied,
        aim=aim,
        quality=evaluation.figure(aim, column),
        steps=evaluation.figure("steps", column),
        seconds=evaluation.figure("seconds", column),
        quality_interval=evaluation.interval(aim, column),
        quality_test=field.test(pick),
        p_corrected=field.corrected(aim, pick),
        verdict="not_distinguishable" if stays else verdict,
        cost_verdict="not_distinguishable" if stays else cost_verdict,
        expected_on_new=field.expected_on_new(),
        rejected=int(rejected),
        rejected_before=int(rejected_before),
        never_corrects=config.max_rewrites == 0 < baseline.max_rewrites,
    )


class _Field:
    """The settings of a sweep side by side, with the baseline as one more column at the end."""

    def __init__(self, swept: Sweep, before: Evaluation, aim: Aim) -> None:
        self.swept = swept
        self.aim = aim
        self.before = before
        self.baseline = len(swept.configs)
        known = bool(swept.evaluation.figures(aim).n.any())
        self.usable = np.append(swept.possible & known, known)
        parts = [item.figures(aim).worse for item in (swept.evaluation, before)]
        self.shares: FloatArray = np.nan_to_num(np.concatenate(parts))
        """The worse end of the aim [S + 1]; 0 where nothing can be said."""
        self.columns: dict[str, FloatArray] = {}
        self.tried = int(self.usable[:-1].sum())

    def of(self, measure: Measure) -> FloatArray:
        """Values by question and setting [N, S + 1]; NaN where not known."""
        if measure not in self.columns:
            parts = [item.measures[measure] for item in (self.swept.evaluation, self.before)]
            self.columns[measure] = np.concatenate([ratio(part.total, part.weight) for part in parts], axis=1)
        return self.columns[measure]

    def unknown(self, measure: Measure, pick: int) -> int:
        """Questions that are unknown under the pick or under the baseline."""
        parts = [item.measures[measure] for item in (self.swept.evaluation, self.before)]
        sides = [part.unknown[:, [place]] for part, place in zip(parts, (pick, 0), strict=True)]
        return int((sides[0] | sides[1]).sum()) + parts[1].lost_n

    def pick(self) -> tuple[int, Choice, int]:
        """The column to take, why, and how many settings of the sweep do not differ significantly from the best."""
        if not self.usable.any():
            return self.baseline, "baseline_stays", 0
        proven = np.nan_to_num(self.of(self.aim))
        reached = proven.sum(axis=0)
        total = np.where(self.usable, reached, -np.inf)
        best = int(np.argmax(total))
        gained = (proven[:, [best]] > proven).sum(axis=0)
        lost = (proven[:, [best]] < proven).sum(axis=0)
        indistinguishable = self.usable & (((gained - lost) ** 2 < gained + lost) | (gained + lost == 0))
        # What proves more than a setting that does not differ from the best is not worse than it.
        near = self.usable & (total >= max(float(total[indistinguishable].min()), float(reached[self.baseline])) - 1e-9)
        n_tied = int(near[:-1].sum())
        if self.shares[self.usable].max() < QUALITY_FLOOR:
            return self.baseline, "too_poor", n_tied
        tied = self._careful(np.flatnonzero(near))
        steps = self._most_steps()[tied]
        cheapest = tied[steps <= steps.min() + 1e-9]
        distances = np.array([self._distance(int(place)) for place in cheapest])
        closest = cheapest[distances <= distances.min() + 1e-9]
        if self.baseline in cheapest:
            return self.baseline, "baseline_stays", n_tied
        pick = int(closest[0])
        if total[pick] > np.delete(total, pick).max():
            return pick, "best", n_tied
        if len(cheapest) < len(tied):
            return pick, "cheaper", n_tied
        return pick, "closer_to_defaults" if len(closest) < len(cheapest) else "best", n_tied

    def test(self, pick: int) -> PairedTest:
        """The pick against the baseline on the aim."""
        values = self.of(self.aim)
        if pick == self.baseline:
            return mcnemar(values[:, pick], values[:, pick])
        return mcnemar(values[:, self.baseline], values[:, pick], self.unknown(self.aim, pick))

    def verdict(self, pick: int) -> Verdict:
        return with_correction(self.test(pick), self.corrected(self.aim, pick)).verdict

    def cost_verdict(self, pick: int) -> Verdict:
        """On steps, where unknown questions could not turn it: where the worse end of one is below the other's best."""
        if pick == self.baseline:
            return "not_distinguishable"
        steps = self.of("steps")
        test = paired_means(steps[:, self.baseline], steps[:, pick], lower_is_better=True)
        found = with_correction(test, self.corrected("steps", pick)).verdict
        own, other = self.swept.evaluation.figure("steps", pick), self.before.figure("steps")
        less, more = (own, other) if found == "better" else (other, own)
        apart = less.upper is not None and more.lower is not None and less.upper < more.lower
        return found if apart else "not_distinguishable"

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
        parts = [item.measures[self.aim].unknown for item in (self.swept.evaluation, self.before)]
        quality = np.where(np.concatenate(parts, axis=1), 0.0, self.of(self.aim))[:, self.usable]
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
        """Keep settings that give the generator no more rejected passages than the baseline; all where none does."""
        configs = [*self.swept.configs, self.before.configs[0]]
        given = rejected_given(self.swept.evidence, [configs[place] for place in (*places, self.baseline)])
        careful = places[given[:-1] <= given[-1]]
        return careful if careful.size else places

    def share(self, pick: int) -> float:
        return float(self.shares[pick])

    def _most_steps(self) -> FloatArray:
        """The worse end of the mean steps [S + 1]."""
        return np.concatenate([item.figures("steps").worse for item in (self.swept.evaluation, self.before)])

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


def rejected_given(evidence: Evidence, configs: Sequence[RunConfig]) -> IntArray:
    """Count the rejected passages that a setting gives to the generator, over all questions [S].

    Where a context is not known, all that might be in it.
    """
    total: IntArray = np.zeros(len(configs), dtype=np.int64)
    for item, places in product(evidence.gathered, on_one_grid(configs)):
        table = item.table.judged_by(configs[places[0]].models.grader)
        low = {bar for bar in {configs[i].min_confidence for i in places} if _passing(table, bar)}
        asked = [i for i in places if configs[i].answer_unverified or configs[i].min_confidence in low]
        if not asked:
            continue
        found = paths(table, SettingsGrid.of([configs[i] for i in asked]))
        given = counted(found.context & column(table.rejected))
        open_ = np.array([_passing(table, configs[i].min_confidence) for i in asked], dtype=np.int64)
        total[asked] += np.where(found.context_known, given, open_)
    return total


def _passing(table: RunTable, bar: float) -> int:
    """Rejected passages of a run that pass at a bar, kept or not."""
    passing = table.by_confidence[:, [int(np.searchsorted(table.levels, bar))]]
    return int(counted(passing & column(table.rejected))[0])
