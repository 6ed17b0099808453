"""The runs that a comparison lacks: A's question with another grader or other settings, or a question under both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast, get_args

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import begun, model_label
from components.common.run_settings import setting_label
from components.common.widgets import bounded
from components.labels import PRESET_NAMES, choices_of, help_of, name_of
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import workflow
from engine.model.config import (
    BUILTIN,
    PARAMETERS,
    PRESETS,
    ROLES,
    ContextPolicy,
    GatePolicy,
    RoleModel,
    RunConfig,
    SearchMethod,
)
from engine.model.settings_difference import settings_difference
from engine.model.values import Attachment, RunRecord

Side = Literal["a", "b"]
Wanted = tuple[str, RunConfig, tuple[Attachment, ...]]
Begin = Callable[[dict[Side, Wanted]], None]
_MOST_GRADERS = 4
_SLIDERS = ("top_k", "similarity_threshold", "max_rewrites", "min_confidence")
_NUMBER_OF: Mapping[str, str] = {"pass_rate": "grade_pass_threshold", "min_relevant": "min_relevant"}
_ROLES: tuple[Literal["grader", "rewriter", "generator"], ...] = ("grader", "rewriter", "generator")


def second_run(engine: Engine, a: RunRecord | None, b: RunRecord | None, words: Words, begin: Begin) -> None:
    """Offer what makes the missing run; ``begin`` is called with question, settings and attachments of a side."""
    if a is None:
        return
    models = engine.chat_models()
    with st.expander(
        words("Make a run to compare with"), icon=":material/add_notes:", expanded=b is None, key="compare_make"
    ):
        _other_grader(a, models, words, begin)
        st.caption(
            f"**{words('Same question, other settings')}**",
        )
        starts = _starts(engine, a, words)
        name = st.selectbox(words("Start from"), list(starts), key="compare_from")
        start = starts.get(str(name), a.config)
        # The widgets start over with other values only under another name.
        by_words = _by_words(engine, start.collection)
        config = compare_settings(start, models, words, key=f"compare_{hash(start)}", by_words=by_words)
        _run(a, config, words, begin)
        if b is not None and b.config != a.config:
            _both(engine, a, b, words, begin)


def _other_grader(a: RunRecord, models: tuple[str, ...], words: Words, begin: Begin) -> None:
    st.caption(f"**{words('Same question, other grader')}**")
    own = a.config.models.grader
    others = [name for name in (BUILTIN, *models) if name != own.name][:_MOST_GRADERS]
    if not others:
        st.caption(words("Set up a chat model to compare graders."))
        return
    with st.container(horizontal=True, key="compare_graders"):
        for name in others:
            label = words("Run with {model}", model=model_label(name, words))
            if st.button(label, key=f"compare_grader_{name}", icon=":material/play_arrow:"):
                grader = RoleModel() if name == BUILTIN else own.named(name)
                begin({"b": _asked_as(a, replace(a.config, models=replace(a.config.models, grader=grader)))})


def _starts(engine: Engine, a: RunRecord, words: Words) -> dict[str, RunConfig]:
    """Settings to start from, by what the picker calls them."""
    made = {words("A's settings"): a.config}
    for preset, threshold in PRESETS.items():
        name = words("A with the preset “{name}”", name=words(PRESET_NAMES[preset]))
        made[name] = replace(a.config, gate="pass_rate", grade_pass_threshold=threshold)
    made[words("Defaults")] = replace(engine.settings.defaults_of_runs.of(), collection=a.config.collection)
    try:
        saved = engine.evaluation.settings()
    except WorkbenchError:
        saved = {}
    return made | {words("Saved: {name}", name=name): config for name, config in saved.items()}


def _by_words(engine: Engine, collection: str) -> bool:
    """Return whether a collection can be searched by words; false if unknown, as while it is being opened."""
    try:
        return engine.ready and engine.describe(collection).full_text
    except WorkbenchError:
        return False


def _run(a: RunRecord, config: RunConfig, words: Words, begin: Begin) -> None:
    names = changed_names(a.config, config, words)
    with st.container(horizontal=True, vertical_alignment="center", key="compare_run_line"):
        if st.button(words("Run and compare"), key="compare_run", type="primary", icon=":material/play_arrow:"):
            begin({"b": _asked_as(a, config)})
        said = words("Changed: {changes}", changes=words(", ").join(names)) if names else ""
        st.caption(said or words("Nothing changed yet."), width="stretch")


def _asked_as(run: RunRecord, config: RunConfig) -> Wanted:
    """A run's question under other settings, with its attachments where the workflow looks at them."""
    return run.question, config, run.attachments if workflow(config.workflow).takes_attachments else ()


