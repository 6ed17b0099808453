"""Agreement of judges with each other and with a grader: Cohen's κ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from engine.evaluation.annotation.pairs import Judgement


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two who judged the same pairs."""

    first: str
    second: str
    n: int
    """Pairs that both judged."""
    same: int
    kappa: float | None
    """Cohen's: agreement beyond chance, 1 at most; None where both say the same of all."""


def agreements(
    said: Iterable[Judgement], graders: Mapping[str, Mapping[str, str]] | None = None
) -> tuple[Agreement, ...]:
    """Every two judges, and every judge with each of the ``graders``, who have a pair in common; by their names.

    ``graders``: what each says of pairs, by name and the pair's id. Two graders are not compared here.
    """
    by_judge: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for item in said:
        by_judge[item.judge][item.item_id] = item.said
    judges = sorted(by_judge)
    twos = [(one, other, by_judge[one], by_judge[other]) for one, other in combinations(judges, 2)]
    for name, verdicts in (graders or {}).items():
        twos += [(judge, name, by_judge[judge], dict(verdicts)) for judge in judges]
    found = (_agreement(*two) for two in twos)
    return tuple(item for item in found if item.n)


def kappa(pairs: Iterable[tuple[str, str]]) -> float | None:
    """Cohen's κ of two raters over any categories (Cohen 1960); None without pairs, or where chance agrees on all."""
    rated = list(pairs)
    if not rated:
        return None
    n = len(rated)
    same = sum(one == other for one, other in rated) / n
    names = {name for pair in rated for name in pair}
    chance = sum(
        (sum(one == name for one, _ in rated) / n) * (sum(other == name for _, other in rated) / n) for name in names
    )
    return None if chance >= 1.0 else (same - chance) / (1.0 - chance)


def _agreement(first: str, second: str, one: Mapping[str, str], other: Mapping[str, str]) -> Agreement:
    both = [(one[item], other[item]) for item in one if item in other]
    return Agreement(first, second, len(both), sum(a == b for a, b in both), kappa(both))
