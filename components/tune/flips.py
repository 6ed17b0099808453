"""What a change of settings does to each question of a set: the sentence, and the table with a link to every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node, table
from components.common.phrases import outcome_text
from components.common.spreadsheet import table_csv
from components.labels.tuning import VERDICTS
from engine.evaluation.flips import Flip, Flips, FlipVerdict, Side
from engine.messages import N_, NN_
from engine.model.values import RunId

_NONE = N_("No question goes another way than with the settings compared.")

_FLIPS = {
    "better": N_("{n} better"),
    "worse": N_("{n} worse"),
    "cheaper": N_("{n} cheaper"),
    "dearer": N_("{n} dearer"),
    "unknown": N_("{n} unknown"),
}

_FLIP = {
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
_ORDER: tuple[FlipVerdict, ...] = ("worse", "better", "unknown", "same")
_INKS = {
    "better": "pass-ink",
    "worse": "warn-ink",
    "cheaper": "pass-ink",
    "dearer": "warn-ink",
    "unknown": "muted",
}
_SIGNS = {"better": "▲", "worse": "▼", "same": "=", "unknown": "?"}


def flips_card(flips: Flips, words: Words, *, key: str) -> None:
    """``Flips 9 of 60: 7 better · 1 worse · 1 unknown``, and what a paired test makes of it."""
    heading, counts, second = card_texts(flips, words)
    drawn = (node("span", _INKS[name], said) for name, said in counts.items())
    head = node("div", "head counts", node("span", "heading", heading), *drawn)
    draw((node("section", "card flips-card", head, node("p", "muted small", second)),), words, key=key)


def card_texts(flips: Flips, words: Words) -> tuple[str, Mapping[str, str], str]:
    """The heading, what it counts by kind, and the sentence below."""
    cheaper = sum(row.reason == "fewer_calls" for row in flips.rows)
    dearer = sum(row.reason == "more_calls" for row in flips.rows)
    counted = (
        ("better", "▲", flips.better - cheaper),
        ("worse", "▼", flips.worse - dearer),
        ("cheaper", "↓", cheaper),
        ("dearer", "↑", dearer),
        ("unknown", "?", flips.unknown),
    )
    counts = {name: f"{sign} {words(_FLIPS[name], n=number)}" for name, sign, number in counted if number}
    test = flips.test
    heading = words(
        "Flips {flipped} of {n}"
        if flips.flipped
        else "None of {n} questions is known to change"
        if flips.unknown
        else "None of {n} questions changes",
        flipped=flips.flipped,
        n=flips.n,
    )
    if not flips.flipped:
        return (
            heading,
            counts,
            words(
                "None of them flips for sure; the unknown ones would need calls to tell." if flips.unknown else _NONE
            ),
        )
    verdict = words(VERDICTS[test.verdict])
    return (
        heading,
        counts,
        words("answers right, paired test: {verdict} (p = {p}, n = {n})", verdict=verdict, p=_p_text(test.p), n=test.n),
    )


def flips_table(flips: Flips, words: Words, *, key: str, link: Link) -> None:
    """One row a question that goes another way; ``link`` makes the address of its run with the settings under test."""
    if not flips.shown:
        st.caption(words(_NONE))
        return
    rows = (_row(flip, words, link) for flip in sorted(flips.shown, key=_place)[:_SHOWN])
    drawn = table("flips changes", [words(text) for text in _FLIP.values()], rows)
    more = len(flips.shown) - _SHOWN
    below = (node("p", "muted small", words("and {n} more, all of them in the file", n=more)),) if more > 0 else ()
    draw((drawn, *below), words, key=key)


def flips_csv(flips: Flips, words: Words) -> bytes:
    """Every question that goes another way, for a spreadsheet; a cell never begins a formula."""
    head = [*(words(_FLIP[name]) for name in ("question", "before", "after", "change")), "verdict", "run"]
    rows = (
        (
            flip.question,
            side_text(flip.before, words),
            side_text(flip.after, words),
            change_text(flip, words),
            flip.verdict,
            flip.run_id,
        )
        for flip in flips.shown
    )
    return table_csv(head, rows)


def side_text(side: Side, words: Words) -> str:
    """``answered, round 1``; what would need calls is said so."""
    if not side.known or side.outcome is None:
        return words("would need calls")
    return words("{outcome}, round {round}", outcome=outcome_text(side.outcome, words), round=side.round or 0)


def change_text(flip: Flip, words: Words) -> str:
    if flip.reason in ("fewer_calls", "more_calls"):
        return words.count(*_REASON[flip.reason], abs(flip.steps_change or 0))
    return words(_TUNE_REASON[flip.reason])


def _place(flip: Flip) -> int:
    """What breaks comes first, then what is mended, what only costs otherwise, and what is not known."""
    only_cost = flip.reason in ("fewer_calls", "more_calls")
    return _ORDER.index(flip.verdict) + len(_ORDER) * only_cost


def _row(flip: Flip, words: Words, link: Link) -> tuple[Node | str, ...]:
    named = {"fewer_calls": ("↓", "cheaper"), "more_calls": ("↑", "dearer")}
    sign, name = named.get(flip.reason, (_SIGNS[flip.verdict], flip.verdict))
    verdict = chip(_LOOKS[flip.verdict], f"{sign} {words(VERDICTS[name])}")
    help_text = words("The run with these settings beside it, in a new tab.")
    opened = node("a", "", words("open run"), href=link(flip.run_id), title=help_text)
    change = node("span", "", verdict, " ", change_text(flip, words))
    sides = (side_text(flip.before, words), side_text(flip.after, words))
    return (node("span", "", flip.question), *sides, change, opened)


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
