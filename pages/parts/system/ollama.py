"""Ollama on the page System: how to get it, the models that it has, and downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from components.common.amounts import count_text, moment, size_text, span_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, command, fold, gauge, node, table
from components.labels import JOB_STATES
from components.system.draw import draw_system, fault_nodes
from engine.engine import Engine
from engine.llm.discovery import OllamaStatus
from engine.messages import N_
from engine.model.system import ModelDetails, PullStatus
from pages.parts.common.actions import run_action
from pages.parts.common.rights import may
from pages.parts.system import trial

FRESH = "models_fresh"
"""Session key by which the models are asked for again."""
PREFIX = "ollama:"
FIRST = ("qwen3:1.7b", "qwen3:8b")
"""Models that a newcomer is offered: a small one and a better one."""
_STEPS = (
    (N_("Install (Linux; others: ollama.com/download)"), "curl -fsSL https://ollama.com/install.sh | sh"),
    (N_("Start"), "ollama serve"),
    (N_("Pull"), f"ollama pull {FIRST[1]}"),
    (N_("If it runs on another machine"), "WORKBENCH_OLLAMA_URL=http://192.168.1.20:11434"),
)
_HEAD = (N_("Model"), N_("Context"), N_("On disk"), N_("State"), "")
_CAN = {
    "completion": N_("chat"),
    "chat": N_("chat"),
    "embedding": N_("embedding"),
    "thinking": N_("thinking"),
    "vision": N_("vision"),
    "tools": N_("tools"),
}
_LOOK_S = 0.5
_LONGEST = 200
_DIGEST = 12
_PULL_LOOKS = {"done": "pass", "stopped": "warn", "failed": "fault", "interrupted": "warn"}


@dataclass(frozen=True, slots=True)
class ModelEvent:
    """A button that was pressed: ``try``, ``unload``, ``pull``, ``stop``, ``discard``, ``list`` or ``again``."""

    press: str
    model: str


def panel(engine: Engine, status: OllamaStatus, models: Sequence[ModelDetails], words: Words) -> None:
    """Draw what Ollama has, its downloads, and how to start or fill it."""
    with st.container(border=True, key="system_ollama"):
        event = view(status, models, words, key="ollama")
        if event is not None and event.press == "try":
            trial.begin(engine, f"{PREFIX}{event.model}", "ollama")
            st.rerun()
        act(engine, event)
        trial.newest("ollama", words)
        if not status.reachable or not may("admin"):
            return
        with st.form("pull_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(
                words("Pull"),
                key="pull_name",
                placeholder=FIRST[1],
                help=words("A name from Ollama's library, or hf.co/USER/REPOSITORY:Q4_K_M. Downloads can be resumed."),
                max_chars=_LONGEST,
                width=420,
            )
            if st.form_submit_button(words("Pull"), icon=":material/download:") and name.strip():
                act(engine, ModelEvent("pull", name.strip()))


def downloads(engine: Engine, words: Words) -> None:
    """Draw downloads, followed while one is running; the tables above are redrawn when one has ended."""
    if not may("admin"):
        return
    running = any(not item.over for item in engine.host.pulls())

    @st.fragment(run_every=_LOOK_S if running else None)
    def watch() -> None:
        found = engine.host.pulls()
        if running and all(item.over for item in found):
            st.session_state[FRESH] = True
            st.rerun()
        if found:
            act(engine, event_of(draw_system([_pull(item, words) for item in found], words, key="pulls")))

    watch()


def act(engine: Engine, event: ModelEvent | None) -> None:
    """Do what was pressed."""
    match event:
        case ModelEvent("unload", name):
            _attempt(lambda: engine.host.unload(name))
        case ModelEvent("pull", name):
            _attempt(lambda: engine.host.start_pull(name))
        case ModelEvent("stop", name):
            _attempt(lambda: engine.host.stop_pull(name))
        case ModelEvent("discard", name):
            _attempt(lambda: engine.host.forget_pull(name))
        case ModelEvent("again", _):
            st.session_state[FRESH] = True
            st.rerun()


def _attempt(do: Callable[[], None]) -> None:
    """Do it and look again; what it raises is said in the next run of the page."""
    run_action("models", do)
    st.session_state[FRESH] = True
    st.rerun()


def view(status: OllamaStatus, models: Sequence[ModelDetails], words: Words, *, key: str) -> ModelEvent | None:
    """Draw the models, chat models first, or how to get Ollama or its first model; returns what was pressed."""
    head = node("div", "head", node("strong", "", "Ollama"), node("span", "small muted", status.address))
    if not status.reachable:
        steps = [command(line, words, words(label)) for label, line in _STEPS]
        again = node("div", "actions", button(words("Check again"), "again:", "button primary"))
        said = words("No Ollama answers here. Built-in models work without it; with it, language models can take over.")
        how = fold("steps", words("How to set it up"), *steps, again)
        parts = [head, node("p", "muted", said), how]
    elif models:
        ordered = sorted(models, key=lambda item: (not chats(item), item.name))
        rows = [_row(item, words) for item in ordered]
        parts = [head, table("sheet models", [text and words(text) for text in _HEAD], rows)]
    else:
        offered = (button(words("Pull") + f" {name}", f"pull:{name}", "button") for name in FIRST)
        said = words("It has no model yet. The small one takes about 1 GB; the other answers better and takes 5 GB.")
        parts = [head, box("plain", "", node("p", "muted", said), node("div", "actions", *offered))]
    return event_of(draw_system(parts, words, key=key))


def chats(model: ModelDetails) -> bool:
    """Return whether a model can play a role; one that Ollama does not describe counts as capable."""
    return not model.capabilities or bool({"completion", "chat"} & set(model.capabilities))


def event_of(action: str | None) -> ModelEvent | None:
    """Return the press that an action of the browser names."""
    press, colon, model = (action or "").partition(":")
    return ModelEvent(press, model) if colon else None


def _row(item: ModelDetails, words: Words) -> list[Node]:
    facts = [text for text in (item.family, item.parameter_size, item.quantization, short_digest(item.digest)) if text]
    context = words("{n} tokens", n=count_text(item.context_length)) if item.context_length else "–"
    if item.embedding_length and not chats(item):
        context = f"{context} · {words('{n} dimensions', n=item.embedding_length)}"
    actions = [button(words("Try"), f"try:{item.name}")] if chats(item) else []
    actions += [button(words("Unload"), f"unload:{item.name}")] if item.loaded else []
    name = node("span", "name", node("bdi", "", item.name))
    can = (chip("plain", words(_CAN[text]) if text in _CAN else text) for text in item.capabilities)
    return [
        node("div", "", name, node("span", "under", " · ".join(facts), title=item.digest), *can),
        node("span", "num", context),
        node("span", "num", size_text(item.size)),
        _state(item, words),
        node("div", "actions", *actions),
    ]


def short_digest(digest: str) -> str:
    return digest.removeprefix("sha256:")[:_DIGEST]


def _state(item: ModelDetails, words: Words) -> Node:
    if not item.loaded:
        return chip("grey", words("not loaded"))
    where = words("main memory") if item.vram == 0 else size_text(item.vram) if item.vram else ""
    until = moment(item.expires_at)[11:]
    parts = (words("loaded"), where, words("until {time}", time=until) if where and until else "")
    return chip("pass", " · ".join(part for part in parts if part))


def _pull(item: PullStatus, words: Words) -> Node:
    state = item.state
    head = node(
        "div",
        "head",
        node("strong", "", node("bdi", "", item.name)),
        chip(_PULL_LOOKS.get(state, "accent"), words(JOB_STATES[state])),
        node("span", "grow"),
        node("span", "muted small", item.phase) if not item.over else "",
    )
    known = item.total > 0
    bar = gauge(item.done / item.total if known else 0.0, item.name, moving=not known and not item.over)
    parts = [head, *([bar] if item.state != "done" else [])]
    if known:
        parts.append(node("div", "small num muted", _figures(item, words)))
    if item.fault is not None:
        parts.append(box("fault", "", *fault_nodes(item.fault, words)))
    if not item.over:
        parts.append(node("div", "actions", button(words("Stop"), f"stop:{item.name}")))
    elif item.state != "done":
        again = button(words("Try again" if item.state == "failed" else "Resume"), f"pull:{item.name}")
        discard = button(words("Discard"), f"discard:{item.name}", "button quiet")
        parts.append(node("div", "actions", again, discard))
    return node("section", f"card task {item.state}", *parts, aria_label=item.name)


def _figures(item: PullStatus, words: Words) -> str:
    found = [words("{done} of {total}", done=size_text(item.done), total=size_text(item.total))]
    if not item.over and item.per_second > 0:
        found.append(f"{size_text(round(item.per_second))}/s")
    if not item.over and item.remaining_s is not None:
        found.append(words("{time} left", time=span_text(item.remaining_s)))
    return " · ".join(found)
