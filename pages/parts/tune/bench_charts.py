"""How good a grader is: confusion, precision against recall, calibration, noise, and before and after a fit."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.common.amounts import moment
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, figure, node, table
from components.common.phrases import probability_text
from components.sentences.measured import p_text
from engine.evaluation.fitting import COMPARED, LEAST, LEAST_EACH, LEAST_QUESTIONS, Judgements, Trial
from engine.evaluation.grader_bench import Confusion, GraderComparison, GraderFigures, Pair
from engine.evaluation.grader_intervals import LEAST as ENOUGH
from engine.evaluation.noise import Noise, coin_flip
from engine.evaluation.statistics import Interval
from engine.messages import N_, NC_
from engine.model.grader_fit import GraderFit
from engine.model.values import PassageId
from pages.parts.tune.vega import ACCENT, AMBER, draw_chart, layer, number, share, text

FIGURES = {
    "precision": (N_("Precision"), ""),
    "recall": (NC_("grader bench", "Recall"), ""),
    "f1": (N_("F1"), ""),
    "kappa": (N_("Agreement beyond chance, κ"), ""),
    "auc": (N_("AUC"), N_("How often a relevant passage has a higher P(relevant) than an irrelevant one.")),
    "brier": (N_("Brier score"), N_("Mean squared distance of P(relevant) from 1 where relevant, from 0 where not.")),
    "ece": (
        N_("Calibration error"),
        N_(
            "How far P(relevant) is from how often it is true (ECE). With few labels it comes out too high, even where "
            "the two are equal; the small figures allow for that."
        ),
    ),
}
"""Name of each figure of a grader, and an explanation where the name is none."""

_IS = {
    "yes": N_("labelled relevant"),
    "no": N_("labelled not relevant"),
}

_MISSING = {
    "no_pairs": N_("too few labels"),
    "one_class": N_("too few labels"),
    "nothing_passes": N_("nothing passes"),
    "nothing_relevant": N_("too few labels"),
    "files": N_("labels name files"),
}

_GREY = "#9aa2b1"
_HEIGHT = 260
_SHOWN = 40
_LOWER = frozenset({"brier", "ece"})
"""Figures that are the better the lower they are."""


def bench_figures(found: GraderFigures, words: Words, *, key: str) -> None:
    """The numbers in a row, and the confusion matrix in words."""
    cards = [
        figure(
            words("Judged and labelled"), str(found.n), words("{n} relevant", n=found.relevant_n), note_look="num muted"
        ),
        *(
            figure(
                words(name),
                _number(getattr(found, field)),
                _why(found, field, words) or _sampled_text(found, field),
                note_look="num muted",
                title=words(help_text) if help_text else "",
            )
            for field, (name, help_text) in FIGURES.items()
        ),
    ]
    by_files = found.files_n and not found.relevant_n
    matrix = () if by_files else (_matrix(found.confusion, words),)
    draw((node("div", "figures eight", *cards), *matrix), words, key=key)


def interval_text(found: Interval | None) -> str:
    """``0.71 – 0.84``; empty where nothing is said of sampling error."""
    return "" if found is None else f"{probability_text(found.low)} – {probability_text(found.high)}"


def ranged_text(value: float | None, found: Interval | None) -> str:
    """``0.78 (95 %: 0.71 – 0.84)``; the value alone where nothing is said of sampling error."""
    return f"{_number(value)} (95 %: {interval_text(found)})" if found is not None else _number(value)


def _sampled_text(found: GraderFigures, name: str) -> str:
    """``0.71 – 0.84 · n = 52``: the interval, and the judgements that a share is counted over."""
    judged = found.counted_over(name)
    parts = (interval_text(found.intervals.get(name)), f"n = {judged}" if judged else "")
    return " · ".join(part for part in parts if part)


def small_text(words: Words) -> str:
    """Explain the small figures."""
    return words(
        "Small figures: 95 % intervals over questions, from {least} questions on; n counts the labels behind a share.",
        least=ENOUGH,
    )


def counted_text(found: GraderFigures, words: Words) -> str:
    """What the figures are counted over, and what is in none of them."""
    assumed = words("{n} of them have no label and count as not relevant.", n=found.assumed_n)
    questions = words.count("From 1 question.", "From {n} questions.", found.questions)
    said = [assumed, questions] if found.assumed_n else [questions]
    if found.n or found.files_n:
        said.append(small_text(words))
    if found.unlabelled_n or found.unreadable_n:
        left = words(
            "Left out: {unlabelled} without a label, {unreadable} unreadable.",
            unlabelled=found.unlabelled_n,
            unreadable=found.unreadable_n,
        )
        said.append(left)
    return words.joined(said)


def worst_bin_text(found: GraderFigures, words: Words) -> str:
    """What calibration means, on the values of P(relevant) that add most to the error; empty without labels."""
    known = [item for item in found.bins if item.mean_p is not None and item.relevant_share is not None]
    if not known:
        return ""
    worst = max(known, key=lambda item: item.n * abs((item.mean_p or 0.0) - (item.relevant_share or 0.0)))
    return words.count(
        "The 1 passage with P(relevant) near {p}: a share of {share} is labelled relevant (95 %: {interval}).",
        "Of {n} passages with P(relevant) near {p}, a share of {share} is labelled relevant (95 %: {interval}). "
        "On the dashed line the two are equal.",
        worst.n,
        p=_number(worst.mean_p),
        share=_number(worst.relevant_share),
        interval=interval_text(worst.interval),
    )


def files_text(found: GraderFigures, words: Words) -> str:
    """Explain what labels of whole files say about a grader, and what they do not."""
    return words.count(
        "1 label names a file: recall counts its best passage (passed: {passed}); the rest needs labelled passages.",
        "{n} labels name files: recall counts the best passage of each (passed: {passed}); the rest needs labelled "
        "passages.",
        found.files_n,
        passed=found.files_passed,
    )


def curve_chart(figures: GraderFigures, words: Words, *, key: str) -> None:
    """Precision over recall as the cut moves; the cut in use is marked."""
    if not figures.curve:
        st.caption(words("too few labels"))
        return
    precision, recall = words("Precision"), words(NC_("grader bench", "Recall"))
    encoding = {
        "x": share("recall", recall),
        "y": share("precision", precision),
        "tooltip": [
            number("cut", words("Min. P(relevant)"), format=".2f"),
            number("precision", precision, format=".2f"),
            number("recall", recall, format=".2f"),
        ],
    }
    rows = [{"recall": point.recall, "precision": point.precision, "cut": point.cut} for point in figures.curve]
    used = [row for row, point in zip(rows, figures.curve, strict=True) if point == figures.in_use]
    steps = {"type": "line", "color": ACCENT, "strokeWidth": 2, "interpolate": "step-after"}
    line = layer(rows, steps, order=number("cut"), **encoding)
    dot = {"type": "point", "filled": True, "size": 130, "color": AMBER}
    here = [layer(used, dot, **encoding)] if used else []
    draw_chart(line, *here, key=key, title=f"{precision} · {recall}", height=_HEIGHT)


def reliability_chart(figures: GraderFigures, words: Words, *, key: str) -> None:
    """Chart the grader's probability against the observed share; on the diagonal it is calibrated."""
    rows = [
        {
            "said": item.mean_p,
            "true": item.relevant_share,
            "n": item.n,
            "bin": f"{probability_text(item.low)}–{probability_text(item.high)}",
            "low": item.interval.low if item.interval else None,
            "high": item.interval.high if item.interval else None,
            "error": interval_text(item.interval),
        }
        for item in figures.bins
        if item.n and item.mean_p is not None and item.relevant_share is not None
    ]
    if not rows:
        st.caption(words("too few labels"))
        return
    says, right, judged = (
        words("P(relevant)"),
        words("share that is relevant"),
        words("Judged and labelled"),
    )
    ends = {"x": share("said", says), "y": share("true", right)}
    dashes = {"type": "line", "strokeDash": [4, 4], "color": _GREY}
    diagonal = layer([{"said": 0, "true": 0}, {"said": 1, "true": 1}], dashes, **ends)
    points = layer(
        rows,
        {"type": "point", "filled": True, "color": ACCENT, "opacity": 0.85},
        size=number("n", legend=None, scale={"range": [40, 400]}),
        tooltip=[text("bin", says), number("true", right, format=".2f"), text("error", "95 %"), number("n", judged)],
        **ends,
    )
    error = {"type": "rule", "color": _GREY, "strokeWidth": 1.5}
    bars = layer(rows, error, x=share("said", says), y=share("low", right), y2={"field": "high"})
    draw_chart(diagonal, bars, points, key=key, title=words("Reliability"), height=_HEIGHT)


