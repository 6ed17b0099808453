"""The models of Ollama and of other providers: what is there, what is being downloaded, and one short trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.common.amounts import count_text, moment, size_text, span_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, command, gauge, node, table
from components.common.phrases import duration_text
from components.system.draw import draw_system, fault_nodes
from engine.messages import N_, NC_
from engine.model.system import ModelDetails, ModelTrial, Provider, PullStatus
from engine.version import install_command

_MODEL = {
    "name": N_("Model"),
    "can": N_("Can"),
    "size": N_("Parameters"),
    "context": N_("Context"),
    "digest": N_("Digest"),
    "disk": N_("On disk"),
    "state": N_("State"),
    "actions": N_("Do"),
}

_STEP = {
    "install": N_("1. Install it (Linux; others: ollama.com/download)"),
    "start": N_("2. Start it, unless it runs already"),
    "pull": N_("3. Pull a model, here or in a terminal"),
    "elsewhere": N_("Does it run on another machine? Name it before the workbench starts"),
}

_PROVIDER = {
    "name": N_("Provider"),
    "package": N_("Package"),
    "key": N_("Key or address"),
}

_CAN = {
    "completion": N_("chat"),
    "chat": N_("chat"),
    "embedding": NC_("system", "embedding"),
    "thinking": N_("thinking"),
    "vision": N_("vision"),
    "tools": N_("tools"),
    "insert": N_("insert"),
}

_STATE = {
    "running": N_("downloading"),
    "done": N_("✓ ready"),
    "stopped": N_("– stopped"),
    "failed": NC_("system", "✗ failed"),
    "interrupted": N_("! interrupted"),
}

_DIGEST = 12
_FIRST = ("qwen3:1.7b", "qwen3:8b")
"""Models that a newcomer is offered: a small one and a better one."""
_INSTALL = "curl -fsSL https://ollama.com/install.sh | sh"
_PULL_LOOKS = {"running": "accent", "done": "pass", "stopped": "warn", "failed": "fault", "interrupted": "warn"}


@dataclass(frozen=True, slots=True)
class ModelEvent:
    """A button that was pressed: ``try``, ``unload``, ``pull``, ``stop``, ``discard``, ``list`` or ``again``."""

    press: str
    model: str


def model_table(models: Sequence[ModelDetails], address: str, words: Words, *, key: str) -> ModelEvent | None:
    """Draw what the Ollama at an address has, chat models first; returns what was pressed."""
    ordered = sorted(models, key=lambda item: (not chats(item), item.name))
    rows = [_row(item, words) for item in ordered]
    note = node(
        "p", "small muted", words.count("1 model at {address}", "{n} models at {address}", len(models), address=address)
    )
    listed = table("sheet models", [words(text) for text in _MODEL.values()], rows)
    return _event(draw_system((note, listed), words, key=key))


def chats(model: ModelDetails) -> bool:
    """Return whether a model can play a role; one that Ollama does not describe counts as capable."""
    return not model.capabilities or bool({"completion", "chat"} & set(model.capabilities))


def ollama_missing(address: str, words: Words, *, key: str) -> ModelEvent | None:
    """Explain step by step how to start Ollama, with the commands; return a press of *Check again*."""
    steps = (
        ("install", _INSTALL),
        ("start", "ollama serve"),
        ("pull", f"ollama pull {_FIRST[1]}"),
        ("elsewhere", "WORKBENCH_OLLAMA_URL=http://192.168.1.20:11434"),
    )
    sound = words(
        "Nothing is broken: the built-in roles work without it. With it, language models grade, rewrite and answer."
    )
    missing = node("strong", "", words("No Ollama answers at {address}.", address=address))
    said = box("plain", "–", missing, node("p", "muted", sound))
    made = (command(line, words, words(_STEP[name])) for name, line in steps)
    again = node("div", "actions", button(words("Check again"), "again:", "button primary"))
    return _event(draw_system((said, node("div", "card steps", *made, again)), words, key=key))


def no_models(words: Words, *, key: str) -> ModelEvent | None:
    """Explain what to do if Ollama has no model yet; return the one to pull."""
    offered = (button(words("Pull") + f" {name}", f"pull:{name}", "button") for name in _FIRST)
    said = words("Pull one: the small one needs about 1 GB, the other answers better and needs about 5 GB.")
    none = node("strong", "", words("Ollama answers and has no model yet."))
    drawn = box("plain", "", none, node("p", "muted", said), node("div", "actions", *offered))
    return _event(draw_system((drawn,), words, key=key))


def pull_list(pulls: Sequence[PullStatus], words: Words, *, key: str) -> ModelEvent | None:
    """Draw a card for each download; returns ``stop``, ``pull`` (again) or ``discard`` with its name."""
    return _event(draw_system([_pull(item, words) for item in pulls], words, key=key))


def provider_table(providers: Sequence[Provider], words: Words, *, key: str) -> ModelEvent | None:
    """Draw the providers with what each lacks; returns ``list`` with the provider whose models are wanted."""
    head = [*(words(text) for text in _PROVIDER.values()), ""]
    rows = [provider_row(item, words) for item in providers]
    note = node(
        "p",
        "small muted",
        words(
            "LM Studio, vLLM, llama.cpp and others speak OpenAI's protocol: set their address, then use openai:MODEL."
        ),
    )
    local = command("WORKBENCH_OPENAI_URL=http://127.0.0.1:1234/v1", words)
    return _event(draw_system((table("sheet providers", head, rows), note, local), words, key=key))


def trial_card(trial: ModelTrial, words: Words, *, key: str) -> None:
    """Draw what a model said to one short call, as plain text, or why it said nothing."""
    if trial.fault is not None:
        said = node("strong", "", words("✗ {model} did not answer", model=trial.model))
        draw_system((box("fault", "", said, *fault_nodes(trial.fault, words)),), words, key=key)
        return
    facts = [words("in {time}", time=duration_text(trial.ms))]
    if trial.prompt_tokens is not None and trial.reply_tokens is not None:
        facts.append(words("{prompt} → {reply} tokens", prompt=trial.prompt_tokens, reply=trial.reply_tokens))
    head = node(
        "div",
        "lead",
        node("strong", "", words("✓ {model} answered", model=trial.model)),
        node("span", "muted small num", " · ".join(facts)),
    )
    reply = node("div", "reply", trial.reply.strip() or words("(an empty reply)"))
    draw_system((box("pass", "", head, reply),), words, key=key)


def _event(action: str | None) -> ModelEvent | None:
    press, colon, model = (action or "").partition(":")
    return ModelEvent(press, model) if colon else None


def _row(item: ModelDetails, words: Words) -> list[Node]:
    name = [node("span", "name", node("bdi", "", item.name))]
    if item.family:
        name.append(node("span", "under", item.family))
    size = [text for text in (item.parameter_size, item.quantization) if text]
    context = words("{n} tokens", n=count_text(item.context_length)) if item.context_length else "–"
    if item.embedding_length and not chats(item):
        context = f"{context} · {words('{n} dimensions', n=item.embedding_length)}"
    actions = [button(words("Try"), f"try:{item.name}")] if chats(item) else []
    actions += [button(words("Unload"), f"unload:{item.name}")] if item.loaded else []
    return [
        node("div", "", *name),
        node("div", "", *(chip("plain", capability(text, words)) for text in item.capabilities)),
        node("span", "num", " · ".join(size) or "–"),
        node("span", "num", context),
        node("code", "", short_digest(item.digest), title=item.digest),
        node("span", "num", size_text(item.size)),
        _state(item, words),
        node("div", "actions", *actions),
    ]


def capability(name: str, words: Words) -> str:
    """Label a capability of a model; an unknown one keeps Ollama's word."""
    return words(_CAN[name]) if name in _CAN else name


