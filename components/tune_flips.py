"""What a change of settings does to each question of a set: the sentence, and the table with a link to every run."""

from __future__ import annotations

import streamlit as st

from components.i18n import Words
from components.markup import Node, chip, draw, node
from components.phrases import outcome_text
from engine.evaluation.flip_values import Flip, Flips, Side

_LOOKS = {"better": "pass", "worse": "warn", "same": "grey", "unknown": "plain"}
_SIGNS = {"better": "▲", "worse": "▼", "same": "=", "unknown": "?"}


def flips_card(flips: Flips, words: Words, *, key: str) -> None:
    """``Flips 9 of 60: 7 better · 1 worse · 1 unknown``, and what a paired test makes of it."""
    counts = [
        node("span", look, f"{sign} {words(f'tune.flips.{name}', n=number)}")
        for name, look, sign, number in (
            ("better", "pass-ink", "▲", flips.better),
            ("worse", "warn-ink", "▼", flips.worse),
            ("unknown", "muted", "?", flips.unknown),
        )
        if number
    ]
    test = flips.test
    said = words("tune.flips.test", verdict=words(f"tune.verdict.{test.verdict}"), p=_p_text(test.p), n=test.n)
    parts = [node("div", "heading", words("tune.flips", flipped=flips.flipped, n=flips.n))]
    parts.append(node("div", "counts", *counts) if counts else node("p", "muted small", words("tune.flips.none")))
    parts.append(node("p", "muted small", said))
    draw((node("section", "card", *parts),), words, key=key)


def flips_table(flips: Flips, words: Words, *, key: str, base: str) -> None:
    """One row a question that goes another way; ``base`` is what the address of the pages begins with."""
    if not flips.shown:
        st.caption(words("tune.flips.none"))
        return
    heads = ("question", "before", "after", "change", "open")
    head = node("tr", "", *(node("th", "", words(f"tune.flip.{name}"), scope="col") for name in heads))
    rows = [_row(flip, words, base) for flip in flips.shown]
    table = node("table", "flips", node("thead", "", head), node("tbody", "", *rows))
    draw((table,), words, key=key)


def side_text(side: Side, words: Words) -> str:
    """``answered, round 1``; what would need calls is said so."""
    if not side.known or side.outcome is None:
        return words("tune.flip.needs_calls")
    return words("tune.flip.at_round", outcome=outcome_text(side.outcome, words), round=side.round or 0)


def change_text(flip: Flip, words: Words) -> str:
    if flip.reason in ("fewer_calls", "more_calls"):
        return words(f"tune.reason.{flip.reason}", n=abs(flip.steps_change or 0))
    return words(f"tune.reason.{flip.reason}")


def _row(flip: Flip, words: Words, base: str) -> Node:
    verdict = chip(_LOOKS[flip.verdict], f"{_SIGNS[flip.verdict]} {words(f'tune.verdict.{flip.verdict}')}")
    link = node("a", "", words("tune.flip.link"), href=f"{base}/?run={flip.run_id}&lang={words.language}")
    cells = (
        ("question", node("span", "", flip.question)),
        ("before", side_text(flip.before, words)),
        ("after", side_text(flip.after, words)),
        ("change", node("span", "", verdict, " ", change_text(flip, words))),
        ("open", link),
    )
    return node("tr", "", *(node("td", "", cell, data_label=words(f"tune.flip.{name}")) for name, cell in cells))


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
