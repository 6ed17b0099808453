"""The facts of a collection's knowledge graph, and what is wrong with it."""

from __future__ import annotations

from components.common.amounts import count_text, moment
from components.common.embedding_facts import model_name
from components.common.i18n import Words
from components.common.markup import Node, chip, node
from components.knowledge.draw import draw_knowledge
from components.labels import BUILTIN_EXTRACTOR
from engine.library.values import GraphState
from engine.messages import N_

_FACTS = {
    "entities": N_("Entities"),
    "relationships": N_("Relationships"),
    "communities": N_("Communities"),
    "read": N_("Passages read"),
    "extractor": N_("Read by"),
    "built": N_("Finished"),
}

_EXTRACTOR = {
    "builtin": N_("Built-in rules"),
    "samples": N_("Written by hand"),
}

SAMPLES = "samples"
"""Name of what made the graph that comes with the samples."""


def graph_card(state: GraphState, words: Words, *, key: str) -> None:
    """Draw it as a card."""
    draw_knowledge(graph_card_nodes(state, words), words, key=key)


def graph_card_nodes(state: GraphState, words: Words) -> tuple[Node, ...]:
    """The card as a tree of text."""
    info = state.info
    title = node("div", "head", node("strong", "big", words("Knowledge graph")), *_chips(state, words))
    facts = [
        ("entities", count_text(info.entities)),
        ("relationships", count_text(info.relationships)),
        ("communities", count_text(info.communities)),
        ("read", words("{done} of {n}", done=count_text(info.passages), n=count_text(state.collection_passages))),
        ("extractor", extractor_text(info.extractor, words)),
        ("built", words("{when} UTC", when=moment(info.built_at)) if info.built_at else ""),
    ]
    cells = [
        node("div", "fact", node("div", "label", words(_FACTS[name])), node("div", "num", value))
        for name, value in facts
        if value
    ]
    parts = [title, node("div", "facts-grid", *cells)]
    if state.stale:
        parts.append(
            node(
                "p",
                "note",
                "! ",
                words(
                    "The collection has changed since the graph was built: what is new is not in it, and runs say so. "
                    "Bring it up to date to read only what has changed."
                ),
            )
        )
    if info.extractor == "builtin":
        parts.append(node("p", "small muted", words(BUILTIN_EXTRACTOR)))
    return (node("section", "card collection", *parts, aria_label=words("Knowledge graph")),)


def extractor_text(name: str, words: Words) -> str:
    """Name the reader of the passages."""
    if name in ("builtin", SAMPLES):
        return words(_EXTRACTOR[name])
    return model_name(name, words)


def _chips(state: GraphState, words: Words) -> list[Node]:
    if not state.info.finished:
        going_on = state.job is not None and not state.job.over
        look, sign = ("accent", "●") if going_on else ("warn", "!")
        return [chip(look, f"{sign} {words('unfinished')}")]
    if state.stale:
        return [chip("warn", f"! {words('out of date')}")]
    return [chip("pass", f"✓ {words('up to date')}")]
