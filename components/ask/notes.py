"""Notes below the figures of a run: its chat, the gate's cost, what passages say together, the smallest changes."""

from __future__ import annotations

from collections.abc import Sequence

from components.ask.admitted import lets_in
from components.ask.what_if_text import REWRITES, begun_small, saving_parts, value_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, draw, node
from components.common.outcomes import outcome_text, round_text
from components.common.phrases import duration_text
from components.labels import VARIED_SETTINGS
from engine.messages import NC_
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.gate_cost import GateCost

_SHOWN = 3


def gate_cost_note(found: GateCost, words: Words, *, key: str) -> bool:
    """Draw the note; true when the reader wants the other gate."""
    text = node("p", "", gate_cost_text(found, words))
    return draw((box("warn", "!", text, beside=(button(words("Use that gate"), "use"),)),), words, key=key) == "use"


def gate_cost_text(found: GateCost, words: Words) -> str:
    """Describe when enough verified passages were found, and what came after."""
    cost = [words.count("{n} rewrite", "{n} rewrites", found.rewrites)]
    if found.calls:
        cost.append(words.count("{n} call", "{n} calls", found.calls))
    cost.append(duration_text(found.saved_ms))
    fact = words.count(
        "{n} passage had passed already ({round}).",
        "{n} passages had passed already ({round}).",
        found.relevant,
        round=round_text(found.round, words),
    )
    return words.joined(
        (
            fact,
            words(
                "The gate “Number of relevant passages” would have answered then and saved {cost}.",
                cost=words(", ").join(cost),
            ),
        )
    )


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
    ended = begun_small(outcome_text(boundary.outcome, words, boundary.answer_note), words)
    parts = [ended, saved, lets_in(boundary.admits, words)]
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
