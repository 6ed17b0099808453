"""Sweeping settings on the Tune page: quality against cost, one recommendation, and ways for it to leave the tool."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from components.common.controls import download
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import want_settings
from components.common.run_settings import setting_label, setting_text
from components.labels import name_of
from components.tune.charts import Point, quality_against_cost, settings_text
from components.tune.figures import AFTER
from components.tune.recommendation import recommendation_card
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.figures import Evaluation
from engine.evaluation.measures import MEASURES
from engine.evaluation.recommend import Aim, Recommendation
from engine.evaluation.settings_out import as_curl, as_json, as_python, as_toml
from engine.evaluation.sweep import AxisValue, Cost
from engine.model.config import RunConfig
from engine.model.values import Fault
from engine.plugins import panels
from engine.version import PROGRAM
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Shown
from pages.parts.tune.tried import COSTS, Tried, promise_of, recommended, tried, tried_rows

_AXES = ("top_k", "similarity_threshold", "grade_pass_threshold", "max_rewrites", "min_confidence", "min_relevant")
_DEFAULT_AXES = ["similarity_threshold", "max_rewrites"]
_MOST_AXES = 3
_AIMS: tuple[Aim, ...] = ("quality", "answered_right")


def front_card(shown: Shown, evaluation: Evaluation, words: Words) -> None:
    """Every swept setting as a point of quality against cost, with the recommended one."""
    before, config = evaluation.configs
    made = tried(shown, config, swept_axes(config))
    cost: Cost = st.selectbox(
        words("Cost"),
        COSTS,
        format_func=lambda name: words(MEASURES[name].name),
        key="tune_front_cost",
        persist_state="session",
    )
    found = recommended(shown, config, swept_axes(config), before)
    points = points_of(made, evaluation, cost, found, words)
    drawn = sum(item.place is not None for item in points if item.kind != "current")
    total = len(made.configs)
    st.caption(
        words(
            "{n} settings, each at its worse end; click one to try it"
            if drawn == total
            else "{n} of {total} settings, each at its worse end; click one to try it",
            n=drawn,
            total=total,
        )
    )
    quality_against_cost(points, cost, words, key="tune_front", tried=_try)


def points_of(made: Tried, evaluation: Evaluation, cost: Cost, found: Recommendation, words: Words) -> list[Point]:
    """The settings of the sweep that are possible, and those under test, which may lie between them."""
    star = found.setting if found.better else None
    on_front = frozenset(made.fronts[cost].settings)
    points = [
        Point(
            quality=made.figures["quality"].at(place),
            cost=made.figures[cost].at(place),
            text=settings_text(settings, words),
            settings=settings,
            on_front=place in on_front,
            kind="recommended" if place == star else "front" if place in on_front else "others",
        )
        for place, settings in enumerate(made.settings)
        if made.possible[place]
    ]
    own = Point(
        quality=evaluation.figure("quality", AFTER),
        cost=evaluation.figure(cost, AFTER),
        text=settings_text({axis.name: getattr(evaluation.configs[AFTER], axis.name) for axis in made.axes}, words),
        kind="current",
    )
    return [*points, own]


def sweep_tab(engine: Engine, shown: Shown, config: RunConfig, before: RunConfig, words: Words) -> None:
    """Show the swept settings, the recommendation with its confidence, and exports."""
    st.multiselect(
        words("Settings to sweep"),
        _AXES,
        default=None if "tune_axes" in st.session_state else swept_axes(config),
        format_func=lambda name: words(name_of(name)),
        max_selections=_MOST_AXES,
        key="tune_axes",
        persist_state="session",
        help=words("Two or three; the others stay as the sliders have them. Computed from evidence, without calls."),
    )
    made = tried(shown, config, swept_axes(config))
    found = recommended(shown, config, swept_axes(config), before, _aim(made, words))
    changed = [
        f"{setting_label(name, words)} {setting_text(name, getattr(found.config, name), words)}"
        for name in _AXES
        if getattr(found.config, name) != getattr(before, name)
    ]
    promised = promise_of(shown, config, swept_axes(config), found.setting, words)
    if recommendation_card(found, changed, words, key="tune_recommendation", promised=promised):
        want_settings(found.config)
        st.rerun()
    with st.container(border=True, key="tune_leaving"):
        leaving = _leaving(found, config, words)
        left, right = st.columns(2, gap="medium")
        with left:
            save_form(engine, leaving, words)
        with right:
            take_away(engine, leaving, next(iter(shown.cases.values())).question, words)
    rows = partial(tried_rows, shown, config, swept_axes(config))
    download(words("{n} settings as CSV", n=len(made.configs)), lambda: _csv(rows()), "sweep.csv", key="tune_csv")


def _aim(made: Tried, words: Words) -> Aim:
    """Return the aim of the recommendation; by default to find and answer, as in the chart above."""
    if not made.figures["answered_right"].known_n.any():
        return "quality"
    chosen = st.selectbox(
        words("Recommend by"),
        _AIMS,
        format_func=lambda name: words(MEASURES[name].name),
        key="tune_aim",
        persist_state="session",
        width=420,
    )
    return "answered_right" if chosen == "answered_right" else "quality"


def _leaving(found: Recommendation, config: RunConfig, words: Words) -> RunConfig:
    """The settings that are saved and exported: those on the card, or those of the sliders where they differ."""
    if found.choice == "too_poor" or found.config == config:
        return config
    names = {"card": words("recommended" if found.better else "as on the card"), "sliders": words("as on the sliders")}
    chosen = st.segmented_control(
        words("Settings to save and export"),
        list(names),
        format_func=names.__getitem__,
        default="card",
        required=True,
        key="tune_leaving_choice",
        persist_state="session",
    )
    return config if chosen == "sliders" else found.config


def save_form(engine: Engine, config: RunConfig, words: Words) -> None:
    """Keep the settings by a name; take up or forget saved ones."""
    if may("editor"):
        _save_as(engine, config, words)
    for place, (saved, settings) in enumerate(engine.evaluation.settings().items()):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(saved)
            if st.button(words("use"), key=f"tune_use_{place}", type="tertiary"):
                want_settings(settings)
                st.rerun()
            if may("editor") and st.button(words("forget"), key=f"tune_forget_{place}", type="tertiary"):
                engine.evaluation.delete_settings(saved)
                st.rerun()


def _save_as(engine: Engine, config: RunConfig, words: Words) -> None:
    st.markdown(f"**{words('Save these settings')}**")
    with st.form("tune_save", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.text_input(words("Name"), max_chars=60, key="tune_save_name")
        pressed = st.form_submit_button(words("Save"), icon=":material/save:")
    for panel in panels("saved_settings"):
        panel(engine, words)
    if pressed and name.strip():
        try:
            engine.evaluation.save_settings(name.strip(), config)
            st.rerun()
        except WorkbenchError as error:
            fault_box(Fault.of(error), words, key="tune_save_fault")


def take_away(engine: Engine, config: RunConfig, question: str, words: Words) -> None:
    """The settings as curl, Python, JSON, the file for the command line, and what plug-ins make of them.

    ``question`` is asked.
    """
    address = engine.settings.reached_at()
    st.markdown(f"**{words('Take them along')}**")
    forms = {
        "curl": ("bash", as_curl(config, question, address)),
        "Python": ("python", as_python(config, question)),
        "JSON": ("json", as_json(config)),
        "eval": ("toml", as_toml(config)),
    }
    others = [panel(engine, words) for panel in panels("take_along")]
    tabs = st.tabs([*forms, *(name for name, _, _ in others)], key="tune_out")
    for tab, (language, text) in zip(tabs, forms.values(), strict=False):
        with tab:
            st.code(text, language=language, wrap_lines=True)
            if language == "toml":
                st.caption(words("The file for `{program} eval DATASET --config FILE`.", program=PROGRAM))
    for tab, (_, said, draw_button) in zip(tabs[len(forms) :], others, strict=True):
        with tab:
            st.caption(said)
            draw_button(config, "tune")


def swept_axes(config: RunConfig) -> tuple[str, ...]:
    """The settings that the sweep varies, as chosen in its tab; by itself the number that the gate reads is one."""
    chosen = st.session_state.get("tune_axes") or (*_DEFAULT_AXES, number_of_gate(config))
    return tuple(name for name in _AXES if name in chosen)


def number_of_gate(config: RunConfig) -> str:
    """The setting that decides when a round suffices."""
    return "grade_pass_threshold" if config.gate == "pass_rate" else "min_relevant"


def _try(settings: Mapping[str, AxisValue]) -> None:
    want_settings(settings)


def _csv(lines: Sequence[Mapping[str, AxisValue | None]]) -> bytes:
    written = io.StringIO()
    table = csv.DictWriter(written, list(lines[0]))
    table.writeheader()
    table.writerows(lines)
    return written.getvalue().encode("utf-8-sig")
