"""The collections as rows to choose from, and all there is to know of the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from components.common.amounts import count_text, holds, moment
from components.common.embedding_facts import model_name
from components.common.i18n import Words
from components.common.markup import Node, chip, node
from components.common.phrases import duration_text
from components.knowledge.draw import draw_knowledge, note_box
from components.labels import SOURCE_KIND_NAMES
from engine.library.values import GrowthAdvice
from engine.messages import N_, NC_
from engine.roles import CollectionInfo

_COLUMN = {
    "collection": N_("Collection"),
    "passages": N_("Passages"),
    "sources": N_("Sources"),
    "model": N_("Embedding model"),
    "search": N_("Search"),
    "built": N_("Built"),
}

_ADVICE = {
    "lite_slow": N_(
        "{n} passages: the embedded store compares a question with every one of them, about {ms} a search. From here "
        "on a Milvus server, with its index, is quicker."
    ),
    "lite_large": N_(
        "{n} passages are more than the embedded store is good for: a search takes about {ms} and opening it longer. "
        "Use a Milvus server: set WORKBENCH_MILVUS_URI and add the files there."
    ),
    "server_small": N_("{n} passages need no server: the embedded store answers in about {ms} at this size."),
}

_FACT = {
    "passages": N_("Passages"),
    "sources": N_("Sources"),
    "summaries": N_("Summaries"),
    "dim": N_("Dimensions · metric"),
    "model": N_("Embedding model"),
    "query_prefix": N_("Query prefix"),
    "passage_prefix": N_("Passage prefix"),
    "full_text": N_("Full text (BM25)"),
    "kinds": NC_("knowledge", "Kinds of sources"),
    "built": N_("Built"),
    "store": N_("Store"),
    "remote": N_("Its name there"),
}

SAMPLES = "samples"
_OPEN = "open:"


@dataclass(frozen=True, slots=True)
class Addition:
    """A dialog for admins and a fact of a collection, which a plug-in adds, in the language of the page."""

    name: str
    label: str
    """Of the button."""
    icon: str
    dialog: Callable[[CollectionInfo], None]
    fact: Callable[[CollectionInfo], tuple[str, str]] = lambda _: ("", "")
    """Its label and what it says; empty where there is nothing to say."""
    suits: Callable[[CollectionInfo], bool] = lambda info: not info.read_only
    """Which collections it is for; by itself for all that can be changed here."""


def matching(collections: Sequence[CollectionInfo], text: str) -> list[CollectionInfo]:
    """Those whose name, alias, description or model holds a text, regardless of its case."""
    return [
        info for info in collections if holds(text, info.name, info.description, info.embedding_model, *info.aliases)
    ]


def collection_table(
    collections: Sequence[CollectionInfo],
    words: Words,
    *,
    key: str,
    chosen: str = "",
    unusable: Collection[str] = (),
) -> str | None:
    """Draw one row a collection, below 720 px of width one card each; returns the name that was pressed.

    ``unusable`` names those whose embedding model is not at hand. Names and descriptions may be another program's
    words, and are drawn as text.
    """
    heads = (node("span", name, words(text)) for name, text in _COLUMN.items())
    head = node("div", "line top", *heads, aria_hidden="true")
    rows = [
        _row(number, info, info.name == chosen, info.name in unusable, words) for number, info in enumerate(collections)
    ]
    action = draw_knowledge([node("div", "lines collections", head, *rows)], words, key=key)
    number = int(action.removeprefix(_OPEN)) if action and action.startswith(_OPEN) else -1
    return collections[number].name if 0 <= number < len(collections) else None


def collection_card(
    info: CollectionInfo,
    words: Words,
    *,
    key: str,
    server: bool,
    usable: bool = True,
    added: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw name, description and every fact of one collection.

    ``server`` says where the settings' own store is; ``added`` are facts of plug-ins.
    """
    title = node("div", "head", node("strong", "big", info.name), *_chips(info, usable, words))
    told = (node("p", "told", info.description),) if info.description else ()
    facts = [_fact(label, value) for label, value in _facts(info, words, server, added) if value]
    parts = [title, *told, node("div", "facts-grid", *facts)]
    if not usable:
        sentence = words(
            "Its vectors come from {model}, which cannot be used here now, so it can be read but not searched by "
            "meaning. Make the model available, or re-embed the collection with another one.",
            model=model_name(info.embedding_model, words),
        )
        parts.append(node("p", "note", f"! {sentence}"))
    draw_knowledge([node("section", "card collection", *parts, aria_label=info.name)], words, key=key)


