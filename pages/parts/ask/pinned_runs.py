"""The runs that somebody pinned: which they are, and what a change of settings would do to them."""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import RunId, RunRecord
from engine.records import PINNED
from engine.replay.pinned import PinnedEffect, pinned_effect
from engine.replay.settings import COLUMNS
from pages.parts.common.remembered import remembered
from pages.parts.common.stored_runs import finished_record

_MOST = 30
"""Newest first; more would make every slider wait."""
_IDS = "pinned_ids"
_LOOK_AGAIN_S = 4.0


def pinned_ids(engine: Engine) -> tuple[RunId, ...]:
    """The newest pinned runs that have ended; none where the store cannot be read, which the page says elsewhere.

    Looked up again at most every few seconds, since each slider comes by here.
    """
    known: tuple[float, tuple[RunId, ...]] | None = st.session_state.get(_IDS)
    if known is not None and time.monotonic() - known[0] < _LOOK_AGAIN_S:
        return known[1]
    try:
        found = tuple(item.id for item in engine.runs(_MOST, tag=PINNED) if item.outcome is not None)
    except WorkbenchError:
        found = ()
    st.session_state[_IDS] = (time.monotonic(), found)
    return found


def pin(engine: Engine, run_id: RunId, *, pinned: bool) -> None:
    """Pin a run or let it go; raises ``WorkbenchError`` where the store refuses."""
    st.session_state.pop(_IDS, None)
    if pinned:
        engine.tag_run(run_id, PINNED)
    else:
        engine.untag_run(run_id, PINNED)


def effect_on_pinned(engine: Engine, old: RunConfig, new: RunConfig, *, name: str) -> PinnedEffect | None:
    """What going from ``old`` to ``new`` does to the pinned runs of the same workflow; None where there are none or
    nothing decides again.

    Collection, models and time budget stay as each run had them. ``name`` tells apart who asks.
    """
    pinned = pinned_ids(engine)
    if not pinned or _deciding(old) == _deciding(new):
        return None

    def worked_out() -> PinnedEffect:
        found = (finished_record(engine, run_id) for run_id in pinned)
        # What these settings do to the runs of another loop says nothing about this one.
        records = [item for item in found if item is not None and item.workflow == old.workflow]
        return pinned_effect(records, lambda item: decided_by(old, item), lambda item: decided_by(new, item))

    effect: PinnedEffect = remembered(f"pinned_{name}", (pinned, old, new), worked_out)
    return effect if effect.total else None


def decided_by(config: RunConfig, record: RunRecord) -> RunConfig:
    """The settings that decide, on top of what the run itself searched and asked."""
    return replace(record.config, **_deciding(config))  # type: ignore[arg-type]


def _deciding(config: RunConfig) -> dict[str, object]:
    names = (*COLUMNS, "answer_unverified", "options")
    return {name: getattr(config, name) for name in names}
