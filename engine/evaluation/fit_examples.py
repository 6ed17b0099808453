"""Corrections of a chat grader as examples in its prompt, kept only where they help on questions without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

from engine.errors import WorkbenchError
from engine.evaluation.fitting import COMPARED, Subject, Trial, rejudged
from engine.evaluation.grader_bench import Pair, figures
from engine.evaluation.noise import Patient
from engine.model.config import RunConfig
from engine.model.grader_fit import GraderFit, taught_by
from engine.model.language import same_wording
from engine.model.values import Fault, Passage, PassageId, RunRecord, Verdict
from engine.roles import Grader

MOST = 6
"""Examples in a prompt: small models forget the rules before longer ones."""
LEAST = 20
"""Judgements of other questions without which nothing can be said of the examples."""
LEAST_EACH = 5
LONGEST = 800
"""Characters of a passage that an example shows."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A judgement that contradicts the grader's verdict."""

    pair: Pair
    passage: Passage


@dataclass(frozen=True, slots=True)
class Plan:
    """Split of corrections into examples and a trial set."""

    examples: tuple[Correction, ...]
    corrections: int
    """All that there are."""
    held_out: tuple[tuple[Pair, Passage], ...]
    """Labelled pairs of questions that give no example, by question."""

    @property
    def missing(self) -> tuple[int, int, int]:
        """Minimum still needed on the other questions: judgements in all, relevant ones, and others."""
        relevant = sum(bool(pair.label) for pair, _ in self.held_out)
        wanted = (LEAST - len(self.held_out), LEAST_EACH - relevant, LEAST_EACH - (len(self.held_out) - relevant))
        most, yes, no = (max(0, item) for item in wanted)
        return max(most, yes + no), yes, no

    def fit(self, subject: Subject) -> GraderFit:
        """The examples as a run applies them, without figures."""
        examples = [
            {
                "question": item.pair.question,
                "above": item.passage.above,
                "passage": item.passage.text[:LONGEST],
                "relevant": bool(item.pair.label),
            }
            for item in self.examples
        ]
        return GraderFit(
            "examples", subject.model, subject.collection, {"examples": examples}, judgements=len(examples)
        )


def plan_of(graded: Sequence[Pair], records: Mapping[str, RunRecord], cut: float) -> Plan:
    """Choose the examples: of each question the verdict that is furthest off, wrong yes and wrong no by turns.

    Only a person's judgement or a data set's label counts, none assumed. Passages are those of the runs; ``records``
    go by case id.
    """
    known: dict[str, Mapping[PassageId, Passage]] = {}
    usable: list[tuple[Pair, Passage]] = []
    for pair in graded:
        if pair.label is None or pair.p_relevant is None or pair.label_source == "assumed":
            continue
        passages = known.setdefault(pair.case_id, records[pair.case_id].passages)
        if pair.passage_id in passages:
            usable.append((pair, passages[pair.passage_id]))
    wrong = [Correction(pair, passage) for pair, passage in usable if pair.passes(cut) != pair.label]
    examples = _chosen(wrong)
    shown = {same_wording(item.pair.question) for item in examples}
    rest = [item for item in usable if same_wording(item[0].question) not in shown]
    return Plan(examples, len(wrong), tuple(sorted(rest, key=lambda item: item[0].question)))


def _chosen(wrong: Sequence[Correction]) -> tuple[Correction, ...]:
    by_question: dict[str, Correction] = {}
    for item in sorted(wrong, key=lambda one: (-_distance(one.pair), one.pair.question, one.pair.passage_id)):
        by_question.setdefault(item.pair.question, item)
    missed = [item for item in by_question.values() if item.pair.label]
    let_through = [item for item in by_question.values() if not item.pair.label]
    # Half of each as far as there are any.
    most = min(MOST, max(1, len(by_question) // 2))
    half = max(most - len(let_through), min(len(missed), (most + 1) // 2))
    return (*missed[:half], *let_through[: most - len(missed[:half])])


def _distance(pair: Pair) -> float:
    return abs((pair.p_relevant or 0.0) - float(bool(pair.label)))


async def try_examples(
    grader: Grader, plan: Plan, subject: Subject, note: Callable[[int], None] | None = None
) -> tuple[Trial | None, Fault | None]:
    """Judge the held-out pairs with a grader that has the examples, and compare.

    ``note`` gets the number judged. None next to the fault that ended it early; a verdict that could not be read
    counts as wrong, so that it never speaks for the examples.
    """
    verdicts: list[Verdict] = []
    for question, items in groupby(plan.held_out, key=lambda item: item[0].question):
        try:
            verdicts += await grader.grade(question, [passage for _, passage in items], Patient())
        except WorkbenchError as error:
            return None, Fault.of(error)
        if note is not None:
            note(len(verdicts))
    pairs = [pair for pair, _ in plan.held_out]
    before = figures(pairs, subject.cut)
    unread = [float(not pair.label) for pair in pairs]
    chances = [item.reach if item.relevant is not None else wrong for item, wrong in zip(verdicts, unread, strict=True)]
    after = figures(rejudged(pairs, chances), subject.cut)
    compared = {name: (getattr(before, name), getattr(after, name)) for name in COMPARED}
    # Those that it was tried on decided whether to use it.
    asked = (*pairs, *(item.pair for item in plan.examples))
    fit = replace(
        plan.fit(subject), figures=compared, questions=tuple(sorted({taught_by(pair.question) for pair in asked}))
    )
    return Trial(fit, before, after, len({pair.question for pair in pairs})), None


class ExamplesSource(Protocol):
    """Makes graders that have no cache; see :class:`engine.running.resources.Resources`."""

    async def fresh_grader(self, config: RunConfig, fit: GraderFit | None = None) -> Grader: ...
