"""How the parts of the workbench are: one sentence for all, then each with its fact, time and remedy, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from components.amounts import count_text, size_text, span_text
from components.i18n import Words
from components.markup import Node, button, chip, node
from components.phrases import duration_text, fault_text
from components.system_draw import command, draw_system, fault_nodes
from engine.config import BUILTIN
from engine.host.values import Health, PartHealth, PartName

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
_SIZES = {"dim": "health.fact.dim", "concurrency": "health.fact.concurrency"}
_COUNTED = {
    "collections": "health.fact.collections",
    "passages": "health.fact.passages",
    "graphs": "health.fact.graphs",
    "runs": "health.fact.runs",
    "models": "health.fact.models",
}
_USES = {"chat": "health.fact.chat", "embedding": "health.fact.embedding"}
MODELS = "models"
"""The action of the button that leads to the models."""


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
        return words("health.verdict.ok")
    return words.count(f"health.verdict.{whole}", len(named), names=words("list.joint").join(named))


def health_view(parts: Sequence[PartHealth], words: Words, *, key: str, note: str = "") -> str | None:
    """Draw the verdict and the parts; returns what was pressed: :data:`MODELS`. ``note`` stands beside the verdict."""
    look, sign = _LOOKS[worst(parts)]
    head = node(
        "div",
        f"box {look}",
        node("span", "icon", sign, aria_hidden="true"),
        node("div", "grow", node("strong", "", verdict(parts, words))),
        node("span", "muted small", note) if note else "",
        role="alert" if look == "fault" else "status",
    )
    ordered = sorted(parts, key=lambda item: (_ORDER.index(item.health), _PARTS.index(item.part)))
    listed = node("ul", "parts card", *(_part(item, words) for item in ordered))
    return draw_system((head, listed), words, key=key)


def part_title(item: PartHealth, words: Words) -> str:
    if item.part == "provider" and item.name:
        return words("health.part.provider.named", name=item.name)
    return words(f"health.part.{item.part}", name=item.name) if item.name else words(f"health.part.{item.part}")


def part_facts(item: PartHealth, words: Words) -> list[str]:
    """What is known of a part, in short pieces."""
    detail = item.detail
    if item.part == "reader":
        return [
            words(f"health.fact.reader.{name}", n=value)
            if f"health.fact.reader.{name}" in words
            else f"{name} {value}".strip()
            for name, value in detail.items()
        ]
    if item.part == "faults":
        count = int(detail.get("count", "0"))
        if count and item.fault is None:
            return [words.count("health.fact.faults.over", count)]
        return [words.count("health.fact.faults", count) if count else words("health.fact.faults.none")]
    found = [_kind(detail, words)] if "kind" in detail else []
    found += [_model(detail["model"], words)] if "model" in detail else []
    found += [detail[name] for name in _PLAIN if name != "model" and detail.get(name)]
    found += [words(text, n=detail[name]) for name, text in _SIZES.items() if name in detail]
    found += [
        words.count(text, int(detail[name]), n=count_text(int(detail[name])))
        for name, text in _COUNTED.items()
        if name in detail
    ]
    found += [words(text, n=detail[name]) for name, text in _USES.items() if name in detail]
    return [text for text in (*found, *_measures(item, words)) if text]


def _measures(item: PartHealth, words: Words) -> list[str]:
    detail = item.detail
    found = []
    if item.part == "ollama" and detail.get("version"):
        found.append(words("health.fact.version", version=detail["version"]))
    if "bytes" in detail:
        found.append(size_text(int(detail["bytes"])))
    if "free" in detail:
        free, total = size_text(int(detail["free"])), size_text(int(detail.get("total", "0")))
        found.append(words("health.fact.free", free=free, total=total))
    if "opened_in_s" in detail:
        found.append(words("health.fact.opened", time=span_text(float(detail["opened_in_s"]))))
    if "fallback" in detail:
        found.append(words("health.fact.fallback", model=detail["fallback"]))
    if detail.get("state") == "opening":
        found.append(words("health.fact.opening"))
    if detail.get("roles"):
        names = words("list.joint").join(words(f"actor.{role}") for role in detail["roles"].split(","))
        found.append(words("health.fact.needed.role", roles=names))
    elif detail.get("needed_by"):
        found.append(words(f"health.fact.needed.{detail['needed_by']}"))
    return found


def _kind(detail: Mapping[str, str], words: Words) -> str:
    kind = detail["kind"]
    if detail.get("version"):
        return words(f"health.fact.kind.{kind}", version=detail["version"])
    return words(f"health.fact.kind.{kind}.plain")


def _model(model: str, words: Words) -> str:
    return words("model.builtin") if model == BUILTIN else model


def _part(item: PartHealth, words: Words) -> Node:
    look, sign = _LOOKS[item.health]
    title = node("strong", "", part_title(item, words))
    state = chip(look, words(f"health.state.{item.health}"))
    time = node("span", "muted small num ms", duration_text(item.ms)) if item.ms is not None else ""
    head = node("div", "head", title, state, node("span", "grow"), time)
    facts = node("div", "facts muted small num", *(node("span", "", text) for text in part_facts(item, words)))
    body = [head, facts, *_remedy(item, words)]
    return node("li", f"part {look}", node("span", f"dot {look}", sign, aria_hidden="true"), node("div", "grow", *body))


def _remedy(item: PartHealth, words: Words) -> list[Node]:
    if item.health == "off":
        return _how_to_have(item, words)
    if item.fault is None:
        return []
    wrong = item.health != "ok"
    said = (
        node("div", "why", *fault_nodes(item.fault, words))
        if wrong
        else node("p", "", fault_text(item.fault, words)[0])
    )
    more = [node("div", "actions", button(words("health.models"), MODELS))] if item.part == "ollama" and wrong else []
    return [said, *more]


def _how_to_have(item: PartHealth, words: Words) -> list[Node]:
    off = words(f"health.off.{item.part}") if f"health.off.{item.part}" in words else words("health.off.other")
    said = node("p", "small", off)
    if item.part == "web_search":
        return [said, command("WORKBENCH_SEARXNG_URL=http://127.0.0.1:8080", words)]
    if item.part in ("ollama", "provider"):
        return [said, node("div", "actions", button(words("health.models"), MODELS))]
    return [said]
