"""The moment of a run as its picture on a page shows it: what the page is sent first, and what its stream carries.

Everything is derived here from the record; the browser sets texts, classes and attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from components.ask.answer import answer_so_far
from components.ask.verdict_rows import verdict_values
from components.common.i18n import Words
from components.common.markup import Node
from components.picture.drawing import ICONS, counted, hint, painted, width_of
from components.picture.layout import Layout, layout_of
from components.picture.picture import NodeView, PictureView, picture_of
from engine.flow.graph import WorkflowGraph
from engine.model.values import RunRecord

PLANS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"wide": {}, "middle": {"longest": 5}, "narrow": {"vertical": True}}
)
"""By width of a page how the workflow is laid out: in a row, in two shorter ones, and in a column."""

_STEP_TITLE, _STEP_FACT = 14.0, 12.5
_AROUND_STEP, _BEFORE_FACT = 38.0, 8.0
"""Pixels around the words of a step in the line: its padding and sign, and the arrow to the next one."""
_FINER = 32
"""Pixels between the widths for which the line is cut to size."""


def plan_of(graph: WorkflowGraph, name: str) -> Layout:
    """The plan of a width named in :data:`PLANS`; the widest for any other name."""
    return layout_of(graph, **PLANS.get(name, {}))


def moment(graph: WorkflowGraph, record: RunRecord, words: Words, plan: str) -> dict[str, Any]:
    """Return the current view of a live run as flat values; a stream sends only those that changed.

    The answer is in it, its texts one by one so that a stream sends what they grew by, and a value for each verdict; no
    text of passages is.
    """
    picture = picture_of(graph, record, words)
    prose = answer_so_far(record, words)
    texts: list[str] = []
    return {
        "status": picture.status,
        "began": record.started_at,
        "outcome": record.outcome or "",
        "answer": [_without_texts(block, texts) for block in prose.kids] if prose else None,
        **{f"text.{number}": text for number, text in enumerate(texts)},
        **verdict_values(record, words),
        **painted(plan_of(graph, plan), picture),
    }


def _without_texts(part: Node | str, texts: list[str]) -> Any:
    """An element as the browser builds it, for each text its number; the text itself is added to ``texts``."""
    if isinstance(part, str):
        texts.append(part)
        return len(texts) - 1
    return [part.tag, dict(part.attrs), [_without_texts(kid, texts) for kid in part.kids]]


def line_of(picture: PictureView, record: RunRecord) -> dict[str, Any]:
    """The workflow as one line: nodes in the order they were reached, and by room in pixels the facts that fit."""
    reached = dict.fromkeys(item.node for item in record.nodes)
    shown = [(name, picture.nodes[name]) for name in reached if name in picture.nodes]
    steps = [
        {
            "name": name,
            "look": view.tone,
            "sign": ICONS[view.tone],
            "text": counted(view),
            "spoken": view.spoken,
            "hint": hint(view),
        }
        for name, view in shown
    ]
    return {"steps": steps, "facts": _facts_by_room([view for _, view in shown])}


def _facts_by_room(views: list[NodeView]) -> list[tuple[int, list[str]]]:
    """The facts of the steps for every room in which they differ, the widest first."""
    wordings = [view.lines[0] if view.lines else () for view in views]
    bare = sum(width_of(counted(view), _STEP_TITLE) + _AROUND_STEP for view in views)
    room = int(bare + sum(_room_of(texts[0]) for texts in wordings if texts)) + 1
    found: list[tuple[int, list[str]]] = []
    while room > bare:
        facts = _fitting(wordings, room - bare)
        if found and found[-1][1] == facts:
            found.pop()
        found.append((room, facts))
        room -= _FINER
    return found


def _fitting(wordings: list[tuple[str, ...]], left: float) -> list[str]:
    """For each step the wording there is room for.

    The shortest come first, so that one long one does not take what all the others need; then longer ones.
    """
    facts = [""] * len(wordings)
    for first in (-1, 0):
        for place, texts in enumerate(wordings):
            taken = _room_of(facts[place])
            fitting = next((text for text in texts[first:] if _room_of(text) - taken <= left), facts[place])
            left -= _room_of(fitting) - taken
            facts[place] = fitting
    return facts


def _room_of(fact: str) -> float:
    return width_of(fact, _STEP_FACT) + _BEFORE_FACT if fact else 0.0
