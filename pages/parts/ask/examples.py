"""Questions to try and recorded runs: open before a run, folded into a menu next to the question with one."""

from __future__ import annotations

import streamlit as st

from components.ask.presenter import demo_buttons
from components.common.i18n import UiLanguage, Words
from components.common.sample_questions import sample_buttons
from engine.flow import workflow
from engine.model.config import USUAL, RunConfig, WorkflowName
from engine.model.values import SAMPLE_COLLECTION, RunId, RunRecord
from engine.samples import multi_hop_questions, sample_questions
from pages.parts.common.rights import may


def examples(config: RunConfig, record: RunRecord | None, words: Words) -> tuple[str | None, RunId | None]:
    """Draw both rows; returns the question to ask and the recorded run to open, where one was pressed."""
    asked = None
    # Of what else holds, no one knows a question; those to try would find nothing there.
    if config.collection == SAMPLE_COLLECTION:
        active = record is not None and record.active
        asked = sample_buttons(
            shown_samples(config.workflow, words.declared.closest), words, disabled=active or not may("editor")
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="demos"):
        st.caption(words("Recorded demos"), width="content")
        opened = demo_buttons(words, current=record.id if record else "")
    return asked, opened


def examples_menu(config: RunConfig, record: RunRecord, words: Words) -> tuple[str | None, RunId | None]:
    """The same in a menu."""
    with st.popover(words("Examples"), icon=":material/lightbulb:", key="examples"):
        return examples(config, record, words)


def shown_samples(name: WorkflowName, language: UiLanguage) -> list[tuple[str, str]]:
    """Questions with their kind, in the order of their buttons; those of the usual workflow where it has none."""
    labelled = {item.id: item for item in (*sample_questions(), *multi_hop_questions())}
    offered = workflow(name).samples or workflow(USUAL).samples
    shown = []
    for named, kind in offered.get(language, ()):
        known = labelled.get(named)
        shown.append((known.question, kind or known.kind) if known else (named, kind))
    return shown
