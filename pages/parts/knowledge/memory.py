"""The view Memory of the page Knowledge: memories, recalls, deleting, switching off, and the weak points of runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from components.common.controls import download, narrowing, page_of, pick
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import want_settings
from components.common.url_state import base_path
from components.knowledge.memory_ledger import (
    Kind,
    MemoryFigures,
    ledger_csv,
    matching,
    memory_figures,
    memory_ledger,
    recall_list,
    recalled_by,
)
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import first_that
from engine.flow.declaration import Workflow
from engine.knowledge.weak_points import WeakPoint
from engine.messages import N_, NC_, NN_
from engine.model.values import Fault, Memory, RunRecord
from pages.parts.common.actions import answer_buttons, next_step, note_deleted, retry_box, run_action, say_last_press
from pages.parts.common.rights import may
from pages.parts.common.stored_runs import finished_record

_KINDS: dict[Kind, str] = {
    "all": N_("All"),
    "passed": NC_("memory", "Passed"),
    "failed": NC_("memory", "Failed"),
}

_SWITCH = "memory"
"""Name of the setting, and key of its control in the panel."""
_NEWEST = 20
"""Runs of the dual loop that are looked at for what they recalled."""
_A_PAGE = 20
_WHY = {
    "refused": N_("{date} · there was no answer"),
    "forced": N_("{date} · answered below the bar"),
    "unhelpful": N_("{date} · the answer was judged unhelpful"),
}

_POINTS_A_PAGE = 20


def memory_view(engine: Engine, words: Words) -> None:
    st.markdown(f"##### {words('Long-term memory')}")
    st.caption(
        words(
            "The dual loop keeps every answer that passed its last check, and recalls it when a question comes again. "
            "Answers that failed are kept apart and never recalled."
        )
    )
    said(words)
    try:
        memories = engine.memories()
        records = recent(engine)
    except WorkbenchError as error:
        retry_box(error, words, key="memory_unreadable")
        return
    if not memories and not records:
        nothing(words)
        with st.expander(words("History of weak points"), expanded=True):
            weak_points_view(engine, words)
        return
    memory_figures(MemoryFigures.of(memories, records), words, key="memory_figures")
    ledger_tab, recalls_tab, history_tab = st.tabs(
        [
            words("Memories {n}", n=len(memories)),
            words("Recalled lately {n}", n=len(records)),
            words("History of weak points"),
        ]
    )
    with history_tab:
        weak_points_view(engine, words)
    with ledger_tab:
        if memories:
            ledger(engine, words, memories, records)
        else:
            nothing(words)
    with recalls_tab:
        recalls(words, records)


def said(words: Words) -> None:
    """Show the result of the last action, and that memory is off while it is."""
    say_last_press("memory", NN_("The memory was deleted.", "{n} memories were deleted."), words)
    if is_off():
        st.info(
            words(
                "*Long-term memory* is off in the panel of the dual loop: your next questions recall nothing and "
                "leave nothing here. What is listed below stays."
            ),
            icon=":material/toggle_off:",
        )


def recent(engine: Engine) -> list[RunRecord]:
    """The newest finished runs of the dual loop that got as far as asking memory."""
    summaries = engine.runs(_NEWEST, workflow=first_that(_remembers))
    found = (finished_record(engine, item.id) for item in summaries if item.outcome)
    return [record for record in found if record is not None and record.recall is not None]


def _remembers(own: Workflow) -> bool:
    return own.remembers


def nothing(words: Words) -> None:
    """No memory to show: what to do next."""
    st.info(
        words(
            "Nothing is remembered yet. Choose *Dual loop* as the workflow on the page Ask and ask a question: an "
            "answer that passes its last check is listed here."
        )
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _ask_the_dual_loop(words)
        switch(words)


def _ask_the_dual_loop(words: Words) -> None:
    label, icon = words("Ask a question"), ":material/account_tree:"
    st.page_link("workbench.py", label=label, icon=icon, query_params={"workflow": first_that(_remembers)})


def ledger(engine: Engine, words: Words, memories: Sequence[Memory], records: Sequence[RunRecord]) -> None:
    shown = narrowed(words, memories)
    bar = st.container(key="memory_bar", horizontal=True, vertical_alignment="center", gap="small")
    with bar:
        act(engine, words, memories, shown)
    if not shown:
        st.info(words("No memory matches."))
        if st.button(words("Clear the filters"), icon=":material/filter_alt_off:", key="memory_clear"):
            st.session_state["memory_cleared"] = True
            st.rerun()
        return
    some = page_of(shown, _A_PAGE, key="memory_page")
    wanted = memory_ledger(some, recalled_by(records), words, key="memory_ledger", base=base_path())
    chosen = next((item for item in some if item.id == wanted), None)
    if chosen is not None and may("admin"):
        st.dialog(words("Delete memories"))(confirm)(engine, words, (chosen,))


def narrowed(words: Words, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that pass the filters."""
    if st.session_state.pop("memory_cleared", False):
        st.session_state["memory_q"], st.session_state["memory_kind"] = "", "all"
    with st.container(key="memory_filters", horizontal=True, vertical_alignment="bottom", gap="small"):
        placeholder = words("Question, answer, source or collection")
        label = words(NC_("memory", "Search"))
        text = narrowing(label, key="memory_q", placeholder=placeholder, width=340, bind="query-params")
        shown = {name: words(text) for name, text in _KINDS.items()}
        kind = pick(words(NC_("memory", "Show")), shown, key="memory_kind")
    return matching(memories, text, kind)


