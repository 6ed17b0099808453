"""The tab *Scores*: every measure in four folded groups, and how the questions end, before and after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, draw, fold, node, table
from components.common.outcomes import NOTES, OUTCOMES, end_mark, outcome_text
from components.sentences.measured import figure_text, sampling_text
from engine.evaluation.anytime import Drawn, anytime_of
from engine.evaluation.figures import ANSWERED, Evaluation
from engine.evaluation.measures import MEASURES, OF_PASSAGES, Measure
from engine.messages import N_
from engine.model.values import AnswerNote, Outcome
from pages.parts.tune.judge import judge_passages
from pages.parts.tune.tiles import AFTER, BEFORE, change_text
from pages.parts.tune.vega import ACCENT, GREY, LEGEND_BELOW, draw_chart, layer, number, text
from pages.parts.tune.vega import count as counted

GROUPS: Mapping[str, tuple[Measure, ...]] = {
    N_("Answers"): (
        *("answered_right", "wrong_given", "exact_match", "f1", "containment", "citation_precision"),
        *("unsupported_given", "supported_sentences"),
        *("citation_recall", "claim_recall", "faithfulness", "refused_unanswerable", "answered_answerable"),
        "refused_answerable",
    ),
    N_("Passages"): ("quality", "context_hit", "context_hit_all", "recall", "rr", "ndcg"),
    N_("Grader and rewrites"): (
        *("pass_rate", "grader_precision", "grader_recall", "rewrites", "false_rewrites", "missed_rewrites"),
    ),
    N_("Cost and time"): ("steps", "calls", "left_to_grader", "built_in_calls", "seconds"),
}
_NOTES: Mapping[AnswerNote, str] = {
    "cannot_tell": N_("{n} recorded answers say that they cannot tell."),
    "uncited": N_("{n} recorded answers name no source."),
    "unsupported": N_("{n} recorded answers are not supported."),
    "unchecked": N_("{n} recorded answers are not checked in full."),
}
_SIDES = ((BEFORE, N_("Baseline")), (AFTER, N_("Now")))
_BAR = {"type": "bar", "cornerRadius": 3}


def view(
    evaluation: Evaluation,
    notes: Mapping[AnswerNote, int],
    words: Words,
    *,
    key: str,
    so_far: Drawn | None = None,
) -> None:
    """Draw the groups; ``notes`` counts what is to be said of the recorded answers.

    While a batch is running, the intervals say where the figures will end, and changes are not shown yet.
    """
    groups = [_group(name, evaluation, words, so_far) for name in GROUPS]
    draw([item for item in groups if item is not None], words, key=key)
    said = [words(_NOTES[note], n=n) for note, n in sorted(notes.items())]
    if so_far is not None:
        said.append(words("While questions run, each interval says where its figure will end, whenever you look."))
    if by_file := by_file_text(evaluation, words):
        said.append(by_file)
        judge_passages(words, key=f"{key}_judge")
    if said:
        st.caption(words.joined(said))
    label = f"{words('Outcomes')} · {words('Pass rate, last round')}"
    with st.expander(label, key=f"{key}_bars", on_change="rerun") as bars:
        if bars.open:
            outcome_bars(evaluation, words, key=f"{key}_outcomes")
            pass_rate_bars(evaluation, words, key=f"{key}_rates")


def _group(name: str, evaluation: Evaluation, words: Words, so_far: Drawn | None) -> Node | None:
    rows = [row for measure in GROUPS[name] for row in _rows(measure, evaluation, words, so_far)]
    if not rows:
        return None
    heads = [words("Measure"), *(words(name) for _, name in _SIDES), words("Change"), "95 %"]
    parts = [table("flips", heads, rows, numbers=(1, 2, 4))]
    if "f1" in GROUPS[name] and evaluation.figure("f1", AFTER).n:
        said = words("F1 counts shared words: a right answer that quotes a whole sentence scores low.")
        parts.append(node("p", "muted small", said))
    return fold(name, words(name), *parts)


def _rows(
    measure: Measure, evaluation: Evaluation, words: Words, so_far: Drawn | None
) -> Iterator[tuple[Node | str, ...]]:
    """One row, or none where no question is about the measure."""
    before, after = (evaluation.figure(measure, side) for side in (BEFORE, AFTER))
    if before.n == after.n == 0:
        return
    interval = evaluation.interval(measure, AFTER) if so_far is None else anytime_of(evaluation, measure, AFTER, so_far)
    known = words("known for {known} of {n}", known=after.known_n, n=after.n)
    name = node("span", "", words(MEASURES[measure].name), node("p", "muted small", words(MEASURES[measure].help)))
    yield (
        name,
        figure_text(measure, before, words),
        node("span", "", figure_text(measure, after, words), title=known),
        "" if so_far is not None else change_text(evaluation, measure, words)[0],
        "" if interval is None else sampling_text(measure, interval.low, interval.high).removeprefix("95 %: "),
    )


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


def outcome_bars(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """Draw the outcomes before and after as two stacked bars; questions without a usable run failed on both sides."""
    labels = _labels(words)
    rows = outcome_rows(evaluation, words)
    present = [label for label in labels if any(row["outcome"] == label for row in rows)]
    scale = {"domain": present, "range": [labels[label] for label in present]}
    bars = layer(
        rows,
        _BAR,
        x=counted("count", words("questions")),
        y=text("side", sort=None, axis={"labelLimit": 160}),
        color=text("outcome", scale=scale, legend=LEGEND_BELOW),
        order=number("order"),
        tooltip=[text("outcome", words("Outcomes")), number("count", words("questions"))],
    )
    draw_chart(bars, key=key, title=words("Outcomes"), height=220)


def outcome_rows(evaluation: Evaluation, words: Words) -> list[dict[str, str | int]]:
    """Count by side and label; an answer that is not supported stands by itself, and not with the good ones."""
    order = list(_labels(words))
    rows: list[dict[str, str | int]] = []
    for side, name in _SIDES:
        counts: Counter[str] = Counter()
        for (outcome, note), count in evaluation.outcome_counts(side).items():
            counts[outcome_label(outcome, words, note)] += count
        counts[outcome_label("failed", words)] += len(evaluation.failed)
        rows += [
            {"side": words(name), "outcome": label, "count": counts[label], "order": place}
            for place, label in enumerate(order)
            if counts[label]
        ]
    return rows


def _labels(words: Words) -> dict[str, str]:
    """Every label with its colour, from the best end to what is not known."""
    answered = [outcome for outcome in OUTCOMES if outcome in ANSWERED]
    ends: list[tuple[Outcome | None, AnswerNote]] = [(outcome, "") for outcome in answered]
    ends += [(outcome, note) for outcome in answered for note in NOTES]
    ends += [(outcome, "") for outcome in OUTCOMES if outcome not in ANSWERED] + [(None, "")]
    return {outcome_label(outcome, words, note): end_mark(outcome, note).colour for outcome, note in ends}


def pass_rate_bars(evaluation: Evaluation, words: Words, *, key: str) -> None:
    """Draw the distribution of the last round's pass rates, before and after."""
    rows = []
    for side, name in _SIDES:
        counts, edges = np.histogram(evaluation.pass_rates(side), bins=10, range=(0.0, 1.0))
        rates = [f"{low:.1f}–{high:.1f}" for low, high in pairwise(edges)]
        rows += [
            {"side": words(name), "rate": rate, "count": int(count)} for rate, count in zip(rates, counts, strict=True)
        ]
        if unknown := evaluation.figure("pass_rate", side).unknown_n:
            rows.append({"side": words(name), "rate": words("unknown"), "count": unknown})
    bars = layer(
        rows,
        _BAR,
        x={
            **text("rate", words("pass rate"), sort=None),
            "type": "ordinal",
            "axis": {"labelAngle": 0, "labelFlush": False},
        },
        xOffset=text("side", sort=None),
        y=counted("count", words("questions")),
        color=text("side", sort=None, scale={"range": [GREY, ACCENT]}, legend=LEGEND_BELOW),
        tooltip=[text("rate", words("pass rate")), number("count", words("questions"))],
    )
    draw_chart(bars, key=key, title=words("Pass rate, last round"), height=330)


def outcome_label(outcome: Outcome | None, words: Words, note: AnswerNote = "") -> str:
    return words("unknown") if outcome is None else outcome_text(outcome, words, note)
