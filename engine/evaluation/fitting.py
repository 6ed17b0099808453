"""Fitting of a grader to a collection's judgements, and its benefit on held-out ones.

Folds are by question, so that no question is on both sides. A fit helps where, on the folds left out, neither agreement
(κ) nor error (Brier) is worse than before and one of them is better.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from engine.evaluation.grader_bench import GraderFigures, Pair, figures
from engine.model.grader_fit import FitKind, GraderFit, taught_by
from engine.model.language import same_wording

FOLDS = 5
LEAST = 40
"""Judgements without which nothing is fitted."""
LEAST_EACH = 10
"""Of them relevant, and as many not relevant."""
LEAST_QUESTIONS = FOLDS
COMPARED = ("kappa", "auc", "brier", "ece")
"""Figures that a fit keeps, before and after."""
_DIGITS = 9


class Item(Protocol):
    """A labelled pair with what a kind of grader bases P(relevant) on."""

    @property
    def pair(self) -> Pair: ...


ItemT = TypeVar("ItemT", bound=Item)
SeenT_contra = TypeVar("SeenT_contra", bound=Item, contravariant=True)


class Method(Protocol[SeenT_contra]):
    """Way to fit a kind of grader."""

    kind: FitKind

    def shipped(self, items: Sequence[SeenT_contra]) -> Sequence[float]:
        """P(relevant) of each pair without a fit."""
        ...

    def learn(self, items: Sequence[SeenT_contra]) -> dict[str, Any]:
        """Fit to these pairs and return JSON values; both labels occur among them."""
        ...

    def chances(self, data: Mapping[str, Any], items: Sequence[SeenT_contra]) -> Sequence[float]:
        """P(relevant) of each pair by what was learnt."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """A fit, and what it does on judgements that it has not seen."""

    fit: GraderFit | None
    """None where there are too few judgements."""
    before: GraderFigures
    """The grader without a fit, on the same pairs."""
    after: GraderFigures | None
    questions: int

    @property
    def helps(self) -> bool:
        """True if neither agreement nor error is worse than before, and one of them better; examples must raise κ."""
        old, new = self.before, self.after
        if new is None or old.kappa is None or new.kappa is None or old.brier is None or new.brier is None:
            return False
        if self.fit is not None and self.fit.kind == "examples":
            return new.kappa > old.kappa + 1e-9
        gains = (new.kappa - old.kappa, old.brier - new.brier)
        return min(gains) > -1e-9 and max(gains) > 1e-9


@dataclass(frozen=True, slots=True)
class Judgements:
    """Number of labelled pairs available."""

    n: int
    relevant: int
    questions: int

    @property
    def missing(self) -> tuple[int, int, int, int]:
        """Minimum still needed: judgements in all, relevant ones, others, and questions."""
        others = self.n - self.relevant
        wanted = (LEAST - self.n, LEAST_EACH - self.relevant, LEAST_EACH - others, LEAST_QUESTIONS - self.questions)
        most, yes, no, asked = (max(0, item) for item in wanted)
        return max(most, yes + no), yes, no, asked


def judgements(graded: Iterable[Pair]) -> Judgements:
    """Count the labelled pairs with a readable verdict."""
    usable = [pair for pair in graded if pair.label is not None and pair.p_relevant is not None]
    questions = {same_wording(pair.question) for pair in usable}
    return Judgements(len(usable), sum(bool(pair.label) for pair in usable), len(questions))


@dataclass(frozen=True, slots=True)
class Subject:
    """Grader and collection of a fit."""

    model: str
    """The grader, as a config names it without a fit."""
    collection: str
    cut: float
    """From which P(relevant) on a verdict passes, for κ."""


def trial(method: Method[ItemT], items: Sequence[ItemT], subject: Subject) -> Trial:
    """Fit to all pairs, with figures of fits that had not seen the pairs they are of."""
    before = figures(rejudged([item.pair for item in items], method.shipped(items)), subject.cut)
    there = judgements(item.pair for item in items)
    found = Trial(None, before, None, there.questions)
    if any(there.missing):
        return found
    after = _held_out(method, items)
    if after is None:
        return found
    improved = figures(rejudged([item.pair for item in items], after), subject.cut)
    fit = GraderFit(
        method.kind,
        subject.model,
        subject.collection,
        method.learn(items),
        judgements=len(items),
        assumed=before.assumed_n,
        questions=tuple(sorted({taught_by(item.pair.question) for item in items})),
        figures={name: (getattr(before, name), getattr(improved, name)) for name in COMPARED},
    )
    return Trial(fit, before, improved, there.questions)


def _held_out(method: Method[ItemT], items: Sequence[ItemT]) -> list[float] | None:
    """P(relevant) of each pair by a fit to the other folds; None where a fold leaves one label alone to learn from."""
    found = [0.0] * len(items)
    for places in folds([item.pair.question for item in items], FOLDS):
        out = frozenset(places)
        rest = [item for place, item in enumerate(items) if place not in out]
        if len({item.pair.label for item in rest}) < 2:
            return None
        chances = method.chances(method.learn(rest), [items[place] for place in places])
        for place, chance in zip(places, chances, strict=True):
            found[place] = chance
    return found


def folds(questions: Sequence[str], count: int) -> list[list[int]]:
    """Places by fold; all of a question, however spaced, are in one, which depends on the questions alone."""
    spelt = {same_wording(text): text for text in sorted(questions, reverse=True)}
    order = sorted(spelt, key=lambda name: hashlib.sha256(spelt[name].encode(errors="replace")).digest())
    fold_of = {name: place % count for place, name in enumerate(order)}
    folded = [fold_of[same_wording(text)] for text in questions]
    made = [[place for place, fold in enumerate(folded) if fold == number] for number in range(count)]
    return [places for places in made if places]


def half_of(graded: Sequence[Pair]) -> list[Pair]:
    """The pairs of every other question: a fit to them leaves the rest for what is to be guaranteed."""
    return [graded[place] for places in folds([pair.question for pair in graded], 2)[:1] for place in places]


def rejudged(pairs: Sequence[Pair], chances: Sequence[float]) -> list[Pair]:
    """The pairs as a grader would have judged them that says these chances; below 0 it said none."""
    return [
        replace(pair, p_relevant=max(0.0, chance), reach=round(chance, _DIGITS))
        for pair, chance in zip(pairs, chances, strict=True)
    ]
