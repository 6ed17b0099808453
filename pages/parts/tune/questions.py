"""The tab *Questions*: wrong, refused, then right ones, each with where it was lost and a link to its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from components.common.controls import download, page_of, table_csv
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node, table
from components.common.outcomes import outcome_text, round_text
from components.common.run_link import run_link
from components.common.url_state import base_path
from components.labels import VERDICTS
from components.sentences.measured import p_text
from engine.engine import Engine
from engine.evaluation.figures import Evaluation
from engine.evaluation.question_changes import ChangeVerdict, QuestionChange, QuestionChanges, Side, changes_between
from engine.evaluation.question_results import Lost, QuestionResult, Result, question_results
from engine.messages import N_
from engine.model.values import RunId
from pages.parts.tune.answers import answers_panel
from pages.parts.tune.evidence import Gathering, Shown
from pages.parts.tune.judge import LABELLING, label_panel
from pages.parts.tune.tiles import AFTER, BEFORE

RESULTS: Mapping[Result, tuple[str, str, str]] = {
    "wrong": (N_("wrong"), "✗", "warn"),
    "refused": (N_("refused"), "–", "grey"),
    "unknown": (N_("unknown"), "?", "plain"),
    "unlabelled": (N_("no label"), "·", "plain"),
    "right": (N_("right"), "✓", "pass"),
}
"""In the order of the list, with sign and look."""
LOST: Mapping[Lost, str] = {
    "not_found": N_("right passage not found"),
    "not_kept": N_("right passage found, dropped before grading"),
    "not_passed": N_("right passage refused by the grader"),
    "not_given": N_("right passage passed, not used"),
    "given": N_("right passage given, answer wrong"),
    "no_answer": N_("answered, but there is no answer"),
    "": N_("differs from the gold answer"),
}
_REASON = {
    "fewer_calls": N_("{parts} fewer"),
    "more_calls": N_("{parts} more"),
}
_CHANGES = {
    "gained_expected": N_("gains the right passage"),
    "lost_expected": N_("loses the right passage"),
    "now_answers": N_("now answers"),
    "now_refuses": N_("now refuses"),
    "now_refuses_unanswerable": N_("now refuses"),
    "now_answers_unanswerable": N_("now answers"),
    "other_outcome": N_("other outcome"),
    "nothing": "",
    "unknown_before": N_("unknown"),
    "unknown_after": N_("unknown"),
}
Link = Callable[[RunId], str]
"""Makes the address of a run with the settings under test."""
Row = tuple[QuestionResult, QuestionChange]
_LOOKS: Mapping[ChangeVerdict, str] = {"better": "pass-ink", "worse": "warn-ink", "unknown": "muted", "same": "muted"}
_SIGNS: Mapping[ChangeVerdict, str] = {"better": "▲", "worse": "▼", "unknown": "?", "same": ""}
_ORDER: tuple[ChangeVerdict, ...] = ("worse", "better", "unknown", "same")
_PAGE = 10


def panel(engine: Engine, gathering: Gathering, shown: Shown, evaluation: Evaluation, words: Words) -> None:
    """The questions; below them, behind names, the answers as they were given, and labelling."""
    config, base = evaluation.configs[AFTER], base_path()
    changes = changes_between(shown.evidence, evaluation, BEFORE, AFTER)
    rows = rows_of(question_results(shown.evidence, evaluation, AFTER), changes)
    view(rows, changes, words, key="tune_questions", link=lambda run_id: run_link(run_id, config, words, base))
    with st.expander(words("Answers and judges"), key="tune_answers_open", on_change="rerun") as answers:
        if answers.open:
            answers_panel(engine, shown, gathering, words)
    with st.expander(words("Label passages and answers"), key=LABELLING, on_change="rerun") as labels:
        if labels.open:
            label_panel(engine, gathering, words)


def rows_of(results: Sequence[QuestionResult], changes: QuestionChanges) -> list[Row]:
    """Results with their changes: wrong ones first, and of each kind those that change."""
    by_id = {change.case_id: change for change in changes.rows}
    paired = [(item, by_id[item.case_id]) for item in results]
    order = list(RESULTS)
    return sorted(paired, key=lambda row: (order.index(row[0].result), _ORDER.index(row[1].verdict)))


def view(rows: Sequence[Row], changes: QuestionChanges, words: Words, *, key: str, link: Link) -> None:
    """Draw the counts, and a page of the list; all of it, or what changes alone."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}_head"):
        draw((node("p", "counts", *counts_nodes(rows, changes, words)),), words, key=f"{key}_counts")
        only = bool(changes.shown) and st.toggle(words("Only changes"), key=f"{key}_only", persist_state="session")
        download(
            "CSV", lambda: changes_csv(rows, words), "questions.csv", key=f"{key}_csv", type="tertiary",
        )  # fmt: skip
    wanted = [row for row in rows if row[1].verdict != "same"] if only else rows
    heads = ("", words("Question"), words("Outcome"), words("Change"), "")
    # The pages are turned below the list, which they decide.
    place = st.container()
    drawn = [_nodes(*row, words, link) for row in page_of(wanted, _PAGE, key=f"{key}_page")]
    with place:
        draw((table("flips questions", heads, drawn),), words, key=key)


