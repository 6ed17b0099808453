"""Why this outcome: the diagnosis of a finished run, one change that helps, and going on from a decision."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from components.ask.admitted import admits_text
from components.ask.diagnosis import next_text, title, why_text
from components.ask.what_if_text import boundary_text, rich
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from components.common.outcomes import reason_text, round_text
from components.common.panel import want_settings
from components.common.phrases import duration_text
from engine.engine import Engine
from engine.evaluation.known_right import Met, known_right
from engine.messages import NC_
from engine.model.config import RunConfig
from engine.model.values import PassageId, RunRecord
from engine.replay.admitted import needs_care
from engine.replay.decision_boundaries import DecisionBoundary, remedy
from engine.replay.diagnosis import Diagnosis, diagnose
from engine.replay.gate_cost import GateCost, gate_cost
from engine.replay.pinned import PinnedEffect
from pages.parts.ask import fork
from pages.parts.ask.marking import mark_dialog
from pages.parts.ask.pinned_runs import effect_on_pinned, effect_text
from pages.parts.ask.what_if import begin, replayed
from pages.parts.common.judging_rest import judge_all
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.common.views import aim_at

_MOST_READERS = 2
_GRADER = "grader:"


def panel(engine: Engine, record: RunRecord, chosen: RunConfig, words: Words) -> None:
    """Draw one line under the answer of a finished run, which opens; closed, it costs no more than the diagnosis."""
    met, answerable = known_right(engine, record)
    found = diagnose(replayed(record), met, answerable)
    last = record.decisions[-1].reason if record.decisions else ""
    because = title(found, words) if found else reason_text(last, words)
    label = words("Why this outcome") + (f" · {because}" if because else "")
    with st.expander(label, key="why", on_change="rerun") as opened:
        if not opened.open:
            return
        if found is not None:
            _remedy(engine, replayed(record), found, (met, answerable), words)
        _cost_of_the_gate(record, words)
        fork.panel(engine, record, chosen, words)


def kept(engine: Engine, record: RunRecord, words: Words) -> None:
    """Draw what is left of a run ended by a fault, and the button that resumes it."""
    if draw(kept_nodes(record, words), words, key="kept") == "fork":
        begin(lambda: engine.fork(record, record.config))


def kept_nodes(record: RunRecord, words: Words) -> tuple[Node, ...]:
    """What a run had until the fault; nothing where it had found nothing."""
    if not record.passages:
        return ()
    counted = (
        words.count("1 search", "{n} searches", sum(current.searched for current in record.rounds)),
        words.count("1 candidate", "{n} candidates", len(record.passages)),
        words.count("1 verdict", "{n} verdicts", sum(len(current.verdicts) for current in record.rounds)),
    )
    said = words("Kept: {what}.", what=words(" · ").join(counted))
    aside = (button(words("Continue from there"), "fork", "button primary"),) if record.origin is None else ()
    return (box("plain", "↳", node("p", "", said), aside=aside),)


def _cost_of_the_gate(record: RunRecord, words: Words) -> None:
    """Show the cost of the pass rate if a verified passage came earlier, with the other gate one click away."""
    found = gate_cost(record)
    if found is None:
        return
    use = button(words(NC_("remedy", "Try it")), "use")
    if draw((box("warn", "!", node("p", "", gate_cost_text(found, words)), aside=(use,)),), words, key="waste"):
        want_settings({"gate": "min_relevant"})
        st.rerun()


def gate_cost_text(found: GateCost, words: Words) -> str:
    """Describe when enough verified passages were found, and what came after."""
    cost = [words.count("{n} rewrite", "{n} rewrites", found.rewrites)]
    if found.calls:
        cost.append(words.count("{n} call", "{n} calls", found.calls))
    return words.count(
        "{n} passage had passed already ({round}). A number of passages as the condition would have saved {cost}.",
        "{n} passages had passed already ({round}). A number of passages as the condition would have saved {cost}.",
        found.relevant,
        round=round_text(found.round, words),
        cost=words(", ").join((*cost, duration_text(found.saved_ms))),
    )


def _remedy(
    engine: Engine, record: RunRecord, found: Diagnosis, known: tuple[Met | None, bool | None], words: Words
) -> None:
    """Draw what went wrong and what would mend it; ``known`` is what :func:`known_right` says."""
    met, answerable = known

    def mend() -> DecisionBoundary | None:
        return remedy(record, record.config, met, answerable=answerable)

    asked = (record.id, record.last_seq, tuple(sorted((met or {}).items())), answerable)
    change = cached_in_session("remedy", asked, mend)
    effect = None
    if change is not None:
        changes: dict[str, Any] = {change.name: change.value_to}
        effect = effect_on_pinned(engine, record.config, replace(record.config, **changes), name="remedy")
    right = [name for name, places in (met or {}).items() if places]
    offered = _offered(engine, record, found, words)
    pressed = view(found, change, effect, words, key="remedy", right=right, offered=offered)
    if pressed == "try" and change is not None:
        want_settings({change.name: change.value_to})
        st.rerun()
    if pressed is not None:
        _act(engine, record, pressed, words)


def _offered(engine: Engine, record: RunRecord, found: Diagnosis, words: Words) -> list[tuple[str, str]]:
    """List remedies other than a change of one setting, as labels and actions."""
    if not may("editor") or record.origin is not None:
        return []
    offered = [] if found.labelled or not record.rounds else [(words("Mark the right passage"), "mark")]
    if found.figures.get("unjudged") or (
        found.labelled and found.failure == "dropped_by_similarity" and not found.grader
    ):
        offered.append((words("Judge all candidates"), "judge"))
    if found.failure == "nothing_retrieved" and not record.passages:
        offered.append((words("Add files"), "add"))
    # Where a screener said no, another grader would be asked no more than this one was.
    if (found.grader or found.by_words) and "screener" not in found.figures:
        own = record.config.models.grader.model
        readers = [name for name in engine.chat_models() if name != own][:_MOST_READERS]
        offered += [(words("Grade with {model}", model=name), f"{_GRADER}{name}") for name in readers]
        if found.by_words and not readers:
            offered.append((words("Set up a chat model"), "models"))
    return offered


def _act(engine: Engine, record: RunRecord, pressed: str, words: Words) -> None:
    """Do what a button of the box says: move the sidebar, begin a branch, or lead to another page."""
    if pressed.startswith(_GRADER):
        want_settings({"grader": pressed.removeprefix(_GRADER)})
        st.rerun()
    if pressed == "judge":
        judge_all(engine, record)
    if pressed == "mark":
        mark_dialog(engine, record, words)
    if pressed == "models":
        aim_at("system", "models")
        st.switch_page("system.py")
    if pressed == "add":
        aim_at("knowledge", "add")
        st.switch_page("knowledge.py")


def view(
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

    Amber where the change lets in what the run held back and no one marked ``right``, or leads to an answer that is not
    supported.

    Returns ``try`` when the change is to be tried, or the action of one of the buttons that are ``offered`` with their
    labels, of which the first leads.
    """
    by = chip("grey", words("From your labels" if found.labelled else "Inferred from the run"))
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


def _mending(
    found: Diagnosis, change: DecisionBoundary | None, effect: PinnedEffect | None, words: Words
) -> list[Node]:
    if change is None:
        return [node("p", "muted small", next_text(found, words))]
    said = words(
        "Known to help: **{change}**.",
        change=boundary_text(replace(change, admits=()), words),
    )
    admits = [node("p", "note", text)] if (text := admits_text(change.admits, words)) else []
    effect_said = [node("p", "muted small", text)] if (text := effect_text(effect, words)) else []
    return [node("p", "change", *rich(said)), *admits, *effect_said]
