"""The cards over a query set: each figure, its change against the settings compared, and whether it is significant."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.common.markup import draw, figure, node
from components.common.phrases import duration_text
from engine.evaluation.answers import BASES, Basis
from engine.evaluation.anytime import Drawn, anytime_of
from engine.evaluation.figures import Evaluation, Figure
from engine.evaluation.measures import MEASURES, OF_PASSAGES, Measure
from engine.evaluation.statistics import Interval, PairedTest
from engine.messages import N_, NC_

_BASES: dict[Basis | None, str] = {
    "gold": N_("by gold answers for {n} questions"),
    "judgement": N_("by people's judgements of the answer for {n}"),
    "passage": N_("by the passages given for {n}"),
    "refusal": N_("by refusing for {n} that cannot be answered"),
    None: N_("not at all for {n} without a label"),
}

BEFORE, AFTER = 0, 1
"""Columns of an evaluation of two settings: those compared with, and those under test."""


@dataclass(frozen=True, slots=True)
class Card:
    label: str
    value: str
    note: str
    look: str = "muted"
    help: str = ""


def tune_figures(evaluation: Evaluation, words: Words, *, key: str, so_far: Drawn | None = None) -> None:
    """Draw the five cards of an evaluation of the two settings.

    ``so_far`` is how far the batch has come that is still running: then each card says where its figure will end.
    """
    drawn = (
        figure(card.label, card.value, card.note, note_look=f"num {card.look}", title=card.help)
        for card in cards_of(evaluation, words, so_far)
    )
    draw((node("div", "figures", *drawn),), words, key=key)


def cards_of(evaluation: Evaluation, words: Words, so_far: Drawn | None = None) -> tuple[Card, ...]:
    """Build the cards: right answers, waste, refusals if any is due, cost, time.

    Gold answers decide what ends right, else the passages given; without labels
    by whether there was an answer.
    """
    read, labelled, refusals = (
        evaluation.figure(measure, AFTER).n > 0 for measure in ("containment", "context_hit", "refused_unanswerable")
    )
    exact = not evaluation.by_file or evaluation.figure("false_rewrites", AFTER).n > 0
    calls = evaluation.figure("calls", AFTER).upper != 0
    chosen: tuple[Measure, ...] = (
        "answered_right" if read else "context_hit" if labelled else "quality",
        "wrong_given" if read else "false_rewrites" if labelled and exact else "rewrites",
        "refused_unanswerable" if refusals else "quality" if labelled else "pass_rate",
        "calls" if calls else "steps",
        "seconds",
    )
    return tuple(_card(evaluation, measure, words, so_far) for measure in chosen)


def basis_text(evaluation: Evaluation, words: Words) -> str:
    """Describe how *answered right* is decided under the settings under test, and for how many questions.

    Empty where there is neither a gold answer nor a judgement of an answer.
    """
    by = evaluation.right_by
    recorded, codes = by.recorded[:, AFTER], by.basis[:, AFTER]
    if not np.isin(codes, [BASES.index("gold"), BASES.index("judgement")]).any():
        return ""
    counts: Counter[Basis | None] = Counter(BASES[code] if code >= 0 else None for code in codes[recorded])
    told = [words(_BASES[basis], n=counts[basis]) for basis in _BASES if counts[basis]]
    said = [words("Answered right is judged {by}.", by=words(", ").join(told))] if told else []
    if not (missing := int((~recorded).sum())):
        return words.joined(said)
    more = words.count(
        "Of 1 question no answer is recorded under these settings.",
        "Of {n} questions no answer is recorded under these settings.",
        missing,
    )
    return words.joined([*said, more])


def test_of(evaluation: Evaluation, measure: Measure) -> PairedTest:
    """The paired test of the settings under test against those compared, question by question."""
    return evaluation.paired(measure, BEFORE, AFTER)


def value_text(measure: Measure, value: float | None) -> str:
    """A number in the unit of its measure; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if measure == "seconds":
        return duration_text(value * 1000.0)
    return f"{value:.{MEASURES[measure].digits}f}"


def figure_text(measure: Measure, figure: Figure, words: Words) -> str:
    """The value, or its bounds while questions are unknown, such as ``0.08–1.00``; a dash where none is due."""
    if figure.lower is None:
        return "–"
    lower = value_text(measure, figure.lower)
    if not figure.unknown_n:
        return lower
    if figure.upper is None:
        return words("{lower} or more", lower=lower)
    upper = value_text(measure, figure.upper)
    return lower if lower == upper else f"{lower}–{upper}"


def known_text(figure: Figure, words: Words) -> str:
    """On how many questions of its population a figure rests."""
    return words("known for {known} of {n}", known=figure.known_n, n=figure.n)


def sampling_text(measure: Measure, low: float, high: float) -> str:
    """The interval of sampling error: other questions of the same kind might have said as much."""
    return f"95 %: {value_text(measure, low)}–{value_text(measure, high)}"