def _both(engine: Engine, a: RunRecord, b: RunRecord, words: Words, begin: Begin) -> None:
    """One question under both settings; a side that has asked it already is not run again."""
    st.caption(
        f"**{words('Another question, under both settings')}**",
    )
    with st.form("compare_both", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        question = st.text_input(
            words("Another question, under both settings"),
            "" if a.question == b.question else a.question,
            key=f"compare_question_{a.id[:8]}_{b.id[:8]}",
            label_visibility="collapsed",
            placeholder=words("Ask something of the collection…"),
            max_chars=engine.settings.max_question_chars,
        )
        pressed = st.form_submit_button(words("Run and compare"), icon=":material/play_arrow:")
    asked = question.strip()
    if not pressed or not asked:
        return
    sides: tuple[tuple[Side, RunRecord], ...] = (("a", a), ("b", b))
    # Images and tables belong to the question that they came with.
    of = next((run for _, run in sides if run.question == asked), None)
    missing: dict[Side, Wanted] = {
        side: _asked_as(of, run.config) if of is not None else (asked, run.config, ())
        for side, run in sides
        if run.question != asked or run.active
    }
    if missing:
        begin(missing)


def compare_settings(
    start: RunConfig, models: Sequence[str], words: Words, *, key: str, by_words: bool = False
) -> RunConfig:
    """Draw the editor and return what it is set to; ``key`` must change with ``start``, whose values it begins with.

    ``models`` are names for the pickers of models; those of ``start`` are offered as well. ``by_words`` says that the
    collection can be searched by words too, and draws a choice of the search.
    """
    left, right = st.columns(2, gap="medium")
    with left:
        values: dict[str, Any] = {name: _slider(name, start, words, key) for name in _SLIDERS}
    with right:
        if by_words:
            values["search"] = cast(SearchMethod, _one_of("search", get_args(SearchMethod), start.search, words, key))
        gate = _one_of("gate", get_args(GatePolicy), start.gate, words, key)
        values[_NUMBER_OF[gate]] = _slider(_NUMBER_OF[gate], start, words, key)
        context = _one_of("context", get_args(ContextPolicy), start.context, words, key)
        chosen = {role: _model(role, start.models.of(role), models, words, key) for role in _ROLES}
    return replace(
        start,
        gate=cast(GatePolicy, gate),
        context=cast(ContextPolicy, context),
        models=replace(start.models, **chosen),
        **values,
    )


def changed_names(start: RunConfig, config: RunConfig, words: Words) -> tuple[str, ...]:
    """Names of the settings in which ``config`` is another one than ``start``."""
    return tuple(setting_label(item.name, words) for item in settings_difference(start, config))


def _slider(name: str, start: RunConfig, words: Words, key: str) -> float:
    return bounded(words, name, PARAMETERS[name], getattr(start, name), key=f"{key}_{name}")


def _one_of(name: str, options: Sequence[str], start: str, words: Words, key: str) -> str:
    return str(
        st.segmented_control(
            words(name_of(name)),
            options,
            required=True,
            default=start,
            format_func=lambda option: words(choices_of(name)[option]),
            help=words(help_of(name)),
            width="stretch",
            key=f"{key}_{name}",
        )
    )


def _model(role: str, start: RoleModel, models: Sequence[str], words: Words, key: str) -> RoleModel:
    options = list(dict.fromkeys((start.name, BUILTIN, *models)))
    model = st.selectbox(
        begun(words(ROLES[role])),
        options,
        format_func=lambda name: model_label(name, words),
        key=f"{key}_{role}",
    )
    return start if model == start.name else RoleModel() if model == BUILTIN else start.named(str(model))
