"""The what-if card: what the run would have done under the settings of the sidebar, and what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from components.ask.admitted import admits_count, admits_text, rests_on_text
from components.ask.what_if_text import (
    BROKEN,
    COMPLETE,
    changes_text,
    consequence_text,
    needed_text,
    price_text,
    rich,
)
from components.common.i18n import Words
from components.common.markup import Node, button, chip, draw, node
from components.common.phrases import note_badge, place_text
from components.common.settings_of import differing
from engine.messages import N_
from engine.model.values import Passage, PassageId, RunRecord
from engine.replay.values import WhatIf

_HINT = {
    "verdicts": N_("A run with “Grade all candidates” (More settings) records these verdicts too."),
    "candidates": N_("A run with more “Candidates looked at” (More settings) records them too."),
}

_SHOWN_UNGRADED = 3


def what_if_waiting(words: Words, *, key: str) -> None:
    """Hold the card's place while the run is in progress."""
    head = node("div", "head", node("strong", "heading", words("What if")))
    draw(
        (
            node(
                "section",
                "card whatif waiting",
                head,
                node(
                    "p",
                    "muted",
                    words(
                        "When the run has ended, a slider moved at the left shows here what it would have changed. "
                        "Nothing is called."
                    ),
                ),
            ),
        ),
        words,
        key=key,
    )


def what_if_card(
    found: WhatIf,
    record: RunRecord,
    words: Words,
    *,
    key: str,
    corner: Sequence[Node] = (),
    below: Sequence[Node] = (),
) -> str | None:
    """Draw the card, with ``corner`` beside its badge and ``below`` at its end; returns the action that was pressed.

    ``fork``: go on from the record where it stops being known; ``run``: all of it again; ``back``: the run's settings;
    ``open:ID``: show a passage.
    """
    head, *rest = card_nodes(found, record, words)
    below = () if record.outcome in BROKEN else below
    head = Node(head.tag, head.attrs, (*head.kids, node("span", "grow"), *corner)) if corner else head
    return draw((node("section", "card whatif", head, *rest, *below),), words, key=key)


def card_nodes(found: WhatIf, record: RunRecord, words: Words) -> list[Node]:
    """What the card holds, from its badge to its buttons."""
    moved = bool(differing(found.config, record.config))
    if not moved and record.outcome in BROKEN:
        return kept_nodes(record, words)
    title = node("strong", "heading", words("What if"))
    undecided = record.origin is not None and found.state == "needs_calls"
    if not moved and (found.state == "known" or (record.outcome in COMPLETE and not undecided)):
        # What a finished run did under its own settings is its recording, no matter what a replay could tell.
        refused = [item for item in found.admits if item.unaccepted]
        own = replace(found, state="known", admits=tuple(refused), answer_note=record.answer_note)
        held = [node("p", "note", rests_on_text(refused, words))] if refused else []
        return [
            node("div", "head", title, *badges(own, words)),
            node(
                "p",
                "muted own",
                words(
                    "These are the run's own settings: move a slider, and the decision is recomputed here without a "
                    "call."
                ),
            ),
            *held,
        ]
    head = node("div", "head", title, *badges(found, words))
    parts = [head, node("p", "say", *rich(said(found, record, words)))]
    if admits := admits_text(found.admits, words):
        parts.append(node("p", "note", admits))
    parts += _missing(found, record, words)
    return [*parts, _actions(found, record, words, moved)]


def kept_nodes(record: RunRecord, words: Words) -> list[Node]:
    """What a run that a fault ended has left, and the button that goes on from it."""
    head = node("div", "head", node("strong", "heading", words("What was kept")))
    verdicts = sum(len(current.verdicts) for current in record.rounds)
    counted = (
        words.count("1 search", "{n} searches", sum(current.searched for current in record.rounds)),
        words.count("1 candidate", "{n} candidates", len(record.passages)),
        words.count("1 verdict", "{n} verdicts", verdicts),
    )
    if not record.passages:
        return [head, node("p", "muted", words("Nothing: the run broke off before it had found a passage."))]
    why = words("A branch goes on from there and asks for none of it again.")
    on = [node("div", "actions", _wish(words("Go on from there"), "fork"))] if record.origin is None else []
    return [head, node("p", "say", words(" · ").join(counted)), node("p", "muted small", why), *on]