def comparison(compared: GraderComparison, words: Words, *, key: str, texts: Mapping[PassageId, str]) -> None:
    """Two graders on the same pairs, and where they disagree most."""
    parts = [
        words(
            "{n} passages graded by both: agreement {agreement}, κ {kappa}.",
            n=compared.n,
            agreement=ranged_text(compared.agreement, compared.agreement_interval),
            kappa=ranged_text(compared.kappa, compared.kappa_interval),
        )
    ]
    if compared.labelled_n:
        parts.append(
            words(
                "Of {n} labelled ones, right: first {first}, second {second} ({p}, by question).",
                n=compared.labelled_n,
                first=compared.first_right,
                second=compared.second_right,
                p="p = –" if compared.p is None else p_text(compared.p),
            )
        )
    rows = [
        (
            pair.first.question,
            texts.get(pair.first.passage_id, pair.first.passage_id),
            _p_of(pair.first, words),
            _p_of(pair.second, words),
        )
        for pair in compared.disagreements[:_SHOWN]
    ]
    heads = [words("Question"), words("Passage"), words("First"), words("Second")]
    drawn = (table("flips", heads, rows, numbers=(2, 3)),) if rows else ()
    draw((node("p", "", words.joined(parts)), *drawn), words, key=key)


def _p_of(pair: Pair, words: Words) -> str:
    """P(relevant) of a verdict, with who said it where that was a screener."""
    said = _number(pair.p_relevant)
    return words("{p} (screener)", p=said) if pair.by_cut else said


