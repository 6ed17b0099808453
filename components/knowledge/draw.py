"""Trees of elements with the looks of the Knowledge page; the browser sets every text as text."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Drawer, box, node

draw_knowledge = Drawer("knowledge", "loops.css", "knowledge.css", look="knowledge")


def quiet(text: str, words: Words, *, key: str) -> None:
    """A line in small grey letters, as a caption is, for text that may hold anybody's words."""
    draw_knowledge((node("div", "muted small", text),), words, key=key)


def note_box(look: str, sign: str, text: str, words: Words, *, key: str) -> None:
    """One sentence in a box; looks: ``plain``, ``pass``, ``warn``."""
    draw_knowledge((box(look, sign, text),), words, key=key)
