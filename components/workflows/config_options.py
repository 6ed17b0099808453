"""The settings of the quality-control loop as controls of the panel, with weights that always sum to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.widgets import one_of, slider, warning
from components.labels import SOURCE_KIND_NAMES
from components.workflows.scores import score_text
from engine.messages import N_
from engine.model.config import RunConfig, numbers_in, settings_in
from engine.model.values import SourceKind
from engine.model.values.names import GradeOn
from engine.workflows.quality_loop.build_roles import ceiling_of
from engine.workflows.quality_loop.options import QUALITY_WEIGHTS, QualityOptions, quality_options

_CEILING = {
    "unreachable": N_(
        "With these settings the score is at most {score}, below the {bar} that it needs: every question would use up "
        "all its rewrites."
    ),
    "high": N_("With these settings the score is at most {score}: high ({bar}) cannot be reached, medium can."),
}

_OWN = settings_in(QualityOptions)
_NUMBERS = numbers_in(QualityOptions)
_OFF = 1e-3
"""Sums that are nearer to 1 than this are 1: weights have four decimals."""
STEP = 0.05
_DIGITS = 4


def quality_controls(words: Words, below: dict[str, DeltaGenerator]) -> QualityOptions:
    """Weights, the graded number and its cut-offs; no matter what the sliders and the address hold, it can be run."""
    grade_on = one_of(words, "grade_on", _OWN["grade_on"])
    medium = _cut_off(words, "medium_score", below)
    high = _cut_off(words, "high_score", below)
    coverage, relevance, diversity, count = _weights(words, below)
    return QualityOptions(
        coverage_weight=coverage,
        relevance_weight=relevance,
        diversity_weight=diversity,
        count_weight=count,
        grade_on=cast(GradeOn, grade_on),
        high_score=max(high, medium),
        medium_score=medium,
    )


def _weights(words: Words, below: dict[str, DeltaGenerator]) -> tuple[float, ...]:
    """The four weights as they count; their sliders stand in a box that is closed at first, under what they are."""
    summary = st.container()
    with st.expander(words("Quality score: weights"), key="weights"):
        st.caption(words("They always sum to 1: moving one changes those below it, the last one those above it."))
        chosen = tuple(_weight(words, place, below) for place in range(len(QUALITY_WEIGHTS)))
    shares, total = scaled(chosen), sum(chosen)
    off = abs(total - 1.0) > _OFF
    listed = " + ".join(f"{share:.2f}" for share in (shares if off else chosen))
    if off:
        with summary:
            said = words("These weights sum to {sum}; they count as {shares}.", sum=f"{total:.2f}", shares=listed)
            warning(words, said, key="weights_off")
            st.button(words("Make them sum to 1"), key="normalise", on_click=_set_weights, args=(shares,))
    return shares if off else chosen


def ceiling_note(words: Words, config: RunConfig, kinds: Sequence[SourceKind]) -> None:
    """Say before the run which grade it can never reach with the source kinds there are (QL-08)."""
    options = quality_options(config)
    if not kinds:
        return
    ceiling = ceiling_of("", config, tuple(kinds))
    if ceiling.reachable and ceiling.first < options.medium_score:
        first, needed = score_text(ceiling.first, options), f"{options.medium_score:.2f}"
        warning(
            words,
            words(
                "With these settings the first round of a question that names no kind of source scores at most "
                "{score}, below the {bar} that it needs: it is rewritten before it is answered. Raise top-k or lower "
                "the bar to let one round be enough.",
                score=first,
                bar=needed,
            ),
            key="ceiling",
        )
        return
    if ceiling.score >= options.high_score:
        return
    score = score_text(ceiling.score, options)
    reachable = ceiling.reachable
    key, bar = ("high", options.high_score) if reachable else ("unreachable", options.medium_score)
    said = [words(_CEILING[key], score=score, bar=f"{bar:.2f}")]
    if ceiling.missing:
        listed = words(", ").join(words(SOURCE_KIND_NAMES[kind]) for kind in ceiling.missing)
        said.append(words("The collection has no passages of these kinds: {kinds}.", kinds=listed))
    if reachable:
        st.caption(words.joined(said))
        return
    warning(
        words, words.joined([*said, words("Raise top-k, lower the bar, or grade on the best three.")]), key="ceiling"
    )


def _weight(words: Words, place: int, below: dict[str, DeltaGenerator]) -> float:
    name = QUALITY_WEIGHTS[place]
    limits = _NUMBERS[name]

    def moved() -> None:
        now = [float(st.session_state.get(other, _NUMBERS[other].default)) for other in QUALITY_WEIGHTS]
        _set_weights(rebalanced(now, place))

    return slider(words, name, limits, limits.default, below, on_change=moved)


def _set_weights(weights: Sequence[float]) -> None:
    for name, value in zip(QUALITY_WEIGHTS, weights, strict=True):
        if st.session_state.get(name) != value:
            st.session_state[name] = value


def _cut_off(words: Words, name: str, below: dict[str, DeltaGenerator]) -> float:
    other, wins = ("high_score", max) if name == "medium_score" else ("medium_score", min)

    def moved() -> None:
        # The two never cross: the one that is moved takes the other along.
        usual = _NUMBERS[other].default
        st.session_state[other] = wins(st.session_state[name], st.session_state.get(other, usual))

    limits = _NUMBERS[name]
    return slider(words, name, limits, limits.default, below, on_change=moved)


def rebalanced(weights: Sequence[float], moved: int) -> tuple[float, ...]:
    """All weights with the one at ``moved`` as it is and the others making up for it; they sum to 1.

    Those below it share what is left in their proportion, so that weights set from top to bottom stay as they were
    set. Those above it give way only where nothing else is left, and for the last one. On steps of :data:`STEP` where
    the moved one and those that stay are.
    """
    fixed = min(max(weights[moved], 0.0), 1.0)
    above, below = list(weights[:moved]), list(weights[moved + 1 :])
    left = 1.0 - fixed
    if below and math.fsum(above) <= left + 1e-9:
        below = _shared(below, left - math.fsum(above))
    else:
        below = [0.0] * len(below)
        above = _shared(above, left)
    return tuple(round(value, _DIGITS) for value in (*above, fixed, *below))


def scaled(weights: Sequence[float]) -> tuple[float, ...]:
    """The same proportions with the sum 1; equal ones where all are 0."""
    total = math.fsum(weights)
    if total <= 0:
        return tuple([1.0 / len(weights)] * len(weights))
    shares = [round(value / total, _DIGITS) for value in weights]
    largest = shares.index(max(shares))
    # What rounding leaves goes where it weighs least.
    shares[largest] = round(shares[largest] + 1.0 - math.fsum(shares), _DIGITS)
    return tuple(shares)


def _shared(weights: Sequence[float], total: float) -> list[float]:
    """``total`` over the weights in their proportion, in whole steps by largest remainder where it is whole itself."""
    own = math.fsum(weights)
    ideal = [total * (value / own if own > 0 else 1.0 / len(weights)) for value in weights]
    steps = round(total / STEP)
    if abs(steps * STEP - total) > 1e-6:
        return ideal
    counts = [int(value / STEP + 1e-9) for value in ideal]
    behind = sorted(range(len(ideal)), key=lambda place: (counts[place] - ideal[place] / STEP, place))
    for place in behind[: steps - sum(counts)]:
        counts[place] += 1
    return [round(count * STEP, _DIGITS) for count in counts]