def said(found: WhatIf, record: RunRecord, words: Words) -> str:
    """The whole sentence: the changed settings and what they would have led to."""
    consequence = consequence_text(found, record, words)
    sentence = changes_text(found.config, record.config, words) + consequence
    return sentence if sentence.endswith((".", "。")) else sentence + words(".")


def badges(found: WhatIf, words: Words) -> tuple[Node, ...]:
    """The honest state: never *known* where only the path is, never *path known* where a route is open, and never
    green where the answer would rest on what the run held back, or where something is to be said of it."""
    admits = admits_count(found.admits, words)
    noted = (chip(*note_badge(found.answer_note, words)),) if found.answer_note else ()
    harm = (*noted, chip("warn", words("! {what}", what=admits))) if admits else noted
    look = "grey" if harm else "pass"
    if found.state == "known":
        return (*harm, chip(look, words("✓ known · 0 calls")))
    if found.state == "generation":
        return (*harm, chip(look, words("✓ path known · 0 calls")), chip("grey", words("answer: one generation away")))
    return (*harm, chip("warn", words("? {needs}", needs=needed_text(found, words))))


def ungraded_passages(found: WhatIf) -> tuple[Passage, ...]:
    """The kept passages of the last known round that no one judged."""
    if not found.steps:
        return ()
    last = found.steps[-1]
    wanted: frozenset[PassageId] = frozenset(last.ungraded)
    return tuple(item.passage for item in last.round.candidates if item.passage.id in wanted)


def _missing(found: WhatIf, record: RunRecord, words: Words) -> list[Node]:
    """What is not known and what it would cost to know it."""
    parts = []
    if found.state == "generation":
        missing = len(found.steps[-1].ungraded) + found.steps[-1].unseen if found.steps else 0
        if found.gap == "verdicts":
            why = (
                words.count(
                    "one passage it might be given has no verdict",
                    "{n} passages it might be given have no verdict",
                    missing,
                )
                if missing
                else words("it says how many passages were read, and some of those have no verdict")
            )
        else:
            why = words(
                "the generator would be given something else"
                if record.outcome in COMPLETE
                else "the run did not write it to its end"
            )
        parts.append(
            node(
                "p",
                "muted small",
                words("Known: every decision. Not known: the answer itself, because {why}.", why=why),
            )
        )
    same_grader = found.config.models.grader == record.config.models.grader
    if found.gap == "verdicts" and same_grader:
        parts += _ungraded(found, words)
    if found.state != "known":
        first, worst = price_text(found.calls_needed.next, words), price_text(found.calls_needed.worst, words)
        cost = words(
            "Costs {next}." if first == worst else "Next step: {next}. At worst: {worst}.", next=first, worst=worst
        )
        parts.append(node("p", "muted small num", cost))
    deeper = same_grader and not found.config.grade_probe
    if record.origin is None and (found.gap == "candidates" or (found.gap == "verdicts" and deeper)):
        parts.append(node("p", "muted small", words(_HINT[found.gap])))
    return parts


def _ungraded(found: WhatIf, words: Words) -> list[Node]:
    passages = ungraded_passages(found)
    if not passages:
        return []
    chips = [
        button(place_text(item.source, item.section, words), f"open:{item.id}", "chip link")
        for item in passages[:_SHOWN_UNGRADED]
    ]
    if len(passages) > _SHOWN_UNGRADED:
        chips.append(node("span", "muted small", words("and {n} more", n=len(passages) - _SHOWN_UNGRADED)))
    return [node("div", "chips", node("span", "muted small", words("No verdict:")), *chips)]


def _actions(found: WhatIf, record: RunRecord, words: Words, moved: bool) -> Node:
    made = []
    # What an imported run still needs is with the other program: it can be judged further, not run on.
    here = record.origin is None
    if here and found.gap != "retrieval" and found.state != "known":
        made.append(_wish(fork_label(found, words), "fork", primary=True))
    if here and moved:
        made.append(_wish(words("Run with these settings"), "run", primary=not made))
    if moved:
        made.append(_wish(words("Back to the run's settings"), "back"))
    return node("div", "actions", *made)


def fork_label(found: WhatIf, words: Words) -> str:
    """What going on from the record does first."""
    if found.state == "generation":
        return words("Generate it")
    return words("Grade the missing ones" if found.gap in ("verdicts", "candidates") else "Go on from there")


def _wish(label: str, wish: str, *, primary: bool = False) -> Node:
    return button(label, wish, "button primary" if primary else "button quiet")
