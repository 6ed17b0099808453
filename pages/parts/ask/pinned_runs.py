"""Pinned runs: which they are, whether this run is one, and what a change of settings does to all of them."""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st

from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.markup import Node, button, node
from components.common.outcomes import outcome_text
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import RunId, RunRecord
from engine.records import PINNED
from engine.replay.pinned import Direction, PinnedChange, PinnedEffect, pinned_effect
from engine.replay.settings import COLUMNS
from pages.parts.common.session_cache import cached_in_session
from pages.parts.common.stored_runs import finished_record

_MOST = 30
"""Newest first; more would make every slider wait."""
_IDS = "pinned_ids"
_LOOK_AGAIN_S = 4.0
_LONGEST = 48
_SIGNS: dict[Direction, tuple[str, str]] = {"better": ("▲", "pass"), "worse": ("▼", "warn"), "other": ("=", "grey")}


def pinned_ids(engine: Engine) -> tuple[RunId, ...]:
    """The newest pinned runs that have ended; none where the store cannot be read, which the page says already.

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

    effect: PinnedEffect = cached_in_session(f"pinned_{name}", (pinned, old, new), worked_out)
    return effect if effect.total else None


def decided_by(config: RunConfig, record: RunRecord) -> RunConfig:
    """The settings that decide, on top of what the run itself searched and asked."""
    return replace(record.config, **_deciding(config))  # type: ignore[arg-type]


def _deciding(config: RunConfig) -> dict[str, object]:
    names = (*COLUMNS, "answer_unverified", "options")
    return {name: getattr(config, name) for name in names}


def pin_button(pinned: bool, words: Words) -> Node:
    """The switch that pins a run or lets it go: the action is ``pin`` or ``unpin``."""
    made = button(
        f"★ {words('On the watch list')}" if pinned else f"☆ {words('Add to the watch list')}",
        "unpin" if pinned else "pin",
        "button quiet pin",
    )
    return Node(
        made.tag,
        {
            **made.attrs,
            "title": words("Of a run on the watch list every what-if says whether it would end otherwise."),
            "aria-pressed": str(pinned).lower(),
        },
        made.kids,
    )


def effect_text(effect: PinnedEffect | None, words: Words) -> str:
    """``Watch list: 2 better, 1 worse, 3 unknown``; empty where there is no such run."""
    if effect is None or not effect.total:
        return ""
    counts = (
        words.count("1 better", "{n} better", better) if (better := effect.count("better")) else "",
        words.count("1 worse", "{n} worse", worse) if (worse := effect.count("worse")) else "",
        words.count("1 unknown", "{n} unknown", unknown) if (unknown := len(effect.unknown)) else "",
    )
    said = words(", ").join(part for part in counts if part) or words("no change")
    return words("Watch list: {what}", what=said)


def effect_nodes(effect: PinnedEffect | None, words: Words) -> list[Node]:
    """The same, and a button (``run:ID``) for each run that would end otherwise."""
    if effect is None or not effect.total:
        return []
    parts = [node("p", "small", effect_text(effect, words))]
    if effect.changes:
        parts.append(node("div", "chips", *(_changed_run(item, words) for item in effect.changes)))
    return [node("div", "pinned", *parts)]


def _changed_run(change: PinnedChange, words: Words) -> Node:
    sign, look = _SIGNS[change.direction]
    short = beginning(change.record.question, _LONGEST)
    before, after = (outcome_text(item.outcome, words, item.answer_note) for item in (change.before, change.after))
    label = words("{question}: {before} → {after}", question=short, before=before, after=after)
    return button(f"{sign} {label}", f"run:{change.record.id}", f"chip {look} link")
