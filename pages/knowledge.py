"""The Knowledge page: put files into a collection, look at its sources and passages, delete a source."""

from __future__ import annotations

import streamlit as st

from components.faults import fault_box
from components.i18n import Words
from components.ingest_status import ingest_report, ingest_status
from components.source_list import passage_list, source_table
from engine.errors import WorkbenchError
from engine.knowledge.ingest import IngestItem
from engine.knowledge.load import suffixes
from engine.nodes.run_context import fault_of
from engine.process import get_engine
from engine.roles import CollectionInfo
from pages.jobs import IngestJob

engine = get_engine()
words: Words = st.session_state["words"]
_JOB = "ingest_job"


def page() -> None:
    st.markdown(f"#### {words('kb.title')}")
    st.caption(words("kb.intro"))
    try:
        collections = engine.collections()
    except WorkbenchError as error:
        fault_box(fault_of(error), words, key="kb_fault")
        if st.button(words("ask.again"), icon=":material/refresh:"):
            st.rerun()
        return
    upload(collections)
    browse(collections)


def upload(collections: list[CollectionInfo]) -> None:
    with st.container(border=True):
        st.markdown(f"**{words('kb.upload')}**")
        left, right = st.columns([2, 1], vertical_alignment="bottom")
        generation = st.session_state.setdefault("kb_uploads", 0)
        files = left.file_uploader(
            words("kb.upload"),
            type=[suffix.lstrip(".") for suffix in suffixes()],
            accept_multiple_files=True,
            help=words("kb.upload.help", mb=engine.settings.max_upload_mb),
            label_visibility="collapsed",
            key=f"kb_files_{generation}",
        )
        names = [item.name for item in collections]
        with right:
            name = st.selectbox(
                words("kb.into"),
                names or ["my_documents"],
                accept_new_options=True,
                key="kb_into",
                help=words("kb.into.help"),
            )
            ready = bool(files) and bool(name) and not _running()
            if st.button(words("kb.start"), type="primary", disabled=not ready, icon=":material/upload:") and files:
                items = [IngestItem(name=item.name, data=item.getvalue()) for item in files]
                st.session_state[_JOB] = IngestJob.start(engine, items, str(name))
                st.session_state["kb_uploads"] = generation + 1
                st.rerun()
        job: IngestJob | None = st.session_state.get(_JOB)
        if job is not None:
            follow(job)


def _running() -> bool:
    job: IngestJob | None = st.session_state.get(_JOB)
    return job is not None and not job.done


def follow(job: IngestJob) -> None:
    """Progress while it runs, the report afterwards; the page stays usable meanwhile."""
    if job.done:
        if job.fault is not None:
            fault_box(fault_of(job.fault), words, key="kb_job_fault")
        elif job.report is None:
            st.info(words("kb.stopped"))
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
        return

    @st.fragment(run_every=0.4)
    def watch() -> None:
        if job.done:
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


def browse(collections: list[CollectionInfo]) -> None:
    if not collections:
        return
    by_name = {item.name: item for item in collections}
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    chosen = left.selectbox(
        words("kb.collection"), list(by_name), key="kb_collection", bind="query-params", persist_state="session"
    )
    info = by_name[str(chosen)]
    right.caption(
        words(
            "kb.facts", sources=info.sources, passages=info.passages, dim=info.dim, model=info.embedding_model
        )
        + "  \n"
        + words("kb.prefixes", query=info.query_prefix, passage=info.passage_prefix)
    )
    sources = engine.sources(info.name)
    if not sources:
        st.info(words("kb.empty"))
        return
    opened = source_table(sources, words, key=f"kb_sources_{info.name}")
    if opened is None:
        st.caption(words("kb.choose"))
        return
    source = next(item for item in sources if item.source == opened)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.text(f"{source.title or source.source} · {source.source}")
        if st.button(words("kb.delete"), icon=":material/delete:", key="kb_delete"):
            confirm(info.name, source.source, source.passages)
    passage_list(engine.passages(info.name, source.source), words)


@st.dialog(" ")
def confirm(collection: str, source: str, passages: int) -> None:
    st.text(words("kb.delete.confirm", name=source, n=passages))
    with st.container(horizontal=True):
        if st.button(words("kb.delete.yes"), type="primary", icon=":material/delete:", key="kb_delete_yes"):
            removed = engine.delete_source(collection, source)
            st.toast(words("kb.deleted", name=source.replace("[", "("), n=removed))
            st.rerun()
        if st.button(words("kb.delete.no"), key="kb_delete_no"):
            st.rerun()


page()
