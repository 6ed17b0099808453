"""The view Collections: all of them as rows, the chosen one with what can be done with it, and its sources."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from components.common.amounts import count_text, holds, moment, utc
from components.common.controls import narrowing
from components.common.embedding_facts import family, model_name
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.common.phrases import duration_text
from components.knowledge.draw import draw_knowledge, note_box
from components.labels import CONTEXT, SOURCE_KIND_NAMES
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import GrowthAdvice
from engine.messages import N_, NC_
from engine.plugins import panels
from engine.roles import CollectionInfo
from pages.parts.common.actions import clear, next_step
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge import collection_actions, sources
from pages.parts.knowledge.state import (
    NO_COLLECTION,
    SAMPLES,
    Addition,
    add_files_step,
    choose,
    chosen_collection,
    go_to,
)
from pages.parts.knowledge.target import context_text, embedding_models

_MANY = 8
"""From so many collections on they can be filtered."""
_HEAD = {
    "collection": N_("Collection"),
    "passages": N_("Passages"),
    "sources": N_("Sources"),
    "model": N_("Embedding model"),
    "search": N_("Search by"),
    "built": N_("Created"),
}
_MILVUS = N_(
    "{n} passages: a search takes about {ms} in the embedded store. Set WORKBENCH_MILVUS_URI to use a Milvus server, "
    "and add the files there."
)
_ADVICE = {
    "lite_slow": _MILVUS,
    "lite_large": _MILVUS,
    "server_small": N_("{n} passages need no server: the embedded store would answer in about {ms}."),
}
_MILVUS_NAMES = ("Milvus Lite", "Milvus")
_OPEN = "open:"


def panel(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the rows and the chosen collection."""
    info = chosen_collection(collections)
    if info is None:
        add_files_step(words(NO_COLLECTION), words, key="kb_none_add")
        return
    shown = _narrowed(collections, words)
    unusable = {item.name for item in collections if not searchable(engine, item)}
    if not shown:
        clearing = clear("kb_find_collection")
        label = words("Clear the filter")
        next_step(words("Nothing matches."), label, "filter_alt_off", key="kb_find_clear", does=clearing)
    else:
        pressed = view(shown, words, key="kb_collections", chosen=info.name, unusable=unusable)
        if pressed is not None and pressed != info.name:
            choose(pressed)
    _one(engine, info, info.name not in unusable, words)


def searchable(engine: Engine, info: CollectionInfo) -> bool:
    """Return whether questions to a collection can be embedded now: Ollama's models may be gone, bundled ones stay."""
    if family(info.embedding_model) != "ollama":
        return True
    known = {item.model: item.available for item in embedding_models(engine)}
    # What no one listed may be there all the same: asking is what tells.
    return known.get(info.embedding_model, not known)


def _narrowed(collections: Sequence[CollectionInfo], words: Words) -> list[CollectionInfo]:
    if len(collections) < _MANY:
        return list(collections)
    return matching(collections, narrowing(words("Collections"), key="kb_find_collection"))


def _one(engine: Engine, info: CollectionInfo, is_usable: bool, words: Words) -> None:
    with st.container(key="kb_one"):
        if (advice := _advice(engine, info)) is not None:
            look, sign = ("plain", "i") if advice.code == "server_small" else ("warn", "!")
            text = words(_ADVICE[advice.code], n=count_text(advice.passages), ms=duration_text(advice.search_ms))
            note_box(look, sign, text, words, key="kb_advice")
        added = [item for item in (make(engine, words) for make in panels("collection")) if item and item.suits(info)]
        facts, server = [item.fact(info) for item in added], bool(engine.settings.milvus_uri)
        draw_knowledge([_card(info, words, server=server, usable=is_usable, added=facts)], words, key="kb_facts")
        _actions(engine, info, added, words)
        if info.fault is not None:
            if fault_box(info.fault, words, key="kb_unreadable", actions=(("again", words("Try again")),)):
                st.rerun()
            return
        sources.panel(engine, info, words)


def _advice(engine: Engine, info: CollectionInfo) -> GrowthAdvice | None:
    def ask() -> GrowthAdvice | None:
        try:
            return engine.library.advice(info.name)
        except WorkbenchError:
            # The facts of the collection say what is wrong with it.
            return None

    return cached_in_session("kb_advice", (engine.instance, info.name, info.passages), ask)


def _actions(engine: Engine, info: CollectionInfo, added: Sequence[Addition], words: Words) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="kb_actions"):
        if st.button(words(NC_("page", "Ask")), icon=":material/account_tree:", type="primary", key="kb_ask"):
            st.switch_page("workbench.py", query_params={"collection": info.name})
        if st.button(words(NC_("knowledge", "Search")), icon=":material/search:", key="kb_search_in"):
            go_to("search", info.name)
        if (
            not info.read_only
            and may("editor")
            and st.button(words("Add files"), icon=":material/add:", key="kb_add_to")
        ):
            st.session_state["kb_into"] = info.name
            go_to("add", info.name)
        collection_actions.panel(engine, info, added, words)


