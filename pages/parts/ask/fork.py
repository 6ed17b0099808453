"""Branching off in the tab of decisions: what to change and from where, its price, and what came of a branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from components.ask.fork_panel import (
    branch_note,
    changes_of,
    plain_line,
    price_line,
    round_text,
    setting_changes,
    verdict_rows,
)
from components.common.i18n import Words
from components.common.phrases import fault_text
from components.common.setting_words import setting_label
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import Fault, PassageId, RunRecord
from engine.replay import CallsNeeded
from engine.replay.difference import difference
from engine.replay.fork import fork_price, takes_query, visit_of
from pages.parts.ask.what_if import tried
from pages.parts.common.presses import attempt
from pages.parts.common.rights import may

_COMPLETE = ("answered", "answered_forced", "answered_unverified", "abstained", "fallback")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the reader has put together."""

    config: RunConfig
    round: int
    query: str
    verdicts: Mapping[PassageId, bool]


def fork_panel_of(engine: Engine, record: RunRecord, config: RunConfig, words: Words) -> None:
    """Draw what a run branched off from, and what can be branched off it; ``config`` is what the sliders say."""
    if record.fork is not None:
        _where_from(engine, record, words)
    if record.active or not record.rounds or record.origin is not None or not may("editor"):
        return
    st.markdown(f"**{words('Branch off')}**")
    st.caption(
        words(
            "Change something at one decision and go on from there. What came before stands, and every verdict, "
            "rewrite and answer that still holds is reused."
        )
    )
    config = tried(config, record.config)
    index = _round(record, words)
    changes = setting_changes(record.config, config, words)
    said = words(", ").join(changes)
    sentence = (
        words("Settings: {changes}", changes=said)
        if said
        else words("Settings: as in the run. Move a slider at the left to change one.")
    )
    plain_line(sentence, words, key="fork_settings")
    query = _query(engine, record, index, words)
    wanted = _Wanted(config, index, query, _verdicts(record, index, config, words))
    try:
        price = fork_price(record, config, index, query, wanted.verdicts)
    except WorkbenchError as error:
        st.warning(words.joined(fault_text(Fault.of(error), words)), icon=":material/info:")
        return
    new_query = bool(query) and query != record.rounds[index].query
    free = price == CallsNeeded() and not new_query
    # A run that was cut off can be gone on with as it is; the same again from a whole one would say nothing new.
    idle = not changes and not wanted.verdicts and not new_query and free and record.outcome in _COMPLETE
    with st.container(horizontal=True, vertical_alignment="center", key="fork_go_line"):
        pressed = st.button(
            words("Branch off here"), key="fork_go", type="primary", icon=":material/fork_right:", disabled=idle
        )
        st.caption(
            words("Nothing is changed yet: move a slider, edit the query or turn a verdict.")
            if idle
            else price_line(price, words, new_query=new_query)
        )
    if pressed:
        _go(engine, record, wanted)


def _where_from(engine: Engine, record: RunRecord, words: Words) -> None:
    fork = record.fork
    assert fork is not None
    try:
        parent = engine.record(fork.parent)
    except WorkbenchError:
        parent = None
    # Without the parent no one knows what its settings were.
    settings = (
        setting_changes(parent.config, record.config, words)
        if parent
        else [setting_label(name, words) for name in fork.settings]
    )
    changes = changes_of(fork, settings, record, words)
    found = difference(parent, record) if parent else None
    if branch_note(record, fork, changes, found, words, key="fork_note"):
        st.session_state["run"] = fork.parent
        st.rerun()


def _round(record: RunRecord, words: Words) -> int:
    offered = [index for index in range(len(record.rounds)) if visit_of(record, index) == index]
    if len(offered) == 1:
        plain_line(round_text(record, 0, words), words, key="fork_only_round")
        return 0
    chosen = st.selectbox(
        words("From which decision"),
        offered,
        # Where its what-if begins.
        index=offered.index(visit_of(record, record.fork.round)) if record.fork else 0,
        format_func=lambda index: round_text(record, index, words),
        key=f"fork_round_{record.id}_{words.language}",
    )
    return int(chosen or 0)


def _query(engine: Engine, record: RunRecord, index: int, words: Words) -> str:
    if not takes_query(record, index):
        return record.rounds[index].query
    typed = st.text_input(
        words("Query of this round"),
        record.rounds[index].query,
        key=f"fork_query_{record.id}_{index}",
        help=words("What is searched. Verdicts go by the question as it was asked all the same."),
        max_chars=engine.settings.max_question_chars,
    )
    return (typed or "").strip()


def _verdicts(record: RunRecord, index: int, config: RunConfig, words: Words) -> Mapping[PassageId, bool]:
    """The verdicts that the reader has turned so far, kept while this decision is being looked at."""
    place = f"{record.id}_{index}"
    kept: tuple[str, dict[PassageId, bool]] = st.session_state.get("fork_verdicts", ("", {}))
    turned = kept[1] if kept[0] == place else {}
    current = record.rounds[index]
    with st.expander(words("Verdicts of this round"), expanded=bool(turned), key=f"fork_verdicts_{place}"):
        pressed = verdict_rows(current, config, turned, words, key=f"fork_rows_{place}")
    if pressed is not None:
        verdict = current.verdicts.get(pressed)
        relevant = verdict is not None and verdict.relevant is True
        changed = dict(turned)
        if changed.pop(pressed, None) is None:
            changed[pressed] = not relevant
        st.session_state["fork_verdicts"] = (place, changed)
        st.rerun()
    return turned


def _go(engine: Engine, record: RunRecord, wanted: _Wanted) -> None:
    def fork() -> None:
        st.session_state["run"] = engine.fork(
            record, wanted.config, round=wanted.round, query=wanted.query, verdicts=wanted.verdicts
        )
        st.session_state.pop("fork_verdicts", None)

    attempt("ask", fork)
    st.rerun()
