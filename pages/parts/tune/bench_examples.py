"""The part of the grader bench that tries corrections as examples for a chat grader."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import draw, table
from components.tune.fit_result import fit_result
from engine.engine import Engine
from engine.evaluation.fit_examples import LEAST, LEAST_EACH, Plan, plan_of
from engine.evaluation.fitting import Subject, Trial
from engine.evaluation.grader_bench import Pair
from engine.model.values import Fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Gathering, records_of

_WATCH_S = 0.5
_SNIPPET = 140


@dataclass(frozen=True, slots=True)
class Population:
    """The judgements that a grader is fitted to, and where κ is measured."""

    graded: Sequence[Pair]
    only_labelled: bool
    cut: float


@dataclass(slots=True)
class _Trying:
    """A trial in the background."""

    plan: Plan
    done: int = 0
    future: Future[tuple[Trial | None, Fault | None]] | None = None

    def note(self, done: int) -> None:
        self.done = done


def examples_trial(engine: Engine, gathering: Gathering, population: Population, words: Words) -> Trial | None:
    """Show the examples, try them on request, and return what came of it; None as long as nothing did."""
    assert gathering.batch is not None
    records = {case.id: record for case, record in records_of(engine, gathering.batch)}
    plan = plan_of(population.graded, records, population.cut)
    if gathering.config.models.grader.fit:
        st.caption(words("These verdicts were made with examples already: choose a gathering without."))
        return None
    if not plan.examples:
        st.caption(words("No judgement contradicts a verdict, so there is nothing to show."))
        return None
    _examples(plan, words)
    if any(plan.missing):
        _too_few(plan, words)
        return None
    name = f"bench_examples_{gathering.batch.id}"
    job: _Trying | None = st.session_state.get(name)
    if job is not None and job.plan != plan:
        # Somebody judged something since, or the cut has moved.
        job = None
    running = job is not None and job.future is not None and not job.future.done()
    label = words.count("Try them (1 call)", "Try them ({n} calls)", len(plan.held_out))
    if st.button(label, icon=":material/tune:", disabled=running or not may("editor"), key="bench_examples_try"):
        collection = next((record.manifest.get("collection", "") for record in records.values()), "")
        subject = Subject(gathering.config.models.grader.model, str(collection), population.cut)
        job = _Trying(plan)
        job.future = engine.grader_fits.start_examples(gathering.config, plan, subject, job.note)
        st.session_state[name] = job
        st.rerun()
    if job is None:
        return None
    if running:
        _follow(job, words)
        return None
    return _outcome(job, words)


def _examples(plan: Plan, words: Words) -> None:
    """What would stand in the prompt, and what is left to try it on."""
    said = words.joined(
        [
            words.count(
                "1 judgement contradicts its verdict.", "{n} judgements contradict their verdicts.", plan.corrections
            ),
            words.count("1 becomes an example:", "{n} become examples, of different questions:", len(plan.examples)),
        ]
    )
    st.caption(said)
    rows = [
        (
            item.pair.question,
            _snippet(item.passage.text),
            words("labelled relevant" if item.pair.label else "labelled not relevant"),
        )
        for item in plan.examples
    ]
    heads = [words("Question"), words("Passage"), words("Judgement")]
    draw((table("flips", heads, rows),), words, key="bench_examples")


def _snippet(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SNIPPET else f"{plain[:_SNIPPET]}…"


def _too_few(plan: Plan, words: Words) -> None:
    more, relevant, others = plan.missing
    parts = [
        words(
            "They are tried on judgements of other questions: {least}, {each} relevant and {each} not. There are {n}.",
            least=LEAST,
            each=LEAST_EACH,
            n=len(plan.held_out),
        ),
        words.count("1 more is missing.", "{n} more are missing.", more),
    ]
    if relevant or others:
        parts.append(words("Of them {yes} relevant and {no} not.", yes=relevant, no=others))
    st.caption(words.joined(parts))


def _follow(job: _Trying, words: Words) -> None:
    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.future is None or job.future.done():
            st.rerun()
        total = len(job.plan.held_out)
        st.progress(min(1.0, job.done / total), words("{done} of {total}", done=job.done, total=total))
        if st.button(words("Stop"), icon=":material/stop:", key="bench_examples_stop") and job.future is not None:
            job.future.cancel()

    watch()


def _outcome(job: _Trying, words: Words) -> Trial | None:
    assert job.future is not None
    if job.future.cancelled():
        st.caption(words("Stopped."))
        return None
    error = job.future.exception()
    trial, fault = (None, Fault.of(error)) if error is not None else job.future.result()
    if fault is not None:
        fault_box(fault, words, key="bench_examples_fault")
    if trial is not None:
        fit_result(trial, words, key="bench_fit")
    return trial
