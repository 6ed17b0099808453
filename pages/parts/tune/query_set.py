"""The bar of the Tune page: which questions, where they come from, and which runs of them are the evidence."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.url_state import moved_here
from components.knowledge.draw import quiet
from engine.engine import Engine
from engine.errors import UnknownQuerySet, WorkbenchError
from engine.evaluation.cases import SAMPLE_SET, QuerySet, case_of
from engine.evaluation.judgements import settled
from engine.messages import NC_
from engine.model.config import RunConfig
from engine.model.values import Fault
from pages.parts.common.rights import may
from pages.parts.tune.collection import bind_form, misplaced
from pages.parts.tune.drafts import draft_form, drafts_line
from pages.parts.tune.evidence import Gathering, batches_of, progress_of, query_set_of
from pages.parts.tune.gather import batch_choice, gathering_buttons, gathering_notes, take_begun
from pages.parts.tune.importing import import_form, imported

_SET = "query_set"
_UNKNOWN = "query_set_unknown"


def query_set_bar(engine: Engine, config: RunConfig, words: Words) -> Gathering:
    """Draw the bar; returns the chosen set with the batch whose runs are its evidence."""
    names = engine.evaluation.query_sets()
    _note_unknown(names)
    _take_wanted(names)
    take_begun()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="tune_bar"):
        query_set = set_choice(engine, names, words)
        st.caption(words.count("1 question", "{n} questions", len(query_set.cases)), width="content")
        # Runs on another collection say nothing of this one; bound back to it, the set has them again.
        batches = tuple(
            item
            for item in batches_of(engine, query_set.name)
            if query_set.name == SAMPLE_SET or item.config.collection == query_set.collection
        )
        batch = batch_choice(batches, words)
        st.space("stretch")
        running = batch is not None and progress_of(engine, batch.id).running
        if batch is not None and not running:
            # Its last questions may have ended since it was read.
            batch = next((item for item in batches_of(engine, query_set.name) if item.id == batch.id), batch)
        others = tuple(item for item in batches if item.done and batch is not None and item.id != batch.id)
        gathering = Gathering(query_set, batch, others, running)
        gathering_buttons(engine, gathering, config, words, alone=len(batches) == 1)
        if may("editor"):
            set_menus(engine, query_set, names, config, words)
    unknown = st.session_state.get(_UNKNOWN)
    if unknown and unknown not in names:
        fault_box(Fault.of(UnknownQuerySet(name=unknown)), words, key="tune_unknown_set")
    misplaced(engine, query_set, words)
    gathering_notes(engine, gathering, words)
    imported(words)
    drafts_line(engine, _drafted_from(query_set, config), config.models.generator, words)
    return gathering


def _drafted_from(query_set: QuerySet, config: RunConfig) -> str:
    """The collection that questions are drafted from: that of the chosen set, for the samples that of the sidebar."""
    return config.collection if query_set.name == SAMPLE_SET else query_set.collection


def set_menus(engine: Engine, query_set: QuerySet, names: Sequence[str], config: RunConfig, words: Words) -> None:
    """Show the actions on sets: import, draft questions, add the open run, bind or delete the chosen one."""
    # Another key is another popover, closed: what it was opened for is done.
    done = st.session_state.setdefault("tune_uploads", 0), st.session_state.setdefault("tune_added", 0)
    drafted, run_id = st.session_state.setdefault("tune_drafted", 0), st.session_state.get("run")
    with st.popover(words("Import"), key=f"tune_import_{done[0]}", on_change="rerun") as importing:
        if importing.open:
            import_form(engine, names, config.collection, words)
    with st.popover(words("Draft"), key=f"tune_draft_{drafted}", on_change="rerun") as drafting:
        if drafting.open:
            draft_form(engine, _drafted_from(query_set, config), config.models.generator, words)
    if run_id or query_set.name != SAMPLE_SET:
        with st.popover("⋯", key=f"tune_more_{done[1]}", on_change="rerun") as more:
            if more.open and run_id:
                st.markdown(f"**{words('Add the open run')}**")
                add_form(engine, str(run_id), names, words)
            if more.open and query_set.name != SAMPLE_SET:
                set_facts(engine, query_set, words)


def chosen_set(engine: Engine) -> QuerySet:
    """The set that the page is at, or is about to show; the samples where the address names one that is not here."""
    names = engine.evaluation.query_sets()
    found = (st.session_state.get("tune_set_wanted"), st.session_state.get(_SET), st.query_params.get(_SET))
    return query_set_of(engine, next((str(name) for name in found if name in names), SAMPLE_SET))


def set_choice(engine: Engine, names: Sequence[str], words: Words) -> QuerySet:
    """The select box of question sets."""
    present = str(st.session_state.get(_SET) or st.query_params.get(_SET) or SAMPLE_SET)
    query_set = query_set_of(engine, present if present in names else SAMPLE_SET)
    chosen = st.selectbox(
        words("Question set"),
        names,
        format_func=lambda name: _set_name(name, words),
        key=_SET,
        on_change=_forget_unknown,
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
        width=240,
    )
    return query_set if chosen == query_set.name else query_set_of(engine, str(chosen or SAMPLE_SET))


def _note_unknown(names: Sequence[str]) -> None:
    """Note what set an address named that is not here: the select box takes it out of the address."""
    given = st.query_params.get(_SET)
    if given is not None and given not in names and moved_here():
        st.session_state[_UNKNOWN] = given
    elif moved_here():
        st.session_state.pop(_UNKNOWN, None)


def _forget_unknown() -> None:
    st.session_state.pop(_UNKNOWN, None)


def _take_wanted(names: Sequence[str]) -> None:
    wanted = st.session_state.pop("tune_set_wanted", None)
    if wanted in names:
        st.session_state[_SET] = wanted
    elif st.session_state.get(_SET, SAMPLE_SET) not in names:
        # Said, not taken away: the browser would keep showing the name of a set that is gone.
        st.session_state[_SET] = SAMPLE_SET


def add_form(engine: Engine, run_id: str, names: Sequence[str], words: Words) -> None:
    """The run that is open on the workbench as a question of a set, its cited passages expected."""
    try:
        record = engine.record(run_id)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="tune_add_fault")
        return
    st.text(record.question)
    labels = settled(engine.evaluation.labels(record.question))
    marked = [passage_id for (_, passage_id), relevant in labels.items() if relevant]
    case = case_of(record, marked)
    expected = len(case.expected)
    st.caption(
        words.count("1 passage is expected.", "{n} passages are expected.", expected)
        if expected
        else words("Nothing is expected: mark passages as helpful on Ask to label the question.")
    )
    own = [name for name in names if name != SAMPLE_SET]
    name = st.selectbox(
        words("Question set"),
        own or [words("my questions")],
        accept_new_options=True,
        key="tune_add_to",
    )
    if st.button(words("Add"), type="primary", width="stretch", disabled=not name, key="tune_add_do"):
        try:
            engine.evaluation.add_case(str(name), case, record.collection)
        except WorkbenchError as error:
            fault_box(Fault.of(error), words, key="tune_add_failed")
        else:
            st.session_state["tune_set_wanted"] = str(name).strip()
            st.session_state["tune_added"] += 1
            st.rerun()


def set_facts(engine: Engine, query_set: QuerySet, words: Words) -> None:
    facts = words("Searched: {collection}", collection=query_set.collection)
    quiet(f"{query_set.origin} · {facts}" if query_set.origin else facts, words, key="tune_set_facts")
    bind_form(engine, query_set, words)
    if not may("admin"):
        return
    sure = st.checkbox(words("Delete it for good"), key=f"tune_sure_{query_set.name}")
    if st.button(words("Delete"), icon=":material/delete:", disabled=not sure, key="tune_set_delete"):
        engine.evaluation.delete_query_set(query_set.name)
        st.rerun()
    st.caption(words("Its runs stay."))


def _set_name(name: str, words: Words) -> str:
    return words(NC_("tuning", "Samples")) if name == SAMPLE_SET else name
