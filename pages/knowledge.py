"""The Knowledge page: put files into a collection, look at its sources and passages, delete a source."""

from __future__ import annotations

import streamlit as st

from components.faults import fault_box
from components.i18n import Words
from components.ingest_status import deleted_note, ingest_report, ingest_status, stopped_note
from components.source_list import collection_facts, passage_list, source_heading, source_table
from engine.errors import WorkbenchError
from engine.knowledge.ingest import IngestItem
from engine.knowledge.load import suffixes
from engine.nodes.run_context import fault_of
from engine.process import get_engine
from engine.roles import CollectionInfo
from pages.jobs import IngestJob
from pages.opening import opening

engine = get_engine()
words: Words = st.session_state["words"]
_JOB = "ingest_job"
_NEW = "my_documents"
_WATCH_S = 0.4


def page() -> None:
    st.markdown(f"#### {words('kb.title')}")
    st.caption(words("kb.intro"))
    if not engine.ready:
        opening(engine, words)
        return
    try:
        collections = engine.collections()
        upload(collections)
        browse(collections)
    except WorkbenchError as error:
        fault_box(fault_of(error), words, key="kb_fault")
        if st.button(words("ask.again"), icon=":material/refresh:", key="kb_again"):
            st.rerun()


def upload(collections: list[CollectionInfo]) -> None:
    job: IngestJob | None = st.session_state.get(_JOB)
    running = job is not None and not job.done
    with st.container(border=True, key="kb_upload"):
        left, right = st.columns([3, 2], gap="medium")
        # A new key empties the box once its files are on their way.
        generation = st.session_state.setdefault("kb_uploads", 0)
        files = left.file_uploader(
            words("kb.upload"),
            type=[suffix.lstrip(".") for suffix in suffixes()],
            accept_multiple_files=True,
            help=words("kb.upload.help", mb=engine.settings.max_upload_mb),
            key=f"kb_files_{generation}",
        )
        left.caption(words("kb.kinds"))
        with right:
            name = st.selectbox(
                words("kb.into"),
                targets(collections),
                accept_new_options=True,
                key="kb_into",
                help=words("kb.into.help"),
                persist_state="session",
            )
            prefixes = new_prefixes() if name and name not in [item.name for item in collections] else {}
            start = st.button(
                words("kb.start"),
                type="primary",
                disabled=running or not files or not name,
                icon=":material/upload:",
                width="stretch",
                key="kb_start",
            )
        if start and files:
            items = [IngestItem(name=item.name, data=item.getvalue()) for item in files]
            st.session_state[_JOB] = IngestJob.start(engine, items, str(name).strip(), **prefixes)
            st.session_state["kb_uploads"] = generation + 1
            st.rerun()
        if job is not None:
            follow(job)


def new_prefixes() -> dict[str, str]:
    """Prefixes of a new collection, where its embedding model lets them be chosen; left empty, the model's own."""
    if not engine.settings.embedding_model.startswith("ollama:"):
        return {}
    with st.expander(words("kb.prefix.new")):
        st.caption(words("kb.prefix.help"))
        typed = {
            "query_prefix": st.text_input(words("kb.prefix.query"), key="kb_query_prefix", max_chars=500),
            "passage_prefix": st.text_input(words("kb.prefix.passage"), key="kb_passage_prefix", max_chars=500),
        }
    return {name: value for name, value in typed.items() if value}


def query_prefix(info: CollectionInfo) -> None:
    """The query prefix can be changed at any time: the stored vectors do not depend on it."""
    if not info.embedding_model.startswith("ollama:"):
        return
    with st.popover(words("kb.prefix.edit"), icon=":material/edit:"):
        st.caption(words("kb.prefix.edit.help"))
        typed = st.text_input(words("kb.prefix.query"), info.query_prefix, key=f"kb_prefix_{info.name}", max_chars=500)
        if st.button(words("kb.prefix.save"), type="primary", key="kb_prefix_save"):
            engine.set_query_prefix(info.name, typed)
            st.rerun()


def targets(collections: list[CollectionInfo]) -> list[str]:
    """Collections to put files into: one's own before the samples, and a new one where there is none."""
    own = [item.name for item in collections if item.name != "samples"]
    return [*(own or [_NEW]), *(item.name for item in collections if item.name == "samples")]


def follow(job: IngestJob) -> None:
    """Progress while it runs, the report afterwards; the page stays usable meanwhile."""
    if job.done:
        outcome(job)
        return

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.done:
            st.session_state["kb_collection"] = job.collection
            st.rerun()
        now = job.progress
        if ingest_status(
            words,
            done=now.done if now else 0,
            total=now.total if now else 0,
            per_second=now.per_second if now else 0.0,
            left_s=now.remaining_s if now else None,
        ):
            job.stop()

    watch()


def outcome(job: IngestJob) -> None:
    if job.fault is not None:
        fault_box(fault_of(job.fault), words, key="kb_job_fault")
    elif job.report is None:
        stopped_note(words)
    else:
        report = job.report
        ingest_report(
            words,
            added=report.added,
            replaced=report.replaced,
            skipped=report.skipped_duplicates,
            failed=[(name, fault_of(error)) for name, error in report.failed],
            passages=report.passages,
        )


def browse(collections: list[CollectionInfo]) -> None:
    if not collections:
        return
    by_name = {item.name: item for item in collections}
    left, right = st.columns([1, 2], vertical_alignment="bottom", gap="medium")
    if st.session_state.get("kb_collection") not in by_name:
        st.session_state.pop("kb_collection", None)
    chosen = left.selectbox(
        words("kb.collection"), list(by_name), key="kb_collection", bind="query-params", persist_state="session"
    )
    info = by_name[str(chosen)]
    with right:
        collection_facts(info, words)
        query_prefix(info)
    deleted: tuple[str, int] | None = st.session_state.pop("kb_deleted", None)
    if deleted is not None:
        deleted_note(words, *deleted)
    sources = engine.sources(info.name)
    if not sources:
        st.info(words("kb.empty"))
        return
    opened = source_table(sources, words, key=f"kb_sources_{info.name}")
    source = next((item for item in sources if item.source == opened), None)
    if source is None:
        st.caption(words("kb.choose"))
        return
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        source_heading(source, words)
        if st.button(words("kb.delete"), icon=":material/delete:", key="kb_delete"):
            st.dialog(words("kb.delete"))(confirm)(info.name, source.source, source.passages)
    passage_list(engine.passages(info.name, source.source), words, key=f"kb_page_{source.content_hash[:12]}")


def confirm(collection: str, source: str, passages: int) -> None:
    """The body of the dialog that asks before a source goes."""
    st.text(words.count("kb.delete.confirm", passages, name=source))
    with st.container(horizontal=True):
        if st.button(words("kb.delete.yes"), type="primary", icon=":material/delete:", key="kb_delete_yes"):
            st.session_state["kb_deleted"] = (source, engine.delete_source(collection, source))
            st.rerun()
        if st.button(words("kb.delete.no"), key="kb_delete_no"):
            st.rerun()


page()
