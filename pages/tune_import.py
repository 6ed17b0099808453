"""Importing a file of questions on the Tune page: what it holds, where its documents go, and their way in."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.faults import fault_box
from components.i18n import Words
from components.markup import draw, node
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import SAMPLE_SET, QuerySet
from engine.evaluation.importing import ImportNote, ImportPlan, collection_name, read_query_set
from engine.evaluation.presence import presence
from engine.evaluation.store import usable_set_name
from engine.values import Fault
from pages.jobs import IngestJob
from pages.tune_collection import collection_choice, presence_note, sources_of

_JOB = "tune_import_job"
_FAILED = "tune_import_failed"
_READ = "tune_import_read"
_WATCH_S = 0.5
_ATTENTION = 6
"""Notes of an import that are shown at once."""
_LONGEST = 60
_KINDS = ("json", "jsonl", "csv", "tsv", "zip", "txt")


def import_form(engine: Engine, names: Sequence[str], chosen: str, words: Words) -> None:
    """A file of questions, and the collection that they are asked of; ``chosen`` is that of the sidebar."""
    st.caption(words("tune.import.kinds"))
    uploads = st.session_state.setdefault("tune_uploads", 0)
    file = st.file_uploader(
        words("tune.import.file"),
        type=list(_KINDS),
        max_upload_size=engine.settings.max_upload_mb,
        key=f"tune_file_{uploads}",
    )
    if file is None:
        st.session_state.pop(_READ, None)
        return
    usual = file.name.rsplit(".", 1)[0][:_LONGEST]
    name = st.text_input(words("tune.import.name"), usual, max_chars=_LONGEST, key=f"tune_import_name_{uploads}")
    limit = st.number_input(words("tune.import.limit"), 1, 10_000, 200, key="tune_import_limit")
    name = name.strip() or usual
    into = collection_choice(engine, chosen, words("tune.import.asked"), key=f"tune_import_of_{uploads}")
    sources = sources_of(engine, into)
    try:
        plan = _plan(file, int(limit), sources)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="tune_import_fault")
        return
    st.caption(
        words(
            "tune.import.plan",
            questions=words.count("tune.import.questions", len(plan.set.cases)),
            documents=words.count("tune.import.documents", len(plan.items)),
        )
    )
    import_notes(plan.notes, words)
    collection = into
    if not plan.items and sources is not None:
        presence_note(presence(plan.set.cases, into, sources), words, key="tune_import_presence")
    if plan.items:
        st.caption(words("tune.import.own"))
        place = f"tune_import_into_{uploads}_{name}"
        collection = st.text_input(words("tune.import.collection"), collection_name(name), max_chars=60, key=place)
    if name in names and name != SAMPLE_SET:
        st.caption(words("tune.import.replaces"))
    pressed = st.button(words("tune.import.start"), type="primary", width="stretch", key="tune_import_start")
    if pressed:
        begin_import(engine, plan, name, collection, words)


def _plan(file: UploadedFile, limit: int, sources: tuple[str, ...] | None) -> ImportPlan:
    """What the file holds; read once, because every press on the page comes by here."""
    key = (file.file_id, limit, sources)
    kept: tuple[object, ImportPlan] | None = st.session_state.get(_READ)
    if kept is not None and kept[0] == key:
        return kept[1]
    plan = read_query_set(file.getvalue(), file.name, limit=limit, known_sources=sources or ())
    st.session_state[_READ] = (key, plan)
    return plan


def begin_import(engine: Engine, plan: ImportPlan, name: str, collection: str, words: Words) -> None:
    try:
        # Before any document goes in: a set that cannot be kept would leave them behind.
        query_set = QuerySet(usable_set_name(name), plan.set.cases, collection, plan.set.origin)
        if plan.items:
            # The documents first: without them no question of the set can find anything.
            job = IngestJob.start(engine, plan.items, collection)
            st.session_state[_JOB] = (job, ImportPlan(query_set, (), plan.notes))
        else:
            engine.evaluation.save_query_set(query_set)
            st.session_state["tune_set_wanted"] = query_set.name
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="tune_save_fault")
        return
    st.session_state["tune_uploads"] += 1
    st.rerun()


def imported(engine: Engine, words: Words) -> None:
    """Follow the documents of an import on their way in; then the set is there."""
    failed: Fault | None = st.session_state.get(_FAILED)
    if failed is not None:
        close = (("close", words("tune.import.close")),)
        if fault_box(failed, words, key="tune_import_failed", actions=close) == "close":
            st.session_state.pop(_FAILED)
            st.rerun()
    waiting: tuple[IngestJob, ImportPlan] | None = st.session_state.get(_JOB)
    if waiting is None:
        return
    job, plan = waiting

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.done:
            st.session_state.pop(_JOB, None)
            _finish(engine, job, plan)
            st.rerun()
        now = job.progress
        share = now.done / now.total if now and now.total else 0.0
        done, total = (now.done, now.total) if now else (0, 0)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.progress(min(1.0, share), words("tune.import.going", name=plan.set.name, done=done, total=total))
            if st.button(words("ask.stop"), icon=":material/stop:", key="tune_import_stop"):
                job.stop()

    watch()


def _finish(engine: Engine, job: IngestJob, plan: ImportPlan) -> None:
    try:
        if job.report is not None:
            engine.evaluation.save_query_set(plan.after(job.report.to_dict()))
            st.session_state["tune_set_wanted"] = plan.set.name
        elif job.fault is not None:
            st.session_state[_FAILED] = Fault.of(job.fault)
    except WorkbenchError as error:
        st.session_state[_FAILED] = Fault.of(error)


def import_notes(notes: Sequence[ImportNote], words: Words) -> None:
    """Lines that could not be used, the first few of them."""
    if not notes:
        return
    items = [
        node("li", "", node("span", "sign warn", "!"), note_text(note, words), title=str(note))
        for note in notes[:_ATTENTION]
    ]
    more = len(notes) - _ATTENTION
    if more > 0:
        items.append(node("li", "muted", words("tune.import.more", n=more)))
    draw((node("ul", "report", *items),), words, key="tune_import_notes")


def note_text(note: ImportNote, words: Words) -> str:
    """In English the note's own words; in Chinese what kind of note it is, with its place."""
    if words.language == "en":
        return str(note)
    place = note.file if note.line is None else words("tune.note.line", file=note.file, line=note.line)
    return words("tune.note", place=place, what=words(f"tune.note.{note.kind}", n=note.count))
