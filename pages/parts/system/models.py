"""The view Models of the page System: who plays which role, what Ollama has, downloads, other providers, a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.run_settings import roles_of
from components.common.widgets import model_name, model_picker
from components.labels import choices_of
from components.system.models import (
    ModelEvent,
    chats,
    model_table,
    no_models,
    ollama_missing,
    provider_table,
    pull_list,
    trial_card,
)
from engine.engine import Engine
from engine.llm.discovery import OllamaStatus
from engine.messages import N_
from engine.model.config import BUILTIN, RunConfig, WorkflowName
from engine.model.system import ModelDetails, ModelTrial, Provider
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.rights import may
from pages.parts.system.state import again_button
from pages.parts.system.work import Looked, looked, until

_OLLAMA = "ollama:"
_LOOK_S = 0.5
_OLD_S = 60.0
_FRESH = "models_fresh"
_TRIAL = "models_trial"
_LONGEST = 200
_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """Result of one check of the models."""

    ollama: OllamaStatus
    models: tuple[ModelDetails, ...]
    providers: tuple[Provider, ...]
    others: tuple[str, ...] = ()
    """Chat models of other servers, as a config names them."""

    @property
    def offered(self) -> tuple[str, ...]:
        """Every chat model, as a config names it."""
        return (*(f"{_OLLAMA}{item.name}" for item in self.models if chats(item)), *self.others)


def seen_models(engine: Engine) -> Looked[Seen]:
    """The models as this session knows them; asked again after a change and after a while."""

    def look() -> Seen:
        ollama = engine.ollama(fresh=True)
        others = tuple(name for name in engine.chat_models(fresh=True) if not name.startswith(_OLLAMA))
        return Seen(ollama, engine.host.models(fresh=True), engine.host.providers(), others)

    return looked("models", look, fresh=st.session_state.pop(_FRESH, False), most_s=_OLD_S)


def models_part(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    if again_button(words, bar):
        st.session_state[_FRESH] = True
    found = seen_models(engine)
    if found.fault is not None:
        fault_box(found.fault, words, key="models_look_fault")
    say_fault("models", words)
    if found.value is None:
        st.caption(f":material/hourglass_top: {words('Looking at every part …')}")
    else:
        _roles(engine, found.value, words)
        _ollama(engine, found.value, words)
        _providers(engine, found.value, words)
    until(found)


def _roles(engine: Engine, seen: Seen, words: Words) -> None:
    workflow: WorkflowName = st.session_state.get("workflow", RunConfig().workflow)
    with st.container(border=True, key="system_roles"):
        st.markdown(f"**{words('Who plays which role')}**")
        st.caption(
            words(
                "These are the settings of the panel at the left of the page Ask, for the workflow {workflow}: what "
                "is chosen here counts there too.",
                workflow=words(choices_of("workflow")[workflow]),
            )
        )
        roles = roles_of(workflow)
        for row in (roles[at : at + _COLUMNS] for at in range(0, len(roles), _COLUMNS)):
            for column, role in zip(st.columns(_COLUMNS, gap="medium"), row, strict=False):
                with column:
                    model = model_picker(words, role, seen.offered, engine.settings.models.of(role).model)
                    with st.container(horizontal=True, vertical_alignment="center", key=f"role_{role}"):
                        st.caption(words(role_state(model, seen)), width="stretch")
                        if model != BUILTIN and may("editor") and st.button(words("Try"), key=f"try_{role}"):
                            _begin_trial(engine, model, "roles")
        _trial("roles", words)


def role_state(model: str, seen: Seen) -> str:
    """Return the message that says how a role's model is."""
    if model == BUILTIN:
        return N_("built in, always there")
    if not model.startswith(_OLLAMA):
        known = next((item for item in seen.providers if item.name == model.partition(":")[0]), None)
        ready = known is not None and known.installed and known.configured
        return N_("another provider") if ready or known is None else N_("its provider is not set up; see below")
    if not seen.ollama.reachable:
        return N_("Ollama does not answer")
    name = model.removeprefix(_OLLAMA)
    details = next((item for item in seen.models if item.name in (name, f"{name}:latest")), None)
    if details is None:
        return N_("not pulled")
    if not chats(details):
        return N_("cannot chat")
    return N_("loaded") if details.loaded else N_("installed, loads at its first call")


