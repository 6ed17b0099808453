"""Importing a file of questions on the Tune page: what it holds, where its documents go, and their way in."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from threading import Thread

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import draw, node
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import SAMPLE_SET, QuerySet
from engine.evaluation.formats.common import ImportNote
from engine.evaluation.importing import ImportPlan, collection_name, read_query_set
from engine.evaluation.matching import source_coverage
from engine.evaluation.store import usable_set_name
from engine.knowledge.ingest import IngestReport, Progress
from engine.messages import N_
from engine.model.values import Fault
from engine.people.current_user import with_current_user
from pages.parts.common.following import settled
from pages.parts.common.session_cache import cached_in_session
from pages.parts.tune.collection import collection_choice, source_coverage_note, sources_of

_NOTE = {
    "row": N_("left out, it cannot be used"),
    "duplicate_id": N_("an id stands twice; the second is renamed"),
    "no_document": N_("its relevant documents are not in the file"),
    "no_relevant": N_("{n} questions without a relevant document are left out"),
    "no_qrels": N_("no relevance file: the questions are not labelled"),
    "split": N_("one of several splits is taken"),
    "empty_document": N_("a document without text is left out"),
    "same_document": N_("documents with the same text are one"),
    "unused_columns": N_("nothing is read from: {names}"),
    "answer_column": N_("the column answer names the right passage; gold_answer says what the answer has to say"),
    "sheets": N_("Only the first sheet with something in it was read."),
    "more": N_("and {n} more"),
}

_JOB = "tune_import_job"
_FAILED = "tune_import_failed"
_WATCH_S = 0.5
_ATTENTION = 6
"""Notes of an import that are shown at once."""
_LONGEST = 60
_KINDS = ("json", "jsonl", "csv", "tsv", "xlsx", "zip", "txt")


@dataclass(slots=True)
class _Ingestion:
    """Documents of an import on their way in, and the set that is kept once they are there."""

    progress: Progress | None = None
    documents: Future[IngestReport] | None = None
    saved: Future[bool] = field(default_factory=Future)

    def note(self, progress: Progress) -> None:
        self.progress = progress


def import_form(engine: Engine, names: Sequence[str], chosen: str, words: Words) -> None:
    """A file of questions, and the collection that they are asked of; ``chosen`` is that of the sidebar."""
    st.caption(
        words(
            "CSV or JSONL with the columns `question`, `expected` (a source, a passage id or a text of the right "
            "passage; several apart by `|`), `gold_answer` (few words) and `answerable` (`false`: should be refused); "
            "SQuAD JSON; BEIR as ZIP."
        )
    )
    uploads = st.session_state.setdefault("tune_uploads", 0)
    file = st.file_uploader(
        words("File"),
        type=list(_KINDS),
        max_upload_size=engine.settings.max_upload_mb,
        key=f"tune_file_{uploads}",
    )
    if file is None:
        return
    usual = file.name.rsplit(".", 1)[0][:_LONGEST]
    name = st.text_input(words("Question set"), usual, max_chars=_LONGEST, key=f"tune_import_name_{uploads}")
    limit = st.number_input(words("Questions at most"), 1, 10_000, 200, key="tune_import_limit")
    name = name.strip() or usual
    into = collection_choice(engine, chosen, words("Collection"), key=f"tune_import_of_{uploads}")
    sources = sources_of(engine, into)
    try:
        plan = _plan(file, int(limit), sources)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="tune_import_fault")
        return
    held = [words.count("1 question", "{n} questions", len(plan.set.cases))]
    held += [words.count("1 document", "{n} documents", len(plan.items))] if plan.items else []
    st.caption(" · ".join(held))
    import_notes(plan.notes, words)
    collection = into
    if not plan.items and sources is not None:
        source_coverage_note(source_coverage(plan.set.cases, into, sources), words, key="tune_import_presence")
    if plan.items:
        place = f"tune_import_into_{uploads}_{name}"
        collection = st.text_input(words("Into collection"), collection_name(name), max_chars=60, key=place)
    if name in names and name != SAMPLE_SET:
        st.caption(words("Replaces the set of this name."))
    pressed = st.button(words("Import"), type="primary", width="stretch", key="tune_import_start")
    if pressed:
        begin_import(engine, plan, name, collection, words)


def _plan(file: UploadedFile, limit: int, sources: tuple[str, ...] | None) -> ImportPlan:
    """Return the file's plan; read once, because every click on the page passes here."""
    return cached_in_session(
        "tune_import_read",
        (file.file_id, limit, sources),
        lambda: read_query_set(file.getvalue(), file.name, limit=limit, known_sources=sources or ()),
    )


