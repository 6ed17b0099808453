"""Gathering the evidence of a query set on the Tune page: begin, follow with speed and cost, stop, continue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from components.common.amounts import moment
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import draw, node
from components.common.phrases import duration_text, model_label
from components.knowledge.draw import quiet
from components.labels import help_of, name_of
from engine.engine import Engine
from engine.evaluation.values import Batch, BatchProgress
from engine.model.config import RunConfig
from engine.plugins import panels
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.judging_rest import judging_rest
from pages.parts.common.rights import may
from pages.parts.tune.collection import nothing_there, sources_of
from pages.parts.tune.evidence import Gathering, part_of, progress_of

_WATCH_S = 0.5
_STOPPED_S = 60.0
_MOST_AT_ONCE = 8
_CHOSEN = "tune_batch"


def gathering_buttons(
    engine: Engine, gathering: Gathering, config: RunConfig, words: Words, *, alone: bool = True
) -> None:
    """Show how much is collected, and the actions for the rest, at the end of the bar.

    With a choice of gatherings, unless the one shown is ``alone``, its name says it.
    """
    batch = gathering.batch
    if batch is None or gathering.running:
        return
    if alone:
        gathered_chip(batch, words)
    if not may("editor"):
        return
    left = len(batch.left)
    if left and st.button(
        words("Run the other {n}", n=left), icon=":material/resume:", type="primary", key="tune_resume"
    ):
        _begin(lambda: engine.batches.resume(batch.id))
    if left and progress_of(engine, batch.id).elsewhere and _here_instead(words):
        _begin(lambda: engine.batches.resume(batch.id, here=True))
    again = words("Retry {n} failed", n=len(batch.failures))
    if batch.failures and st.button(again, icon=":material/refresh:", key="tune_retry"):
        _begin(lambda: engine.batches.resume(batch.id, failures=True))
    with st.popover(words("Run again"), icon=":material/play_arrow:"):
        gather_form(engine, gathering, config, words)


def gathering_notes(engine: Engine, gathering: Gathering, words: Words) -> None:
    """Below the bar: progress while it is running, and what went wrong."""
    said = say_fault("tune_gather", words)
    if gathering.batch is None:
        return
    if gathering.running:
        follow(engine, gathering.batch.id, words)
        return
    ended_by = progress_of(engine, gathering.batch.id).fault
    if ended_by is not None and ended_by != said:
        fault_box(ended_by, words, key="tune_batch_fault")
    if gathering.added:
        st.caption(
            words.count(
                "1 question was added since: run again to include it.",
                "{n} questions were added since: run again to include them.",
                gathering.added,
            )
        )


def gathered_chip(batch: Batch, words: Words) -> None:
    whole = len(batch.done) >= batch.total
    look = "plain" if whole else "warn"
    text = words("{done} of {total}", done=len(batch.done), total=batch.total)
    if batch.shipped:
        text = words("shipped")
    elif whole:
        text = moment(batch.created_at)
    help_text = (
        words("Every candidate was graded. Only what another rewrite would find needs calls.")
        if batch.config.grade_probe
        else words("Only kept passages were graded: lower thresholds need calls.")
    )
    with st.container(width="content", key="tune_gathered_place"):
        draw((node("span", f"chip {look}", text, title=help_text),), words, key="tune_gathered")


def batch_choice(batches: tuple[Batch, ...], words: Words) -> Batch | None:
    """The batch whose runs are the evidence: the newest with most questions, or another one where there are several."""
    by_id = {batch.id: batch for batch in batches}
    if not by_id:
        return None
    if st.session_state.get(_CHOSEN) not in by_id:
        # One that only fetched missing answers, or whose model server was gone, is no evidence for the whole set.
        st.session_state[_CHOSEN] = max(by_id.values(), key=lambda batch: batch.total - len(batch.failures)).id
    if len(by_id) == 1:
        return next(iter(by_id.values()))
    chosen = st.selectbox(
        words("Runs"),
        list(by_id),
        format_func=lambda batch_id: batch_name(by_id[batch_id], words),
        key=_CHOSEN,
        persist_state="session",
        label_visibility="collapsed",
        width=250,
    )
    return by_id.get(str(chosen), next(iter(by_id.values())))


def batch_name(batch: Batch, words: Words) -> str:
    """``60/60 · built-in · 2026-11-22 03:05``, the count first, for a narrow box cuts the end."""
    when = words("shipped") if batch.shipped else moment(batch.created_at)
    grader = model_label(batch.config.models.grader.name, words)
    return f"{len(batch.done)}/{batch.total} · {grader} · {when}"


def gather_form(engine: Engine, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """Cost and choices before a batch begins."""
    query_set = gathering.query_set
    if gathering.batch is not None and any(case.kind == "trace" for case in query_set.cases):
        records = [record for _, record in engine.batches.results(gathering.batch.id) if record.origin is not None]
        judging_rest(engine, records, words, key="tune_imported", set_name=query_set.name)
        if engine.ready and sources_of(engine, query_set.collection) is None:
            not_here = words(
                "The documents of imported runs are not here: to run these questions, ask another collection."
            )
            quiet(not_here, words, key="tune_imported_away")
            return
    probe = st.toggle(
        words(name_of("grade_probe")),
        True,
        help=words(help_of("grade_probe")),
        key="tune_probe",
    )
    # One place is left for a question asked meanwhile.
    most = max(1, min(_MOST_AT_ONCE, engine.settings.max_concurrent_runs - 1))
    at_once = st.slider(words("Runs at once"), 1, most, min(2, most), key="tune_at_once") if most > 1 else 1
    wanted = replace(config, collection=query_set.collection, grade_probe=bool(probe) or config.grade_probe)
    calls = engine.worst_case_calls(wanted)
    n = len(query_set.cases)
    st.caption(words("At most {calls} model calls.", calls=n * calls) if calls else words("Costs no model call."))
    for panel in panels("gathering"):
        panel(engine, words, n)
    if wanted.collection != config.collection:
        quiet(
            words("Searched: {collection}", collection=wanted.collection),
            words,
            key="tune_gather_collection",
        )
    start = words.count("Run the question", "Run {n} questions", n)
    able = engine.ready and n and not nothing_there(engine, query_set)
    if st.button(start, type="primary", width="stretch", disabled=not able, key="tune_start"):
        _begin(lambda: engine.batches.start(query_set.name, wanted, int(at_once)))
    if gathering.batch is not None and gathering.batch.shipped:
        said = words("These runs come with the program, made with the built-in models. They are not in Runs.")
        quiet(said, words, key="tune_shipped")
        if may("admin") and st.button(words("Delete"), icon=":material/delete:", key="tune_shipped_delete"):
            run_action("tune_gather", engine.evaluation.delete_shipped)
            st.rerun()


def _here_instead(words: Words) -> bool:
    """Offer to leave the processes that were to run the batch; what they finished is kept."""
    return st.button(words("Run here instead"), icon=":material/computer:", key="tune_here")


def _begin(begin: Callable[[], str | bool]) -> None:
    """Start or resume; what speaks against it is said below the bar."""

    def start() -> None:
        begun = begin()
        if isinstance(begun, str):
            st.session_state[f"{_CHOSEN}_next"] = begun

    run_action("tune_gather", start)
    st.rerun()


def take_begun() -> None:
    """Show what was started last; before the choice of a batch is drawn."""
    begun = st.session_state.pop(f"{_CHOSEN}_next", None)
    if begun is not None:
        st.session_state[_CHOSEN] = begun


def follow(engine: Engine, batch_id: str, words: Words) -> None:
    """Progress, rate and time left; every tenth of the questions, the figures below are made again."""
    drawn = part_of(progress_of(engine, batch_id))

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        progress = engine.batches.progress(batch_id)
        if not progress.running or part_of(progress) != drawn:
            st.rerun()
        if batch_status(progress, words, key="tune_batch", may_stop=may("editor")):
            engine.batches.stop(batch_id)
        if progress.gives_up_s is not None and may("editor") and _here_instead(words):
            engine.batches.stop(batch_id)
            with st.spinner(words("Run here instead")):
                engine.batches.wait(batch_id, _STOPPED_S)
            _begin(lambda: engine.batches.resume(batch_id, here=True))

    with st.container(key="tune_running"):
        watch()


def progress_parts(progress: BatchProgress, words: Words) -> list[str]:
    """Build the text on the bar."""
    done = progress.done + progress.failed
    parts = [words("{done} of {total}", done=done, total=progress.total)]
    if progress.failed:
        parts.append(words("{n} failed", n=progress.failed))
    if progress.workers == 0:
        parts.append(words("waiting for a worker"))
    elif progress.workers:
        parts.append(words.count("1 worker", "{n} workers", progress.workers))
    if progress.gives_up_s is not None:
        parts.append(words("gives up in {time}", time=duration_text(progress.gives_up_s * 1000.0)))
    if progress.rate_per_s > 0:
        parts.append(words("{rate}/s", rate=f"{progress.rate_per_s:.1f}"))
    if progress.remaining_s is not None:
        parts.append(words("{time} left", time=duration_text(progress.remaining_s * 1000.0)))
    if progress.spent.calls:
        parts.append(words.count("1 call", "{n} calls", progress.spent.calls))
    if progress.spent.tokens:
        parts.append(words("{n} tokens", n=f"{progress.spent.tokens:,}".replace(",", "\N{THIN SPACE}")))
    return parts


def batch_status(progress: BatchProgress, words: Words, *, key: str, may_stop: bool = True) -> bool:
    """Draw the bar; true when the reader wants it stopped."""
    done = progress.done + progress.failed
    parts = " · ".join(progress_parts(progress, words))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(done / progress.total if progress.total else 0.0, parts)
        return may_stop and st.button(words("Stop"), icon=":material/stop:", key=f"{key}_stop")
