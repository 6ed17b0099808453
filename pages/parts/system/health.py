"""The view Health of the page System, and the hint on other pages: every part, the worst first, with what to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.amounts import count_text, size_text, span_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, command, fold, node
from components.common.phrases import duration_text, fault_text
from components.common.run_settings import roles_of, workflow_chosen
from components.system.draw import draw_system, fault_nodes
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import InvalidConfig
from engine.messages import N_, NC_
from engine.model.config import BUILTIN, ROLES, RoleModel, RoleModels, RoleName
from engine.model.system import Health, PartHealth, PartName
from engine.plugins import plugins
from pages.parts.common.following import opening
from pages.parts.system.state import again_button, go_to
from pages.parts.system.work import draw_fault, in_background, looked, until

_OLD_S = 30.0
_SEEN_OPEN = "health_seen_open"
_PART_NAMES = {
    "knowledge": N_("Knowledge base"),
    "connection": N_("connected"),
    "graphs": N_("Knowledge graph"),
    "records": N_("Runs"),
    "disk": N_("Disk"),
    "embedder": N_("Embedding model"),
    "grader": N_("Built-in grader"),
    "ollama": "Ollama",
    "provider": N_("Other providers"),
    "web_search": N_("Web search"),
    "reader": N_("Document reader"),
    "plugin": N_("Plug-in"),
    "faults": N_("Errors since the start"),
}

_KIND = {"embedded": "Milvus Lite", "server": "Milvus", "graph_file": "SQLite"}
_STATE = {
    "ok": N_("works"),
    "warning": N_("needs a look"),
    "down": N_("not working"),
    "off": N_("not set up"),
}
_SEARXNG = "WORKBENCH_SEARXNG_URL=http://127.0.0.1:8080"
_OLLAMA = "ollama:"
_ORDER: tuple[Health, ...] = ("down", "warning", "ok", "off")
_LOOKS: Mapping[Health, tuple[str, str]] = {
    "down": ("fault", "✗"),
    "warning": ("warn", "!"),
    "ok": ("pass", "✓"),
    "off": ("grey", "–"),
}
_PARTS: tuple[PartName, ...] = get_args(PartName)
_PLAIN = ("path", "address", "package", "variable", "model")
"""Facts that are shown as they are."""
_SIZES = {"dim": N_("{n} dimensions"), "concurrency": N_("{n} passages at once")}
_COUNTED = {
    "collections": N_("Collections"),
    "sources": N_("Sources"),
    "read_in_part": N_("Read in part"),
    "not_recorded": N_("No reading record"),
    "passages": N_("Passages"),
    "graphs": N_("Graph"),
    "runs": N_("Runs"),
    "models": N_("Models"),
    "chat": N_("chat"),
    "embedding": NC_("system", "embedding"),
}
_ONLY_SOME = ("read_in_part", "not_recorded")
"""Counts that are said where there are any."""
MODELS = "models"
"""The action of the button that leads to the models."""
Parts = tuple[PartHealth, ...]

_SOUND_S = 300.0
_TROUBLED_S = 30.0
"""How long a look counts: where something was wrong, it may have been put right since."""


def panel(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    """Draw the newest look at every part; ``bar`` takes the button that looks again."""
    again = again_button(words, bar)
    if not engine.ready:
        opening(engine, words)
    # What was seen while the knowledge base was being opened is of no use once it is open.
    opened = engine.ready and not st.session_state.get(_SEEN_OPEN, False)
    st.session_state[_SEEN_OPEN] = engine.ready
    found = looked("health", engine.host.health, fresh=again or opened, most_s=_OLD_S)
    draw_fault(found, words, key="health_fault")
    if found.value is not None:
        note_parts(engine, found.value)
        note = words("Checking …") if found.pending else f"{found.moment} UTC"
        if view(judged(found.value, roles_played()), words, key="health", note=note) == MODELS:
            go_to("models")
    until(found)


def judged(parts: Iterable[PartHealth], roles: Mapping[str, str]) -> tuple[PartHealth, ...]:
    """The parts with Ollama down where a role is set to be played by it; ``roles`` are models by role.

    A machine without Ollama is sound until something is asked of it.
    """
    players = ",".join(role for role, model in roles.items() if model.startswith(_OLLAMA))
    return tuple(
        PartHealth("ollama", "down", {**item.detail, "roles": players}, item.fault, item.name, item.ms)
        if item.part == "ollama" and item.health == "off" and players
        else item
        for item in parts
    )


def worst(parts: Iterable[PartHealth]) -> Health:
    """The health of the whole."""
    found = {item.health for item in parts}
    return next((health for health in ("down", "warning") if health in found), "ok")


def verdict(parts: Sequence[PartHealth], words: Words) -> str:
    """One line for all parts."""
    whole = worst(parts)
    named = [part_title(item, words) for item in parts if item.health == whole]
    if whole == "ok":
        return words("Everything in use works.")
    return f"{words(_STATE[whole]).capitalize()}: {words(', ').join(named)}"


def view(parts: Sequence[PartHealth], words: Words, *, key: str, note: str = "") -> str | None:
    """Draw the verdict and the parts; returns what was pressed: :data:`MODELS`. ``note`` stands next to the verdict."""
    look, sign = _LOOKS[worst(parts)]
    aside = (node("span", "muted small", note),) if note else ()
    head = box(look, sign, node("strong", "", verdict(parts, words)), aside=aside)
    ordered = sorted(parts, key=lambda item: (_ORDER.index(item.health), _PARTS.index(item.part)))
    used, unused = ([_part(item, words) for item in ordered if (item.health == "off") == off] for off in (False, True))
    drawn = [head, node("ul", "parts card", *used)]
    if unused:
        label = f"{words(_STATE['off']).capitalize()} ({len(unused)})"
        drawn.append(fold("unused", label, node("ul", "parts card", *unused)))
    return draw_system(drawn, words, key=key)


def part_title(item: PartHealth, words: Words) -> str:
    if item.part in ("provider", "plugin") and item.name:
        kind = N_("Provider") if item.part == "provider" else N_("Plug-in")
        return f"{words(kind)} {words.known(item.name)}"
    title = words.known(_PART_NAMES[item.part])
    return f"{title.capitalize()} {item.name}" if item.part == "connection" and item.name else title


def part_facts(item: PartHealth, words: Words) -> list[str]:
    """List the facts about a part, in short pieces."""
    detail = item.detail
    if item.part == "reader":
        return [f"{name} {value}".strip() for name, value in detail.items() if name not in ("formats", "idle")]
    if item.part == "plugin":
        return [words(", ").join(words(title) for title in detail.get("installed", "").split(", ") if title)]
    if item.part == "faults":
        return [detail.get("count", "0")]
    found = [_kind(detail, words)] if "kind" in detail else []
    found += [_model(detail["model"], words)] if "model" in detail else []
    found += [detail[name] for name in _PLAIN if name != "model" and detail.get(name)]
    found += [words(text, n=detail[name]) for name, text in _SIZES.items() if name in detail]
    found += [
        f"{words(text)} {count_text(int(detail[name]))}"
        for name, text in _COUNTED.items()
        if name in detail and (detail[name] != "0" or name not in _ONLY_SOME)
    ]
    return [text for text in (*found, *_measures(item, words)) if text]


def _measures(item: PartHealth, words: Words) -> list[str]:
    detail = item.detail
    found = []
    if item.part == "ollama" and detail.get("version"):
        found.append(detail["version"])
    if "bytes" in detail:
        found.append(size_text(int(detail["bytes"])))
    if "free" in detail:
        free, total = size_text(int(detail["free"])), size_text(int(detail.get("total", "0")))
        found.append(words("{free} of {total} free", free=free, total=total))
    if detail.get("database"):
        found.append(detail["database"])
    if "opened_in_s" in detail:
        found.append(words("opened in {time}", time=span_text(float(detail["opened_in_s"]))))
    if "fallback" in detail:
        found.append(words("using {model} instead", model=detail["fallback"]))
    if detail.get("state") == "opening":
        found.append(words("opening"))
    needed = {"setting": "WORKBENCH_OLLAMA_URL", "": ""}.get(detail.get("needed_by", ""), words("Collections"))
    if detail.get("roles"):
        needed = words(", ").join(words(ROLES[role]) for role in detail["roles"].split(","))
    if needed:
        found.append(words("needed by: {roles}", roles=needed))
    return found


def _kind(detail: Mapping[str, str], words: Words) -> str:
    kind = detail["kind"]
    title = next((words(plugin.title) for plugin in plugins() if plugin.name == kind), kind)
    return f"{_KIND.get(kind, title)} {detail.get('version', '')}".rstrip()


def _model(model: str, words: Words) -> str:
    return words("built-in") if model == BUILTIN else model


def _part(item: PartHealth, words: Words) -> Node:
    look, sign = _LOOKS[item.health]
    state = words(_STATE[item.health])
    facts = node("div", "facts muted small num", *(node("span", "", text) for text in part_facts(item, words)))
    shown = chip(look, state) if item.health in ("warning", "down") else ""
    time = node("span", "muted small num ms", duration_text(item.ms)) if item.ms is not None else ""
    head = node("div", "head", node("strong", "", part_title(item, words)), shown, facts, node("span", "grow"), time)
    dot = node("span", f"dot {look}", sign, role="img", aria_label=state)
    return node("li", f"part {look}", dot, node("div", "grow", head, *_remedy(item, words)))


def _remedy(item: PartHealth, words: Words) -> list[Node]:
    """What to do about a fault, or how to have a part that is not set up."""
    wrong = item.health in ("warning", "down")
    found: list[Node] = []
    if item.health == "off" and (line := _SEARXNG if item.part == "web_search" else item.detail.get("command")):
        found.append(command(line, words))
    if item.fault is not None and item.health != "off":
        said = fault_nodes(item.fault, words) if wrong else (node("p", "", fault_text(item.fault, words)[0]),)
        found.append(node("div", "why" if wrong else "", *said))
    if (item.part == "ollama" and item.health != "ok") or (item.part == "provider" and item.health == "off"):
        found.append(node("div", "actions", button(words("Models"), MODELS)))
    return found


@dataclass(slots=True)
class _Last:
    """The newest look of this process at its engine; shared by all sessions."""

    engine: Engine | None = None
    parts: Parts = ()
    at: float = 0.0
    underway: Future[Parts] | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)


_last = _Last()


def roles_played() -> dict[str, str]:
    """The model that the panel's settings name for each role of the chosen workflow."""
    roles = roles_of(workflow_chosen(get_engine().settings.defaults_of_runs.workflow))
    models = models_played(roles)
    return {str(role): models.of(role).model for role in roles}