def p_text(p: float) -> str:
    """``p = 0.031``; below a thousandth that it is below."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def measures_table(evaluation: Evaluation, words: Words, *, key: str, so_far: Drawn | None = None) -> None:
    """Every measure before and after, with its sampling error and how many questions it is known for.

    While a batch is running, the interval is where the figure will end, and changes are not shown yet.
    """
    if so_far is not None:
        st.caption(
            words(
                "While questions run, each interval says where its figure will end once all have, and holds no matter "
                "when or how often you look; changes are told at the end."
            )
        )
    rows = []
    for measure in MEASURES:
        before, after = (evaluation.figure(measure, side) for side in (BEFORE, AFTER))
        if before.n == after.n == 0:
            continue
        interval = _interval(evaluation, measure, so_far)
        rows.append(
            {
                words(NC_("tuning", "Measure")): words(MEASURES[measure].name),
                words("Before"): figure_text(measure, before, words),
                words("After"): figure_text(measure, after, words),
                words("Change"): "" if so_far is not None else _change(evaluation, measure, words)[0],
                words("Sampling error"): ""
                if interval is None
                else sampling_text(measure, interval.low, interval.high),
                words("Known"): f"{after.known_n} / {after.n}",
                words("What it is"): words(MEASURES[measure].help),
            }
        )
    st.dataframe(rows, hide_index=True, key=key, width="stretch", height="content")


def by_file_text(evaluation: Evaluation, words: Words) -> str:
    """Explain which measures omit questions whose labels name whole files, and why; empty if there are none."""
    if not evaluation.by_file:
        return ""
    left_out = words(", ").join(words(MEASURES[name].name) for name in MEASURES if name in OF_PASSAGES)
    return words.count(
        "The labels of 1 question name files, and not which of their passages is right: {left_out} leave it out, and "
        "{recall} counts the best passage of a file once. Judged passages are measured in the tab of the grader.",
        "The labels of {n} questions name files, and not which of their passages is right: {left_out} leave them out, "
        "and {recall} counts the best passage of a file once. Judged passages are measured in the tab of the grader.",
        evaluation.by_file,
        left_out=left_out,
        recall=words(MEASURES["grader_recall"].name),
    )


def _interval(evaluation: Evaluation, measure: Measure, so_far: Drawn | None) -> Interval | None:
    if so_far is None:
        return evaluation.interval(measure, AFTER)
    return anytime_of(evaluation, measure, AFTER, so_far)


def _at_the_end(evaluation: Evaluation, measure: Measure, so_far: Drawn, words: Words) -> str:
    """Project a figure to the end of all questions."""
    interval = anytime_of(evaluation, measure, AFTER, so_far)
    if interval is None:
        return words("n = {n} so far", n=evaluation.figure(measure, AFTER).n)
    low, high = value_text(measure, interval.low), value_text(measure, interval.high)
    return words("{low} – {high} at the end", low=low, high=high)


def _card(evaluation: Evaluation, measure: Measure, words: Words, so_far: Drawn | None = None) -> Card:
    label = words(MEASURES[measure].card)
    help_text = words(MEASURES[measure].help)
    figure = evaluation.figure(measure, AFTER)
    if figure.lower is None:
        none = measure == "false_rewrites" and evaluation.figure("rewrites", AFTER).value == 0
        return Card(label, "–", words("no rewrites at all" if none else "no question can tell"), help=help_text)
    value = figure_text(measure, figure, words)
    if measure == "refused_unanswerable":
        ends = [round((end or 0.0) * figure.n) for end in (figure.lower, figure.upper)]
        value = f"{'–'.join(map(str, dict.fromkeys(ends)))} / {figure.n}"
    elif measure == "seconds":
        value = figure_text(measure, evaluation.quantile(measure, 0.5, AFTER), words)
    if so_far is not None:
        # A test of the change would mislead anyone who looks at it again and again.
        return Card(label, value, _at_the_end(evaluation, measure, so_far, words), help=help_text)
    note, look = _change(evaluation, measure, words)
    if measure == "seconds" and note.startswith(("▲", "▼")):
        # The value next to it is a median.
        note = words("{change} on average", change=note)
    if interval := evaluation.interval(measure, AFTER):
        help_text = f"{help_text} {sampling_text(measure, interval.low, interval.high)}"
    return Card(label, value, note, look, help_text)


def _change(evaluation: Evaluation, measure: Measure, words: Words) -> tuple[str, str]:
    """Describe the changes on the questions known on both sides, then the number of unknown ones."""
    test = test_of(evaluation, measure)
    said, look = _paired(evaluation, measure, test, words)
    if not test.unknown:
        return said, look
    return " · ".join(part for part in (said, words("{n} unknown", n=test.unknown)) if part), look


def _paired(evaluation: Evaluation, measure: Measure, test: PairedTest, words: Words) -> tuple[str, str]:
    if test.n == 0 or test.difference is None:
        # Nothing is known on both sides: how many are unknown says it all.
        return ("" if test.unknown else words("n = {n}", n=evaluation.figure(measure, AFTER).n)), "muted"
    change = test.difference.value
    if test.gained == test.lost == 0:
        if test.unknown:
            return words.count("Same on 1 question", "Same on {n} questions", test.n), "muted"
        # A share of what only some questions have can move although those that have it on both sides are the same.
        sides = [evaluation.figure(measure, side) for side in (BEFORE, AFTER)]
        before, after = (figure_text(measure, side, words) for side in sides)
        if before == after:
            return words("= as compared"), "muted"
        return words(
            "{before} as compared (n = {before_n}, now {after_n}); the same on the {n} of both",
            before=before,
            before_n=sides[BEFORE].n,
            after_n=sides[AFTER].n,
            n=test.n,
        ), "muted"
    if test.verdict == "not_distinguishable":
        return words("not distinguishable (n = {n})", n=test.n), "muted"
    half = (test.difference.high - test.difference.low) / 2
    sign = "▲" if change > 0 else "▼"
    text = f"{sign} {value_text(measure, abs(change))} (±{value_text(measure, half)})"
    return text, "pass" if test.verdict == "better" else "warn"


def failures_list(failed: Sequence[tuple[str, str]], words: Words, *, key: str) -> None:
    """Questions whose run ended in an error, each with what happened."""
    items = [node("li", "", node("span", "sign warn", "!"), node("strong", "", who), f" {why}") for who, why in failed]
    draw((node("ul", "report", *items),), words, key=key)
