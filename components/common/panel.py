"""The configuration panel: the one set of controls; values in, a :class:`RunConfig` out.

Every setting stands in the URL under its own name, so that a link holds the settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from components.common.i18n import Words
from components.common.phrases import fault_text, model_label
from components.common.run_link import settings_in_url
from components.common.run_settings import ALL_ROLES, chat_model_of, names_settings, option_names, roles_of
from components.common.url_state import put_into_url, take_from_url
from components.common.widgets import (
    collection_picker,
    control,
    fixed_collection,
    model_picker,
    model_wanted,
    number,
    one_of,
    relabel,
    search_picker,
    slider,
    warning,
)
from components.common.workflow_view import Machine, view_of
from components.labels import PRESET_NAMES, choices_of, help_of
from engine.flow import workflow
from engine.flow.declaration import OF_CASCADE
from engine.model.config import (
    BUILTIN,
    MODEL_PARAMETERS,
    OLD_GATE,
    PARAMETERS,
    PRESETS,
    ROLES,
    SETTINGS,
    USUAL,
    WORKFLOWS,
    Defaults,
    GatePolicy,
    RoleModel,
    RoleModels,
    RunConfig,
    SearchMethod,
    WorkflowName,
    default_of,
    number_of,
    settings_of,
)
from engine.model.decide import gate_warnings
from engine.model.values import Fault
from engine.running.own_judge import own_judge_warnings

FOUR_NODES: tuple[WorkflowName, ...] = (USUAL,)
COLLECTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_BUILT_IN = RoleModels()
_NOTHING_KNOWN = Machine()
_OF_THE_PROGRAM = Defaults()
_OPENED = "gate_of_address"
"""Session key of the gate of the address that the session began with."""
_PLACED = (
    *("search", "mode", "top_k", "similarity_threshold", "min_confidence"),
    *("gate", "grade_pass_threshold", "min_relevant", "max_rewrites", "sentence_threshold", *OF_CASCADE),
)
"""The settings that have a place of their own in the panel."""
_ANSWER_WHEN = "answer_when"
_RATE = "pass_rate"
_MOST_PASSING = int(PARAMETERS["min_relevant"].high)
_BAND = "cascade_band"
_WANTED = "settings_wanted"
_DRAWN = "workflow_drawn"
"""Session key of the workflow whose defaults the controls stand at."""


@dataclass(frozen=True, slots=True)
class CollectionChoice:
    name: str
    passages: int
    full_text: bool = False
    """Whether it can be searched by words too."""


@dataclass(frozen=True, slots=True)
class OllamaNote:
    """State of Ollama: its version, or the address that did not answer; and every available chat model."""

    address: str
    version: str = ""
    models: tuple[str, ...] = ()
    """Of all servers that are set up, as a config names them."""
    looking: bool = False
    """Nothing is known yet."""
    smallest: str = ""
    """The chat model of Ollama that takes the least room, as a config names it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    config: RunConfig
    look_again: bool
    """The reader asked to look for Ollama again."""
    below: Mapping[str, DeltaGenerator] = field(default_factory=dict)
    """A place under each slider, for a note of whoever knows the run that is open."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Context of the settings: the workflows on offer, and what is available to them."""

    workflows: tuple[WorkflowName, ...] = FOUR_NODES
    """With one alone no picker is drawn."""
    machine: Machine = _NOTHING_KNOWN
    models: RoleModels = _BUILT_IN
    """The models of roles that the address does not name."""
    fits: Callable[[str], Sequence[str]] = lambda _: ()
    """Names of the graders that are fitted to a collection."""
    defaults: Defaults = _OF_THE_PROGRAM
    """Where the controls of a session stand whose address says nothing of settings."""
    fixed: tuple[str, str] = ("", "")
    """The collection that is searched no matter what is chosen, and why; empty: any can be chosen."""
    gate: GatePolicy | None = None
    """That of the open run, for an address that names none."""
    scorers: Sequence[str] = ()
    """Cross-encoders in files, as a config names them."""


