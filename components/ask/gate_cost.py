"""One sentence on what the pass-rate gate cost, and the button that tries the other gate."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import box, button, draw, node
from components.common.phrases import duration_text
from engine.replay.gate_cost import GateCost


def gate_cost_note(found: GateCost, words: Words, *, key: str) -> bool:
    """Draw the note; true when the reader wants the other gate."""
    text = node("p", "", gate_cost_text(found, words))
    return draw((box("warn", "!", text, beside=(button(words("Use that gate"), "use"),)),), words, key=key) == "use"


def gate_cost_text(found: GateCost, words: Words) -> str:
    """When enough verified passages were there, and what came after."""
    cost = [words.count("{n} rewrite", "{n} rewrites", found.rewrites)]
    if found.calls:
        cost.append(words.count("{n} call", "{n} calls", found.calls))
    cost.append(duration_text(found.saved_ms))
    fact = words.count(
        "{n} passage had passed already in round {round}.",
        "{n} passages had passed already in round {round}.",
        found.relevant,
        round=found.round,
    )
    return words.joined(
        (
            fact,
            words(
                "The gate “At least n passages” would have answered then and saved {cost}.", cost=words(", ").join(cost)
            ),
        )
    )
