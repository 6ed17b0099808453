"""Estimated maximum cost of the next run, compared with its time limit."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, draw, node
from components.common.phrases import duration_text, fault_text
from components.common.workflow_view import view_of
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.decide import gate_warnings
from engine.model.values import Fault


def budget_note(words: Words, config: RunConfig, worst: Cost, *, key: str) -> None:
    """Draw the worst case in calls and seconds, with a bar of the budget that it would use."""
    st.caption(f"**{words('Before you run')}**")
    notes = [node("p", "note small", "! ", caution) for caution in caution_texts(words, config)]
    draw((node("section", "budget", *budget_nodes(words, config, worst), *notes),), words, key=key)


def caution_texts(words: Words, config: RunConfig) -> list[str]:
    """Explain why no result can meet the gate, and the remedy."""
    return [words.joined(fault_text(Fault.of(item), words)) for item in gate_warnings(config)]


def budget_nodes(words: Words, config: RunConfig, worst: Cost) -> list[Node]:
    """The sentences and, where every step has been measured, the bar."""
    budget = f"{config.budget_s:g}"
    rounds = view_of(config.workflow).extent(config, words)
    if worst.calls == 0:
        counted = words("All roles are built in: no model calls, at most {rounds}.", rounds=rounds)
    else:
        counted = words.count(
            "Worst case 1 model call in {rounds}, within {budget} s.",
            "Worst case {n} model calls in {rounds}, within {budget} s.",
            worst.calls,
            rounds=rounds,
            budget=budget,
        )
    parts = [node("p", "", counted)]
    if worst.seconds is None:
        return [
            *parts,
            node(
                "p",
                "muted small",
                words("How long that takes is not known yet: no recent run went through every step with these models."),
            ),
        ]
    over = worst.seconds > config.budget_s
    time = duration_text(worst.seconds * 1000.0)
    parts.append(
        node(
            "p",
            "small num",
            words(
                "With every round used, about {time} of {budget} s, at the pace of recent runs.",
                time=time,
                budget=budget,
            ),
        )
    )
    share = f"{min(1.0, worst.seconds / config.budget_s):.1%}"
    bar = node("i", "", data_fill=share)
    parts.append(node("div", "gauge over" if over else "gauge", bar, aria_hidden="true"))
    if over:
        parts.append(
            node(
                "p",
                "note small",
                "! ",
                words(
                    "More than the time budget: such a run stops searching when it is spent, and answers from what it "
                    "has."
                ),
            )
        )
    return parts
