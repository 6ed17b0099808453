"""The Tune page: gather evidence over a set of questions once, then move every slider over it without a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from components.ask.what_if_text import setting_name
from components.common.badge import builtin_badge
from components.common.controls import download
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import CollectionChoice, OllamaNote, Surroundings, config_panel, want_settings
from components.common.run_link import run_link
from components.common.run_settings import differing
from components.common.url_state import base_path
from components.labels import name_of
from components.tune.bars import outcome_bars, pass_rate_bars
from components.tune.certificate import promise_text
from components.tune.charts import heat_map
from components.tune.figures import AFTER, BEFORE, basis_text, by_file_text, failures_list, measures_table, tune_figures
from components.tune.question_changes import changes_card, changes_csv, changes_table
from engine.api.process import get_engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import SAMPLE_SET
from engine.evaluation.figures import Evaluation
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.question_changes import QuestionChanges, changes_between
from engine.evaluation.sweep import AxisValue
from engine.messages import N_, NC_
from engine.model.config import USUAL, RunConfig
from engine.model.values import Fault
from engine.replay.settings import COLUMNS
from pages.parts.common.actions import next_step
from pages.parts.common.fits import fits_of
from pages.parts.common.following import opening
from pages.parts.common.rights import may
from pages.parts.tune import correction
from pages.parts.tune.answers import answers_tab
from pages.parts.tune.bench import grader_bench_tab
from pages.parts.tune.certificate import certificate_tab
from pages.parts.tune.evidence import Gathering, Shown, drawn_so_far, evidence_of
from pages.parts.tune.gather import gather_form
from pages.parts.tune.judge import judge_passages, judge_tab
from pages.parts.tune.query_set import chosen_set, query_set_bar
from pages.parts.tune.sweep import front_card, number_of_gate, sweep_tab, swept_axes
from pages.parts.tune.tried import evaluated, map_of, promised, safe_places, tried_before

_COMPARED = {
    "gathered": N_("settings as gathered"),
    "defaults": N_("defaults"),
}

_EVIDENCE = {
    "cannot_tell": N_("answers gathered that say they cannot tell: {n}"),
    "uncited": N_("answers gathered that name no source: {n}"),
    "unsupported": N_("answers gathered that are not supported: {n}"),
}

_MAP = {
    "x": N_("Across"),
    "y": N_("Up"),
}

engine = get_engine()
words: Words = st.session_state["words"]
_MAP_MEASURES: tuple[Measure, ...] = (
    *("quality", "answered_right", "wrong_given", "context_hit", "refused_unanswerable"),
    *("steps", "rewrites", "seconds"),
)
_MAP_AXES = (
    *("similarity_threshold", "grade_pass_threshold", "min_relevant"),
    *("top_k", "max_rewrites", "min_confidence"),
)


def page() -> None:
    with st.sidebar:
        panel = settings()
    with st.session_state["top_bar"]:
        builtin_badge(panel.models, words)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tune_head"):
        st.markdown(f"#### {words('Tune over many questions')}", width="content")
        st.caption(
            words("Gather evidence once; then every slider at the left moves all figures below without a single call."),
            width="content",
        )
    gathering = query_set_bar(engine, panel, words)
    # A set belongs to a collection: the sliders are tried on what was found there, no matter what the panel searches.
    gathered = gathering.config
    config = replace(panel, collection=gathered.collection, milvus_address=gathered.milvus_address)
    shown = evidence_of(engine, gathering)
    if shown is None or not len(shown):
        nothing_yet(shown, gathering, panel)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="tune_compare"):
        before = compared_with(gathered, config)
        evaluation = evaluated(shown, before, config)
        changes = changes_between(shown.evidence, evaluation, BEFORE, AFTER)
        changes_card(changes, words, key="tune_flips_card")
        apply_button(config)
    st.caption(evidence_note(shown, evaluation, gathering, panel))
    if not int(evaluation.known_n[AFTER]):
        all_unknown(config, gathering)
    so_far = drawn_so_far(shown, gathering)
    tune_figures(evaluation, words, key="tune_figures", so_far=so_far)
    if told := basis_text(evaluation, words):
        st.caption(told)
    left, right = st.columns([3, 2], gap="small")
    with left, st.container(border=True, height="stretch", key="tune_map_card"):
        early = map_card(shown, config)
    with right, st.container(border=True, height="stretch", key="tune_front_card"):
        front_card(shown, evaluation, words)
    tabs(shown, evaluation, changes, gathering)
    if early and (found := promised(shown, config, swept_axes(config))) is not None and safe_places(found):
        # The map did not wait for the sweep that says what is certified; it is there now.
        st.rerun()


def settings() -> RunConfig:
    """The one set of sliders, as on the workbench."""
    st.caption(f"**{words('Settings under test')}**")
    fresh = st.session_state.pop("look_again_now", False)
    ollama = engine.ollama(fresh=fresh)
    models_there = engine.chat_models(fresh=fresh)
    note = OllamaNote(ollama.address, ollama.version, models_there, ollama.looking, ollama.smallest)
    defaults = engine.settings.defaults_of_runs
    around = Surroundings(fits=partial(fits_of, engine), defaults=defaults, fixed=fixed_by_set())
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
    return query_set.collection, words("Set by the query set; change it in “This set”.")


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
            st.markdown(f"**{words('The first figures come in a moment')}**")
            st.caption(words("They grow while the questions run; the sliders can be moved already."))
        elif not gathering.query_set.cases:
            said = words("This set has no questions: import a file or add a run.")
            next_step(said, words("Take the samples"), "library_books", key="tune_samples", does=take_samples)
        else:
            st.markdown(f"**{words('No evidence yet for this set')}**")
            st.caption(
                words(
                    "Gather it once: every question runs and keeps all it saw. Then the figures and charts appear here."
                )
            )
            if gathering.batch is None and may("editor"):
                with st.container(width=420):
                    gather_form(engine, gathering, config, words)
    if shown is not None and shown.evidence.failed:
        failures_list(failures(shown, gathering), words, key="tune_failed_alone")


def take_samples() -> None:
    st.session_state["tune_set_wanted"] = SAMPLE_SET


def compared_with(gathered: RunConfig, config: RunConfig) -> RunConfig:
    """The settings that changes are counted against."""
    # What is graded for the sake of evidence is no cost of the settings.
    gathered = replace(gathered, grade_probe=config.grade_probe)
    saved = engine.evaluation.settings()
    names = ("gathered", "defaults", *(f"saved:{name}" for name in saved))
    if st.session_state.get("tune_compared") not in names:
        st.session_state["tune_compared"] = "gathered"
    chosen = st.selectbox(
        words("Compared with"),
        names,
        width=250,
        format_func=_compared_name,
        key="tune_compared",
        help=words("Changes in the figures and the flips are counted against these settings, question by question."),
        persist_state="session",
    )
    if chosen == "defaults":
        usual = engine.settings.defaults_of_runs.of(USUAL)
        same = {name: getattr(gathered, name) for name in ("collection", "milvus_address", "models")}
        return replace(usual, **same)
    return saved[chosen.removeprefix("saved:")] if str(chosen).startswith("saved:") else gathered


def _compared_name(name: str) -> str:
    kind, _, saved = name.partition(":")
    return words("saved: {name}", name=saved) if kind == "saved" else words(_COMPARED[kind])


def apply_button(config: RunConfig) -> None:
    """The workbench has the same sliders, so going there takes the settings along."""
    if st.button(
        words("Open on Ask"),
        type="primary",
        help=words("The sliders are the same on both pages: Ask has these settings already."),
        key="tune_apply",
    ):
        want_settings({"collection": config.collection})
        st.switch_page("workbench.py")


def evidence_note(shown: Shown, evaluation: Evaluation, gathering: Gathering, panel: RunConfig) -> str:
    """Show the basis of the figures, and what is unknown in them: one line."""
    total, unknown, failed = len(shown), int(evaluation.unknown_n[AFTER]), len(shown.evidence.failed)
    parts = [
        words.count(
            "1 question · every slider move since: 0 calls", "{n} questions · every slider move since: 0 calls", total
        )
    ]
    if gathering.batch is not None and total + failed < gathering.batch.total:
        parts = [
            words(
                "{n} of {total} questions so far · every slider move since: 0 calls",
                n=total + failed,
                total=gathering.batch.total,
            )
        ]
    if unknown:
        parts.append(
            words(
                "{n} need calls to be known under these settings: each figure says the worst and the best they allow",
                n=unknown,
            )
        )
        told = int((evaluation.right_by.recorded & ~evaluation.path_known)[:, AFTER].sum())
        if told:
            parts.append(words("of {n} of them another gathering has the answer: where it tells, they count", n=told))
        if not gathering.config.grade_probe and not gathering.imported:
            parts.append(words("gathered without grading the whole probe: gather again with it to know more"))
    if failed:
        parts.append(words("{n} failed: unknown in every figure", n=failed))
    parts += [words(_EVIDENCE[note], n=n) for note, n in sorted(shown.evidence.notes.items())]
    if relabelled := gathering.relabelled(shown.cases):
        parts.append(words("{n} labelled otherwise by now: gather again to count by it", n=relabelled))
    if panel.collection != gathering.config.collection:
        parts.append(words("asked of the set's collection {collection}", collection=f"`{gathering.config.collection}`"))
    return " · ".join(parts)


def all_unknown(config: RunConfig, gathering: Gathering) -> None:
    """Explain why the settings lead nowhere a run has been, and the way back."""
    gathered = gathering.config
    names = [name for name in differing(config, gathered) if name not in COLUMNS and name != "grade_probe"]
    with st.container(border=True, key="tune_all_unknown"):
        st.markdown(f"**{words('No outcome is known under these settings without calls')}**")
        listed = words(", ").join(setting_name(name, words) for name in names)
        why = (
            words("Not as the evidence was gathered, and nothing recorded says what they do: {names}.", names=listed)
            if names
            else words("The runs never went where these settings lead.")
        )
        st.caption(
            why if gathering.imported else f"{why} {words('Put them back, or gather again with these settings.')}"
        )
        if st.button(words("Put them back"), icon=":material/undo:", key="tune_unknown_back"):
            want_settings(replace(gathered, grade_probe=config.grade_probe))
            st.rerun()


def map_card(shown: Shown, config: RunConfig) -> bool:
    """A measure over two settings; a click on a cell moves the sliders there.

    True where it was drawn before its sweep was there, and so without a frame around what is certified.
    """
    across, up, over = st.columns(3, gap="small")
    x = _axis(across, "x", number_of_gate(config))
    y = _axis(up, "y", "similarity_threshold")
    measure = over.selectbox(
        words("Shown"),
        _MAP_MEASURES,
        format_func=lambda name: words(MEASURES[name].name),
        key="tune_map_measure",
        persist_state="session",
    )
    if x == y:
        st.caption(words("Choose two different settings."))
        return False
    names = swept_axes(config)
    # Only a map of the sweep itself shows settings that were certified together; it does not wait for one.
    swept = tried_before(shown, config, names) if {x, y} <= set(names) else None
    heat = swept.heat(measure, x, y, config) if swept is not None else None
    found = promised(shown, config, names) if heat is not None else None
    safe = safe_places(found) if found is not None else frozenset()
    if heat is None:
        heat = map_of(shown, config, (x, y), measure, names)
    promise = promise_text(found, words) if found is not None else ""
    heat_map(heat, config, words, key="tune_map", tried=try_settings, safe=safe, promise=promise)
    return swept is None and {x, y} <= set(names)


def _axis(place: st.delta_generator.DeltaGenerator, name: str, default: str) -> str:
    st.session_state.setdefault(f"tune_map_{name}", default)
    chosen = place.selectbox(
        words(_MAP[name]),
        _MAP_AXES,
        format_func=lambda axis: words(name_of(axis)),
        key=f"tune_map_{name}",
        persist_state="session",
    )
    return str(chosen)


def try_settings(settings: Mapping[str, AxisValue]) -> None:
    want_settings(settings)


def tabs(shown: Shown, evaluation: Evaluation, changes: QuestionChanges, gathering: Gathering) -> None:
    before, config = evaluation.configs
    failed = len(shown.evidence.failed)

    def outcomes() -> None:
        outcome_bars(evaluation, words, key="tune_outcomes")
        pass_rate_bars(evaluation, words, key="tune_rates")

    def all_measures() -> None:
        measures_table(evaluation, words, key="tune_measures", so_far=drawn_so_far(shown, gathering))
        if told := by_file_text(evaluation, words):
            st.caption(told)
            judge_passages(words, key="tune_judge_passages")

    parts: dict[str, Callable[[], None]] = {
        # A label that moved with a slider would close the tab that is open; the card above has the number.
        words("Flips"): lambda: changes_tab(changes, config),
        words("Outcomes"): outcomes,
        words("All measures"): all_measures,
        words("Sweep"): lambda: sweep_tab(engine, shown, config, before, words),
        words("Does correction pay?"): lambda: correction.panel(engine, shown, gathering, config, words),
        words("Answers"): lambda: answers_tab(engine, shown, gathering, words),
        words(NC_("tab", "Judge")): lambda: judge_tab(engine, gathering, words),
        words("Certificate"): lambda: certificate_tab(
            engine, shown, gathering, config, words, try_settings=try_settings
        ),
        words("Grader bench"): lambda: grader_bench_tab(engine, gathering, config, words),
    }
    if failed:
        parts[words("Run errors {n}", n=failed)] = lambda: failures_list(
            failures(shown, gathering), words, key="tune_failures"
        )
    # Hidden tabs cost nothing.
    for tab, draw in zip(st.tabs(list(parts), key="tune_tabs", on_change="rerun"), parts.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def changes_tab(changes: QuestionChanges, config: RunConfig) -> None:
    base = base_path()
    changes_table(changes, words, key="tune_flips", link=lambda run_id: run_link(run_id, config, words, base))
    if changes.shown:
        download(words("Flips as CSV"), lambda: changes_csv(changes, words), "flips.csv", key="tune_flips_csv")


def failures(shown: Shown, gathering: Gathering) -> list[tuple[str, str]]:
    """Question and what happened, of those without a usable run."""
    return [(shown.cases[name].question, gathering.why(name, words)) for name in shown.evidence.failed]


try:
    page()
except WorkbenchError as error:
    fault_box(Fault.of(error), words, key="tune_fault")
    if st.button(words("Try again"), icon=":material/refresh:", key="tune_again"):
        st.rerun()
