"""What a run suffered from, and the smallest change of one setting that its record confirms to mend it."""

from __future__ import annotations

from components.flips import flip_text
from components.i18n import Words
from components.markup import Node, button, chip, draw, node
from components.phrases import probability_text
from components.what_if_text import rich
from engine.pinned import PinnedEffect
from engine.whatif.diagnosis import Diagnosis
from engine.whatif.flips import Flip
from engine.wording import apart

_COUNTS = frozenset(
    {"rounds", "rank", "top_k", "passed", "expected", "rewrites", "judged", "citations", "removed", "wanted"}
)
_BESIDE = (
    *(("p", "bar"), ("rate", "bar"), ("similarity", "threshold")),
    *(("rate_first", "rate_last"), ("best_first", "best_last")),
)
"""Figures that a sentence holds against each other: they look as different as they are."""


def remedy_box(found: Diagnosis, change: Flip | None, effect: PinnedEffect | None, words: Words, *, key: str) -> bool:
    """Draw label, evidence and change, with what the change does to pinned runs; true when it is to be tried."""
    by = chip("grey", words("remedy.by_labels" if found.labelled else "remedy.by_looks"))
    head = node("div", "head", node("strong", "heading", title(found, words)), by)
    text = node(
        "div", "grow", head, node("p", "small", why_text(found, words)), *_mending(found, change, effect, words)
    )
    actions = (button(words("remedy.try"), "try", "button primary"),) if change is not None else ()
    icon = node("span", "icon", "!" if change is None else "✓", aria_hidden="true")
    return draw((node("div", "box plain remedy", icon, text, *actions, role="status"),), words, key=key) == "try"


def title(found: Diagnosis, words: Words) -> str:
    """The failure; a guess is worded as one."""
    if not found.labelled and f"failure.{found.failure}.looks" in words:
        return words(f"failure.{found.failure}.looks")
    return words(f"failure.{found.failure}")


def why_text(found: Diagnosis, words: Words) -> str:
    """The figures that led to the failure's name, in a sentence."""
    figures = {name: _figure(name, value) for name, value in found.figures.items()}
    for one, other in _BESIDE:
        if one in figures and other in figures:
            figures[one], figures[other] = apart(found.figures[one], found.figures[other])
    if found.failure == "nothing_retrieved":
        return words.count("failure.nothing_retrieved.why", int(found.figures["rounds"]), **figures)
    return words(_why(found), **figures)


def _why(found: Diagnosis) -> str:
    """The sentence with the figures that this run has."""
    if found.failure == "budget_spent" and "seconds" in found.figures:
        return "failure.budget_spent.why.time"
    if found.failure == "budget_spent" and "wanted" in found.figures:
        return "failure.budget_spent.why.count"
    if found.failure == "unsupported_answer" and not found.figures.get("verified"):
        return "failure.unsupported_answer.why.unverified"
    if found.failure == "grader_too_strict" and "no" in found.figures:
        return "failure.grader_too_strict.why.no"
    return f"failure.{found.failure}.why"


def effect_text(effect: PinnedEffect | None, words: Words) -> str:
    """``It breaks none of 20 runs on the watch list.``: of those that can be told without calls."""
    if effect is None or effect.total == 0:
        return words("remedy.pinned.nothing")
    told = effect.total - len(effect.unknown)
    if told == 0:
        return words.count("pin.all_unknown", effect.total)
    better, worse = effect.count("better"), effect.count("worse")
    if worse or better:
        said = words("remedy.pinned", n=told, better=better, worse=worse)
    else:
        said = words.count("remedy.pinned.safe", told)
    return words.joined((said, words.count("pin.unknown", len(effect.unknown)))) if effect.unknown else said


def _mending(found: Diagnosis, change: Flip | None, effect: PinnedEffect | None, words: Words) -> list[Node]:
    if change is None:
        key = "remedy.knowledge" if found.failure == "no_such_knowledge" else "remedy.none"
        return [node("p", "muted small", words(key))]
    return [
        node("p", "change", *rich(words("remedy.change", change=flip_text(change, words)))),
        node("p", "muted small", effect_text(effect, words)),
    ]


def _figure(name: str, value: float) -> str:
    if name in _COUNTS:
        return f"{value:.0f}"
    if name in ("seconds", "budget"):
        return f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return probability_text(value)
