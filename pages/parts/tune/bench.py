"""The grader bench of the Tune page: verdicts against labels, two graders on the same pairs, and noise."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

import streamlit as st

from components.common.controls import pick
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.phrases import model_label
from components.labels import VERDICT_KINDS
from engine.engine import Engine
from engine.evaluation.grader_bench import Pair, by_kind, compare, cut_for_precision, figures
from engine.evaluation.noise import Regraded, judged_passages, noise
from engine.model.config import RunConfig
from engine.model.values import Fault, PassageId, RunRecord
from pages.parts.common.rights import may
from pages.parts.tune.bench_charts import (
    bench_figures,
    comparison,
    counted_text,
    curve_chart,
    files_text,
    noise_table,
    ranged_text,
    reliability_chart,
    worst_bin_text,
)
from pages.parts.tune.bench_fit import Population, fit_section
from pages.parts.tune.evidence import Gathering, judged_pairs, records_of
from pages.parts.tune.gather import batch_name
from pages.parts.tune.judge import judge_passages

_SNIPPET = 140
_WATCH_S = 0.5
_JOB = "bench_noise"


@dataclass(frozen=True, slots=True)
class _Look:
    """Counted pairs, and the P(relevant) from which a verdict passes."""

    only: bool
    cut: float


@dataclass(slots=True)
class _Regrading:
    """Gradings made again in the background."""

    total: int
    done: int = 0
    future: Future[Regraded] | None = None
    texts: Mapping[PassageId, str] = field(default_factory=dict)

    def note(self, done: int) -> None:
        self.done = done


def grader_bench_tab(engine: Engine, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """Everything about the grader that gave the verdicts of the gathered evidence."""
    if gathering.batch is None:
        return
    st.caption(model_label(gathering.config.models.grader.name, words))
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    only = left.toggle(words("Only labelled passages"), key="bench_only")
    cut = right.slider(
        words("Min. P(relevant)"),
        0.0,
        1.0,
        config.min_confidence,
        0.01,
        key="bench_cut",
    )
    judged = judged_pairs(engine, gathering.batch, only_labelled=only)
    graded = of_one_kind(judged, words)
    found = figures(graded, cut)
    bench_figures(found, words, key="bench_figures")
    st.caption(words.joined((counted_text(found, words), *settled_text(judged, words))))
    if found.files_n:
        st.caption(files_text(found, words))
        judge_passages(words, key="bench_judge")
    if "files" not in found.missing.values():
        first, second = st.columns(2, gap="medium")
        with first:
            curve_chart(found, words, key="bench_curve")
        with second:
            reliability_chart(found, words, key="bench_reliability")
            st.caption(worst_bin_text(found, words))
        wanted_precision(graded, words)
    st.divider()
    fit_section(engine, gathering, config, Population(graded, only, cut), words)
    st.divider()
    other_grader(engine, gathering, judged, _Look(only, cut), words)
    st.divider()
    records = [record for _, record in records_of(engine, gathering.batch)]
    scatter(engine, gathering.batch.id, records, cut, words)


def of_one_kind(judged: tuple[Pair, ...], words: Words) -> tuple[Pair, ...]:
    """The grader's pairs of one kind of P; where there are several, the one that is chosen."""
    kinds = by_kind(judged)
    if len(kinds) < 2:
        return next(iter(kinds.values()), ())
    shown = {kind: f"{words(VERDICT_KINDS[kind])} · {len(pairs)}" for kind, pairs in kinds.items()}
    chosen = pick(words("Kind of P(relevant)"), shown, key="bench_kind", label_visibility="visible")
    return kinds[chosen]


def settled_text(judged: tuple[Pair, ...], words: Words) -> list[str]:
    """Say how many passages the screener of a cascade decided, which tell nothing of the grader."""
    settled = sum(pair.by_cut for pair in judged)
    said = words.count(
        "The screener decided 1 other passage: the figures are about what it left to the grader.",
        "The screener decided {n} other passages: the figures are about what it left to the grader.",
        settled,
    )
    return [said] if settled else []