def matching(collections: Sequence[CollectionInfo], text: str) -> list[CollectionInfo]:
    """Those whose name, alias, description or model holds a text, regardless of its case."""
    return [
        info for info in collections if holds(text, info.name, info.description, info.embedding_model, *info.aliases)
    ]


def view(
    collections: Sequence[CollectionInfo],
    words: Words,
    *,
    key: str,
    chosen: str = "",
    unusable: Collection[str] = (),
) -> str | None:
    """Draw one row a collection, below 760 px of width one card each; returns the name that was pressed.

    ``unusable`` names those whose embedding model is not at hand. Names and descriptions may be another program's
    words, and are drawn as text.
    """
    head = node(
        "div", "line top", *(node("span", name, words(text)) for name, text in _HEAD.items()), aria_hidden="true"
    )
    rows = [
        _row(number, info, info.name == chosen, info.name in unusable, words) for number, info in enumerate(collections)
    ]
    action = draw_knowledge([node("div", "lines collections", head, *rows)], words, key=key)
    number = int(action.removeprefix(_OPEN)) if action and action.startswith(_OPEN) else -1
    return collections[number].name if 0 <= number < len(collections) else None


def _card(info: CollectionInfo, words: Words, *, server: bool, usable: bool, added: Sequence[tuple[str, str]]) -> Node:
    """Name, description and, folded, every further fact of one collection; ``added`` are those of plug-ins."""
    parts = [node("strong", "big", info.name)]
    if info.description:
        parts.append(node("p", "description", info.description))
    if not usable:
        sentence = words(
            "Its embedding model {model} is not available: it can be read, but not searched by meaning. Make the "
            "model available, or re-embed the collection.",
            model=model_name(info.embedding_model, words),
        )
        parts.append(node("p", "note", f"! {sentence}"))
    kinds = words(", ").join(words(SOURCE_KIND_NAMES[kind]) for kind in info.kinds)
    facts = [
        (words(_HEAD["built"]), utc(info.created_at) if info.created_at else ""),
        (words("Summaries"), count_text(info.summaries) if info.summaries else ""),
        (words("Vectors"), f"{words('{n} dimensions', n=info.dim)} · {info.metric}"),
        (words("Query prefix"), _quoted(info.query_prefix, words)),
        (words("Passage prefix"), _quoted(info.passage_prefix, words)),
        (words(CONTEXT), _form(info, words)),
        (words(NC_("knowledge", "Kinds of sources")), kinds),
        (words("Store"), f"{info.address} · {info.remote_name}" if info.address else _MILVUS_NAMES[server]),
        *added,
    ]
    cells = [
        node("div", "fact", node("div", "label", label), node("div", "num", value)) for label, value in facts if value
    ]
    parts.append(fold("facts", words("Details"), node("div", "facts-grid", *cells)))
    return node("section", "collection", *parts, aria_label=info.name)


def _row(number: int, info: CollectionInfo, chosen: bool, unusable: bool, words: Words) -> Node:
    pressed = "true" if chosen else "false"
    name = node("button", "title", info.name, data_action=f"{_OPEN}{number}", aria_pressed=pressed)
    about = (node("div", "muted small clip", info.description, title=info.description),) if info.description else ()
    chips = _chips(info, not unusable, words)
    marks = (node("div", "marks", *chips),) if chips else ()
    by = [words("Meaning"), *([words("Words")] if info.full_text else [])]
    return node(
        "div",
        f"line{' on' if chosen else ''}",
        node("div", "collection", name, *about, *marks),
        _cell("passages num", "passages", _passages(info) or "–", words),
        # Another program's collection may not say what its sources are.
        _cell("sources num", "sources", count_text(info.sources) if info.sources or not info.address else "–", words),
        node("div", "model", model_name(info.embedding_model, words)),
        node("div", "search", " + ".join(by)),
        node("div", "built muted small num", moment(info.created_at)[:10] or "–"),
    )


def _cell(look: str, name: str, text: str, words: Words) -> Node:
    return node("div", look, text, data_label=words(_HEAD[name]))


def _chips(info: CollectionInfo, usable: bool, words: Words) -> list[Node]:
    chips = [chip("plain", f"{words('Aliases')}: {', '.join(info.aliases)}")] if info.aliases else []
    if info.name == SAMPLES:
        chips.append(chip("grey", words("built-in")))
    if info.address:
        chips.append(chip("accent", words("connected"), info.address))
    if info.read_only:
        chips.append(chip("grey", words("read only")))
    if info.fault is not None:
        chips.append(chip("fault", f"✗ {words('unreadable')}", info.fault.fact))
    elif not usable:
        chips.append(chip("warn", f"! {words('model missing')}"))
    return chips


def _passages(info: CollectionInfo) -> str:
    """Empty where a collection cannot be read and nothing of it was seen."""
    return count_text(info.passages) if info.passages or info.fault is None else ""


def _form(info: CollectionInfo, words: Words) -> str:
    """The form of context; another program's collection may have one that its store does not record."""
    if info.read_only and info.context == "none":
        return words("none recorded there; similarity is measured as without")
    return context_text(info, words)


def _quoted(prefix: str, words: Words) -> str:
    return f"“{prefix}”" if prefix else words("none")