def want_settings(wanted: RunConfig | Mapping[str, Any]) -> None:
    """Move the panel to these settings in the next run of the page: all of a config's, or some by name."""
    if isinstance(wanted, RunConfig):
        values: dict[str, Any] = {name: getattr(wanted, name) for name in ("workflow", *settings_of(wanted.workflow))}
        values |= {name: getattr(wanted.options, name) for name in option_names(wanted.workflow)}
        values |= {role: wanted.models.of(role).name for role in ALL_ROLES}
        chat = chat_model_of(wanted)
        values |= {"num_ctx": chat.num_ctx, "temperature": chat.temperature} if chat else {}
    else:
        values = dict(wanted)
    st.session_state[_WANTED] = values


def _begin_at(defaults: Defaults) -> None:
    """Let a session begin at the defaults of this machine, unless its address or a run says where.

    The address then says what differs from the program's own, so that a link means the same on other machines.
    """
    address = st.query_params
    if _OPENED in st.session_state or _WANTED in st.session_state or "run" in address:
        return
    if not names_settings(set(address) - {"workflow"}):
        named = address.get("workflow", "")
        config = defaults.of(named if named in WORKFLOWS else "")
        begun = {name: value for name, value in settings_in_url(config).items() if name not in address}
        # Models alone are put there by their pickers.
        if not begun.keys() <= {"gate", *ALL_ROLES}:
            want_settings(config)
            if "collection" in address:
                del st.session_state[_WANTED]["collection"]
            address.update(begun)


def _take_wanted() -> None:
    """Put wanted values where the widgets find them; only possible before they are drawn."""
    values: dict[str, Any] = st.session_state.pop(_WANTED, {})
    for name, value in values.items():
        limits = number_of(name)
        # The panel's budget has no fractions of a second; a request's may.
        st.session_state[name] = round(value) if name == "budget_s" or (limits and limits.whole) else value
    if "workflow" in values:
        # They are that workflow's own values already: none of them is to move to its defaults.
        st.session_state[_DRAWN] = values["workflow"]


def config_panel(
    words: Words,
    collections: Sequence[CollectionChoice],
    ollama: OllamaNote,
    surroundings: Surroundings = Surroundings(),
) -> Chosen:
    """Draw the panel where the caller stands, and return what it is set to."""
    _begin_at(surroundings.defaults)
    _take_wanted()
    gate = _gate_of_address()
    below: dict[str, DeltaGenerator] = {}
    workflow = _workflow(words, surroundings.workflows, surroundings.defaults)
    sizes = {item.name: item.passages for item in collections}
    usual = RunConfig().collection
    if surroundings.fixed[0]:
        collection = fixed_collection(words, *surroundings.fixed)
    else:
        collection = collection_picker(words, sizes, usual, lambda name: COLLECTION_NAME.fullmatch(name) is not None)
    values: dict[str, Any] = {}
    if "mode" in settings_of(workflow):
        values["mode"] = one_of(words, "mode", SETTINGS["mode"], usual=default_of(workflow, "mode"))
    values |= _thresholds(words, workflow, surroundings.gate or gate, below)
    if "cascade" in settings_of(workflow) and model_wanted("grader", surroundings.models.grader.name) != BUILTIN:
        values |= _cascade(words, workflow)
    own = view_of(workflow)
    options = own.options(words, workflow, below, surroundings.machine)
    # What is wrong with all of them together is said here, once all of them are known.
    notes = st.container(key="cautions")
    place_of_models = st.container()
    advanced = st.expander(words("Advanced"), key="advanced")
    # A name that is not listed may be of a collection that is not known yet; running it says what is wrong with it.
    by_words = collection not in {item.name for item in collections if not item.full_text}
    with advanced:
        values["search"] = cast(SearchMethod, search_picker(words, by_words=by_words))
        values |= _further(words, workflow, below)
    with place_of_models:
        unasked = {role for role, name in (("refiner", "refine"), ("screener", "cascade")) if not values.get(name)}
        plain, look_again, shared = _models(words, workflow, ollama, surroundings, (collection, unasked))
    with advanced:
        chat = _chat_parameters(words, workflow) if not all(own.built_in for own in plain.values()) else {}
    models = {role: own if own.built_in else replace(own, **chat) for role, own in plain.items()}
    config = RunConfig(workflow=workflow, collection=collection, models=RoleModels(**models), options=options, **values)
    with notes:
        for place, item in enumerate(gate_warnings(config)):
            warning(words, fault_text(Fault.of(item), words)[0], key=f"caution_{place}")
        own.before_run(words, config, surroundings.machine)
    for item in own_judge_warnings(config):
        with shared.container():
            warning(words, words.joined(fault_text(Fault.of(item), words)), key="shared_model")
    return Chosen(config, look_again, below)


