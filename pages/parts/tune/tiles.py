"""The four tiles of Tune: answered right, wrong answers, cost, and how much is known; they never change places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from components.common.i18n import Words
from components.common.markup import draw, figure, node
from components.sentences.measured import figure_text, sampling_text, value_text
from engine.evaluation.answers import BASES, Basis
from engine.evaluation.anytime import Drawn, anytime_of
from engine.evaluation.figures import ANSWERED, MOSTLY, Evaluation, Figure
from engine.evaluation.measures import MEASURES, Measure
from engine.messages import N_

BEFORE, AFTER = 0, 1
"""Columns of an evaluation of two settings: the baseline, and those under test."""
_BASES: dict[Basis | None, str] = {
    "gold": N_("by gold answers: {n}"),
    "judgement": N_("by people's labels: {n}"),
    "passage": N_("by the passages given: {n}"),
    "refusal": N_("by refusing what has no answer: {n}"),
    None: N_("not labelled: {n}"),
}


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: what it is, the number, and the change against the baseline."""

    label: str
    value: str
    note: str
    look: str = "muted"
    """Of the note."""
    help: str = ""
    alarm: bool = False
    """The value itself is a warning."""


def view(evaluation: Evaluation, words: Words, *, key: str, so_far: Drawn | None = None) -> None:
    """Draw the tiles; ``so_far`` is how far a batch has come that is still running."""
    drawn = (
        figure(
            item.label,
            item.value,
            item.note,
            look="warn" if item.alarm else "",
            note_look=f"num {item.look}",
            title=item.help,
        )
        for item in tiles_of(evaluation, words, so_far)
    )
    draw((node("div", "figures tiles", *drawn),), words, key=key)


def tiles_of(evaluation: Evaluation, words: Words, so_far: Drawn | None = None) -> tuple[Tile, Tile, Tile, Tile]:
    """Build the tiles; while a batch is running, their notes say where the figures will end."""
    return (
        _tile(evaluation, "answered_right", words("Answered right"), words, so_far),
        _tile(evaluation, "wrong_given", words("Wrong answers"), words, so_far),
        _tile(evaluation, "steps", words("Cost"), words, so_far),
        _known(evaluation, words),
    )


def known_n(evaluation: Evaluation) -> int:
    """Questions whose path, and whose answer as far as it has to be read, are known under the settings under test."""
    unknown = evaluation.measures["answered_right"].unknown[:, AFTER]
    return int((evaluation.path_known[:, AFTER] & ~unknown).sum())


def _tile(evaluation: Evaluation, measure: Measure, label: str, words: Words, so_far: Drawn | None) -> Tile:
    found = evaluation.figure(measure, AFTER)
    help_text = words.joined(_details(evaluation, measure, words))
    if found.lower is None:
        return Tile(label, "–", _nothing(evaluation, measure, words), help=help_text)
    value = _value(measure, found, words)
    if so_far is not None:
        # A test of the change would mislead anyone who looks at it again and again.
        return Tile(label, value, _at_the_end(evaluation, measure, so_far, words), help=help_text)
    note, look = change_text(evaluation, measure, words)
    return Tile(label, value, note, look, help_text)


def _value(measure: Measure, found: Figure, words: Words) -> str:
    """``7–9 of 12 · 2 unknown``; of a cost ``6.4 steps``."""
    if MEASURES[measure].kind == "cost":
        return words("{n} steps", n=figure_text(measure, found, words))
    ends = dict.fromkeys(round((end or 0.0) * found.n) for end in (found.lower, found.upper))
    value = words("{done} of {total}", done="–".join(map(str, ends)), total=found.n)
    return f"{value} · {words('{n} unknown', n=found.unknown_n)}" if found.unknown_n else value


def _nothing(evaluation: Evaluation, measure: Measure, words: Words) -> str:
    """What is known where no question can tell: how many were answered at all."""
    if measure == "wrong_given" and evaluation.figure("answered_right", AFTER).n:
        return words("no answer given")
    counts = evaluation.outcome_counts(AFTER)
    answered = sum(number for (outcome, _), number in counts.items() if outcome in ANSWERED)
    return words("no labels; {n} of {total} answered", n=answered, total=len(evaluation.case_ids))


def _details(evaluation: Evaluation, measure: Measure, words: Words) -> Iterator[str]:
    """What a tile says when it is pointed at: what it is, what decides it, and its sampling error."""
    yield words(MEASURES[measure].help)
    if measure == "answered_right":
        yield basis_text(evaluation, words)
    if interval := evaluation.interval(measure, AFTER):
        yield sampling_text(measure, interval.low, interval.high)


def basis_text(evaluation: Evaluation, words: Words) -> str:
    """By what *answered right* is decided under the settings under test, and for how many questions."""
    by = evaluation.right_by
    codes = by.basis[:, AFTER][by.recorded[:, AFTER]]
    counts: Counter[Basis | None] = Counter(BASES[code] if code >= 0 else None for code in codes)
    return words(", ").join(words(_BASES[basis], n=counts[basis]) for basis in _BASES if counts[basis])


def _known(evaluation: Evaluation, words: Words) -> Tile:
    known, total = known_n(evaluation), len(evaluation.case_ids) + len(evaluation.failed)
    path = int(evaluation.unknown_n[AFTER])
    unread = len(evaluation.case_ids) - known - path
    unknown = evaluation.measures["answered_right"].unknown & evaluation.path_known
    there = int((unknown & evaluation.right_by.recorded)[:, AFTER].sum())
    reasons = (
        (N_("{n} need more steps"), path),
        (N_("{n} answers not generated yet"), unread - there),
        (N_("{n} answers not labelled or not checked"), there),
        (N_("{n} failed"), len(evaluation.failed)),
    )
    note = " · ".join(words(text, n=n) for text, n in reasons if n) or words("Sliders call no model.")
    few = known < MOSTLY * total
    about = words("Questions whose outcome under these settings follows from the recorded runs.")
    return Tile(words("Known"), words("{done} of {total}", done=known, total=total), note, help=about, alarm=few)


def _at_the_end(evaluation: Evaluation, measure: Measure, so_far: Drawn, words: Words) -> str:
    """Project a figure to the end of all questions."""
    interval = anytime_of(evaluation, measure, AFTER, so_far)
    if interval is None:
        return words("n = {n} so far", n=evaluation.figure(measure, AFTER).n)
    low, high = value_text(measure, interval.low), value_text(measure, interval.high)
    return words("{low} – {high} at the end", low=low, high=high)


def change_text(evaluation: Evaluation, measure: Measure, words: Words) -> tuple[str, str]:
    """The change against the baseline on the questions known on both sides, and how it looks."""
    test = evaluation.paired(measure, BEFORE, AFTER)
    if test.n == 0 or test.difference is None:
        return words("unknown"), "muted"
    if test.gained == test.lost == 0:
        if test.unknown:
            return words.count("same on 1 question", "same on {n} questions", test.n), "muted"
        # A share of what only some questions have can move although those that have it on both sides are the same.
        before, after = (_value(measure, evaluation.figure(measure, side), words) for side in (BEFORE, AFTER))
        return words("same as baseline") if before == after else words("baseline: {value}", value=before), "muted"
    look = {"better": "pass", "worse": "warn"}.get(test.verdict, "muted")
    if MEASURES[measure].kind == "share":
        said = words("{better} better, {worse} worse", better=test.gained, worse=test.lost)
    else:
        moved = test.difference.value
        said = f"{'▲' if moved > 0 else '▼'} {value_text(measure, abs(moved))}"
    return said if look != "muted" else words("{change}, may be chance", change=said), look
