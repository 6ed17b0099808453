"""What a run suffered from, and the smallest change of one setting that its record confirms to mend it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from components.ask.admitted import admits_text
from components.ask.diagnosis import next_text, title, why_text
from components.ask.pinned import ALL_UNKNOWN
from components.ask.smallest_changes import boundary_text
from components.ask.what_if_text import rich
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from engine.messages import NC_
from engine.model.values import PassageId
from engine.replay.admitted import needs_care
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.diagnosis import Diagnosis
from engine.replay.pinned import PinnedEffect


def remedy_box(
    found: Diagnosis,
    change: DecisionBoundary | None,
    effect: PinnedEffect | None,
    words: Words,
    *,
    key: str,
    right: Collection[PassageId] = (),
    offered: Sequence[tuple[str, str]] = (),
) -> str | None:
    """Draw label, evidence and change, with what the change does to pinned runs.

    Amber where the change lets in what the run held back and nobody marked ``right``, or leads to an answer that is not
    supported.

    Returns ``try`` when the change is to be tried, or the action of one of the buttons that are ``offered`` with their
    labels, of which the first leads.
    """
    by = chip("grey", words("by labels" if found.labelled else "by what the run shows"))
    head = node("div", "head", node("strong", "heading", title(found, words)), by)
    said = (head, node("p", "small", why_text(found, words)), *_mending(found, change, effect, words))
    buttons = [(words(NC_("remedy", "Try it")), "try")] if change is not None else []
    actions = [
        button(label, action, "button" if place else "button primary")
        for place, (label, action) in enumerate((*buttons, *offered))
    ]
    harm = change is not None and (change.answer_note == "unsupported" or needs_care(change.admits, right))
    amber = harm or found.failure == "refused_let_in"
    below = [node("div", "actions", *actions)] if actions else []
    drawn = box("warn remedy" if amber else "plain remedy", "!" if amber or change is None else "✓", *said, *below)
    return draw((drawn,), words, key=key)


def effect_text(effect: PinnedEffect | None, words: Words) -> str:
    """``It breaks none of 20 runs on the watch list.``: of those that can be told without calls."""
    if effect is None or effect.total == 0:
        return words("Put runs on the watch list, and this says what the change would do to them.")
    told = effect.total - len(effect.unknown)
    if told == 0:
        return words.count(*ALL_UNKNOWN, effect.total)
    better, worse = effect.count("better"), effect.count("worse")
    if worse or better:
        said = words(
            "Of {n} runs on the watch list it mends {better} and breaks {worse}.", n=told, better=better, worse=worse
        )
    else:
        said = words.count(
            "It does not break the run on the watch list.", "It breaks none of {n} runs on the watch list.", told
        )
    if not effect.unknown:
        return said
    unknown = words.count("1 cannot be told without calls.", "{n} cannot be told without calls.", len(effect.unknown))
    return words.joined((said, unknown))


def _mending(
    found: Diagnosis, change: DecisionBoundary | None, effect: PinnedEffect | None, words: Words
) -> list[Node]:
    if change is None:
        return [node("p", "muted small", next_text(found, words))]
    said = words(
        "The smallest change that the record confirms to help: **{change}**.",
        change=boundary_text(replace(change, admits=()), words),
    )
    admits = [node("p", "note", text)] if (text := admits_text(change.admits, words)) else []
    return [node("p", "change", *rich(said)), *admits, node("p", "muted small", effect_text(effect, words))]
