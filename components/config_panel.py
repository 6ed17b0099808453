"""The configuration panel: the one set of sliders; values in, a :class:`RunConfig` out.

Every setting stands in the URL under its own name, so that a link holds the settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.i18n import Words
from components.url_state import put_into_url, take_from_url
from components.what_if_text import ROLES, SETTINGS, differing, setting_name
from engine.config import (
    BUILTIN,
    MODEL_PARAMETERS,
    PARAMETERS,
    PRESETS,
    ContextPolicy,
    GatePolicy,
    Parameter,
    RoleModel,
    RoleModels,
    RunConfig,
)

_PRESET_KEY = "preset"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_LONGEST_MODEL = 200
_WANTED = "settings_wanted"


@dataclass(frozen=True, slots=True)
class CollectionChoice:
    name: str
    passages: int


@dataclass(frozen=True, slots=True)
class OllamaNote:
    """What was found of Ollama: its version and chat models, or the address where nobody answered."""

    address: str
    version: str = ""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    config: RunConfig
    look_again: bool
    """The reader asked to look for Ollama again."""
    below: Mapping[str, DeltaGenerator] = field(default_factory=dict)
    """A place under each slider, for a note of whoever knows the run that is open."""


def want_settings(wanted: RunConfig | Mapping[str, Any]) -> None:
    """Move the panel to these settings in the next run of the page: all of a config's, or some by name."""
    if isinstance(wanted, RunConfig):
        models = {role: wanted.models.of(role) for role in ROLES}
        chat = next((model for model in models.values() if not model.built_in), None)
        values: dict[str, Any] = {name: getattr(wanted, name) for name in SETTINGS}
        values |= {role: model.model for role, model in models.items()}
        values |= {"num_ctx": chat.num_ctx, "temperature": chat.temperature} if chat else {}
    else:
        values = dict(wanted)
    st.session_state[_WANTED] = values


def _take_wanted() -> None:
    """Put wanted values where the widgets find them; only possible before they are drawn."""
    for name, value in st.session_state.pop(_WANTED, {}).items():
        limits = PARAMETERS.get(name)
        # The panel's budget has no fractions of a second; a request's may.
        st.session_state[name] = round(value) if name == "budget_s" or (limits and limits.whole) else value


def config_panel(words: Words, collections: Sequence[CollectionChoice], ollama: OllamaNote) -> Chosen:
    """Draw the panel where the caller stands, and return what it is set to."""
    _take_wanted()
    below: dict[str, DeltaGenerator] = {}
    collection = _collection(words, collections)
    _heading(words, "settings.thresholds")
    presets = st.container()
    values: dict[str, Any] = {
        name: _slider(words, name, below)
        for name in ("top_k", "similarity_threshold", "grade_pass_threshold", "max_rewrites")
    }
    with presets:
        # Drawn above the slider and after it: before its first run the slider's value stands in the address alone.
        _preset(words, values["grade_pass_threshold"])
    gate = _one_of(words, "gate", ("pass_rate", "min_relevant"))
    if gate == "min_relevant":
        values["min_relevant"] = _slider(words, "min_relevant", below)
    _heading(words, "settings.models", "settings.model.help")
    with st.container(key="models"):
        names = {role: _model(words, role, ollama.models) for role in ROLES}
    look_again = _ollama_line(words, ollama)
    with st.expander(words("settings.more")):
        context = _one_of(words, "context", ("union", "last_round"))
        for name in ("min_confidence", "probe_k", "budget_s"):
            values[name] = _slider(words, name, below) if name != "budget_s" else _number(words, name, PARAMETERS[name])
        values |= {name: _switch(words, name) for name in ("answer_unverified", "grade_probe", "ignore_cache")}
        chat = _chat_parameters(words) if any(name != BUILTIN for name in names.values()) else {}
    models = {role: RoleModel(name) if name == BUILTIN else RoleModel(name, **chat) for role, name in names.items()}
    config = RunConfig(
        collection=collection,
        gate=cast(GatePolicy, gate),
        context=cast(ContextPolicy, context),
        models=RoleModels(**models),
        **values,
    )
    return Chosen(config, look_again, below)


def differing_settings(words: Words, chosen: RunConfig, run: RunConfig) -> tuple[str, ...]:
    """Names of the settings of the panel in which a run was asked for something else."""
    return tuple(setting_name(name, words) for name in differing(chosen, run))


def _heading(words: Words, key: str, explained: str = "") -> None:
    st.caption(f"**{words(key)}**", help=words(explained) if explained else None)


def _collection(words: Words, collections: Sequence[CollectionChoice]) -> str:
    sizes: Mapping[str, int] = {item.name: item.passages for item in collections}
    default = RunConfig().collection
    take_from_url("collection", default, lambda name: _NAME.fullmatch(name) is not None)
    wanted = str(st.session_state["collection"])
    _relabel(words, "collection")
    chosen = st.selectbox(
        words("settings.collection"),
        # A link may name a collection that does not exist: running it then says so, instead of searching another one.
        list(dict.fromkeys((*sizes, wanted))),
        format_func=lambda name: words("settings.collection.samples") if name == default else name,
        key="collection",
        help=words("settings.collection.help"),
        persist_state="session",
    )
    put_into_url("collection", str(chosen or default), default)
    if chosen in sizes:
        st.caption(words.count("settings.collection.size", sizes[str(chosen)]))
    return str(chosen or default)


