"""Models in files on the page System: those that are here, and those that are known to work and can be fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.common.amounts import count_text, size_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, command, fold, node, table
from components.system.draw import draw_system, fault_nodes
from engine.engine import Engine
from engine.llm.local import PACKAGES
from engine.messages import N_
from engine.model.system import CatalogueModel, LocalKind, LocalModel
from engine.version import install_command
from pages.parts.common.rights import may
from pages.parts.system import trial
from pages.parts.system.ollama import ModelEvent, act, event_of, short_digest

_HEAD = (N_("Model"), N_("Context"), N_("On disk"), N_("Memory (RAM)"), "")
_OFFERED = (N_("Model"), N_("Languages"), N_("On disk"), N_("Licence and checksum"), "")
_KINDS: Mapping[LocalKind, str] = {"chat": N_("chat"), "embedding": N_("embedding"), "scores": N_("scores")}


def panel(engine: Engine, files: Sequence[LocalModel], offered: Sequence[CatalogueModel], words: Words) -> None:
    """Draw the files with what each takes, and the list of those that can be fetched."""
    with st.container(border=True, key="system_files"):
        runs = engine.host.runs_files()
        event = view(files, offered, words, key="files", runs=runs, fetches=may("admin"))
        if event is not None and event.press == "try":
            trial.begin(engine, event.model, "files")
            st.rerun()
        act(engine, event)
        trial.newest("files", words)


def view(
    files: Sequence[LocalModel],
    offered: Sequence[CatalogueModel],
    words: Words,
    *,
    key: str,
    runs: bool,
    fetches: bool,
) -> ModelEvent | None:
    """Draw both lists; returns what was pressed. ``runs``: the package that runs GGUF files is here."""
    parts = [
        node("div", "head", node("strong", "", words("Models in files")), node("span", "small muted", "llama.cpp"))
    ]
    if files:
        parts.append(
            table("sheet models", [text and words(text) for text in _HEAD], [_row(item, words, runs) for item in files])
        )
        parts += [box("fault", "", *fault_nodes(item.fault, words)) for item in files if item.fault is not None]
    if not runs:
        said = words("GGUF files run here without a server, once a package is installed:")
        parts += [node("p", "muted", said), command(install_command(PACKAGES), words)]
    elif not files:
        said = words("Put a GGUF file into the folder models of the data folder, or download one:")
        parts.append(node("p", "muted", said))
    missing = [item for item in offered if not item.here]
    if missing:
        rows = [_offer(item, words, fetches) for item in missing]
        listed = table("sheet models", [text and words(text) for text in _OFFERED], rows)
        note = node("p", "small muted", words("From huggingface.co; a file is used only if its checksum is right."))
        parts += [listed, note] if runs and not files else [fold("offered", words("Known to work"), listed, note)]
    return event_of(draw_system(parts, words, key=key))


def _row(item: LocalModel, words: Words, runs: bool) -> list[Node]:
    facts = " · ".join(text for text in (item.architecture, item.parameters, item.licence) if text)
    name = node("span", "name", node("bdi", "", item.role_name if item.kind else item.name))
    if item.fault is not None:
        kind = chip("fault", words("cannot be used"))
    elif item.kind:
        kind = chip("plain", words(_KINDS[item.kind]))
    else:
        kind = chip("grey", words("nothing that is of use here"))
    context = words("{n} tokens", n=count_text(item.context_length)) if item.context_length else "–"
    if item.kind == "embedding":
        context = f"{context} · {words('{n} dimensions', n=item.embedding_length)}"
    usable = runs and bool(item.kind)
    actions = [button(words("Try"), f"try:{item.role_name}")] if usable and item.kind != "embedding" else []
    actions += [button(words("Unload"), f"unload:{item.role_name}")] if item.loaded is not None else []
    needs = words("needs about {size}", size=size_text(item.needs)) if item.kind else ""
    loaded = " · ".join(text for text in (words("loaded"), size_text(item.loaded) if item.loaded else "") if text)
    return [
        node("div", "", name, node("span", "under", facts), kind),
        node("span", "num", context),
        node("span", "num", size_text(item.size)),
        chip("pass", loaded) if item.loaded is not None else node("span", "small muted", needs),
        node("div", "actions", *actions),
    ]


def _offer(item: CatalogueModel, words: Words, fetches: bool) -> list[Node]:
    name = node("span", "name", node("bdi", "", item.name))
    known = node("span", "", item.licence)
    checksum = node("span", "under", f"sha256 {short_digest(item.checksum)}…", title=item.checksum)
    fetch = [button(words("Download"), f"pull:{item.name}")] if fetches else []
    return [
        node("div", "", name, node("span", "under", item.repository), chip("plain", words(_KINDS[item.kind]))),
        node("span", "", item.languages),
        node("span", "num", size_text(item.size)),
        node("div", "", known, checksum),
        node("div", "actions", *fetch),
    ]
