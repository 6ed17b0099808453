"""The Tune page: gather evidence over a set of questions once, then move every slider over it without a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from components.badge import builtin_badge
from components.config_panel import CollectionChoice, OllamaNote, config_panel, want_settings
from components.faults import fault_box
from components.i18n import Words
from components.tune_charts import heat_map, outcome_bars, pass_rate_bars
from components.tune_figures import AFTER, failures_list, measures_table, tune_figures
from components.tune_flips import flips_card, flips_table
from engine.config import RunConfig
from engine.errors import WorkbenchError
from engine.evaluation.aggregate import evaluate
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import Evaluation, Measure
from engine.evaluation.flip_values import Flips
from engine.evaluation.flips import flips
from engine.evaluation.sweep_values import AxisValue
from engine.nodes.run_context import fault_of
from engine.process import get_engine
from pages.opening import opening
from pages.tune_bench import grader_bench_tab
from pages.tune_evidence import Gathering, base_path, evidence_of, map_of
from pages.tune_set import query_set_bar
from pages.tune_sweep import front_card, sweep_tab

engine = get_engine()
words: Words = st.session_state["words"]
_MAP_MEASURES: tuple[Measure, ...] = ("quality", "context_hit", "refused_unanswerable", "steps", "rewrites", "seconds")
_MAP_AXES = ("similarity_threshold", "grade_pass_threshold", "top_k", "max_rewrites", "min_confidence")


def page() -> None:
    with st.sidebar:
        config = settings()
    with st.session_state["top_bar"]:
        builtin_badge(config.models, words)
    st.markdown(f"#### {words('tune.title')}")
    st.caption(words("tune.intro"))
    gathering = query_set_bar(engine, config, words)
    evidence = evidence_of(engine, gathering)
    if evidence is None or not len(evidence):
        nothing_yet(evidence, gathering)
        return
    with st.container(key="tune_compare"):
        left, right = st.columns([2, 3], gap="medium")
        with left:
            before = compared_with(gathering.config, config)
        evaluation = evaluate(evidence, (before, config))
        changed = flips(evidence, before, config)
        with right:
            flips_card(changed, words, key="tune_flips_card")
        with left:
            apply_button()
            evidence_note(evidence, evaluation)
    tune_figures(evaluation, words, key="tune_figures")
    left, right = st.columns([3, 2], gap="medium")
    with left, st.container(border=True):
        map_card(evidence, config)
    with right, st.container(border=True):
        front_card(evidence, config, before, words)
    tabs(evidence, evaluation, changed, (before, config), gathering)


def settings() -> RunConfig:
    """The one set of sliders, as on the workbench."""
    st.caption(f"**{words('tune.under_test')}**")
    ollama = engine.ollama(fresh=st.session_state.pop("look_again_now", False))
    note = OllamaNote(ollama.address, ollama.version, tuple(item.name for item in ollama.models if item.chats))
    chosen = config_panel(words, collections(), note)
    if chosen.look_again:
        st.session_state["look_again_now"] = True
        st.rerun()
    return chosen.config


def collections() -> list[CollectionChoice]:
    if not engine.ready:
        return []
    try:
        return [CollectionChoice(item.name, item.passages) for item in engine.collections()]
    except WorkbenchError:
        # Said where something is asked of the knowledge base; evidence needs none.
        return []


def nothing_yet(evidence: Evidence | None, gathering: Gathering) -> None:
    """What to do next, where no question of the set has a finished run."""
    if not engine.ready:
        opening(engine, words)
    with st.container(border=True):
        st.markdown(f"**{words('tune.empty.title')}**")
        st.caption(words("tune.empty"))
    if evidence is not None and evidence.failed:
        failures_list(failures(evidence, gathering), words, key="tune_failed_alone")


def compared_with(gathered: RunConfig, config: RunConfig) -> RunConfig:
    """The settings that changes are counted against."""
    # What is graded for the sake of evidence is no cost of the settings.
    gathered = replace(gathered, grade_probe=config.grade_probe)
    saved = engine.evaluation.settings()
    names = ("gathered", "defaults", *(f"saved:{name}" for name in saved))
    if st.session_state.get("tune_compared") not in names:
        st.session_state["tune_compared"] = "gathered"
    chosen = st.selectbox(
        words("tune.compared"),
        names,
        format_func=_compared_name,
        key="tune_compared",
        help=words("tune.compared.help"),
        persist_state="session",
    )
    if chosen == "defaults":
        return RunConfig(collection=gathered.collection, milvus_address=gathered.milvus_address, models=gathered.models)
    return saved[chosen.removeprefix("saved:")] if str(chosen).startswith("saved:") else gathered


def _compared_name(name: str) -> str:
    kind, _, saved = name.partition(":")
    return words("tune.compared.saved", name=saved) if kind == "saved" else words(f"tune.compared.{kind}")


def apply_button() -> None:
    """The workbench has the same sliders, so going there takes the settings along."""
    if st.button(words("tune.apply"), type="primary", width="stretch", help=words("tune.apply.help"), key="tune_apply"):
        st.switch_page("workbench.py")


def evidence_note(evidence: Evidence, evaluation: Evaluation) -> None:
    st.caption(words("tune.evidence.line", n=len(evidence)))
    unknown = int(evaluation.unknown_n[AFTER])
    if unknown:
        st.caption(words("tune.evidence.unknown", n=unknown, total=len(evidence)))
    if evidence.failed:
        st.caption(words("tune.evidence.failed", n=len(evidence.failed)))


def map_card(evidence: Evidence, config: RunConfig) -> None:
    """A measure over two settings; a click on a cell moves the sliders there."""
    across, up, shown = st.columns(3, gap="small")
    x = _axis(across, "x", "grade_pass_threshold")
    y = _axis(up, "y", "similarity_threshold")
    measure = shown.selectbox(
        words("tune.map.measure"),
        _MAP_MEASURES,
        format_func=lambda name: words(f"tune.measure.{name}"),
        key="tune_map_measure",
        persist_state="session",
    )
    if x == y:
        st.caption(words("tune.map.same"))
        return
    heat = map_of(evidence, config, x, y, measure)
    st.caption(words("tune.map.note", measure=words(f"tune.measure.{measure}")))
    heat_map(heat, config, words, key="tune_map", tried=try_settings, total=len(evidence))
    if int(heat.known_n.min()) < len(evidence):
        st.caption(words("tune.map.partly"))


def _axis(place: st.delta_generator.DeltaGenerator, name: str, default: str) -> str:
    st.session_state.setdefault(f"tune_map_{name}", default)
    chosen = place.selectbox(
        words(f"tune.map.{name}"),
        _MAP_AXES,
        format_func=lambda axis: words(f"settings.{axis}"),
        key=f"tune_map_{name}",
        persist_state="session",
    )
    return str(chosen)


def try_settings(settings: Mapping[str, AxisValue]) -> None:
    want_settings(settings)


def tabs(
    evidence: Evidence,
    evaluation: Evaluation,
    changed: Flips,
    compared: tuple[RunConfig, RunConfig],
    gathering: Gathering,
) -> None:
    before, config = compared
    names = {
        "flips": words("tune.tab.flips", n=changed.flipped),
        "outcomes": words("tune.tab.outcomes"),
        "measures": words("tune.tab.measures"),
        "sweep": words("tune.tab.sweep"),
        "bench": words("tune.tab.bench"),
        "failures": words("tune.tab.failures", n=len(evidence.failed)),
    }
    drawn = dict(zip(names, st.tabs(list(names.values()), key="tune_tabs", on_change="rerun"), strict=True))
    with drawn["flips"]:
        flips_table(changed, words, key="tune_flips", base=base_path())
    if drawn["outcomes"].open:
        with drawn["outcomes"]:
            outcome_bars(evaluation, words, key="tune_outcomes")
            pass_rate_bars(evaluation, words, key="tune_rates")
    if drawn["measures"].open:
        with drawn["measures"]:
            measures_table(evaluation, words, key="tune_measures")
    if drawn["sweep"].open:
        with drawn["sweep"]:
            sweep_tab(engine, evidence, config, before, words)
    if drawn["bench"].open:
        with drawn["bench"]:
            grader_bench_tab(engine, gathering, config, words)
    if drawn["failures"].open:
        with drawn["failures"]:
            failures_list(failures(evidence, gathering), words, key="tune_failures")


def failures(evidence: Evidence, gathering: Gathering) -> list[tuple[str, str]]:
    """Question and what happened, of those that are in no figure."""
    questions = {case.id: case.question for case in gathering.cases}
    return [(questions.get(name, name), gathering.why(name, words)) for name in evidence.failed]


try:
    page()
except WorkbenchError as error:
    fault_box(fault_of(error), words, key="tune_fault")
    if st.button(words("ask.again"), icon=":material/refresh:", key="tune_again"):
        st.rerun()