def _models(
    words: Words,
    workflow: WorkflowName,
    ollama: OllamaNote,
    surroundings: Surroundings,
    of: tuple[str, set[str]],
) -> tuple[dict[str, RoleModel], bool, DeltaGenerator]:
    """Draw the models of the roles, folded; what is at work stands in the label.

    ``of``: the collection, and the roles that these settings do not ask. Returns the models, whether the servers are
    to be asked again, and a place outside for a warning.
    """
    collection, unasked = of
    shared = st.empty()
    roles = [role for role in roles_of(workflow) if role not in unasked]
    usual = {str(role): surroundings.models.of(role).name for role in roles}
    wanted = (model_wanted(role, name) for role, name in usual.items())
    at_work = ", ".join(dict.fromkeys(model_label(name, words) for name in wanted))
    proposal = st.empty()
    with st.expander(f"{words('Models')} · {at_work}", key="models"):
        names = {
            role: model_picker(
                words,
                role,
                ollama.models,
                name,
                fitted=_fitted(role, surroundings.fits(collection)),
                scorers=surroundings.scorers,
            )
            for role, name in usual.items()
        }
        look_again = _ollama_line(words, ollama, tuple(names.values()))
    plain = {role: _model(role, name) for role, name in names.items()}
    if proposed := small_rewriter(workflow, plain, ollama.smallest):
        with proposal.container():
            _propose_rewriter(words, proposed)
    return plain, look_again, shared


def _fitted(role: str, names: Sequence[str]) -> Sequence[str]:
    """The fitted graders that can play a role."""
    if role == "screener":
        return [name for name in names if not RoleModel(name).chats]
    return names if role == "grader" else ()


def small_rewriter(name: WorkflowName, models: Mapping[str, RoleModel], smallest: str) -> str:
    """The model to propose where a chat model answers and the rewriter is built in, for which a small one will do."""
    rewriter, generator = models.get("rewriter", RoleModel()), models.get("generator", RoleModel())
    wanted = "rewriter" in workflow(name).temperatures and rewriter.built_in and not generator.built_in
    return smallest if wanted else ""


def _propose_rewriter(words: Words, model: str) -> None:
    label = words("Rewrite with {model}", model=model_label(model, words))
    said = words("The smallest chat model here: enough to rewrite a query, and sooner done than a large one.")
    if st.button(label, icon=":material/lightbulb:", help=said, key="small_rewriter", type="tertiary"):
        want_settings({"rewriter": model})
        st.rerun()


def _model(role: str, name: str) -> RoleModel:
    """The model of a role; a fit in a link counts for those that judge passages alone."""
    model = RoleModel(name)
    return model if role in ("grader", "screener") else model.named(model.model)


def _workflow(words: Words, offered: tuple[WorkflowName, ...], defaults: Defaults) -> WorkflowName:
    """The workflow; what stands at the defaults of the one before moves to its own."""
    picked = offered[0]
    if len(offered) > 1:
        take_from_url("workflow", offered[0], lambda given: given in offered)
        relabel(words, "workflow")
        chosen = st.selectbox(
            words("Workflow"),
            offered,
            format_func=lambda name: words(choices_of("workflow")[name]),
            key="workflow",
            help="\n\n".join(
                f"**{words(choices_of('workflow')[name])}**: {words(workflow(name).summary)}" for name in offered
            ),
            persist_state="session",
        )
        picked = chosen if chosen in offered else offered[0]
        put_into_url("workflow", picked, offered[0])
    before: WorkflowName = st.session_state.get(_DRAWN, picked)
    if before != picked:
        former, usual = defaults.of(before), defaults.of(picked)
        for name, limits in PARAMETERS.items():
            if st.session_state.get(name) == getattr(former, name):
                moved = getattr(usual, name)
                st.session_state[name] = int(moved) if limits.whole or name == "budget_s" else moved
        for name, setting in workflow(picked).own_settings.items():
            value = getattr(usual.options, name)
            if name not in st.session_state and value != setting.default:
                st.session_state[name] = value
    st.session_state[_DRAWN] = picked
    return picked