def models_played(roles: Sequence[RoleName]) -> RoleModels:
    """Return the panel's models for these roles; those not shown yet come from this machine's settings."""
    named = {str(role): str(st.session_state.get(role) or "") for role in roles}
    usual = get_engine().settings.models
    return RoleModels(
        **{role: RoleModel(name) if _plays(role, name) else getattr(usual, role) for role, name in named.items()}
    )


def _plays(role: str, name: str) -> bool:
    """Return whether a model can play a role: an address may name any."""
    with suppress(InvalidConfig):
        return bool(name and RoleModels(**{role: RoleModel(name)}))
    return False


def note_parts(engine: Engine, parts: Parts) -> None:
    """Take over a person's latest check."""
    with _last.guard:
        _last.engine, _last.parts, _last.at = engine, parts, time.monotonic()


def trouble(engine: Engine) -> bool:
    """Return whether a needed part failed its last check; starts a new check if that is old."""
    with _last.guard:
        if _last.engine is not engine:
            _last.engine, _last.parts, _last.at, _last.underway = engine, (), 0.0, None
        done = _last.underway is not None and _last.underway.done()
        if done and _last.underway is not None:
            failed = _last.underway.cancelled() or _last.underway.exception() is not None
            _last.parts = _last.parts if failed else _last.underway.result()
            _last.at, _last.underway = time.monotonic(), None
        parts = judged(_last.parts, roles_played())
        counts_s = _TROUBLED_S if worst(parts) == "down" else _SOUND_S
        if _last.underway is None and (not _last.at or time.monotonic() - _last.at > counts_s):
            _last.underway = in_background(engine.host.health)
    return worst(parts) == "down"
