"""The part of the grader bench that fits a grader to the judgements of its collection."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import want_settings
from components.common.phrases import model_label
from components.tune.fit_result import fit_result, kept_text, too_few
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.fitting import Trial, judgements
from engine.messages import N_
from engine.model.config import RoleModel, RunConfig
from engine.model.grader_fit import FitKind, GraderFit
from engine.model.values import Fault
from pages.parts.common.rights import may
from pages.parts.tune.bench_examples import Population, examples_trial
from pages.parts.tune.evidence import Gathering, fit_trial, records_of

_ASKED = "bench_fit_asked"
_ABOUT: Mapping[FitKind, str] = {
    "coefficients": N_(
        "The built-in grader weighs what it sees by coefficients that ship with the program. Judgements of this "
        "collection pull them, as far as that helps on questions left out."
    ),
    "calibration": N_(
        "P(relevant) becomes the share that was judged relevant at such scores (Venn-Abers). Their order is never "
        "turned."
    ),
    "examples": N_(
        "Judgements that contradict the verdicts go into the prompt as examples, where that raises κ on questions "
        "that give none. Assumed labels do not count here."
    ),
}


def kind_of(model: RoleModel) -> FitKind:
    """How a grader can be fitted."""
    return "coefficients" if model.built_in else "calibration" if model.scores else "examples"


def fit_section(engine: Engine, gathering: Gathering, config: RunConfig, population: Population, words: Words) -> None:
    """Try a fit on the judgements above, use it, and go back; ``config`` is the panel's."""
    assert gathering.batch is not None
    kind = kind_of(gathering.config.models.grader)
    st.markdown(f"**{words('Fit the grader to these judgements')}**")
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
    there = judgements(population.graded)
    if any(there.missing):
        too_few(there, words)
    elif st.session_state.get(_ASKED) == gathering.batch.id:
        with st.spinner(words("Fitting")):
            found = fit_trial(engine, gathering.batch, only_labelled=population.only_labelled, cut=population.cut)
        if found.after is None:
            st.caption(words("These judgements are too one-sided: without some questions one kind is left alone."))
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
            words("Use it"), icon=":material/check:", type="primary", disabled=not may("editor"), key="bench_fit_use"
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
    if chosen.fit:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(
                words(
                    "Runs are judged by {grader} from now on: it stands in the panel. Gather again to see it on the "
                    "same questions.",
                    grader=model_label(chosen.name, words),
                ),
                width="stretch",
            )
            if st.button(words("Back to the shipped one"), icon=":material/undo:", key="bench_fit_back"):
                _choose(chosen.model)
    collection = collection_of(engine, gathering)
    others = [fit for fit in engine.grader_fits.of(collection) if fit.model == grader.model and fit.name != chosen.name]
    if not others:
        return
    with st.expander(words.count("1 kept fit", "{n} kept fits", len(others))):
        for fit in others:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"`{fit.id}` · {kept_text(fit, words)}", width="stretch")
                if st.button(words("Use"), key=f"bench_fit_use_{fit.id}"):
                    _choose(fit.name)


def collection_of(engine: Engine, gathering: Gathering) -> str:
    """The collection by its own name, as the runs say; an alias may lead to another one by now."""
    assert gathering.batch is not None
    records = records_of(engine, gathering.batch)
    return str(records[0][1].manifest.get("collection", "")) if records else gathering.config.collection