def noise_table(found: Noise, words: Words, *, key: str, texts: Mapping[PassageId, str]) -> None:
    """Show the spread of repeated gradings per passage, with a coin-flip badge where the threshold falls within it."""
    said = words(
        "Noise ±{band}; {n} of {total} passages changed sides.",
        band=probability_text(found.band or 0.0),
        n=found.flipping_n,
        total=len(found.passages),
    )
    rows = []
    for item in sorted(found.passages, key=lambda one: (-(one.flip_rate or 0.0), -(one.sd or 0.0)))[:_SHOWN]:
        badge: Node | str = ""
        if item.mean_p is not None and (item.flip_rate or coin_flip(item.mean_p, found.cut, found.band)):
            badge = chip("warn", words("coin flip"))
        flips = words("{done} of {total}", done=round((item.flip_rate or 0.0) * item.n), total=item.n)
        figures = (_number(item.mean_p), _number(item.sd), flips)
        rows.append((texts.get(item.passage_id, item.passage_id), *figures, badge))
    heads = [words("Passage"), words("Mean P"), words("Spread"), words("Flips"), words("coin flip")]
    draw((node("p", "", said), table("flips", heads, rows, numbers=(1, 2, 3))), words, key=key)


def _matrix(confusion: Confusion, words: Words) -> Node:
    head = node("tr", "", node("th", ""), *(node("th", "", words(_IS[name]), scope="col") for name in ("yes", "no")))
    rows = (
        (N_("passed"), confusion.true_pass, confusion.false_pass, "pass", "warn"),
        (N_("dropped"), confusion.false_drop, confusion.true_drop, "warn", "pass"),
    )
    body = [
        node(
            "tr",
            "",
            node("th", "", words(name), scope="row"),
            node("td", "num", chip(first_look, str(first))),
            node("td", "num", chip(second_look, str(second))),
        )
        for name, first, second, first_look, second_look in rows
    ]
    return node("table", "flips matrix", node("thead", "", head), node("tbody", "", *body))


