"""The view Models of the page System: the model of each role, Ollama, other providers, and a trial of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, button, chip, command, fold, node, table
from components.common.run_settings import roles_of, workflow_chosen
from components.common.widgets import model_name, model_picker
from components.labels import choices_of
from components.system.draw import draw_system
from engine.engine import Engine
from engine.llm.discovery import OllamaStatus
from engine.messages import N_
from engine.model.config import BUILTIN, RunConfig
from engine.model.system import CatalogueModel, LocalModel, ModelDetails, Provider
from engine.version import install_command
from pages.parts.common.actions import say_fault
from pages.parts.common.fits import scorers_of
from pages.parts.common.rights import may
from pages.parts.system import files, ollama, trial
from pages.parts.system.ollama import FRESH, PREFIX, ModelEvent, chats, event_of
from pages.parts.system.state import again_button
from pages.parts.system.work import Looked, draw_fault, looked, until

_HEAD = (N_("Provider"), N_("Package"), N_("Key or address"), "")
_OLD_S = 60.0
_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """Result of one check of the models."""

    ollama: OllamaStatus
    models: tuple[ModelDetails, ...]
    providers: tuple[Provider, ...]
    others: tuple[str, ...] = ()
    """Chat models of other servers, as a config names them."""
    files: tuple[LocalModel, ...] = ()
    catalogue: tuple[CatalogueModel, ...] = ()

    @property
    def offered(self) -> tuple[str, ...]:
        """Every chat model, as a config names it."""
        return (*(f"{PREFIX}{item.name}" for item in self.models if chats(item)), *self.others)


def seen_models(engine: Engine) -> Looked[Seen]:
    """The models as this session knows them; asked again after a change and after a while."""

    def look() -> Seen:
        ollama = engine.ollama(fresh=True)
        others = tuple(name for name in engine.chat_models(fresh=True) if not name.startswith(PREFIX))
        host = engine.host
        return Seen(ollama, host.models(fresh=True), host.providers(), others, host.local_models(), host.catalogue())

    return looked("models", look, fresh=st.session_state.pop(FRESH, False), most_s=_OLD_S)


def panel(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    """Draw all there is to models; ``bar`` takes the button that asks for them again."""
    if again_button(words, bar):
        st.session_state[FRESH] = True
    found = seen_models(engine)
    draw_fault(found, words, key="models_look_fault")
    say_fault("models", words)
    if found.value is not None:
        _roles(engine, found.value, words)
        ollama.panel(engine, found.value.ollama, found.value.models, words)
        files.panel(engine, found.value.files, found.value.catalogue, words)
        ollama.downloads(engine, words)
        _providers(engine, found.value, words)
    until(found)


def _roles(engine: Engine, seen: Seen, words: Words) -> None:
    workflow = workflow_chosen(RunConfig().workflow)
    with st.container(border=True, key="system_roles"):
        st.markdown(f"**{words('Model of each role')}**")
        st.caption(words(choices_of("workflow")[workflow]))
        roles, scorers = roles_of(workflow), scorers_of(engine)
        for row in (roles[at : at + _COLUMNS] for at in range(0, len(roles), _COLUMNS)):
            for column, role in zip(st.columns(_COLUMNS, gap="medium"), row, strict=False):
                with column:
                    usual = engine.settings.models.of(role).model
                    model = model_picker(words, role, seen.offered, usual, scorers=scorers)
                    with st.container(horizontal=True, vertical_alignment="center", key=f"role_{role}"):
                        if state := role_state(model, seen):
                            st.caption(words(state), width="stretch")
                        if model != BUILTIN and may("editor") and st.button(words("Try"), key=f"try_{role}"):
                            trial.begin(engine, model, "roles")
        trial.newest("roles", words)


def role_state(model: str, seen: Seen) -> str:
    """Return the message that says what a role's model lacks, or that Ollama has it; empty for what is always there."""
    if model == BUILTIN:
        return ""
    if not model.startswith(PREFIX):
        known = next((item for item in seen.providers if item.name == model.partition(":")[0]), None)
        return "" if known is None or (known.installed and known.configured) else N_("not set up")
    if not seen.ollama.reachable:
        return N_("Ollama does not answer")
    name = model.removeprefix(PREFIX)
    details = next((item for item in seen.models if item.name in (name, f"{name}:latest")), None)
    if details is None:
        return N_("model missing")
    if not chats(details):
        return N_("cannot chat")
    return N_("loaded") if details.loaded else N_("not loaded")


def view(providers: Sequence[Provider], words: Words, *, key: str) -> ModelEvent | None:
    """Draw the providers with what each lacks; returns ``list`` with the provider whose models are wanted."""
    head = [text and words(text) for text in _HEAD]
    local = command("WORKBENCH_OPENAI_URL=http://127.0.0.1:1234/v1", words, "LM Studio, vLLM, llama.cpp")
    parts = [local]
    for usable in (False, True):
        rows = [_row(item, words) for item in providers if (item.installed and item.configured) == usable]
        listed = table("sheet providers", head, rows)
        if rows:
            parts.insert(0, listed if usable else fold("others", words("not set up").capitalize(), listed))
    return event_of(draw_system(parts, words, key=key))


def _row(item: Provider, words: Words) -> list[Node]:
    name = [node("span", "name", item.name), node("span", "under", item.address) if item.address else ""]
    if item.installed:
        package = node("div", "", chip("pass", "✓"), node("span", "under", item.package))
    else:
        install = install_command(item.package)
        package = node("div", "", chip("grey", words("not installed")), command(install, words))
    if item.key_set:
        key = node("div", "", chip("pass", "✓"), node("span", "under", item.variable))
    elif item.address:
        key = node("div", "", chip("grey", words("no key needed")), node("span", "under", item.variable))
    else:
        key = node("div", "", chip("grey", words("not set up")), command(f"{item.variable}=…", words))
    lists = item.configured and item.installed
    more = [button(words("Models"), f"list:{item.name}")] if lists else []
    return [node("div", "", *name), package, key, node("div", "actions", *more)]


def _providers(engine: Engine, seen: Seen, words: Words) -> None:
    with st.container(border=True, key="system_providers"):
        st.markdown(f"**{words('Other providers')}**")
        st.caption(words("Type provider:model in a picker to use any chat model of LangChain."))
        event = view(seen.providers, words, key="providers")
        if event is not None and event.press == "list":
            st.session_state["offered_wanted"] = event.model
        offered = _offered(engine, words)
        if not may("editor"):
            return
        with st.form("try_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            model = st.selectbox(
                words("Model"),
                list(dict.fromkeys((*offered, *seen.offered))),
                index=None,
                placeholder="openai:gpt-4o-mini",
                accept_new_options=True,
                key="try_model",
                width=420,
            )
            if st.form_submit_button(words("Try"), icon=":material/chat:") and model:
                wanted = model_name(str(model), seen.offered)
                if wanted != BUILTIN:
                    trial.begin(engine, wanted, "providers")
        trial.newest("providers", words)


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
        st.text(f"{words('Models')} {len(found.value.names)}")
    return found.value.names