def _thresholds(
    words: Words, workflow: WorkflowName, usual: GatePolicy, below: dict[str, DeltaGenerator]
) -> dict[str, Any]:
    """Draw what is searched and when it is enough; ``usual`` is the gate of an address that names none."""
    shown = settings_of(workflow)
    names = ("top_k", "similarity_threshold", "min_confidence")
    values: dict[str, Any] = {name: _slider(words, name, workflow, below) for name in names if name in shown}
    if "gate" in shown:
        values |= _answer_when(words, (workflow, usual), values["top_k"], below)
    if "max_rewrites" in shown:
        values["max_rewrites"] = _slider(words, "max_rewrites", workflow, below)
    return values


def _cascade(words: Words, workflow: WorkflowName) -> dict[str, Any]:
    """Draw the switch of the cascade, and its band as one slider, so that the cuts cannot cross."""
    if not control(words, "cascade", SETTINGS["cascade"], {}, usual=default_of(workflow, "cascade")):
        return {}
    usual = {name: f"{default_of(workflow, name):g}" for name in ("cascade_low", "cascade_high")}
    high = float(take_from_url("cascade_high", usual["cascade_high"], _is_share))
    low = min(high, float(take_from_url("cascade_low", usual["cascade_low"], _is_share)))
    st.session_state.update({_BAND: (low, high), "cascade_low": low, "cascade_high": high})
    st.slider(
        words("Ask the grader between"),
        0.0,
        1.0,
        step=PARAMETERS["cascade_low"].step,
        format="%.2f",
        key=_BAND,
        on_change=_set_band,
        help=" ".join(words(SETTINGS[name].help) for name in usual),
    )
    put_into_url("cascade_low", f"{low:g}", usual["cascade_low"])
    put_into_url("cascade_high", f"{high:g}", usual["cascade_high"])
    return {"cascade": True, "cascade_low": low, "cascade_high": high}


def _is_share(given: str) -> bool:
    with suppress(ValueError):
        return 0 <= float(given) <= 1
    return False


def _set_band() -> None:
    low, high = st.session_state[_BAND]
    st.session_state.update(cascade_low=round(low, 2), cascade_high=round(high, 2))


def _answer_when(
    words: Words, of: tuple[WorkflowName, GatePolicy], top_k: int, below: dict[str, DeltaGenerator]
) -> dict[str, Any]:
    """Draw the gate and its number as one choice: so many passages, or a pass rate, which has a slider below.

    More passages than top-k keeps cannot pass, so no more are offered; the number wanted returns with a larger top-k.
    """
    workflow, usual = of
    gate = take_from_url("gate", usual, lambda given: given in SETTINGS["gate"].choices)
    count = int(take_from_url("min_relevant", "1", lambda given: given.isdecimal() and 0 < int(given) <= _MOST_PASSING))
    st.session_state["min_relevant"] = count
    count = min(count, top_k)
    labels = {str(n): words("≥ {n} relevant", n=n) for n in range(1, top_k + 1)} | {
        _RATE: words(SETTINGS["gate"].choices[_RATE])
    }
    labels |= {
        name: words("Pass rate {value}: {preset}", value=f"{value:.2f}", preset=words(PRESET_NAMES[name]))
        for name, value in PRESETS.items()
    }
    st.session_state[_ANSWER_WHEN] = _RATE if gate == "pass_rate" else str(count)
    relabel(words, _ANSWER_WHEN)
    st.selectbox(
        words(SETTINGS["gate"].name),
        list(labels),
        format_func=lambda name: labels.get(name, name),
        key=_ANSWER_WHEN,
        help=words(SETTINGS["gate"].help),
        on_change=_set_gate,
    )
    below["min_relevant"] = st.empty()
    # An address that holds settings says the gate too; any other one means the usual gate.
    put_into_url("gate", gate, "" if names_settings(st.query_params) else usual)
    if gate == "min_relevant":
        _let_go("grade_pass_threshold")
        put_into_url("min_relevant", str(st.session_state["min_relevant"]), "1")
        return {"gate": gate, "min_relevant": count}
    del below["min_relevant"]
    put_into_url("min_relevant", "1", "1")
    return {"gate": gate, "grade_pass_threshold": _slider(words, "grade_pass_threshold", workflow, below)}


