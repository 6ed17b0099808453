"""The parts of the grader bench that fit a grader to judgements, and try corrections as examples for a chat grader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import streamlit as st

from components.common.amounts import beginning
from components.common.controls import pick
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import draw, table
from components.common.panel import want_settings
from components.common.phrases import model_label
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.fit_examples import LEAST, LEAST_EACH, Plan, plan_of
from engine.evaluation.fitting import Subject, Trial, half_of, judgements
from engine.evaluation.grader_bench import Pair
from engine.messages import N_
from engine.model.config import RoleModel, RunConfig
from engine.model.grader_fit import FitKind, GraderFit
from engine.model.values import Fault
from engine.model.values.names import VerdictKind
from engine.replay.rejudged import tells_scores
from pages.parts.common.rights import may
from pages.parts.tune.bench_charts import fit_result, kept_text, too_few
from pages.parts.tune.evidence import Gathering, collection_of, fit_trial, records_of

_ASKED = "bench_fit_asked"
_ABOUT: Mapping[FitKind, str] = {
    "coefficients": N_(
        "Labels of this collection adjust the coefficients of the built-in grader, as far as that helps on questions "
        "left out."
    ),
    "calibration": N_(
        "P(relevant) becomes how often passages with such a verdict are labelled relevant (Venn-Abers); the order "
        "stays."
    ),
    "examples": N_(
        "Labels that contradict verdicts go into the prompt as examples, where that raises κ on other questions."
    ),
}
_WITH_EXAMPLES = N_("These verdicts were made with examples already: choose other runs.")
_USED = N_("{grader} grades from now on; run again to see it on these questions.")
_USED_AT_ONCE = N_("{grader} grades from now on. The figures above the tabs go by it already; this tab shows the runs.")
_WATCH_S = 0.5
_SNIPPET = 140


_WAYS: Mapping[FitKind, str] = {"calibration": N_("Calibrate P"), "examples": N_("Examples in the prompt")}
"""How a chat model can be fitted."""


def kinds_of(model: RoleModel) -> tuple[FitKind, ...]:
    """Return how a grader can be fitted, the way that costs nothing first."""
    return ("coefficients",) if model.built_in else ("calibration", "examples") if model.chats else ("calibration",)


def fit_section(engine: Engine, gathering: Gathering, config: RunConfig, population: Population, words: Words) -> None:
    """Try a fit on the judgements above, use it, and go back; ``config`` is the panel's."""
    assert gathering.batch is not None
    ways = kinds_of(gathering.config.models.grader)
    st.markdown(f"**{words('Fit the grader to these labels')}**")
    kind = ways[0]
    if len(ways) > 1:
        kind = pick(words("Way"), {way: words(_WAYS[way]) for way in ways}, key="bench_fit_way")
    st.caption(words(_ABOUT[kind]))
    if kind == "examples":
        found = examples_trial(engine, gathering, population, words)
        if found is not None:
            _offer(engine, found, config, words)
    else:
        _fitted(engine, gathering, config, population, words)
    _kept(engine, gathering, config, words)


def _fitted(engine: Engine, gathering: Gathering, config: RunConfig, population: Population, words: Words) -> None:
    """A fit that costs no calls."""
    assert gathering.batch is not None
    half = st.toggle(
        words("Keep half of the questions for a guarantee"),
        key="bench_fit_half",
        help=words("No guarantee rests on a question that taught the grader."),
    )
    there = judgements(half_of(population.graded) if half else population.graded)
    if not _as_shipped(engine, gathering):
        st.caption(words(_WITH_EXAMPLES))
    elif any(there.missing):
        too_few(there, words)
    elif st.session_state.get(_ASKED) == gathering.batch.id:
        with st.spinner(words("Try a fit")):
            found = fit_trial(
                engine,
                gathering.batch,
                population.kind,
                half=half,
                only_labelled=population.only_labelled,
                cut=population.cut,
            )
        if found.after is None:
            st.caption(words("These labels are too one-sided."))
        else:
            fit_result(found, words, key="bench_fit")
            _offer(engine, found, config, words)
    elif st.button(words("Try a fit"), icon=":material/tune:", key="bench_fit_try"):
        st.session_state[_ASKED] = gathering.batch.id
        st.rerun()


def _offer(engine: Engine, found: Trial, config: RunConfig, words: Words) -> None:
    assert found.fit is not None
    in_use = config.models.grader.name == found.fit.name
    if (
        found.helps
        and not in_use
        and st.button(
            words("Use"), icon=":material/check:", type="primary", disabled=not may("editor"), key="bench_fit_use"
        )
    ):
        _use(engine, found.fit, words)


