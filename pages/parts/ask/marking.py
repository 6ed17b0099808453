"""The dialog Mark the right passage: a search of the collection for what should have answered a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, button, draw, node
from components.common.phrases import place_text
from components.common.terms import query_terms, segments
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.known_right import known_right
from engine.model.config import SearchMethod
from engine.model.values import COMPLETE, Passage, PassageId, RunRecord
from engine.roles import StoredPassage
from pages.parts.common.actions import retry_box, run_action, say_fault

Hit = Passage | StoredPassage

_MOST = 12
_LONGEST = 500
_YES, _BACK = "right:", "back:"


def is_asked(engine: Engine, record: RunRecord) -> bool:
    """Return whether a run was forced or refused and the passage that should have answered is not known."""
    return record.outcome in COMPLETE - {"answered"} and known_right(engine, record) == (None, None)


def mark_dialog(engine: Engine, record: RunRecord, words: Words) -> None:
    """Open the dialog; what is marked is kept as a judgement of the question."""
    st.dialog(words("Mark the right passage"), width="medium")(_dialog)(engine, record, words)


def _dialog(engine: Engine, record: RunRecord, words: Words) -> None:
    say_fault("mark", words)
    if record.outcome in ("abstained", "fallback"):
        st.caption(words("If none answers it, the refusal was right."))
    typed = st.text_input(
        words("Search the collection"), record.question, key="mark_query", icon=":material/search:", max_chars=_LONGEST
    )
    query = str(typed or "").strip() or record.question
    try:
        known = {item.passage_id: item.relevant for item in engine.evaluation.labels(record.question)}
    except WorkbenchError as error:
        retry_box(error, words, key="mark_unreadable")
        return
    pressed = view(_found(engine, record, query), known, query, words, key="mark_found")
    if pressed is not None:
        name, right = pressed
        run_action("mark", lambda: engine.evaluation.set_label(record.question, name, right))
        st.rerun()


def view(
    hits: Sequence[Hit], known: Mapping[PassageId, bool], query: str, words: Words, *, key: str
) -> tuple[PassageId, bool | None] | None:
    """Draw the hits, marked ones with the way back; returns the passage pressed with its new mark, None for none."""
    if not hits:
        st.info(words("Nothing found. Try other words."))
        return None
    terms = query_terms(query)
    pressed = draw([_hit(item, known.get(item.id), terms, words) for item in hits], words, key=key) or ""
    if pressed.startswith(_BACK):
        return PassageId(pressed.removeprefix(_BACK)), None
    return (PassageId(pressed.removeprefix(_YES)), True) if pressed else None


def _hit(hit: Hit, right: bool | None, terms: Sequence[str], words: Words) -> Node:
    name, place = hit.id, place_text(hit.source, hit.section, words)
    act = button(words("Take back"), f"{_BACK}{name}") if right else button(words("This one"), f"{_YES}{name}")
    head = node("div", "head", node("strong", "grow", f"✓ {place}" if right else place), act)
    marked = (node("mark", "", part) if on else part for part, on in segments(hit.text, terms))
    return node("section", "card", head, node("p", "own-text small", *marked))


def _found(engine: Engine, record: RunRecord, query: str) -> Sequence[Hit]:
    """Search by words and meaning; of a collection that cannot be searched here, what the run itself found."""
    try:
        method: SearchMethod = "fused" if engine.describe(record.collection).full_text else "vector"
        return [item.passage for item in engine.library.search(record.collection, query, _MOST, method)]
    except WorkbenchError:
        terms = query_terms(query)
        return sorted(record.passages.values(), key=lambda item: -sum(term in item.text for term in terms))[:_MOST]