def begin_import(engine: Engine, plan: ImportPlan, name: str, collection: str, words: Words) -> None:
    try:
        # Before any document goes in: a set that cannot be kept would leave them behind.
        query_set = QuerySet(usable_set_name(name), plan.set.cases, collection, plan.set.origin)
        if plan.items:
            # The documents first: without them no question of the set can find anything.
            job = _Ingestion()
            job.documents = engine.start_ingest(plan.items, collection, job.note)
            kept = ImportPlan(query_set, (), plan.notes)
            Thread(
                target=with_current_user(_save_after), args=(engine, job, kept), name="query-set", daemon=True
            ).start()
            st.session_state[_JOB] = (job, kept)
        else:
            engine.evaluation.save_query_set(query_set)
            st.session_state["tune_set_wanted"] = query_set.name
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="tune_save_fault")
        return
    st.session_state["tune_uploads"] += 1
    st.rerun()


def _save_after(engine: Engine, job: _Ingestion, plan: ImportPlan) -> None:
    """Keep the set once its documents are in, also where the page was closed meanwhile."""
    assert job.documents is not None
    try:
        engine.evaluation.save_query_set(plan.after(job.documents.result().to_dict()))
    except CancelledError:
        job.saved.cancel()
    except Exception as error:
        job.saved.set_exception(error)
    else:
        job.saved.set_result(True)


def imported(words: Words) -> None:
    """Follow the documents of an import on their way in; then the set is there."""
    failed: Fault | None = st.session_state.get(_FAILED)
    if failed is not None:
        close = (("close", words("Close")),)
        if fault_box(failed, words, key="tune_import_failed", actions=close) == "close":
            st.session_state.pop(_FAILED)
            st.rerun()
    waiting: tuple[_Ingestion, ImportPlan] | None = st.session_state.get(_JOB)
    if waiting is None:
        return
    job, plan = waiting

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.saved.done():
            st.session_state.pop(_JOB, None)
            ended = settled(job.saved)
            saved, fault = ended
            if saved:
                st.session_state["tune_set_wanted"] = plan.set.name
            elif fault is not None:
                st.session_state[_FAILED] = fault
            st.rerun()
        now = job.progress
        share = now.done / now.total if now and now.total else 0.0
        done, total = (now.done, now.total) if now else (0, 0)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.progress(
                min(1.0, share),
                f"{words('Import')} · {plan.set.name} · {words('{done} of {total}', done=done, total=total)}",
            )
            if st.button(words("Stop"), icon=":material/stop:", key="tune_import_stop") and job.documents is not None:
                job.documents.cancel()

    watch()


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
        items.append(node("li", "muted", words("and {n} more", n=more)))
    draw((node("ul", "report", *items),), words, key="tune_import_notes")


def note_text(note: ImportNote, words: Words) -> str:
    """In English the note's own words; in Chinese what kind of note it is, with its place."""
    if words.language == "en":
        return str(note)
    place = note.file if note.line is None else f"{note.file} · {words('line {n}', n=note.line)}"
    return words("{name}: {text}", name=place, text=words(_NOTE[note.kind], n=note.count, names=note.names))
