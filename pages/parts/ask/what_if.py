"""What-if beside the answer of a run: what it would have done under the sidebar's settings, and what to do then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

import streamlit as st

from components.ask.admitted import admits_count, admits_text, rests_on_text
from components.ask.notes import setting_of, smallest_change_nodes
from components.ask.slider_marks import MARKED, StableRange
from components.ask.what_if_text import (
    BROKEN,
    BUILT_IN_CALLS,
    changes_text,
    consequence_text,
    differences_to,
    ending_text,
    needed_text,
    price_text,
    rich,
    saving_parts,
)
from components.common.i18n import Words
from components.common.markup import Node, button, chip, draw, node
from components.common.outcomes import end_badge, outcome_text
from components.common.panel import want_settings
from components.common.phrases import begun, place_text
from components.common.run_settings import differing
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import PARAMETERS, SETTINGS, RoleModels, RunConfig, for_workflow, settings_of
from engine.model.values import COMPLETE, Passage, PassageId, RunId, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_boundaries import Sweep
from engine.replay.grid import at_once
from engine.replay.table import RunTable, run_table
from engine.samples.shipped import is_shipped
from pages.parts.ask.pinned_runs import effect_on_pinned, pin, pin_button, pinned_ids, pinned_nodes
from pages.parts.ask.what_if_map import map_panel
from pages.parts.common.actions import run_action
from pages.parts.common.session_cache import cached_in_session

_HINT = {
    "verdicts": N_("A run with “Grade all candidates” (Advanced) records these verdicts too."),
    "candidates": N_("A run with more “Candidates retrieved” (Advanced) records them too."),
}

_SHOWN_UNGRADED = 3
_SIGNS = {"known": ("pass", "✓"), "generation": ("pass", "✓"), "needs_calls": ("warn", "?")}


def what_if_panel(engine: Engine, record: RunRecord, found: WhatIf | None, words: Words) -> PassageId | None:
    """Draw what-if for a run, None while it is running; returns a passage that the reader wants to see."""
    if found is None:
        what_if_waiting(words, key="what_if")
        return None
    pressed = what_if_card(
        found,
        record,
        words,
        key="what_if",
        corner=() if is_shipped(record.id) else (pin_button(record.id in pinned_ids(engine), words),),
        below=_below(engine, record, found, words),
    )
    return act_on(engine, record, found, pressed)


def map_of(record: RunRecord, found: WhatIf, words: Words) -> None:
    """Draw the decision map of a run that came to its end; nothing where no record says what would be found."""
    if record.outcome not in BROKEN and record.rounds and found.gap != "retrieval":
        map_panel(replayed(record), table_of(record), found.config, words)


def act_on(engine: Engine, record: RunRecord, found: WhatIf, pressed: str | None) -> PassageId | None:
    """Do what was pressed in the card; returns a passage that the reader wants to see."""
    match pressed:
        case "back":
            want_settings(record.config)
            st.rerun()
        case "run":
            _begin(lambda: _again(engine, record, found.config))
        case "fork":
            _begin(lambda: engine.fork(record, found.config))
        case "pin" | "unpin":
            run_action("ask", lambda: pin(engine, record.id, pinned=pressed == "pin"))
            st.rerun()
        case str() if pressed.startswith("run:"):
            st.session_state["run"] = pressed.removeprefix("run:")
            st.rerun()
        case str() if (wanted := setting_of(pressed)) is not None:
            name, value = wanted
            want_settings({name: float(value) if name in PARAMETERS else value})
            st.rerun()
        case str() if pressed.startswith("open:"):
            return PassageId(pressed.removeprefix("open:"))
    return None


def _again(engine: Engine, record: RunRecord, config: RunConfig) -> RunId:
    """The question under these settings; a branch keeps what was changed by hand where it branched off."""
    if record.fork is not None:
        return engine.fork(record, config)
    return engine.start(record.question, config, attachments=record.attachments, trial=True)


def tried(chosen: RunConfig, run: RunConfig) -> RunConfig:
    """The panel's settings; what the panel has no control for stays as the run had it.

    Where the panel stands at another workflow, its numbers are those that they would be at the run's.
    """
    options = chosen.options if chosen.workflow == run.workflow else run.options
    moved = for_workflow(chosen, run.workflow)
    shown = {*settings_of(run.workflow)} & {*settings_of(chosen.workflow)}
    hidden = {name: getattr(run, name) for name in SETTINGS if name not in shown}
    roles = workflow(run.workflow).roles
    models = {}
    for item in fields(RoleModels):
        own, wanted = getattr(run.models, item.name), getattr(chosen.models, item.name)
        models[item.name] = replace(wanted, seed=own.seed) if item.name in roles else own
        if item.name in roles and wanted.built_in and own.built_in and wanted.fit == own.fit:
            models[item.name] = own
    return replace(moved, milvus_address=run.milvus_address, options=options, models=RoleModels(**models), **hidden)


def replayed(record: RunRecord) -> RunRecord:
    """The record without a branch that changed settings alone: such a run could as well have started by itself."""
    fork = record.fork
    settings_alone = fork is not None and fork.round == 0 and not fork.query and not fork.verdicts
    return replace(record, fork=None) if settings_alone else record


def table_of(record: RunRecord) -> RunTable:
    """The evidence of a finished run as numbers, made once for all its sliders."""
    return cached_in_session("table", (record.id, record.last_seq), lambda: run_table(replayed(record)))


def _sweep(record: RunRecord, config: RunConfig) -> Sweep | None:
    """Return the ranges of single settings, computed once for all that a page says; None if not at once."""
    table = table_of(record)
    if not at_once(table, config):
        return None
    return cached_in_session("sweep", (record.id, record.last_seq, config), lambda: Sweep(table, config))


def marks_of(record: RunRecord, chosen: RunConfig) -> Mapping[str, StableRange]:
    """By slider the values under which the run ends equally, with the panel's other settings."""
    sweep = _sweep(record, tried(chosen, record.config))
    # Replayed one setting at a time, it would make every slider wait.
    ranges = {} if sweep is None else sweep.stable_ranges(MARKED)
    return {name: StableRange(low, high) for name, (low, high) in ranges.items()}


def _below(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> list[Node]:
    """The smallest changes, and the pinned runs that would end differently."""
    nodes: list[Node] = []
    sweep = _sweep(record, found.config) if found.path_known else None
    if sweep is not None:
        answerable = known_right(engine, record)[1]
        changes = sweep.smallest_changes(answerable=answerable)
        nodes += smallest_change_nodes(changes, words, answerable=answerable)
    effect = effect_on_pinned(engine, record.config, found.config, name="card")
    return nodes + (pinned_nodes(effect, words) if effect is not None else [])


def _begin(begin: Callable[[], RunId]) -> None:
    """Start a run and open it; a failure to start is shown next to the question."""
    run_action("ask", begin, into="run")
    st.rerun()


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
    """Build the card from badge to buttons."""
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
    """Show what is left of a run ended by a fault, and the button that resumes it."""
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
    noted = (chip(*end_badge(found.outcome, words, found.answer_note)),) if found.answer_note else ()
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
    """Show what is unknown and the cost of finding out."""
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
    """Describe the first step when a run continues from its record."""
    if found.state == "generation":
        return words("Generate it")
    return words("Grade the missing ones" if found.gap in ("verdicts", "candidates") else "Go on from there")


def _wish(label: str, wish: str, *, primary: bool = False) -> Node:
    return button(label, wish, "button primary" if primary else "button quiet")


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