def _why(figures: GraderFigures, name: str, words: Words) -> str:
    missing = dict(figures.missing).get(name)  # type: ignore[call-overload]
    return words(_MISSING[missing]) if missing else ""


def _number(value: float | None) -> str:
    return "–" if value is None else probability_text(value)


def too_few(found: Judgements, words: Words) -> None:
    """Show what a fit needs, and what there is."""
    st.caption(
        words(
            "A fit needs {least} labels of {questions} questions, {each} relevant and {each} not. There are {n} of "
            "{asked}, {relevant} relevant.",
            least=LEAST,
            questions=LEAST_QUESTIONS,
            each=LEAST_EACH,
            n=found.n,
            asked=found.questions,
            relevant=found.relevant,
        )
    )


def fit_result(trial: Trial, words: Words, *, key: str) -> None:
    """Figures before and after on the folds left out, the reliability of both, and whether it helps."""
    old, new = trial.before, trial.after
    assert new is not None
    rows = [
        (
            words(FIGURES[name][0]),
            _sampled(old, name),
            _sampled(new, name),
            _change(name, getattr(old, name), getattr(new, name), words),
        )
        for name in COMPARED
    ]
    heads = ["", words("Without the fit"), words("With it"), ""]
    said = words(
        "{n} labels of {asked} questions, {assumed} assumed; each question is left out of the fit that grades it.",
        n=old.n,
        asked=trial.questions,
        assumed=old.assumed_n,
    )
    said = words.joined((said, small_text(words)))
    draw((node("p", "muted", said), table("flips", heads, rows, numbers=(1, 2))), words, key=f"{key}_table")
    _charts(old, new, words, key)
    if not trial.helps:
        st.caption(words("Not offered: the fit does not improve agreement or calibration without worsening the other."))


def _sampled(found: GraderFigures, name: str) -> Node:
    return node("span", "", _text(getattr(found, name)), node("p", "muted small", _sampled_text(found, name)))


def _charts(old: GraderFigures, new: GraderFigures, words: Words, key: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(words("Without the fit"))
        reliability_chart(old, words, key=f"{key}_before")
    with right:
        st.caption(words("With it"))
        reliability_chart(new, words, key=f"{key}_after")


def kept_text(fit: GraderFit, words: Words) -> str:
    """``2026-11-24 03:05 · 57 judgements · κ 0.31 → 0.42``"""
    parts = [moment(fit.made_at), words.count("1 judgement", "{n} judgements", fit.judgements)]
    for name, sign in (("kappa", "κ"), *([("ece", "ECE")] if fit.kind == "calibration" else [])):
        before, after = fit.figures.get(name, (None, None))
        parts.append(f"{sign} {_text(before)} → {_text(after)}")
    return " · ".join(parts)


def _change(name: str, old: float | None, new: float | None, words: Words) -> Node | str:
    if old is None or new is None or probability_text(old) == probability_text(new):
        return ""
    better = (new < old) == (name in _LOWER)
    return chip("pass" if better else "warn", words("better" if better else "worse"))


def _text(value: float | None) -> str:
    # A κ a hair below 0 is written without the minus of a negative zero.
    return "–" if value is None else probability_text(value).replace("-0.00", "0.00")
