"""The sentence that asks which passage should have answered, and the button that leads to the passages."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import box, button, draw, node


def marking_box(words: Words, *, refused: bool, key: str) -> bool:
    """Draw the question; true when the reader wants to mark a passage. A refusal may have been right."""
    why = words("One judgement makes the diagnosis exact: it then says where that passage was lost.")
    if refused:
        why = words.joined((why, words("If none does, the refusal was right.")))
    asked = node("strong", "", words("Which passage should have answered? Mark it."))
    mark = button(words("Mark the right one"), "mark", "button primary")
    drawn = box("plain", "?", asked, node("p", "muted small", why), beside=(mark,), role="note")
    return draw((drawn,), words, key=key) == "mark"
