"""Answers that no run has under the settings under test: generated on request, for the questions that need it alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.tune.progress import batch_status
from engine.engine import Engine
from engine.errors import UnknownBatch
from engine.model.config import RunConfig
from pages.parts.common.presses import attempt, say_fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Gathering, Shown
from pages.parts.tune.tried import evaluated

_WATCH_S = 0.5
_AREA = "tune_missing"
_BATCH = "tune_missing_batch"
_AT_ONCE = 2


def missing_answers(engine: Engine, shown: Shown, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """Offer to gather what is missing, and follow it; what it gathers counts beside the gathering that is shown."""
    say_fault(_AREA, words)
    if _follow(engine, words):
        return
    evaluation = evaluated(shown, config, config)
    unrecorded = np.flatnonzero(~evaluation.right_by.recorded[:, 0])
    if not len(unrecorded) or gathering.running or not may("editor"):
        return
    n = len(unrecorded)
    wanted = replace(config, grade_probe=gathering.config.grade_probe)
    calls = n * engine.worst_case_calls(wanted)
    label = words.count("Gather the missing answer", "Gather the {n} missing answers", n)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tune_missing"):
        if st.button(label, icon=":material/play_arrow:", disabled=not engine.ready, key="tune_missing_go"):
            ids = [evaluation.case_ids[place] for place in unrecorded]
            name = gathering.query_set.name
            attempt(_AREA, lambda: engine.batches.start(name, wanted, _AT_ONCE, ids), into=_BATCH)
            st.rerun()
        st.caption(
            words.count(
                "Runs 1 question under exactly these settings, with built-in models: no calls.",
                "Runs {n} questions under exactly these settings, with built-in models: no calls.",
                n,
            )
            if not calls
            else words.count(
                "Runs 1 question under exactly these settings, at most {calls} calls of chat models.",
                "Runs {n} questions under exactly these settings, at most {calls} calls of chat models.",
                n,
                calls=calls,
            ),
            width="content",
        )


def _follow(engine: Engine, words: Words) -> bool:
    """Draw the progress of what was begun here; false where nothing is running."""
    batch_id = st.session_state.get(_BATCH)
    if not batch_id:
        return False
    try:
        running = engine.batches.progress(batch_id).running
    except UnknownBatch:
        running = False
    if not running:
        del st.session_state[_BATCH]
        return False

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        progress = engine.batches.progress(batch_id)
        if not progress.running:
            st.rerun()
        if batch_status(progress, words, key=_AREA, may_stop=may("editor")):
            engine.batches.stop(batch_id)

    watch()
    return True