def advice_note(advice: GrowthAdvice, words: Words, *, key: str) -> None:
    """Advise on the store, from the size of a collection."""
    look, sign = ("plain", "i") if advice.code == "server_small" else ("warn", "!")
    text = words(_ADVICE[advice.code], n=count_text(advice.passages), ms=duration_text(advice.search_ms))
    note_box(look, sign, text, words, key=key)


def _row(number: int, info: CollectionInfo, chosen: bool, unusable: bool, words: Words) -> Node:
    pressed = "true" if chosen else "false"
    name = node("button", "title", info.name, data_action=f"{_OPEN}{number}", aria_pressed=pressed)
    told = (node("div", "muted small clip", info.description, title=info.description),) if info.description else ()
    chips = _chips(info, not unusable, words)
    marks = (node("div", "marks", *chips),) if chips else ()
    by = [words("meaning"), *([words("words")] if info.full_text else [])]
    model = node("div", "", model_name(info.embedding_model, words))
    dim = node("div", "muted small num", f"{info.dim} · {info.metric.lower()}")
    return node(
        "div",
        f"line{' on' if chosen else ''}",
        node("div", "collection", name, *told, *marks),
        _cell("passages num", "passages", _passages(info) or "–", words),
        # Another program's collection may not say what its sources are.
        _cell("sources num", "sources", count_text(info.sources) if info.sources or not info.address else "–", words),
        node("div", "model", model, dim),
        node("div", "search", " + ".join(by)),
        node("div", "built muted small num", moment(info.created_at)[:10]),
    )


def _cell(look: str, name: str, text: str, words: Words) -> Node:
    return node("div", look, text, data_label=words(_COLUMN[name]))


def _chips(info: CollectionInfo, usable: bool, words: Words) -> list[Node]:
    chips = [chip("plain", words("also {name}", name=alias)) for alias in info.aliases]
    if info.name == SAMPLES:
        chips.append(chip("grey", words("ships with the workbench")))
    if info.address:
        chips.append(chip("accent", words("connected"), info.address))
    if info.read_only:
        chips.append(
            chip(
                "grey",
                words("read only"),
                words("It belongs to another program: runs and searches read it, nothing here writes to it."),
            )
        )
    if info.fault is not None:
        chips.append(chip("fault", f"✗ {words('cannot be read now')}", info.fault.fact))
    elif not usable:
        chips.append(chip("warn", f"! {words('model not at hand')}"))
    return chips


def _passages(info: CollectionInfo) -> str:
    """Empty where a collection cannot be read and nothing of it was seen."""
    return count_text(info.passages) if info.passages or info.fault is None else ""


def _facts(info: CollectionInfo, words: Words, server: bool, added: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    kinds = words(", ").join(words(SOURCE_KIND_NAMES[kind]) for kind in info.kinds)
    store = info.address or words("server" if server else "embedded")
    built = words("{when} UTC", when=moment(info.created_at)) if info.created_at else ""
    own = {
        "passages": _passages(info),
        "sources": count_text(info.sources) if info.sources or not info.address else "",
        "summaries": count_text(info.summaries) if info.summaries else "",
        "model": model_name(info.embedding_model, words),
        "dim": f"{info.dim} · {info.metric}",
        "query_prefix": _quoted(info.query_prefix, words),
        "passage_prefix": _quoted(info.passage_prefix, words),
        "full_text": words("✓ yes" if info.full_text else "✗ no"),
        "kinds": kinds,
    }
    last = {"store": store, "remote": info.remote_name if info.address else "", "built": built}
    return [*_labelled(own, words), *added, *_labelled(last, words)]


def _labelled(facts: Mapping[str, str], words: Words) -> list[tuple[str, str]]:
    return [(words(_FACT[name]), value) for name, value in facts.items()]


def _quoted(prefix: str, words: Words) -> str:
    return f"“{prefix}”" if prefix else words("none")


def _fact(label: str, value: str) -> Node:
    return node("div", "fact", node("div", "label", label), node("div", "num", value))
