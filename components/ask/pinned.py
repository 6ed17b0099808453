"""Pinned runs in the what-if card: whether this run is one, and what the sliders do to all of them."""

from __future__ import annotations

from components.ask.what_if_text import rich
from components.common.i18n import Words
from components.common.markup import Node, button, node
from components.common.phrases import outcome_text
from engine.messages import NN_
from engine.replay.pinned import Direction, PinnedChange, PinnedEffect

_LONGEST = 48
_SIGNS: dict[Direction, tuple[str, str]] = {"better": ("▲", "pass"), "worse": ("▼", "warn"), "other": ("=", "grey")}

ALL_UNKNOWN = NN_(
    "Of the run on the watch list it cannot be told without calls.",
    "Watch list: of none of the {n} runs can it be told without calls.",
)


def pin_button(pinned: bool, words: Words) -> Node:
    """The switch that pins a run or lets it go: the action is ``pin`` or ``unpin``."""
    made = button(
        words("★ On the watch list" if pinned else "☆ Add to watch list"),
        "unpin" if pinned else "pin",
        "button quiet pin",
    )
    return Node(
        made.tag,
        {
            **made.attrs,
            "title": words("Of a run on the watch list every what-if says whether it would end otherwise."),
            "aria-pressed": str(pinned).lower(),
        },
        made.kids,
    )


def pinned_nodes(effect: PinnedEffect, words: Words) -> list[Node]:
    """One sentence about all pinned runs, and a button (``run:ID``) for each that would end otherwise."""
    if effect.total == 0:
        return []
    if effect.changes:
        counted = {"better": effect.count("better"), "worse": effect.count("worse")}
        said = words(
            "Watch list: **{flips} of {n} would flip**, {better} better, {worse} worse.",
            flips=len(effect.changes),
            n=effect.total,
            **counted,
        )
    elif len(effect.unknown) == effect.total:
        said = words.count(*ALL_UNKNOWN, effect.total)
    else:
        said = words.count(
            "The run on the watch list would not flip.", "Watch list: none of {n} runs is known to flip.", effect.total
        )
    if 0 < len(effect.unknown) < effect.total:
        said = words.joined(
            (
                said,
                words.count(
                    "1 cannot be told without calls.", "{n} cannot be told without calls.", len(effect.unknown)
                ),
            )
        )
    parts = [node("p", "small", *rich(said))]
    if effect.changes:
        parts.append(node("div", "chips", *(_changed_run(item, words) for item in effect.changes)))
    return [node("div", "pinned", *parts)]


def _changed_run(change: PinnedChange, words: Words) -> Node:
    sign, look = _SIGNS[change.direction]
    question = change.record.question
    short = question if len(question) <= _LONGEST else f"{question[: _LONGEST - 1]}…"
    before, after = (outcome_text(item.outcome, words, item.answer_note) for item in (change.before, change.after))
    label = words("{question}: {before} → {after}", question=short, before=before, after=after)
    return button(f"{sign} {label}", f"run:{change.record.id}", f"chip {look} link")
