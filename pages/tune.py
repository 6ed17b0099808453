"""The Tune page: a question set is run once, and from then on every slider moves every figure without a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from components.ask.what_if_text import setting_name
from components.common.badge import builtin_badge
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import CollectionChoice, OllamaNote, Surroundings, config_panel, want_settings
from components.common.run_settings import differing
from engine.api.process import get_engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import SAMPLE_SET
from engine.evaluation.figures import Evaluation
from engine.messages import N_, NC_
from engine.model.config import USUAL, RunConfig
from engine.model.values import Fault
from engine.replay.settings import COLUMNS
from pages.parts.common.actions import next_step
from pages.parts.common.fits import fits_of, scorers_of
from pages.parts.common.following import opening
from pages.parts.common.rights import may
from pages.parts.tune import best, correction, guarantee, measure_map, questions, run_errors, scores, tiles, trade_off
from pages.parts.tune.bench import grader_bench_tab
from pages.parts.tune.evidence import Gathering, Shown, drawn_so_far, evidence_of
from pages.parts.tune.gather import gather_form
from pages.parts.tune.query_set import chosen_set, query_set_bar
from pages.parts.tune.tiles import AFTER
from pages.parts.tune.tried import evaluated

_BASELINES = {
    "gathered": N_("as run"),
    "defaults": N_("Defaults"),
}

engine = get_engine()
words: Words = st.session_state["words"]


def page() -> None:
    with st.sidebar:
        panel = settings()
    with st.session_state["top_bar"]:
        builtin_badge(panel.models, words)
    gathering = query_set_bar(engine, panel, words)
    # A set belongs to a collection: the sliders are tried on what was found there, no matter what the panel searches.
    gathered = gathering.config
    config = replace(panel, collection=gathered.collection, milvus_address=gathered.milvus_address)
    shown = evidence_of(engine, gathering)
    if shown is None or not len(shown):
        nothing_yet(shown, gathering, panel)
        return
    with st.sidebar:
        before = baseline(gathered, config)
    evaluation = evaluated(shown, before, config)
    if said := notes_of(shown, evaluation, gathering, panel):
        st.caption(" · ".join(said))
    if not int(evaluation.known_n[AFTER]):
        all_unknown(config, gathering)
    tiles.view(evaluation, words, key="tune_tiles", so_far=drawn_so_far(shown, gathering))
    best.panel(engine, shown, before, config, words)
    tabs(shown, evaluation, gathering)


def settings() -> RunConfig:
    """The one set of sliders, as on the workbench."""
    st.caption(f"**{words('Settings under test')}**")
    fresh = st.session_state.pop("look_again_now", False)
    ollama = engine.ollama(fresh=fresh)
    models_there = engine.chat_models(fresh=fresh)
    note = OllamaNote(ollama.address, ollama.version, models_there, ollama.looking, ollama.smallest)
    defaults = engine.settings.defaults_of_runs
    around = Surroundings(
        fits=partial(fits_of, engine), scorers=scorers_of(engine), defaults=defaults, fixed=fixed_by_set()
    )
    chosen = config_panel(words, collections(), note, around)
    if chosen.look_again:
        st.session_state["look_again_now"] = True
        st.rerun()
    return chosen.config


def fixed_by_set() -> tuple[str, str]:
    """The collection of the chosen set, where it has one of its own, and that this is why no other can be chosen."""
    if not engine.ready:
        return "", ""
    query_set = chosen_set(engine)
    if query_set.name == SAMPLE_SET:
        return "", ""
    return query_set.collection, words("Set by the question set; change it under ⋯.")


def collections() -> list[CollectionChoice]:
    if not engine.ready:
        return []
    try:
        return [CollectionChoice(item.name, item.passages, item.full_text) for item in engine.collections()]
    except WorkbenchError:
        # Said where something is asked of the knowledge base; evidence needs none.
        return []


def nothing_yet(shown: Shown | None, gathering: Gathering, config: RunConfig) -> None:
    """Show the next step if no question of the set has a finished run."""
    if not engine.ready:
        opening(engine, words)
    with st.container(border=True, key="tune_empty"):
        if gathering.running:
            st.caption(words("The first figures come in a moment; the sliders can be moved already."))
        elif not gathering.query_set.cases:
            said = words("This set has no questions: import a file or add a run.")
            next_step(said, words("Take the samples"), "library_books", key="tune_samples", does=take_samples)
        else:
            st.markdown(f"**{words('Next: run the questions')}**")
            st.caption(words("Each runs once. Then the sliders move every figure without a call."))
            if gathering.batch is None and may("editor"):
                with st.container(width=420):
                    gather_form(engine, gathering, config, words)
    if shown is not None and shown.evidence.failed:
        run_errors.view(errors_of(shown, gathering), words, key="tune_failed_alone")


def take_samples() -> None:
    st.session_state["tune_set_wanted"] = SAMPLE_SET


def baseline(gathered: RunConfig, config: RunConfig) -> RunConfig:
    """The settings that changes are counted against."""
    # What is graded for the sake of evidence is no cost of the settings.
    gathered = replace(gathered, grade_probe=config.grade_probe)
    saved = engine.evaluation.settings()
    names = (*_BASELINES, *(f"saved:{name}" for name in saved))
    if st.session_state.get("tune_compared") not in names:
        st.session_state["tune_compared"] = "gathered"
    chosen = st.selectbox(
        words("Baseline"), names, format_func=_baseline_name, key="tune_compared", persist_state="session"
    )
    if chosen == "defaults":
        usual = engine.settings.defaults_of_runs.of(USUAL)
        same = {name: getattr(gathered, name) for name in ("collection", "milvus_address", "models")}
        return replace(usual, **same)
    return saved[chosen.removeprefix("saved:")] if str(chosen).startswith("saved:") else gathered


def _baseline_name(name: str) -> str:
    kind, _, saved = name.partition(":")
    return words("Saved: {name}", name=saved) if kind == "saved" else words(_BASELINES[kind])


def notes_of(shown: Shown, evaluation: Evaluation, gathering: Gathering, panel: RunConfig) -> list[str]:
    """What is to be said of the evidence, beyond the tiles."""
    said = []
    if elsewhere := int((evaluation.right_by.recorded & ~evaluation.path_known)[:, AFTER].sum()):
        said.append(words("{n} answers come from another run of the set", n=elsewhere))
    if evaluation.unknown_n[AFTER] and not gathering.config.grade_probe and not gathering.imported:
        said.append(words("run again with “Grade all candidates” to know more"))
    if learnt := int(evaluation.right_by.learnt[:, AFTER].sum()):
        said.append(words("the grader was fitted to {n} of these questions, and may do worse on others", n=learnt))
    if relabelled := gathering.relabelled(shown.cases):
        said.append(words("{n} labels changed since: run again to count by them", n=relabelled))
    if panel.collection != gathering.config.collection:
        said.append(words("Searched: {collection}", collection=f"`{gathering.config.collection}`"))
    return said


def all_unknown(config: RunConfig, gathering: Gathering) -> None:
    """Explain why the settings lead nowhere a run has been, and the way back."""
    gathered = gathering.config
    names = [name for name in differing(config, gathered) if name not in COLUMNS and name != "grade_probe"]
    with st.container(border=True, key="tune_all_unknown"):
        listed = words(", ").join(setting_name(name, words) for name in names)
        why = words("The recorded runs say nothing of these settings; run again with them, or go back.")
        st.caption(words.joined([why, words("Changed: {names}", names=listed)]) if names else why)
        if st.button(words("Back to baseline"), icon=":material/undo:", key="tune_unknown_back"):
            want_settings(replace(gathered, grade_probe=config.grade_probe))
            st.rerun()


def tabs(shown: Shown, evaluation: Evaluation, gathering: Gathering) -> None:
    """The tabs; only the open one is computed and sent."""
    config = evaluation.configs[AFTER]
    notes, so_far = shown.evidence.notes, drawn_so_far(shown, gathering)
    parts: dict[str, Callable[[], None]] = {
        # A label that moved with a slider would close the tab that is open.
        words("Questions"): lambda: questions.panel(engine, gathering, shown, evaluation, words),
        words("Map"): lambda: measure_map.tab(shown, config, words),
        words("Trade-off"): lambda: trade_off.tab(shown, evaluation, words),
        words("Does correction pay?"): lambda: correction.panel(engine, shown, gathering, config, words),
        words("Guarantee"): lambda: guarantee.panel(engine, shown, gathering, config, words),
        words(NC_("tab", "Grader")): lambda: grader_bench_tab(engine, gathering, config, words),
        words("Scores"): lambda: scores.view(evaluation, notes, words, key="tune_scores", so_far=so_far),
    }
    if shown.evidence.failed:
        errors = errors_of(shown, gathering)
        parts[words("Run errors")] = lambda: run_errors.view(errors, words, key="tune_failures")
    for tab, draw in zip(st.tabs(list(parts), key="tune_tabs", on_change="rerun"), parts.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def errors_of(shown: Shown, gathering: Gathering) -> list[tuple[str, str]]:
    """Question and what happened, of those without a usable run."""
    return [(shown.cases[name].question, gathering.why(name, words)) for name in shown.evidence.failed]


try:
    page()
except WorkbenchError as error:
    fault_box(Fault.of(error), words, key="tune_fault")
    if st.button(words("Try again"), icon=":material/refresh:", key="tune_again"):
        st.rerun()
