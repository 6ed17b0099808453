"""The recommended setting of a sweep: what it is, how sure that is, and what it would be worth on new questions."""

from __future__ import annotations

from collections.abc import Sequence

from components.i18n import Words
from components.markup import button, chip, draw, node
from components.tune_figures import value_text
from engine.evaluation.figures import Measure
from engine.evaluation.statistics import Interval
from engine.evaluation.sweep_values import QUALITY_FLOOR, Recommendation

_LOOKS = {"better": "pass", "worse": "warn", "not_distinguishable": "grey"}


def recommendation_card(found: Recommendation, changed: Sequence[str], words: Words, *, key: str) -> bool:
    """Draw the card; true when the reader wants to try it. ``changed`` names what differs from the baseline."""
    head = [node("strong", "heading", words("tune.recommended"))]
    head.append(chip(_LOOKS[found.verdict], words(f"tune.verdict.{found.verdict}")))
    head.append(
        chip(
            _LOOKS[found.cost_verdict], words("tune.recommended.cost", verdict=words(f"tune.cost.{found.cost_verdict}"))
        )
    )
    if found.choice == "too_poor":
        poor = words("tune.choice.too_poor", tried=found.tried, floor=value_text("quality", QUALITY_FLOOR))
        none = (node("strong", "heading", words("tune.recommended.none")), node("p", "", poor))
        draw((node("section", "card", *none),), words, key=key)
        return False
    stays = found.choice == "baseline_stays" or not changed
    what = words("tune.recommended.stay") if stays else " · ".join(changed)
    parts = [
        node("div", "head", *head),
        node("p", "query", what),
        node("p", "muted", words(f"tune.choice.{found.choice}", tied=found.tied, tried=found.tried)),
        node("p", "small", _figures(found, words)),
        node("p", "muted small", _doubt(found, words)),
    ]
    if found.rejected:
        said = words.count("tune.recommended.rejected", found.rejected, questions=found.n, before=found.rejected_before)
        parts.append(node("p", "note small", "! ", said))
    if not stays:
        parts.append(node("div", "actions", button(words("tune.recommended.try"), "try", "button primary")))
    return draw((node("section", "card", *parts),), words, key=key) == "try"


def _figures(found: Recommendation, words: Words) -> str:
    rows: tuple[tuple[Measure, Interval | None], ...] = (
        ("quality", found.quality),
        ("steps", found.steps),
        ("seconds", found.seconds),
    )
    said = [
        words(
            "tune.recommended.figure",
            name=words(f"tune.measure.{measure}"),
            value=value_text(measure, interval.value),
            low=value_text(measure, interval.low),
            high=value_text(measure, interval.high),
        )
        for measure, interval in rows
        if interval is not None
    ]
    return " · ".join(said)


def _doubt(found: Recommendation, words: Words) -> str:
    p = max(found.quality_test.p, found.p_corrected)
    parts = [words("tune.recommended.p", n=found.n, p=f"{p:.3f}", tried=found.tried)]
    if found.expected_on_new is not None:
        parts.append(words("tune.recommended.new", value=value_text("quality", found.expected_on_new)))
    if found.unknown_n:
        parts.append(words("tune.recommended.unknown", n=found.unknown_n))
    return words.joined(parts)
