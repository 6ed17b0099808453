"""Effect of a settings change on each question of a set: a sentence, and a table with a link to every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.common.controls import table_csv
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node, table
from components.common.outcomes import outcome_text, round_text
from components.labels import VERDICTS
from components.tune.figures import p_text
from engine.evaluation.question_changes import ChangeVerdict, QuestionChange, QuestionChanges, Side
from engine.messages import N_, NN_
from engine.model.values import RunId

_NONE = N_("No question goes another way than with the settings compared.")

_COUNTS = {
    "better": N_("{n} better"),
    "worse": N_("{n} worse"),
    "cheaper": N_("{n} cheaper"),
    "dearer": N_("{n} dearer"),
    "unknown": N_("{n} unknown"),
}

_HEADS = {
    "question": N_("Question"),
    "before": N_("Before"),
    "after": N_("After"),
    "change": N_("Change"),
    "open": N_("Evidence"),
}

_REASON = {
    "fewer_calls": NN_("1 step fewer", "{n} steps fewer"),
    "more_calls": NN_("1 step more", "{n} steps more"),
}

_TUNE_REASON = {
    "gained_expected": N_("gains an expected passage"),
    "lost_expected": N_("loses the expected passage"),
    "now_answers": N_("now answers"),
    "now_refuses": N_("now refuses"),
    "now_refuses_unanswerable": N_("now refuses what has no answer"),
    "now_answers_unanswerable": N_("now answers what has no answer"),
    "other_outcome": N_("ends otherwise"),
    "nothing": N_("nothing"),
    "unknown_before": N_("not known before"),
    "unknown_after": N_("not known after"),
}

Link = Callable[[RunId], str]
"""Makes the address of a run on the workbench."""

_LOOKS = {"better": "pass", "worse": "warn", "same": "grey", "unknown": "plain"}
_SHOWN = 60
"""Rows that are drawn; the file has all of them."""
_ORDER: tuple[ChangeVerdict, ...] = ("worse", "better", "unknown", "same")
_INKS = {
    "better": "pass-ink",
    "worse": "warn-ink",
    "cheaper": "pass-ink",
    "dearer": "warn-ink",
    "unknown": "muted",
}
_SIGNS = {"better": "▲", "worse": "▼", "same": "=", "unknown": "?"}


def changes_card(changes: QuestionChanges, words: Words, *, key: str) -> None:
    """``Flips 9 of 60: 7 better · 1 worse · 1 unknown``, and the result of a paired test."""
    heading, counts, second = card_texts(changes, words)
    drawn = (node("span", _INKS[name], said) for name, said in counts.items())
    head = node("div", "head counts", node("span", "heading", heading), *drawn)
    draw((node("section", "card flips-card", head, node("p", "muted small", second)),), words, key=key)


def card_texts(changes: QuestionChanges, words: Words) -> tuple[str, Mapping[str, str], str]:
    """The heading, what it counts by kind, and the sentence below."""
    cheaper = sum(row.reason == "fewer_calls" for row in changes.rows)
    dearer = sum(row.reason == "more_calls" for row in changes.rows)
    counted = (
        ("better", "▲", changes.better - cheaper),
        ("worse", "▼", changes.worse - dearer),
        ("cheaper", "↓", cheaper),
        ("dearer", "↑", dearer),
        ("unknown", "?", changes.unknown),
    )
    counts = {name: f"{sign} {words(_COUNTS[name], n=number)}" for name, sign, number in counted if number}
    test = changes.test
    heading = (
        words("Flips {flipped} of {n}", flipped=changes.changed, n=changes.n)
        if changes.changed
        else words.count("Same on 1 question", "Same on {n} questions", changes.n - changes.unknown)
        if 0 < changes.unknown < changes.n
        else words(
            "No question is known on both sides" if changes.unknown else "None of {n} questions changes", n=changes.n
        )
    )
    if not changes.changed:
        return (
            heading,
            counts,
            words(
                "None of them flips for sure; the unknown ones would need calls to tell." if changes.unknown else _NONE
            ),
        )
    verdict = words(VERDICTS[test.verdict])
    return (
        heading,
        counts,
        words(
            "found and answered, paired test: {verdict} ({p}, n = {n})",
            verdict=verdict,
            p=p_text(test.p),
            n=test.n,
        ),
    )


def changes_table(changes: QuestionChanges, words: Words, *, key: str, link: Link) -> None:
    """One row a question that goes another way; ``link`` makes the address of its run with the settings under test."""
    if not changes.shown:
        moving = words("Move a slider on the left: those that would are listed here.")
        st.caption(words.joined((words(_NONE), moving)))
        return
    rows = (_row(change, words, link) for change in sorted(changes.shown, key=_place)[:_SHOWN])
    drawn = table("flips changes", [words(text) for text in _HEADS.values()], rows)
    more = len(changes.shown) - _SHOWN
    below = (node("p", "muted small", words("and {n} more, all of them in the file", n=more)),) if more > 0 else ()
    draw((drawn, *below), words, key=key)


def changes_csv(changes: QuestionChanges, words: Words) -> bytes:
    """Every question that goes another way, for a spreadsheet; a cell never begins a formula."""
    head = [*(words(_HEADS[name]) for name in ("question", "before", "after", "change")), "verdict", "run"]
    rows = (
        (
            change.question,
            side_text(change.before, words),
            side_text(change.after, words),
            change_text(change, words),
            change.verdict,
            change.run_id,
        )
        for change in changes.shown
    )
    return table_csv(head, rows)


def side_text(side: Side, words: Words) -> str:
    """``answered, round 1``; what would need calls is said so."""
    if not side.known or side.outcome is None:
        return words("would need calls")
    ended = outcome_text(side.outcome, words, side.answer_note)
    return f"{ended} · {round_text(side.round or 0, words)}"


def change_text(change: QuestionChange, words: Words) -> str:
    if change.reason in ("fewer_calls", "more_calls"):
        return words.count(*_REASON[change.reason], abs(change.steps_change or 0))
    return words(_TUNE_REASON[change.reason])


def _place(change: QuestionChange) -> int:
    """Sort broken questions first, then fixed, then those with another cost, then unknown."""
    only_cost = change.reason in ("fewer_calls", "more_calls")
    return _ORDER.index(change.verdict) + len(_ORDER) * only_cost


def _row(change: QuestionChange, words: Words, link: Link) -> tuple[Node | str, ...]:
    named = {"fewer_calls": ("↓", "cheaper"), "more_calls": ("↑", "dearer")}
    sign, name = named.get(change.reason, (_SIGNS[change.verdict], change.verdict))
    verdict = chip(_LOOKS[change.verdict], f"{sign} {words(VERDICTS[name])}")
    help_text = words("The run with these settings beside it, in a new tab.")
    opened = node("a", "", words("open run"), href=link(change.run_id), title=help_text)
    said = node("span", "", verdict, " ", change_text(change, words))
    sides = (side_text(change.before, words), side_text(change.after, words))
    return (node("span", "", change.question), *sides, said, opened)
