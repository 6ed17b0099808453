"""The bar of the Tune page: which questions, where they come from, and gathering their evidence."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.faults import fault_box
from components.i18n import Words
from components.markup import draw, node
from components.tune_progress import batch_status
from engine.config import RunConfig
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import SAMPLE_SET, QuerySet, case_of
from engine.evaluation.importing import ImportNote, ImportPlan, read_query_set
from engine.evaluation.values import Batch
from engine.nodes.run_context import fault_of
from pages.jobs import IngestJob
from pages.tune_evidence import Gathering

_SET = "query_set"
_JOB = "tune_import_job"
_WATCH_S = 0.5
_ATTENTION = 6
"""Notes of an import that are shown at once."""
_MOST_AT_ONCE = 8
_KINDS = ("json", "jsonl", "csv", "tsv", "zip", "txt")


def query_set_bar(engine: Engine, config: RunConfig, words: Words) -> Gathering:
    """Draw the bar; returns the chosen set with the batch whose runs are its evidence."""
    store = engine.evaluation
    names = store.query_sets()
    wanted = st.session_state.pop("tune_set_wanted", None)
    if wanted in names:
        st.session_state[_SET] = wanted
    elif st.session_state.get(_SET) not in names:
        st.session_state.pop(_SET, None)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="tune_bar"):
        chosen = st.selectbox(
            words("tune.set"),
            names,
            format_func=lambda name: _set_name(name, words),
            key=_SET,
            bind="query-params",
            persist_state="session",
            width=320,
        )
        with st.popover(words("tune.import"), icon=":material/upload_file:"):
            import_form(engine, words)
        run_id = st.session_state.get("run")
        with st.popover(words("tune.add"), icon=":material/playlist_add:", disabled=not run_id):
            if run_id:
                add_form(engine, str(run_id), names, words)
        query_set = store.query_set(str(chosen or SAMPLE_SET))
        if query_set.name != SAMPLE_SET:
            with st.popover(words("tune.set.more"), icon=":material/more_horiz:"):
                set_facts(engine, query_set, words)
    imported(engine, words)
    batches = store.batches(query_set.name)
    batch = _newest(batches)
    gather_line(engine, query_set, batch, config, words)
    return Gathering(query_set.name, query_set.cases, engine.evaluation.batch(batch.id) if batch else None)


def gather_line(engine: Engine, query_set: QuerySet, batch: Batch | None, config: RunConfig, words: Words) -> None:
    """How much is gathered; gather, stop, go on."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tune_gather"):
        progress = engine.batches.progress(batch.id) if batch else None
        if batch is not None and progress is not None and progress.running:
            follow(engine, batch.id, words)
            return
        labelled = sum(case.labelled or case.answerable is not None for case in query_set.cases)
        st.caption(words("tune.set.size", n=len(query_set.cases), labelled=labelled), width="content")
        if batch is not None and progress is not None:
            gathered(batch, len(query_set.cases), words)
            left = len(batch.left)
            if left and st.button(words("tune.resume", n=left), icon=":material/resume:", key="tune_resume"):
                engine.batches.resume(batch.id)
                st.rerun()
            again = words.count("tune.again_failed", len(batch.failures))
            if batch.failures and st.button(again, icon=":material/refresh:", key="tune_retry"):
                engine.batches.resume(batch.id, failures=True)
                st.rerun()
        label = words("tune.gather" if batch is None else "tune.gather.again")
        with st.popover(label, icon=":material/play_arrow:", type="primary" if batch is None else "secondary"):
            gather_form(engine, query_set, config, words)


def gathered(batch: Batch, total: int, words: Words) -> None:
    look = "pass" if len(batch.done) >= total else "warn"
    text = words("tune.gathered", done=len(batch.done), total=batch.total)
    with st.container(width="content"):
        draw((node("span", f"chip {look}", text),), words, key="tune_gathered")
    if batch.config.grade_probe:
        st.caption(words("tune.gathered.probe"), width="content", help=words("tune.gather.probe.help"))


def gather_form(engine: Engine, query_set: QuerySet, config: RunConfig, words: Words) -> None:
    """Cost and choices before a batch begins."""
    probe = st.toggle(words("tune.gather.probe"), True, help=words("tune.gather.probe.help"), key="tune_probe")
    most = min(_MOST_AT_ONCE, engine.settings.max_concurrent_runs)
    at_once = st.slider(words("tune.gather.at_once"), 1, most, min(2, most), key="tune_at_once")
    wanted = _for_set(config, query_set, probe)
    calls = engine.worst_case_calls(wanted)
    n = len(query_set.cases)
    st.caption(words("tune.gather.price", n=n, calls=n * calls) if calls else words("tune.gather.builtin", n=n))
    if wanted.collection != config.collection:
        st.caption(words("tune.gather.collection", collection=wanted.collection))
    if st.button(words("tune.gather.start", n=n), type="primary", width="stretch", key="tune_start"):
        try:
            engine.batches.start(query_set.name, wanted, int(at_once))
        except WorkbenchError as error:
            fault_box(fault_of(error), words, key="tune_start_fault")
        else:
            st.rerun()


def follow(engine: Engine, batch_id: str, words: Words) -> None:
    """Progress, rate and time left while the batch goes on; the figures below fill when it is over."""

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        progress = engine.batches.progress(batch_id)
        if not progress.running:
            st.rerun()
        if batch_status(progress, words, key="tune_batch"):
            engine.batches.stop(batch_id)

    with st.container(key="tune_running"):
        watch()