def _ollama(engine: Engine, seen: Seen, words: Words) -> None:
    with st.container(border=True, key="system_ollama"):
        st.markdown(f"**{words('Models of Ollama')}**")
        if not seen.ollama.reachable:
            _act(engine, ollama_missing(seen.ollama.address, words, key="ollama_missing"), words)
            return
        if seen.models:
            _act(engine, model_table(seen.models, seen.ollama.address, words, key="ollama_models"), words)
        else:
            _act(engine, no_models(words, key="ollama_none"), words)
        _trial("ollama", words)
        if not may("admin"):
            return
        with st.form("pull_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(
                words("Pull a model"),
                key="pull_name",
                placeholder="qwen3:8b",
                help=words(
                    "A name of Ollama's library, such as qwen3:8b, or hf.co/USER/REPOSITORY:Q4_K_M. It continues when "
                    "you leave the page, and a download that was stopped continues where it was."
                ),
                max_chars=_LONGEST,
                width=420,
            )
            if st.form_submit_button(words("Pull"), icon=":material/download:") and name.strip():
                _act(engine, ModelEvent("pull", name.strip()), words)
        _pulls(engine, words)


def _pulls(engine: Engine, words: Words) -> None:
    """Downloads, followed while one is running; the table above is redrawn when one has ended."""
    running = any(not item.over for item in engine.host.pulls())

    @st.fragment(run_every=_LOOK_S if running else None)
    def watch() -> None:
        found = engine.host.pulls()
        if running and all(item.over for item in found):
            st.session_state[_FRESH] = True
            st.rerun()
        if found:
            _act(engine, pull_list(found, words, key="pulls"), words)

    watch()


def _act(engine: Engine, event: ModelEvent | None, words: Words) -> None:
    """Do what was pressed."""
    match event:
        case ModelEvent("try", name):
            _begin_trial(engine, f"{_OLLAMA}{name}", "ollama")
            st.rerun()
        case ModelEvent("unload", name):
            _attempt(lambda: engine.host.unload(name))
        case ModelEvent("pull", name):
            _attempt(lambda: engine.host.start_pull(name))
        case ModelEvent("stop", name):
            _attempt(lambda: engine.host.stop_pull(name))
        case ModelEvent("discard", name):
            _attempt(lambda: engine.host.forget_pull(name))
        case ModelEvent("again", _):
            st.session_state[_FRESH] = True
            st.rerun()


def _attempt(do: Callable[[], None]) -> None:
    """Do it and look again; what it raises is said in the next run of the page."""
    run_action("models", do)
    st.session_state[_FRESH] = True
    st.rerun()


def _begin_trial(engine: Engine, model: str, place: str) -> None:
    """Ask a model for one short reply; its card is drawn where it was asked for."""
    trial: Looked[ModelTrial] = Looked()
    trial.ask(lambda: engine.host.try_model(model))
    st.session_state[_TRIAL] = (place, model, trial)


def _trial(place: str, words: Words) -> None:
    asked: tuple[str, str, Looked[ModelTrial]] | None = st.session_state.get(_TRIAL)
    if asked is None or asked[0] != place:
        return
    _, model, trial = asked
    if trial.value is None and trial.pending is not None:
        # The name is anybody's: as text, not as markup.
        st.text(words("{model} is asked …", model=model))
    elif trial.value is not None:
        trial_card(trial.value, words, key=f"trial_{place}")
    elif trial.fault is not None:
        fault_box(trial.fault, words, key=f"trial_fault_{place}")
    until(trial)


def _providers(engine: Engine, seen: Seen, words: Words) -> None:
    with st.container(border=True, key="system_providers"):
        st.markdown(f"**{words('Other providers')}**")
        st.caption(
            words(
                "Any chat model of LangChain can play a role: type provider:model in a picker. What one lacks stands "
                "here."
            )
        )
        event = provider_table(seen.providers, words, key="providers")
        if event is not None and event.press == "list":
            st.session_state["offered_wanted"] = event.model
        offered = _offered(engine, words)
        if not may("editor"):
            return
        with st.form("try_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            model = st.selectbox(
                words("Try a model"),
                list(dict.fromkeys((*offered, *seen.offered))),
                index=None,
                placeholder="openai:gpt-4o-mini",
                accept_new_options=True,
                help=words(
                    "One short call: it is asked to say that it is ready. A model at rest is loaded first; that may "
                    "take a minute."
                ),
                key="try_model",
                width=420,
            )
            if st.form_submit_button(words("Try it"), icon=":material/chat:") and model:
                wanted = model_name(str(model), seen.offered)
                if wanted != BUILTIN:
                    _begin_trial(engine, wanted, "providers")
        _trial("providers", words)


def _offered(engine: Engine, words: Words) -> tuple[str, ...]:
    """Return the models listed by the chosen provider's server; empty until requested."""
    wanted = st.session_state.get("offered_wanted")
    if wanted is None:
        return ()
    found = looked("offered", lambda: engine.host.offered(wanted), most_s=_OLD_S)
    until(found)
    if found.value is None:
        return ()
    if found.value.fault is not None:
        fault_box(found.value.fault, words, key="offered_fault")
    else:
        st.text(words.count("1 model offered", "{n} models offered", len(found.value.names)))
    return found.value.names
