"""What the next run may cost at most, against the time it is given."""

from __future__ import annotations

import streamlit as st

from components.i18n import Words
from components.markup import Node, draw, node
from components.phrases import duration_text, fault_text
from engine.config import AnswerEvaluationOptions, DualLoopOptions, RunConfig
from engine.gate_reach import gate_warnings
from engine.values import Fault
from engine.whatif.values import Price


def budget_note(words: Words, config: RunConfig, worst: Price, *, key: str) -> None:
    """Draw the worst case in calls and seconds, with a bar of the budget that it would use."""
    st.caption(f"**{words('settings.before')}**")
    notes = [node("p", "note small", "! ", caution) for caution in caution_texts(words, config)]
    draw((node("section", "budget", *budget_nodes(words, config, worst), *notes),), words, key=key)


def caution_texts(words: Words, config: RunConfig) -> list[str]:
    """What keeps the gate from being met by any result, and what to do."""
    return [words.joined(fault_text(Fault.of(item), words)) for item in gate_warnings(config)]


def extent_text(words: Words, config: RunConfig) -> str:
    """How far a run can go at most: rounds, with answers where they are revised, or passes of searches."""
    options = config.options
    if isinstance(options, DualLoopOptions):
        searches = 3 if options.web_search else 2
        return words.count("settings.passes", options.max_corrections + 1, searches=searches)
    rounds = words.count("settings.rounds", config.max_rewrites + 1)
    if isinstance(options, AnswerEvaluationOptions):
        return words.count("settings.answers.n", options.gener_epoch, rounds=rounds)
    return rounds


def budget_nodes(words: Words, config: RunConfig, worst: Price) -> list[Node]:
    """The sentences and, where every step has been measured, the bar."""
    budget = f"{config.budget_s:g}"
    rounds = extent_text(words, config)
    if worst.calls == 0:
        counted = words("settings.before.builtin", rounds=rounds)
    else:
        counted = words.count("settings.before.calls", worst.calls, rounds=rounds, budget=budget)
    parts = [node("p", "", counted)]
    if worst.seconds is None:
        return [*parts, node("p", "muted small", words("budget.unmeasured"))]
    over = worst.seconds > config.budget_s
    time = duration_text(worst.seconds * 1000.0)
    parts.append(node("p", "small num", words("budget.time", time=time, budget=budget)))
    share = f"{min(1.0, worst.seconds / config.budget_s):.1%}"
    bar = node("i", "", data_fill=share)
    parts.append(node("div", "gauge over" if over else "gauge", bar, aria_hidden="true"))
    if over:
        parts.append(node("p", "note small", "! ", words("budget.over")))
    return parts