def import_form(engine: Engine, words: Words) -> None:
    """A file of questions, and where its documents go."""
    st.caption(words("tune.import.kinds"))
    uploads = st.session_state.setdefault("tune_uploads", 0)
    file = st.file_uploader(words("tune.import.file"), type=list(_KINDS), key=f"tune_file_{uploads}")
    if file is None:
        return
    name = st.text_input(words("tune.import.name"), file.name.rsplit(".", 1)[0], max_chars=60, key="tune_import_name")
    limit = st.number_input(words("tune.import.limit"), 1, 10_000, 200, key="tune_import_limit")
    try:
        sources = [item.source for item in engine.sources("samples")] if engine.ready else []
        plan = read_query_set(file.getvalue(), name or file.name, limit=int(limit), known_sources=sources)
    except WorkbenchError as error:
        fault_box(fault_of(error), words, key="tune_import_fault")
        return
    st.caption(words("tune.import.plan", n=len(plan.set.cases), documents=len(plan.items)))
    import_notes(plan.notes, words)
    collection = plan.set.collection
    if plan.items:
        collection = st.text_input(words("tune.import.collection"), collection, max_chars=60, key="tune_import_into")
    pressed = st.button(words("tune.import.start"), type="primary", width="stretch", key="tune_import_start")
    if pressed:
        begin_import(engine, plan, name or file.name, collection, words)


def begin_import(engine: Engine, plan: ImportPlan, name: str, collection: str, words: Words) -> None:
    query_set = QuerySet(name.strip(), plan.set.cases, collection, plan.set.origin)
    try:
        if plan.items:
            # The documents first: without them no question of the set can find anything.
            job = IngestJob.start(engine, plan.items, collection)
            st.session_state[_JOB] = (job, ImportPlan(query_set, (), plan.notes))
        else:
            engine.evaluation.save_query_set(query_set)
            st.session_state["tune_set_wanted"] = query_set.name
    except WorkbenchError as error:
        fault_box(fault_of(error), words, key="tune_save_fault")
        return
    st.session_state["tune_uploads"] += 1
    st.rerun()


def imported(engine: Engine, words: Words) -> None:
    """Follow the documents of an import on their way in; then the set is there."""
    waiting: tuple[IngestJob, ImportPlan] | None = st.session_state.get(_JOB)
    if waiting is None:
        return
    job, plan = waiting

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.done:
            st.session_state.pop(_JOB, None)
            if job.report is not None:
                engine.evaluation.save_query_set(plan.after(job.report.to_dict()))
                st.session_state["tune_set_wanted"] = plan.set.name
            elif job.fault is not None:
                st.session_state["tune_import_failed"] = fault_of(job.fault)
            st.rerun()
        now = job.progress
        share = now.done / now.total if now and now.total else 0.0
        done, total = (now.done, now.total) if now else (0, 0)
        st.progress(min(1.0, share), words("tune.import.going", name=plan.set.name, done=done, total=total))
        if st.button(words("ask.stop"), icon=":material/stop:", key="tune_import_stop"):
            job.stop()

    watch()


def add_form(engine: Engine, run_id: str, names: Sequence[str], words: Words) -> None:
    """The run that is open on the workbench as a question of a set, its cited passages expected."""
    try:
        record = engine.record(run_id)
    except WorkbenchError as error:
        fault_box(fault_of(error), words, key="tune_add_fault")
        return
    st.text(record.question)
    labels = {item.passage_id: item.relevant for item in engine.evaluation.labels(record.question)}
    marked = [passage_id for passage_id, relevant in labels.items() if relevant]
    case = case_of(record, marked)
    how = "marked" if marked else "cited" if case.expected else "none"
    st.caption(words(f"tune.add.{how}", n=len(case.expected)))
    own = [name for name in names if name != SAMPLE_SET]
    name = st.selectbox(
        words("tune.add.to"), own or [words("tune.add.new")], accept_new_options=True, key="tune_add_to"
    )
    if st.button(words("tune.add.do"), type="primary", width="stretch", disabled=not name, key="tune_add_do"):
        try:
            engine.evaluation.add_case(str(name), case, record.config.collection)
        except WorkbenchError as error:
            fault_box(fault_of(error), words, key="tune_add_failed")
        else:
            st.session_state["tune_set_wanted"] = str(name)
            st.rerun()


def set_facts(engine: Engine, query_set: QuerySet, words: Words) -> None:
    st.caption(words("tune.set.facts", origin=query_set.origin or "–", collection=query_set.collection))
    if st.button(words("tune.set.delete"), icon=":material/delete:", key="tune_set_delete"):
        engine.evaluation.delete_query_set(query_set.name)
        st.rerun()
    st.caption(words("tune.set.delete.help"))


def import_notes(notes: Sequence[ImportNote], words: Words) -> None:
    """Lines that could not be used, the first few of them."""
    if not notes:
        return
    items = [node("li", "", node("span", "sign warn", "!"), str(note)) for note in notes[:_ATTENTION]]
    more = len(notes) - _ATTENTION
    if more > 0:
        items.append(node("li", "muted", words("tune.import.more", n=more)))
    draw((node("ul", "report", *items),), words, key="tune_import_notes")


def _for_set(config: RunConfig, query_set: QuerySet, probe: bool) -> RunConfig:
    """The sliders' settings, asked of the collection that the set belongs to."""
    from dataclasses import replace

    return replace(config, collection=query_set.collection, grade_probe=probe or config.grade_probe)


def _newest(batches: Sequence[Batch]) -> Batch | None:
    return max(batches, key=lambda batch: batch.created_at, default=None)


def _set_name(name: str, words: Words) -> str:
    return words("tune.set.samples") if name == SAMPLE_SET else name
