"""The nearest decision boundaries in words: the smallest changes that would end the run differently, as buttons."""

from __future__ import annotations

from collections.abc import Sequence

from components.ask.admitted import lets_in
from components.ask.what_if_text import REWRITES, begun_small, saving_parts, value_text
from components.common.i18n import Words
from components.common.markup import Node, button, node
from components.common.phrases import noted_text
from components.labels.runs import ENDS_AT_ROUND, VARIED_SETTINGS
from engine.messages import NC_
from engine.replay.decision_boundaries import DecisionBoundary

_SHOWN = 3


def smallest_change_nodes(
    boundaries: Sequence[DecisionBoundary], words: Words, *, answerable: bool | None = None
) -> list[Node]:
    """Draw a line of buttons (``set:NAME:VALUE``), nearest first, or a sentence where no change is worth proposing."""
    if not boundaries:
        said = words(
            "The question set says that this cannot be answered, so no change is proposed."
            if answerable is False
            else "No single setting is known to change the outcome."
        )
        return [node("p", "muted small flips", said)]
    chips = [
        button(
            boundary_text(item, words),
            f"set:{item.name}:{item.value_to}",
            f"chip {'warn' if item.admits or item.answer_note == 'unsupported' else 'link'}",
        )
        for item in boundaries[:_SHOWN]
    ]
    return [node("div", "chips flips", node("span", "muted small", words("Smallest change:")), *chips)]


def boundary_text(boundary: DecisionBoundary, words: Words) -> str:
    """``pass rate 0.60 → 0.40: answered at round 0, 3 rewrites fewer``, and what it lets in."""
    saved = saving_parts(((REWRITES, boundary.rewrites_saved),), words)
    ending = words(ENDS_AT_ROUND[boundary.outcome], round=boundary.round)
    noted = noted_text(ending, words, boundary.answer_note)
    # Some notes hold the ending, others stand in its place: the round is said all the same.
    ended = [noted] if ending in noted else [ending, noted]
    parts = [*(begun_small(part, words) for part in ended), saved, lets_in(boundary.admits, words)]
    return words(
        "{name} {old} → {new}: {end}",
        name=words(VARIED_SETTINGS[boundary.name]),
        old=value_text(boundary.name, boundary.value_from, words),
        new=value_text(boundary.name, boundary.value_to, words),
        end=words(NC_("what-if", ", ")).join(part for part in parts if part),
    )


def setting_of(action: str) -> tuple[str, str] | None:
    """Name and value of a pressed ``set:NAME:VALUE``."""
    kind, _, rest = action.partition(":")
    name, _, value = rest.partition(":")
    return (name, value) if kind == "set" and name and value else None
