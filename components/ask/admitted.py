"""Sentences on what other settings let in: which passage, which gate had dropped it, and its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.common.i18n import Words
from components.common.phrases import place_text
from engine.messages import N_
from engine.model.wording import distinct_texts
from engine.replay.admitted import Admitted, HeldBy

_SHOWN = 3
_WHY: Mapping[HeldBy, str] = {
    "refused": N_("not relevant, P(relevant) {value}"),
    "below_bar": N_("P(relevant) {value}, below the run's {limit}"),
    "unreadable": N_("unreadable"),
    "ungraded": N_("not graded"),
    "below_threshold": N_("relevant, but similarity {value} is below the run's {limit}"),
    "beyond_top_k": N_("relevant, but rank {value} is beyond the run's top-k of {limit}"),
}


def admits_text(admits: Sequence[Admitted], words: Words) -> str:
    """Name the passages with what had held them back; empty where there are none."""
    if not admits:
        return ""
    return words.count(
        "It would answer from a passage that the run held back: {what}.",
        "It would answer from {n} passages that the run held back: {what}.",
        len(admits),
        what=_named(admits, words),
    )


def rests_on_text(admits: Sequence[Admitted], words: Words) -> str:
    """The same of a run under its own settings: what its answer rests on although no grader accepts it."""
    return words.count(
        "The answer rests on a passage that was not accepted: {what}.",
        "The answer rests on {n} passages that were not accepted: {what}.",
        len(admits),
        what=_named(admits, words),
    )


def admits_count(admits: Sequence[Admitted], words: Words) -> str:
    """``lets in 1 refused passage``: the same in a few words; empty where there is nothing to say."""
    refused = sum(item.unaccepted for item in admits)
    if refused:
        return words.count("lets in 1 refused passage", "lets in {n} refused passages", refused)
    return words.count("lets in 1 dropped passage", "lets in {n} dropped passages", len(admits)) if admits else ""


def lets_in(admits: Sequence[Admitted], words: Words) -> str:
    """``lets in dc-insulin.md § Storage (not relevant, P(relevant) 0.11)``: as part of a longer line."""
    return words("lets in {what}", what=_named(admits, words)) if admits else ""


def _named(admits: Sequence[Admitted], words: Words) -> str:
    # What no grader accepts first: it must not be cut off.
    ordered = sorted(admits, key=lambda item: not item.unaccepted)
    named = [
        words(
            "{place} ({why})",
            place=place_text(item.passage.source, item.passage.section, words),
            why=why_text(item, words),
        )
        for item in ordered[:_SHOWN]
    ]
    if len(ordered) > _SHOWN:
        named.append(words("and {n} more", n=len(ordered) - _SHOWN))
    return words("; ").join(named)


def why_text(item: Admitted, words: Words) -> str:
    """Describe which gate had dropped a passage, with its verdict."""
    if item.held_by not in _WHY:
        return words("relevant, but dropped before grading")
    if item.held_by == "refused" and item.value is None:
        return words("not relevant")
    if item.held_by == "beyond_top_k":
        return words(_WHY[item.held_by], value=f"{item.value:.0f}", limit=f"{item.limit:.0f}")
    if item.value is None or item.limit is None:
        return words(_WHY[item.held_by])
    value, limit = distinct_texts(item.value, item.limit)
    return words(_WHY[item.held_by], value=value, limit=limit)