def act(engine: Engine, words: Words, memories: Sequence[Memory], shown: Sequence[Memory]) -> None:
    """Show the number of memories, and their actions."""
    st.caption(words.count("1 memory", "{n} memories", len(shown)), width="content")
    download(
        words("Export CSV"),
        partial(ledger_csv, list(shown), words),
        "memories.csv",
        help=words("All memories that are shown, with their full answers."),
        key="memory_export",
        disabled=not shown,
    )
    switch(words)
    if not may("admin"):
        return
    if st.button(words("Delete all"), icon=":material/delete:", key="memory_delete_all"):
        st.dialog(words("Delete memories"))(confirm)(
            engine, words, tuple(memories), hidden=len(memories) - len(shown), every=True
        )


def is_off() -> bool:
    """Return whether the reader's own next run of the dual loop will do without memory."""
    return st.session_state.get(_SWITCH) is False


def switch(words: Words) -> None:
    """The button that moves the switch of the panel, and says which one that is."""
    off = is_off()
    label, why = (
        (words("Switch memory on"), words("Sets *Long-term memory* in the panel of the dual loop to on again."))
        if off
        else (
            words("Switch memory off"),
            words(
                "Sets *Long-term memory* in the panel of the dual loop to off: your next questions neither recall "
                "anything nor leave anything behind. What is stored stays until you delete it."
            ),
        )
    )
    icon = ":material/toggle_on:" if off else ":material/toggle_off:"
    if st.button(label, icon=icon, help=why, key="memory_switch"):
        want_settings({_SWITCH: off})
        # For this page too, which does not draw the panel.
        st.session_state[_SWITCH] = off
        st.rerun()


def confirm(engine: Engine, words: Words, chosen: Sequence[Memory], *, hidden: int = 0, every: bool = False) -> None:
    """The body of the dialog that asks before memories go."""
    st.text(words.count("Delete this memory for good?", "Delete all {n} memories for good?", len(chosen)))
    if len(chosen) == 1:
        st.text(chosen[0].question[:200])
    if hidden:
        st.warning(
            words.count(
                "One of them is hidden by the filters now.", "{n} of them are hidden by the filters now.", hidden
            ),
            icon=":material/warning:",
        )
    st.caption(words("The runs that they came from keep their records."))
    act = partial(forget, engine, chosen, every)
    answer_buttons(words("Delete"), words("Keep"), act, key="memory_delete", icon=":material/delete:")