def _relabel(words: Words, name: str) -> None:
    """Say the value again after a change of language, or the browser goes on showing the select box's old label."""
    drawn = f"{name}_language"
    if st.session_state.get(drawn) != words.language:
        st.session_state[drawn] = words.language
        st.session_state[name] = st.session_state[name]


def _preset(words: Words, current: float) -> None:
    """Presets set the pass threshold alone, and light up only when it matches."""
    st.session_state[_PRESET_KEY] = next((name for name, value in PRESETS.items() if value == round(current, 4)), None)

    def apply() -> None:
        chosen = st.session_state[_PRESET_KEY]
        if chosen is not None:
            st.session_state["grade_pass_threshold"] = PRESETS[chosen]

    st.segmented_control(
        words("settings.preset"),
        tuple(PRESETS),
        format_func=lambda name: words(f"settings.preset.{name}"),
        key=_PRESET_KEY,
        on_change=apply,
        label_visibility="collapsed",
        width="stretch",
    )


def _slider(words: Words, name: str, below: dict[str, DeltaGenerator]) -> float:
    limits = PARAMETERS[name]
    kind = int if limits.whole else float
    value = st.slider(
        words(f"settings.{name}"),
        kind(limits.low),
        kind(limits.high),
        kind(limits.default),
        kind(limits.step),
        format="%d" if limits.whole else "%.2f",
        key=name,
        help=words(f"settings.{name}.help"),
        bind="query-params",
        persist_state="session",
    )
    below[name] = st.empty()
    return kind(value)


def _chat_parameters(words: Words) -> dict[str, Any]:
    """What chat models are asked with; built-in roles have none of it."""
    st.caption(f"**{words('settings.chat')}**")
    temperature = MODEL_PARAMETERS["temperature"]
    return {
        "num_ctx": int(_number(words, "num_ctx", MODEL_PARAMETERS["num_ctx"])),
        "temperature": st.slider(
            words("settings.temperature"),
            float(temperature.low),
            float(temperature.high),
            float(temperature.default),
            0.05,
            key="temperature",
            help=words("settings.temperature.help"),
            bind="query-params",
            persist_state="session",
        ),
    }


def _number(words: Words, name: str, limits: Parameter) -> float:
    value = st.number_input(
        words(f"settings.{name}"),
        int(limits.low),
        int(limits.high),
        int(limits.default),
        key=name,
        help=words(f"settings.{name}.help"),
        bind="query-params",
        persist_state="session",
    )
    return float(value)


def _one_of(words: Words, name: str, options: tuple[str, ...]) -> str:
    take_from_url(name, options[0], lambda given: given in options)
    chosen = st.segmented_control(
        words(f"settings.{name}"),
        options,
        required=True,
        format_func=lambda option: words(f"settings.{name}.{option}"),
        key=name,
        help=words(f"settings.{name}.help"),
        width="stretch",
        persist_state="session",
    )
    # In the first run after a change of page it may have none yet.
    chosen = chosen if chosen in options else options[0]
    put_into_url(name, str(chosen), options[0])
    return str(chosen)


def _switch(words: Words, name: str) -> bool:
    return st.toggle(
        words(f"settings.{name}"),
        key=name,
        help=words(f"settings.{name}.help"),
        bind="query-params",
        persist_state="session",
    )


def _model(words: Words, role: str, installed: Sequence[str]) -> str:
    take_from_url(role, BUILTIN, lambda name: 0 < len(name) <= _LONGEST_MODEL)
    typed = str(st.session_state[role])
    _relabel(words, role)
    chosen = st.selectbox(
        words(f"settings.model.{role}"),
        list(dict.fromkeys((BUILTIN, *(f"ollama:{name}" for name in installed), typed))),
        format_func=lambda model: words("settings.model.builtin") if model == BUILTIN else str(model),
        key=role,
        accept_new_options=True,
        persist_state="session",
    )
    model = _model_name(str(chosen or BUILTIN), installed)
    put_into_url(role, model, BUILTIN)
    return model


def _model_name(typed: str, installed: Sequence[str]) -> str:
    """A name typed without its provider can only be meant for Ollama; ``qwen3:8b`` has a colon of its own."""
    name = typed.strip()[:_LONGEST_MODEL]
    provider, colon, model = name.partition(":")
    if name in ("", BUILTIN) or (colon and not (provider.strip() and model.strip())):
        # Half a name, as while it is being typed or from a link, cannot be run.
        return BUILTIN
    return name if colon and name not in installed else f"ollama:{name}"


def _ollama_line(words: Words, ollama: OllamaNote) -> bool:
    note, again = st.columns([6, 1], vertical_alignment="center", gap="small")
    if ollama.version:
        note.caption(words.count("settings.ollama.found", len(ollama.models), version=ollama.version))
    else:
        note.caption(words("settings.ollama.missing", address=f"`{ollama.address}`"))
    with again:
        label = words("settings.ollama.refresh")
        return st.button(label, icon=":material/refresh:", help=label, key="look_again", type="tertiary")
