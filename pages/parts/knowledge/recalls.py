"""What recent runs of the dual loop recalled from memory, and whether that changed the way they went (DL-06)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from components.common.amounts import beginning, utc
from components.common.i18n import Words
from components.common.markup import Drawer, Node, chip, node
from components.common.phrases import probability_text
from components.common.run_link import run_address
from components.labels import STRATEGY_NAMES
from engine.messages import N_
from engine.model.values import Memory, Recall, RouteChoice, RunRecord

Effect = Literal["changed", "same", "unknown", "nothing", "off", "failed"]
EFFECTS: Mapping[Effect, tuple[str, str]] = {
    "changed": ("accent", N_("⇄ changed the route")),
    "same": ("plain", N_("= same route")),
    "unknown": ("grey", N_("? effect unknown")),
    "nothing": ("grey", N_("– nothing recalled")),
    "off": ("grey", N_("■ memory off")),
    "failed": ("fault", N_("✗ memory unreadable")),
}
"""The look and the words of each."""
_QUESTION_BEGINNING = 60
draw_memory = Drawer("memory", "loops.css", "memory.css")


def view(records: Sequence[RunRecord], words: Words, *, key: str) -> None:
    """Draw one line a run, newest first."""
    if not records:
        st.info(words("Nothing yet."))
        return
    draw_memory([node("ul", "recalls", *(_line(record, words) for record in records))], words, key=key)


def effect_of(record: RunRecord) -> Effect:
    """Return the effect of memory on a run that consulted it."""
    recall, route = record.recall, record.route
    if recall is None or recall.failed:
        return "failed"
    if recall.off:
        return "off"
    if not recall.memories:
        return "nothing"
    if route is None or route.without_memory is None:
        return "unknown"
    return "same" if route.route == route.without_memory else "changed"


def _line(record: RunRecord, words: Words) -> Node:
    effect = effect_of(record)
    question = beginning(record.question, 160) or "–"
    asked = node("a", "asked", question, href=run_address(record.id, words))
    look, name = EFFECTS[effect]
    said = [chip(look, words(name))]
    if effect == "changed" and record.route is not None:
        said.append(node("span", "small muted", _how(record.route, words)))
    recall = record.recall
    recalled = [_recalled(item, _unused(item.id, recall), words) for item in recall.memories] if recall else []
    head = node("div", "head", asked, node("span", "grow far", node("span", "small muted num", utc(record.started_at))))
    return node("li", "card recall", head, node("div", "said", *said), *recalled)


def _unused(memory_id: str, recall: Recall) -> str:
    if memory_id in recall.stale:
        return N_("outdated, not used")
    return N_("does not answer this, not used") if memory_id in recall.refused else ""


def _recalled(item: Memory, unused: str, words: Words) -> Node:
    question, similarity = beginning(item.question, _QUESTION_BEGINNING), probability_text(item.similarity)
    mark = [chip("warn", words(unused))] if unused else []
    return node("div", "recalled small", node("span", "", f"“{question}” · {similarity}"), *mark)


def _how(route: RouteChoice, words: Words) -> str:
    taken, without = (
        words("answered directly" if name == "direct" else STRATEGY_NAMES[str(name)])
        for name in (route.route, route.without_memory)
    )
    return words("{taken}; without memory: {without}", taken=taken, without=without)