def forget(engine: Engine, chosen: Sequence[Memory], every: bool) -> None:
    """Delete what was confirmed; one that is gone already counts as a fault that is said."""

    def delete() -> None:
        if every:
            deleted = engine.forget_every_memory()
        else:
            for item in chosen:
                engine.forget_memory(item.id)
            deleted = len(chosen)
        note_deleted("memory", deleted)

    run_action("memory", delete)


def recalls(words: Words, records: Sequence[RunRecord]) -> None:
    if not records:
        st.info(words("No run of the dual loop is stored yet. Ask the same question twice and look here again."))
        _ask_the_dual_loop(words)
        return
    st.caption(words("The newest runs of the dual loop: what each recalled, and whether that changed the way it went."))
    recall_list(records, words, key="memory_recalls", base=base_path())


def weak_points_view(engine: Engine, words: Words) -> None:
    """The history of one collection: what it is, its switch, and its entries."""
    st.caption(
        words(
            "A question that was refused, answered below the bar or judged unhelpful is noted here with its day. The "
            "quality-control loop searches it as dated history; no answer is ever written from it. Batches, sweeps, "
            "branches, races and evaluations add nothing."
        )
    )
    try:
        names = [item.name for item in engine.collections() if not item.read_only]
        found = engine.weak_points.list()
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="history_fault")
        return
    # Entries of a collection that is gone are listed too: they could not be deleted otherwise.
    every = list(dict.fromkeys([*(item.collection for item in found), *names]))
    if not every:
        return
    with st.container(key="history_bar", horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(words("Collection"), every, key="history_collection", width=280)
        _switch(engine, words, chosen)
    own = [item for item in found if item.collection == chosen]
    if not own:
        _nothing_noted(engine, words, chosen)
        return
    for item in page_of(own, _POINTS_A_PAGE, key="history_page"):
        _entry(engine, words, item)


def _nothing_noted(engine: Engine, words: Words, collection: str) -> None:
    if engine.weak_points.is_on(collection):
        st.info(words("No weak points are noted for this collection."))
        label, named = words("Ask a question"), {"collection": collection}
        st.page_link("workbench.py", label=label, icon=":material/account_tree:", query_params=named)
        return
    next_step(
        words("Nothing is noted for this collection, and noting is off."),
        words("Note weak points"),
        "toggle_on",
        key="history_begin",
        offered=may("admin"),
        does=lambda: engine.weak_points.switch(collection, on=True),
    )


def _switch(engine: Engine, words: Words, collection: str) -> None:
    key = f"history_on_{collection}"
    # As stored, every time: it may have been switched in another tab, and only a press here may switch it back.
    st.session_state[key] = engine.weak_points.is_on(collection)
    st.toggle(
        words("Note weak points"),
        help=words("On for your own collections, off for the samples, until you switch it."),
        key=key,
        disabled=not may("admin"),
        on_change=_switched,
        args=(engine, collection),
    )


def _switched(engine: Engine, collection: str) -> None:
    engine.weak_points.switch(collection, on=bool(st.session_state[f"history_on_{collection}"]))


def _entry(engine: Engine, words: Words, item: WeakPoint) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key=f"weak_{item.id}"):
        with st.container():
            st.text(item.question)
            st.caption(words(_WHY[item.why], date=item.noted_at[:10]))
        address = f"{base_path()}/?{urlencode({'run': item.run_id, 'lang': words.language})}"
        st.link_button(words("Open the run"), address, type="tertiary")
        if not may("admin"):
            return
        st.button(
            words("Delete"),
            icon=":material/delete:",
            type="tertiary",
            key=f"history_delete_{item.id}",
            on_click=_forget,
            args=(engine, item.id),
        )


def _forget(engine: Engine, point_id: str) -> None:
    engine.weak_points.delete(point_id)