def wanted_precision(graded: tuple[Pair, ...], words: Words) -> None:
    """The confidence from which on the grader is as precise as wanted."""
    wanted = st.slider(words("Wanted precision"), 0.5, 1.0, 0.9, 0.01, key="bench_wanted", width=360)
    cut = cut_for_precision(graded, wanted)
    if cut is None:
        st.caption(words("No P(relevant) reaches {wanted}.", wanted=f"{wanted:.2f}"))
        return
    st.markdown(
        words(
            "On these labels, P(relevant) ≥ **{cut}**: precision {precision}, recall {recall}; {n} pass.",
            cut=f"{cut.cut:.2f}",
            precision=ranged_text(cut.precision, cut.intervals.get("precision")),
            recall=ranged_text(cut.recall, cut.intervals.get("recall")),
            n=cut.passing_n,
        )
    )


def other_grader(engine: Engine, gathering: Gathering, graded: tuple[Pair, ...], look: _Look, words: Words) -> None:
    """Another gathering of the same set, by another grader, on the pairs that both have judged."""
    others = gathering.others
    if not others:
        st.caption(words("Run this set again with another grader to compare the two."))
        return
    chosen = st.selectbox(
        words("Compare"), others, format_func=lambda item: batch_name(item, words), key="bench_other", width=420
    )
    compared = compare(graded, judged_pairs(engine, chosen, only_labelled=look.only), look.cut)
    records = [record for _, record in records_of(engine, chosen)]
    comparison(compared, words, key="bench_comparison", texts=_texts(records))


def scatter(engine: Engine, batch_id: str, judged: list[RunRecord], cut: float, words: Words) -> None:
    """Grade the passages of some questions again, several times, and show how far the verdicts scatter."""
    st.markdown(f"**{words('Noise: the same passages graded again')}**")
    name = f"{_JOB}_{batch_id}"
    job: _Regrading | None = st.session_state.get(name)
    running = job is not None and job.future is not None and not job.future.done()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        count = st.number_input(words("Questions"), 1, min(50, len(judged)), 1, key="bench_n", width=170)
        times = st.number_input(words("Times"), 2, 20, 5, key="bench_times", width=170)
        step = max(1, len(judged) // int(count))
        records = judged[::step][: int(count)]
        judgements = int(times) * sum(len(judged_passages(record)) for record in records)
        label = f"{words('Re-grade')} · {words.count('1 verdict', '{n} verdicts', judgements)}"
        if st.button(label, icon=":material/replay:", disabled=running or not may("editor"), key="bench_regrade"):
            job = _Regrading(int(times) * len(records), texts=_texts(records))
            job.future = engine.start_regrade(records, int(times), job.note)
            st.session_state[name] = job
            st.rerun()
    if job is not None and running:
        _follow(job, words)
    elif job is not None and job.future is not None:
        _outcome(job, cut, words)


def _follow(job: _Regrading, words: Words) -> None:
    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.future is None or job.future.done():
            st.rerun()
        share = job.done / job.total if job.total else 0.0
        st.progress(min(1.0, share), words("{done} of {total}", done=job.done, total=job.total))
        if st.button(words("Stop"), icon=":material/stop:", key="bench_stop") and job.future is not None:
            job.future.cancel()

    watch()


def _outcome(job: _Regrading, cut: float, words: Words) -> None:
    assert job.future is not None
    if job.future.cancelled():
        st.caption(words("Stopped."))
        return
    error = job.future.exception()
    if error is not None:
        fault_box(Fault.of(error), words, key="bench_fault")
        return
    regraded = job.future.result()
    if regraded.fault is not None:
        fault_box(regraded.fault, words, key="bench_regrade_fault")
    gradings = {
        PassageId(f"{run_id}/{passage_id}"): verdicts
        for run_id, scattered in regraded.verdicts.items()
        for passage_id, verdicts in scattered.items()
    }
    texts = {name: job.texts.get(PassageId(str(name).split("/", 1)[1]), str(name)) for name in gradings}
    noise_table(noise(gradings, cut), words, key="bench_noise_table", texts=texts)


def _texts(records: list[RunRecord]) -> dict[PassageId, str]:
    """First words of every passage, for a table."""
    return {
        item.passage.id: " ".join(item.passage.text[:_SNIPPET].split())
        for record in records
        for current in record.rounds
        for item in current.candidates
    }
