"""What a mode could not do, in a sentence: no mode silently becomes another (SPEC GH-02)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from components.i18n import Words
from components.markup import Node, node
from engine.values.graphs import ModeNote, RetrievalList


def note_text(note: ModeNote, words: Words) -> str:
    """The note with the list that it speaks of."""
    return words("graph.note", list=words(f"graph.from.{note.list}"), what=words(f"graph.note.{note.code}"))


def fallback_text(lists: Sequence[RetrievalList], words: Words) -> str:
    """What was searched in place of the mode's own lists."""
    return words("graph.fell_back", lists=words("list.joint").join(words(f"graph.from.{name}") for name in lists))


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
