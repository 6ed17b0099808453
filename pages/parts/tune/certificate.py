"""The tab *Certificate* of the Tune page: a bound, a confidence, the settings that keep it, missing answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.common.panel import want_settings
from components.common.run_settings import setting_label, setting_text
from components.tune.certificate import RISKS, certificate_card, certificate_map, percent, predicted_card
from components.tune.figures import value_text
from engine.engine import Engine
from engine.errors import UnknownBatch
from engine.evaluation.certify import Risk, similarity_cut
from engine.evaluation.predicted import LEAST, drawn_at_random, predicted_wrong
from engine.evaluation.sweep import AxisValue
from engine.messages import NC_
from engine.model.config import RunConfig
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Gathering, Shown
from pages.parts.tune.gather import batch_status
from pages.parts.tune.sweep import swept_axes
from pages.parts.tune.tried import (
    BOUND,
    CONFIDENCE,
    RISK,
    USUAL_BOUND,
    USUAL_CONFIDENCE,
    certificates,
    evaluated,
    tried,
)

_CONFIDENCES = (0.9, 0.95, 0.99)
_KEPT = 0.95
_WATCH_S = 0.5
_AREA = "tune_missing"
_BATCH = "tune_missing_batch"
_AT_ONCE = 2


def certificate_tab(
    engine: Engine,
    shown: Shown,
    gathering: Gathering,
    config: RunConfig,
    words: Words,
    *,
    try_settings: Callable[[Mapping[str, AxisValue]], None],
) -> None:
    """Show the bounded risk, what can be said about it, and the safe region if two settings are swept."""
    risk, bound, confidence = _asked(words)
    names = swept_axes(config)
    found = certificates(shown, config, names, risk=risk, bound=bound, confidence=confidence)
    made = tried(shown, config, names)
    current = next((place for place, item in enumerate(made.configs) if item == config), None)
    pick = found.most_answers(current)
    changed = [] if pick is None else _changed(config, made.configs[pick], names, words)
    if certificate_card(found, pick, changed, current, words, key="tune_certificate") and pick is not None:
        want_settings(made.settings[pick])
        st.rerun()
    missing_answers(engine, shown, gathering, config, words)
    st.caption(
        words(
            "Settings are tested from the strictest to the laxest, by their values alone, until one fails: so the "
            "confidence holds for all that pass together. Only recorded answers count."
        )
    )
    _estimate(shown, confidence, words)
    _similarity(shown, words)
    if len(names) > 1 and (heat := made.heat(risk, names[0], names[1], config)) is not None:
        certificate_map(found, heat, config, words, key="tune_safe", tried=try_settings)


def _asked(words: Words) -> tuple[Risk, float, float]:
    """Choose the risk, its bound and the confidence."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        risk: Risk = st.selectbox(
            words("Risk"),
            list(RISKS),
            format_func=lambda name: words(RISKS[name]),
            key=RISK,
            persist_state="session",
        )
        bound = st.number_input(
            words(NC_("risk", "At most")),
            0.01,
            0.5,
            USUAL_BOUND,
            0.01,
            key=BOUND,
            persist_state="session",
            width=140,
        )
        confidence: float = st.selectbox(
            words("Confidence"),
            _CONFIDENCES,
            index=_CONFIDENCES.index(USUAL_CONFIDENCE),
            format_func=percent,
            key=CONFIDENCE,
            persist_state="session",
            width=140,
        )
    return risk, bound, confidence


def _similarity(shown: Shown, words: Words) -> None:
    """The similarity threshold that keeps most right passages, where there are enough questions to say one."""
    if cut := similarity_cut(shown.evidence, _KEPT):
        st.caption(
            words(
                "A similarity threshold of {cut} keeps an expected passage for {share} of new questions whose first "
                "search finds one (n = {n}).",
                cut=value_text("recall", cut[0]),
                share=percent(_KEPT),
                n=cut[1],
            )
        )


def _estimate(shown: Shown, confidence: float, words: Words) -> None:
    """Estimate from few judgements and many verdicts, or say what is missing."""
    found = predicted_wrong(shown.evidence, confidence)
    predicted_card(found, shown.judge, words, key="tune_predicted")
    if found is None and shown.judge:
        st.caption(
            words(
                "Once {least} answers are judged that were drawn at random (now {n}), the verdicts of {judge} help to "
                "estimate how many answers are wrong.",
                least=LEAST,
                n=drawn_at_random(shown.evidence),
                judge=shown.judge,
            )
        )


def _changed(config: RunConfig, other: RunConfig, names: tuple[str, ...], words: Words) -> list[str]:
    return [
        f"{setting_label(name, words)} {setting_text(name, getattr(other, name), words)}"
        for name in names
        if getattr(other, name) != getattr(config, name)
    ]


def missing_answers(engine: Engine, shown: Shown, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """Offer to gather what is missing, and follow it; it is counted together with the gathering that is shown."""
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
            run_action(_AREA, lambda: engine.batches.start(name, wanted, _AT_ONCE, ids), into=_BATCH)
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
    """Draw the progress of what was started here; false where nothing is running."""
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
