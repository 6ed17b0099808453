"""What a mode could not do, in a sentence: no mode silently becomes another (GH-02)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from components.common.i18n import Words
from components.common.markup import Node, node
from components.labels.runs import GRAPH_LISTS
from engine.messages import N_
from engine.model.values.graphs import ModeNote, RetrievalList

_NOTE = {
    "no_graph": N_("the collection has no knowledge graph. Build one under Knowledge → Graph."),
    "no_entity": N_("nothing in the query is an entity of the graph, so there was nothing to begin from."),
    "no_passages": N_("what was found in the graph led to no passage."),
    "no_communities": N_("the graph has no communities with summaries."),
    "graph_unfinished": N_("the graph is not finished, so only a part of the passages is in it."),
    "graph_stale": N_("the collection has changed since the graph was built."),
    "graph_unreachable": N_("the graph could not be read, or not in time. Ask again, or see System → Health."),
}


def note_text(note: ModeNote, words: Words) -> str:
    """The note with the list that it speaks of."""
    return words("{list}: {what}", list=words(GRAPH_LISTS[note.list]), what=words(_NOTE[note.code]))


def fallback_text(lists: Sequence[RetrievalList], words: Words) -> str:
    """What was searched in place of the mode's own lists."""
    return words(
        "This mode could not do its own work; searched instead: {lists}.",
        lists=words(", ").join(words(GRAPH_LISTS[name]) for name in lists),
    )


def notes_box(notes: Iterable[ModeNote], fell_back_to: Sequence[RetrievalList], words: Words) -> Node | None:
    """All of it in a box that cannot be overlooked; None where there is nothing to say."""
    said = [note_text(item, words) for item in notes]
    if fell_back_to:
        said.insert(0, fallback_text(fell_back_to, words))
    if not said:
        return None
    first, *rest = said
    lead = node("strong", "", first) if fell_back_to else node("span", "", first)
    text = node("div", "grow", lead, *(node("p", "small", item) for item in rest))
    return node("div", "box warn", node("span", "icon", "!", aria_hidden="true"), text, role="alert")
