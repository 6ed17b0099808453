"""The nearest flips in words: the smallest single moves that would end the run otherwise, each one press away."""

from __future__ import annotations

from collections.abc import Sequence

from components.ask.what_if_text import REWRITES, saving_parts, value_text
from components.common.i18n import Words
from components.common.markup import Node, button, node
from components.labels.runs import FLIP_ENDS, FLIP_NAMES
from engine.messages import NC_
from engine.replay.decision_boundaries import Flip

_SHOWN = 3


def flip_nodes(flips: Sequence[Flip], words: Words) -> list[Node]:
    """A line of buttons (``set:NAME:VALUE``), nearest first; says so where nothing flips."""
    if not flips:
        return [node("p", "muted small flips", words("As far as is known, no single slider changes the end."))]
    chips = [button(flip_text(item, words), f"set:{item.name}:{item.value_to}", "chip link") for item in flips[:_SHOWN]]
    return [node("div", "chips flips", node("span", "muted small", words("Smallest change:")), *chips)]


def flip_text(flip: Flip, words: Words) -> str:
    """``pass rate 0.60 → 0.40: answered at round 0, 3 rewrites fewer``."""
    saved = saving_parts(((REWRITES, flip.rewrites_saved),), words)
    parts = [words(FLIP_ENDS[flip.outcome], round=flip.round), saved]
    if flip.rejected:
        parts.append(
            words.count(
                "{n} of the {given} passages given was judged not relevant",
                "{n} of the {given} passages given were judged not relevant",
                flip.rejected,
                given=flip.given,
            )
        )
    return words(
        "{name} {old} → {new}: {end}",
        name=words(FLIP_NAMES[flip.name]),
        old=value_text(flip.name, flip.value_from, words),
        new=value_text(flip.name, flip.value_to, words),
        end=words(NC_("what-if", ", ")).join(part for part in parts if part),
    )


def setting_of(action: str) -> tuple[str, str] | None:
    """Name and value of a pressed ``set:NAME:VALUE``."""
    kind, _, rest = action.partition(":")
    name, _, value = rest.partition(":")
    return (name, value) if kind == "set" and name and value else None
