"""The tab of the three other loops: quality of every round, strategies of every pass, evaluation of every answer."""

from __future__ import annotations

import streamlit as st

from components.ask.answer import opened_passage
from components.common.i18n import Words
from components.common.markup import Node, draw
from components.workflows.drafts import draft_nodes
from components.workflows.quality_chart import quality_nodes
from components.workflows.strategies import strategy_nodes
from engine.messages import N_
from engine.model.config import WorkflowName
from engine.model.values import PassageId, RunRecord

LOOP_WORKFLOWS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation", "graph_hybrid")
"""Workflows whose record holds more than rounds of passages; the others have no such tab."""


def loop_nodes(record: RunRecord, words: Words) -> list[Node]:
    """Everything that the loop of a record left behind; empty before its first step, and for other workflows."""
    return [*quality_nodes(record, words), *strategy_nodes(record, words), *draft_nodes(record, words)]


def why_nothing(record: RunRecord) -> str:
    """Return why the tab is empty, as a message: not yet, never begun, or no answer that could be evaluated."""
    if record.active:
        return N_("Nothing yet: this fills up while the loop runs.")
    return (
        N_(
            "No answer was written from passages, so there was nothing to evaluate. The other tabs show what was "
            "searched."
        )
        if record.workflow == "answer_evaluation" and record.rounds
        else N_("The run ended before the loop began.")
    )


def loop_tab(record: RunRecord, words: Words, *, key: str) -> PassageId | None:
    """Draw what the loop did; returns the passage whose citation was pressed, if any."""
    nodes = loop_nodes(record, words)
    if not nodes:
        st.caption(words(why_nothing(record)))
        return None
    return opened_passage(draw(nodes, words, key=key))
