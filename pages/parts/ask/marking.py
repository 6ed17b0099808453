"""The invitation to the one judgement that makes a diagnosis exact: which passage should have answered."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import box, button, draw, node
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.known_right import known_right
from engine.model.values import PassageId, RunRecord
from pages.parts.common.rights import may

_FELL_SHORT = ("answered_forced", "answered_unverified", "abstained", "fallback")


def invitation(engine: Engine, record: RunRecord, words: Words) -> PassageId | None:
    """Draw it where a run was forced or refused and the right passage is not known; returns one to begin with."""
    if not may("editor") or record.outcome not in _FELL_SHORT or known_right(engine, record) != (None, None):
        return None
    try:
        judged = {item.passage_id for item in engine.evaluation.labels(record.question)}
    except WorkbenchError:
        # A judgement could not be kept.
        return None
    found = [item.passage for current in record.rounds for item in current.candidates]
    open_to = sorted((item for item in found if item.id not in judged), key=lambda item: -item.similarity)
    if not open_to:
        return None
    refused = record.outcome in ("abstained", "fallback")
    return open_to[0].id if marking_box(words, refused=refused, key="marking") else None


def marking_box(words: Words, *, refused: bool, key: str) -> bool:
    """Draw the question; true when the reader wants to mark a passage. A refusal may have been right."""
    why = words("One judgement makes the diagnosis exact: it then says where that passage was lost.")
    if refused:
        why = words.joined((why, words("If none does, the refusal was right.")))
    asked = node("strong", "", words("Which passage should have answered? Mark it."))
    mark = button(words("Mark the right one"), "mark", "button primary")
    drawn = box("plain", "?", asked, node("p", "muted small", why), beside=(mark,), role="note")
    return draw((drawn,), words, key=key) == "mark"
