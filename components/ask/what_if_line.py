"""The one line under the question: what the sliders would have done, or how to ask them."""

from __future__ import annotations

from components.ask.admitted import admits_count
from components.ask.what_if_text import BUILT_IN_CALLS, differences_to, ending_text, needed_text, rich, saving_parts
from components.common.i18n import Words
from components.common.markup import Node, draw, node
from components.common.phrases import begun, outcome_text
from engine.messages import N_
from engine.model.values import RunRecord
from engine.replay.values import WhatIf

_SIGNS = {"known": ("pass", "✓"), "generation": ("pass", "✓"), "needs_calls": ("warn", "?")}


def what_if_line(found: WhatIf, record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the line for settings other than the run's own."""
    look, sign = line_sign(found)
    icon = node("span", f"sign {look}", sign, aria_hidden="true")
    said = words(" · ").join(line_parts(found, record, words))
    title = node("span", "muted", words("What if"))
    line = node("p", "would num", icon, title, node("span", "", *rich(said)), role="status")
    draw((line,), words, key=key)


def line_sign(found: WhatIf) -> tuple[str, str]:
    """Look and sign of the line: amber where the answer is not supported, or would rest on what was held back."""
    doubted = found.answer_note in ("unsupported", "uncited") or (found.admits and found.path_known)
    return ("warn", "!") if doubted else _SIGNS[found.state]


def line_parts(found: WhatIf, record: RunRecord, words: Words) -> list[str]:
    """``It would have **answered at round 1**``, ``2 rewrites fewer``, ``0 calls``: the same that the card says."""
    if found.state == "needs_calls":
        return [f"**{words('Not known from this run')}**", needed_text(found, words)]
    known = found.state == "known"
    admits = admits_count(found.admits, words)
    noted = outcome_text(found.outcome, words, found.answer_note) if found.answer_note else ""
    state = words("0 calls" if known else "answer: one generation away")
    if found.same_path:
        same = words("Nothing would change" if known else "The same decisions, from other passages")
        return [part for part in (f"**{same}**", noted, admits, state) if part]
    ending = ending_text(found, words, whole=False)
    counted = [(things, number) for things, number in differences_to(found, record) if things != BUILT_IN_CALLS]
    saved = saving_parts(counted, words, sides=(N_("{parts} fewer"), N_("{parts} more")))
    return [part for part in (begun(ending), noted, admits, saved, state) if part]


def tune_hint(words: Words, *, key: str) -> None:
    """Draw what to do next with a finished run; where the settings are folded away, how to come to them."""
    draw(hint_nodes(words), words, key=key)


def running_hint(words: Words, *, key: str) -> None:
    """Hold the line's place while the run is active."""
    draw((node("p", "muted small hint", words("Every step shows below as it happens.")),), words, key=key)


def hint_nodes(words: Words) -> tuple[Node, ...]:
    """One sentence for wide pages and one for narrow ones; the style sheet shows one of them."""
    wide = node(
        "span",
        "beside",
        words("Move a slider at the left: nothing is called, and “What if” shows what it would have changed."),
    )
    narrow = node(
        "span",
        "behind",
        words(
            "Open the settings (») and move a slider: nothing is called, and “What if” shows what it would have "
            "changed."
        ),
    )
    return (node("p", "muted small hint", wide, narrow),)