def short_digest(digest: str) -> str:
    return digest.removeprefix("sha256:")[:_DIGEST] or "–"


def _state(item: ModelDetails, words: Words) -> Node:
    if not item.loaded:
        return chip("grey", words("at rest"))
    said = words("loaded · in main memory" if item.vram == 0 else "loaded")
    if item.vram:
        said = words("loaded · {size}", size=size_text(item.vram))
    until = moment(item.expires_at)
    return chip(
        "pass",
        said,
        words("In the memory of the graphics card until {time}", time=until) if item.vram and until else "",
    )


def _pull(item: PullStatus, words: Words) -> Node:
    head = node(
        "div",
        "head",
        node("strong", "", node("bdi", "", item.name)),
        chip(_PULL_LOOKS[item.state], words(_STATE[item.state])),
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
        again = button(words("Try again" if item.state == "failed" else "Go on"), f"pull:{item.name}")
        discard = button(words("Discard"), f"discard:{item.name}", "button quiet")
        parts.append(node("div", "actions", again, discard))
    return node("section", f"card task {item.state}", *parts, aria_label=item.name)


def _figures(item: PullStatus, words: Words) -> str:
    found = [words("{done} of {total}", done=size_text(item.done), total=size_text(item.total))]
    if not item.over and item.per_second > 0:
        found.append(words("{rate}/s", rate=size_text(round(item.per_second))))
    if not item.over and item.remaining_s is not None:
        found.append(words("{time} left", time=span_text(item.remaining_s)))
    return " · ".join(found)


def provider_row(item: Provider, words: Words) -> list[Node]:
    name = [node("span", "name", item.name), node("span", "under", item.address) if item.address else ""]
    if item.installed:
        package = node("div", "", chip("pass", words("✓ installed")), node("span", "under", item.package))
    else:
        install = install_command(item.package)
        package = node("div", "", chip("grey", words("not installed")), command(install, words))
    if item.key_set:
        key = node("div", "", chip("pass", words("✓ set")), node("span", "under", item.variable))
    elif item.address:
        wanted = words("Where the server wants a key: {variable}", variable=item.variable)
        key = node("div", "", chip("grey", words("no key needed")), node("span", "under", wanted))
    else:
        key = node("div", "", chip("grey", words("not set")), command(f"{item.variable}=…", words))
    lists = item.configured and item.installed
    more = [button(words("List its models"), f"list:{item.name}")] if lists else []
    return [node("div", "", *name), package, key, node("div", "actions", *more)]
