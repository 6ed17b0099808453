"""What a fit of a grader to judgements does on judgements that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.common.amounts import moment
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node, table
from components.common.phrases import probability_text
from components.tune.bench_charts import FIGURES, reliability_chart
from engine.evaluation.fitting import COMPARED, LEAST, LEAST_EACH, LEAST_QUESTIONS, Judgements, Trial
from engine.evaluation.grader_bench import GraderFigures
from engine.messages import N_
from engine.model.grader_fit import FitKind, GraderFit

KINDS: Mapping[FitKind, str] = {
    "calibration": N_("calibration of its scores"),
    "coefficients": N_("own coefficients"),
    "examples": N_("examples in its prompt"),
}
"""What a fit is of, by its kind."""
_LOWER = frozenset({"brier", "ece"})
"""Figures that are the better the lower they are."""


def too_few(found: Judgements, words: Words) -> None:
    """What is there, what is wanted, and how many more that takes."""
    more, relevant, others, questions = found.missing
    parts = [
        words(
            "A fit wants {least} judgements of {questions} questions, {each} relevant and {each} not. Here are {n} of "
            "{asked}, {relevant} relevant.",
            least=LEAST,
            questions=LEAST_QUESTIONS,
            each=LEAST_EACH,
            n=found.n,
            asked=found.questions,
            relevant=found.relevant,
        )
    ]
    if more:
        parts.append(words.count("1 more is missing.", "{n} more are missing.", more))
    if relevant or others:
        parts.append(words("Of them {yes} relevant and {no} not.", yes=relevant, no=others))
    if questions:
        parts.append(words.count("1 more question is missing.", "{n} more questions are missing.", questions))
    st.caption(words.joined(parts))


def fit_result(trial: Trial, words: Words, *, key: str) -> None:
    """Figures before and after on the folds left out, the reliability of both, and whether it helps."""
    old, new = trial.before, trial.after
    assert new is not None
    rows = [
        (
            words(FIGURES[name][0]),
            _text(getattr(old, name)),
            _text(getattr(new, name)),
            _change(name, getattr(old, name), getattr(new, name), words),
        )
        for name in COMPARED
    ]
    heads = ["", words("Without the fit"), words("With it"), ""]
    said = words(
        "{n} judgements of {asked} questions, {assumed} of them assumed. Each question is judged by a fit that has not "
        "seen it.",
        n=old.n,
        asked=trial.questions,
        assumed=old.assumed_n,
    )
    draw((node("p", "muted", said), table("flips", heads, rows, numbers=(1, 2))), words, key=f"{key}_table")
    _charts(old, new, words, key)
    if not trial.helps and trial.fit is not None and trial.fit.kind == "examples":
        st.caption(words("It is not offered: κ must rise."))
    elif not trial.helps:
        st.caption(
            words(
                "It is not offered: it must make neither agreement κ nor the Brier score worse, and one of them better."
            )
        )


def _charts(old: GraderFigures, new: GraderFigures, words: Words, key: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(words("Without the fit"))
        reliability_chart(old, words, key=f"{key}_before")
    with right:
        st.caption(words("With it"))
        reliability_chart(new, words, key=f"{key}_after")


def kept_text(fit: GraderFit, words: Words) -> str:
    """``own coefficients · 2026-11-24 03:05 · 57 judgements · κ 0.31 → 0.42``"""
    kappa = fit.figures.get("kappa", (None, None))
    parts: Sequence[str] = (
        words(KINDS[fit.kind]),
        moment(fit.made_at),
        words.count("1 judgement", "{n} judgements", fit.judgements),
        f"κ {_text(kappa[0])} → {_text(kappa[1])}",
    )
    return " · ".join(parts)


def _change(name: str, old: float | None, new: float | None, words: Words) -> Node | str:
    if old is None or new is None or probability_text(old) == probability_text(new):
        return ""
    better = (new < old) == (name in _LOWER)
    return chip("pass" if better else "warn", words("better" if better else "worse"))


def _text(value: float | None) -> str:
    # A κ a hair below 0 is written without the minus of a negative zero.
    return "–" if value is None else probability_text(value).replace("-0.00", "0.00")