def _set_gate() -> None:
    """Do what was chosen: a label that the browser sent of an older list counts for nothing."""
    chosen = str(st.session_state[_ANSWER_WHEN])
    if chosen.isdecimal():
        st.session_state["gate"], st.session_state["min_relevant"] = "min_relevant", int(chosen)
    elif chosen == _RATE or chosen in PRESETS:
        st.session_state["gate"] = "pass_rate"
        if chosen in PRESETS:
            st.session_state["grade_pass_threshold"] = PRESETS[chosen]


def _let_go(name: str) -> None:
    """Take a number that no control shows out of the address: a slider drawn later would begin with it."""
    if name in st.query_params:
        # One that was drawn until now is taken out by Streamlit itself, which refuses it to others.
        with suppress(StreamlitAPIException):
            del st.query_params[name]


def _gate_of_address() -> GatePolicy:
    """The gate of an address that names none: that of its time where it holds settings, else the default.

    A run brings its own gate along, and the name of a collection says what is asked, not how. Looked up once, when the
    address is the one that was opened: later the controls write into it.
    """
    if _OPENED not in st.session_state:
        old = names_settings(st.query_params) and "gate" not in st.query_params
        st.session_state[_OPENED] = OLD_GATE if old else RunConfig().gate
    return cast(GatePolicy, st.session_state[_OPENED])


def _further(words: Words, workflow: WorkflowName, below: dict[str, DeltaGenerator]) -> dict[str, Any]:
    """Draw the settings that are seldom changed: all without a place of their own above."""
    names = [name for name in settings_of(workflow) if name in SETTINGS and name not in _PLACED]
    widgets = ("choice", "slider", "box", "switch")
    names.sort(key=lambda name: widgets.index(SETTINGS[name].widget))
    values: dict[str, Any] = {}
    for name in names:
        values[name] = control(words, name, SETTINGS[name], below, usual=default_of(workflow, name))
        if name == "refine" and values[name]:
            values["sentence_threshold"] = _slider(words, "sentence_threshold", workflow, below)
    return values


def _slider(words: Words, name: str, workflow: WorkflowName, below: dict[str, DeltaGenerator]) -> float:
    return slider(words, name, PARAMETERS[name], default_of(workflow, name), below)


def _chat_parameters(words: Words, name: WorkflowName) -> dict[str, Any]:
    """Draw the parameters of chat models; built-in roles have none."""
    st.caption(f"**{words('Chat models')}**")
    temperature = MODEL_PARAMETERS["temperature"]
    limits = MODEL_PARAMETERS["num_ctx"]
    chosen = {
        "num_ctx": int(number(words, "num_ctx", limits, limits.default)),
        "temperature": st.slider(
            words("Temperature"),
            float(temperature.low),
            float(temperature.high),
            float(temperature.default),
            0.05,
            key="temperature",
            help=words(help_of("temperature")),
            bind="query-params",
            persist_state="session",
        ),
    }
    for role, warmth in workflow(name).temperatures.items():
        st.caption(
            words(
                "In this workflow the {role} on a chat model is asked at temperature {value} where this is 0.",
                role=words(ROLES[role]),
                value=f"{warmth:.2f}",
            )
        )
    return chosen


def _ollama_line(words: Words, ollama: OllamaNote, models: Sequence[str]) -> bool:
    """Show the state of Ollama relevant to the ``models`` of the roles, and the button that checks again."""
    if said := ollama_text(words, ollama, models):
        st.caption(said)
    return st.button(words("Look again"), icon=":material/refresh:", key="look_again", type="tertiary")


def ollama_text(words: Words, ollama: OllamaNote, models: Sequence[str]) -> str:
    """Describe Ollama: running, missing though a model needs it, or missing while all roles are built in."""
    address = f"`{ollama.address}`"
    if ollama.version:
        own = sum(name.startswith("ollama:") for name in ollama.models)
        return words.count("Ollama {version} · 1 model", "Ollama {version} · {n} models", own, version=ollama.version)
    if ollama.looking:
        return words("Looking for Ollama at {address} …", address=address)
    if any(name.startswith("ollama:") for name in models):
        return words("No Ollama at {address}, and a model chosen here needs it.", address=address)
    if all(name.partition("#")[0] == BUILTIN for name in models):
        return words("No Ollama at {address}: built-in models do the work.", address=address)
    return ""
