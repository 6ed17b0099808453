"""One question asked of several runs at the same time, a column each: what views that differ in their runs share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import COLLECTION_NAME
from components.common.sample_questions import sample_buttons
from components.common.url_state import begin_here, moved_here, put_into_url, take_from_url
from components.common.widgets import collection_picker
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import Fault, RunId, RunRecord
from pages.parts.common.rights import may

_WATCH_S = 0.6
_LONGEST_ID = 64
_Kind = TypeVar("_Kind", bound=str)


@dataclass(frozen=True, slots=True)
class RunColumns(Generic[_Kind]):
    """Identity of such a view."""

    address: str
    """Parameter of the address that holds the ids of the runs."""
    key: str
    """What the keys of its widgets begin with."""
    offered: Mapping[_Kind, str]
    """What a run can be made for, by what it is called."""
    config_of: Callable[[_Kind, str], RunConfig]
    """The settings of a run on a collection."""
    takes: Callable[[RunRecord], bool]
    """Whether a run of a link belongs here."""
    draw: Callable[[list[RunRecord], bool], None]
    """Draws the columns of runs; its second argument says whether one of them is running."""
    about: Callable[[str], object]
    """Says what is searched and how, below the question."""
    first: str
    """The question to begin with."""
    samples: Sequence[tuple[str, str]]
    """Questions to try, with their kinds."""
    asked: str
    """Label of the question; the next ones are those of the choice and of the button."""
    choice: tuple[str, str]
    """Key and label."""
    run: tuple[str, str]
    """Icon and label."""
    none_chosen: str
    nothing_yet: tuple[str, str]
    """Icon and text, before any run."""


def together_view(engine: Engine, words: Words, view: RunColumns[_Kind]) -> None:
    """Draw the question, what it is asked of, and a column for each run."""
    records = _opened(engine, words, view)
    asked_at, searched = st.columns([3, 1], gap="medium")
    with searched:
        collection = searched_collection(engine, words, records, view.address)
    with asked_at:
        _ask(engine, words, view, records, collection)
    faults: list[Fault] = st.session_state.pop(f"{view.key}_faults", [])
    for place, fault in enumerate(faults):
        fault_box(fault, words, key=f"{view.key}_fault_{place}")
    if records:
        _columns(engine, view, [record.id for record in records], active=any(record.active for record in records))
    elif not faults:
        icon, text = view.nothing_yet
        st.info(text, icon=icon)


def _opened(engine: Engine, words: Words, view: RunColumns[_Kind]) -> list[RunRecord]:
    """The runs that the address names; a link opens the comparison, running or finished."""
    wanted = st.session_state.pop(f"{view.key}_next", None)
    if wanted is not None:
        st.session_state[view.address] = ",".join(wanted)
    most = len(view.offered)
    ids = take_from_url(view.address, "", lambda given: len(given) <= _LONGEST_ID * most)
    put_into_url(view.address, ids, "")
    found: list[RunRecord] = []
    for run_id in list(dict.fromkeys(item for item in ids.split(",") if item))[:most]:
        try:
            found.append(engine.record(run_id))
        except WorkbenchError:
            st.warning(words("{run} is not here any more.", run=run_id), icon=":material/search_off:")
    return [record for record in found if view.takes(record)]


def _ask(engine: Engine, words: Words, view: RunColumns[_Kind], records: list[RunRecord], collection: str) -> None:
    """The question, what it is asked of, and what starts or stops the runs."""
    active = any(record.active for record in records)
    (choice_key, choice), (icon, run) = view.choice, view.run
    with st.form(f"{view.key}_form", border=False):
        question = st.text_input(
            view.asked,
            records[0].question if records else view.first,
            key=f"{view.key}_question_{records[0].id[:8] if records else words.language}",
            placeholder=words("Ask something of the collection…"),
            max_chars=engine.settings.max_question_chars,
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{view.key}_line"):
            chosen = st.pills(
                choice,
                list(view.offered),
                selection_mode="multi",
                default=list(view.offered),
                format_func=lambda name: view.offered[name],
                key=choice_key,
            )
            pressed = st.form_submit_button(run, type="primary", icon=icon, disabled=active or not may("editor"))
    if (
        active
        and may("editor")
        and st.button(words("Stop"), icon=":material/stop:", shortcut="Esc", key=f"{view.key}_stop")
    ):
        for record in records:
            engine.cancel(record.id)
        st.rerun()
    view.about(collection)
    picked = sample_buttons(view.samples, words, disabled=active or not may("editor"))
    asked = picked or ((question or "").strip() if pressed else "")
    if pressed and not chosen:
        st.warning(view.none_chosen, icon=":material/checklist:")
    elif asked or pressed:
        wanted = chosen or list(view.offered)
        _begin(engine, view, asked, [view.config_of(name, collection) for name in view.offered if name in wanted])


def _begin(engine: Engine, view: RunColumns[_Kind], question: str, configs: Iterable[RunConfig]) -> None:
    ids, faults = start_all(engine, question, configs)
    st.session_state[f"{view.key}_faults"] = faults
    if ids:
        st.session_state[f"{view.key}_next"] = ids
    st.rerun()


def start_all(engine: Engine, question: str, configs: Iterable[RunConfig]) -> tuple[list[RunId], list[Fault]]:
    """Ids of the runs, which are trials, and what kept others from starting, each fault said once.

    One that cannot start does not keep back the others.
    """
    ids: list[RunId] = []
    faults: list[Fault] = []
    for config in configs:
        try:
            ids.append(engine.start(question, config, trial=True))
        except WorkbenchError as error:
            fault = Fault.of(error)
            if fault not in faults:
                faults.append(fault)
    return ids, faults


def _columns(engine: Engine, view: RunColumns[_Kind], ids: list[RunId], *, active: bool) -> None:
    """The runs in columns, redrawn while one of them is running."""

    @st.fragment(run_every=_WATCH_S if active else None)
    def watch() -> None:
        try:
            records = [engine.record(run_id) for run_id in ids]
        except WorkbenchError:
            st.rerun()
        if active and not any(record.active for record in records):
            st.rerun()
        view.draw(records, active)

    watch()


def searched_collection(engine: Engine, words: Words, records: Sequence[RunRecord], named_by: str) -> str:
    """Draw the choice; an address that names runs (as ``named_by``) and no collection brings theirs along."""
    shown, named = f"{named_by}_shown", st.query_params.get(named_by)
    came = moved_here() or st.session_state.get(shown) != named
    st.session_state[shown] = named
    if records and came and named and "collection" not in st.query_params:
        begin_here()
        st.session_state["collection"] = records[0].config.collection
    try:
        sizes = {item.name: item.passages for item in engine.collections()} if engine.ready else {}
    except WorkbenchError:
        # A run says for itself what it could not reach.
        sizes = {}
    usual = RunConfig().collection
    return collection_picker(words, sizes, usual, lambda name: COLLECTION_NAME.fullmatch(name) is not None)
