"""The answers of a gathering one by one: whether each is right and by what, and the claims that a judge found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.common.i18n import Words
from components.common.judged import BASIS_NAMES, judged_nodes
from components.common.markup import Node, draw, node
from components.tune.figures import value_text
from engine.evaluation.answers import Basis
from engine.evaluation.values import AnswerJudgement, JudgingProgress
from engine.messages import NC_


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One question of a gathering with the answer that its run gave."""

    question: str
    answer: str
    """Empty where it was refused."""
    gold_answers: tuple[str, ...]
    right: bool | None
    """None where nothing tells."""
    basis: Basis | None
    f1: float | None
    claim_recall: float | None
    faithfulness: float | None
    people: tuple[AnswerJudgement, ...]
    """What people said of this answer."""
    verdict: AnswerJudgement | None
    """What the judge said of it."""


def answers_table(rows: Sequence[AnswerRow], words: Words, *, key: str) -> int | None:
    """Draw a line for every question; returns the place of the one that is chosen."""
    drawn = [
        {
            # First, so that a narrow screen shows it.
            words(NC_("answer", "Right")): "–" if row.right is None else "✓" if row.right else "✗",
            words("Question"): row.question,
            words(NC_("answer", "Judged by")): words(BASIS_NAMES[row.basis]),
            words("F1"): value_text("f1", row.f1),
            words("Claim recall"): value_text("claim_recall", row.claim_recall),
            words("Faithfulness"): value_text("faithfulness", row.faithfulness),
            words(NC_("answer", "Answer")): row.answer or words("refused"),
        }
        for row in rows
    ]
    found = st.dataframe(
        drawn, hide_index=True, key=key, width="stretch", height=320, on_select="rerun", selection_mode="single-row"
    )
    chosen = found["selection"]["rows"]
    return int(chosen[0]) if chosen and chosen[0] < len(rows) else None


def answer_card(row: AnswerRow, words: Words, *, key: str) -> None:
    """Draw one answer with what it should say and what was said of it, each claim with its reason."""
    parts: list[Node] = [node("strong", "heading", row.question)]
    parts.append(node("p", "", row.answer or words("refused")))
    if row.gold_answers:
        gold = words("Gold answer: {answers}", answers=words(NC_("gold answers", " / ")).join(row.gold_answers))
        parts.append(node("p", "muted", gold))
    for item in (*row.people, *([row.verdict] if row.verdict is not None else [])):
        parts += judged_nodes(item, words)
    draw((node("section", "card", *parts),), words, key=key)


def judging_text(progress: JudgingProgress, words: Words) -> str:
    """How far a judge has come, in one line."""
    parts = [words("{judge}: {done} of {total} answers judged", judge=progress.judge, done=progress.done,
                   total=progress.total)]  # fmt: skip
    if progress.unreadable:
        parts.append(words("{n} not readable: unknown in the figures", n=progress.unreadable))
    return " · ".join(parts)


def judging_bar(progress: JudgingProgress, words: Words, *, key: str, may_stop: bool) -> bool:
    """Draw the progress of a judge; true when the reader wants it stopped."""
    done = progress.done + progress.unreadable
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(done / progress.total if progress.total else 0.0, judging_text(progress, words))
        return may_stop and st.button(words("Stop"), icon=":material/stop:", key=f"{key}_stop")