def _use(engine: Engine, fit: GraderFit, words: Words) -> None:
    try:
        kept = engine.grader_fits.keep(fit)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="bench_fit_fault")
        return
    _choose(kept.name)


def _choose(name: str) -> None:
    want_settings({"grader": name})
    st.rerun()


def _kept(engine: Engine, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """The fits of this grader to this collection, and the way back."""
    grader, chosen = gathering.config.models.grader, config.models.grader
    kept = [fit for fit in engine.grader_fits.of(collection_of(engine, gathering)) if fit.model == grader.model]
    if chosen.fit:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            at_once = any(fit.name == chosen.name and fit.kind == "calibration" for fit in kept)
            said = _USED_AT_ONCE if at_once else _USED
            st.caption(words(said, grader=model_label(chosen.name, words)), width="stretch")
            if st.button(words("Back to the shipped grader"), icon=":material/undo:", key="bench_fit_back"):
                _choose(chosen.model)
    others = [fit for fit in kept if fit.name != chosen.name]
    if not others:
        return
    with st.expander(words.count("1 kept fit", "{n} kept fits", len(others))):
        for fit in others:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"`{fit.id}` · {kept_text(fit, words)}", width="stretch")
                if st.button(words("Use"), key=f"bench_fit_use_{fit.id}"):
                    _choose(fit.name)


@dataclass(frozen=True, slots=True)
class Population:
    """The judgements that a grader is fitted to, and where κ is measured."""

    graded: Sequence[Pair]
    only_labelled: bool
    cut: float

    @property
    def kind(self) -> VerdictKind:
        """What their P(relevant) is."""
        return next((pair.kind for pair in self.graded if pair.p_relevant is not None), "builtin")


def _as_shipped(engine: Engine, gathering: Gathering) -> bool:
    """Return whether the numbers behind the verdicts are those of the grader as shipped."""
    assert gathering.batch is not None
    grader = gathering.config.models.grader
    return grader.built_in or all(tells_scores(record) for _, record in records_of(engine, gathering.batch))


@dataclass(slots=True)
class _Trying:
    """A trial in the background."""

    plan: Plan
    done: int = 0
    future: Future[tuple[Trial | None, Fault | None]] | None = None

    def note(self, done: int) -> None:
        self.done = done


def examples_trial(engine: Engine, gathering: Gathering, population: Population, words: Words) -> Trial | None:
    """Show the examples, try them on request, and return the result; None as long as there is none."""
    assert gathering.batch is not None
    records = {case.id: record for case, record in records_of(engine, gathering.batch)}
    plan = plan_of(population.graded, records, population.cut)
    if gathering.config.models.grader.fit:
        shipped = _as_shipped(engine, gathering)
        said = N_("These verdicts are calibrated: choose other runs.") if shipped else _WITH_EXAMPLES
        st.caption(words(said))
        return None
    if not plan.examples:
        st.caption(words("No label contradicts a verdict."))
        return None
    _examples(plan, words)
    if any(plan.missing):
        _too_few(plan, words)
        return None
    name = f"bench_examples_{gathering.batch.id}"
    job: _Trying | None = st.session_state.get(name)
    if job is not None and job.plan != plan:
        # A judgement was added since, or the cut has moved.
        job = None
    running = job is not None and job.future is not None and not job.future.done()
    label = f"{words('Try a fit')} · {words.count('1 call', '{n} calls', len(plan.held_out))}"
    if st.button(label, icon=":material/tune:", disabled=running or not may("editor"), key="bench_examples_try"):
        subject = Subject(gathering.config.models.grader.model, collection_of(engine, gathering), population.cut)
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
    """Show the examples for the prompt, and the pairs left for a trial."""
    said = words("{n} labels contradict their verdicts; examples from different questions:", n=plan.corrections)
    st.caption(said)
    rows = [
        (
            item.pair.question,
            beginning(item.passage.text, _SNIPPET),
            words("labelled relevant" if item.pair.label else "labelled not relevant"),
        )
        for item in plan.examples
    ]
    heads = [words("Question"), words("Passage"), ""]
    draw((table("flips", heads, rows),), words, key="bench_examples")


def _too_few(plan: Plan, words: Words) -> None:
    said = words(
        "They are tried on labels of other questions: {least}, {each} relevant and {each} not. There are {n}.",
        least=LEAST,
        each=LEAST_EACH,
        n=len(plan.held_out),
    )
    st.caption(said)


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