def counts_nodes(rows: Sequence[Row], changes: QuestionChanges, words: Words) -> list[Node]:
    """``3 wrong · 2 refused · 7 right``, and what changes against the baseline with its paired test."""
    counts = Counter(item.result for item, _ in rows)
    said = [
        chip(look, f"{sign} {counts[name]} {words(label)}")
        for name, (label, sign, look) in RESULTS.items()
        if counts[name]
    ]
    return [*said, node("span", "muted small", changed_text(changes, words))]


def changed_text(changes: QuestionChanges, words: Words) -> str:
    """How many change against the baseline, and whether the paired test on *found and answered* tells them apart."""
    if not changes.changed:
        known = changes.n - changes.unknown
        parts = [words.count("same on 1 question", "same on {n} questions", known)]
    else:
        test = changes.test
        parts = [words("{better} better, {worse} worse", better=changes.better, worse=changes.worse)]
        parts.append(f"{words(VERDICTS[test.verdict])} ({p_text(test.p)})")
    if changes.unknown:
        parts.insert(1, words("{n} unknown", n=changes.unknown))
    return " · ".join(parts)


def side_text(side: Side, words: Words) -> str:
    """``Answered · rewrite 1``; that it is not known where it needs more steps."""
    if not side.known or side.outcome is None:
        return words("unknown")
    ended = outcome_text(side.outcome, words, side.answer_note)
    return f"{ended} · {round_text(side.round or 0, words)}"


def change_text(change: QuestionChange, words: Words) -> str:
    """What changes against the baseline; empty where nothing does."""
    if change.reason in ("fewer_calls", "more_calls"):
        steps = words.count("1 step", "{n} steps", abs(change.steps_change or 0))
        return words(_REASON[change.reason], parts=steps)
    return words(_CHANGES[change.reason]) if change.verdict != "same" else ""


def _nodes(item: QuestionResult, change: QuestionChange, words: Words, link: Link) -> tuple[Node | str, ...]:
    label, sign, look = RESULTS[item.result]
    ended = side_text(change.after, words)
    lost = words(LOST[item.lost]) if item.result in ("wrong", "refused") else ""
    said = node("span", "", ended, node("p", "muted small", lost) if lost else "")
    moved = change_text(change, words)
    before = words("baseline: {value}", value=side_text(change.before, words)) if moved else ""
    return (
        chip(look, f"{sign} {words(label)}"),
        node("span", "", change.question),
        said,
        node("span", _LOOKS[change.verdict], f"{_SIGNS[change.verdict]} {moved}" if moved else "", title=before),
        node("a", "", words("open run"), href=link(change.run_id)),
    )


def changes_csv(rows: Sequence[Row], words: Words) -> bytes:
    """Every question under both settings, for a spreadsheet; a cell never begins a formula."""
    head = ("question", "result", "lost", "baseline", "now", "change", "verdict", "run")
    return table_csv(
        head,
        (
            (
                *(change.question, item.result, item.lost),
                *(side_text(change.before, words), side_text(change.after, words)),
                *(change_text(change, words), change.verdict, change.run_id),
            )
            for item, change in rows
        ),
    )
