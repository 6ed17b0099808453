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
from components.path.drawing import path_of
from components.picture.drawing import painted
from components.picture.layout import Layout, layout_of
from components.picture.picture import picture_of
from engine.flow.graph import WorkflowGraph
from engine.model.values import RunRecord

PLANS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"wide": {}, "middle": {"longest": 5}, "narrow": {"vertical": True}}
)
"""By width of a page how the workflow is laid out: in a row, in two shorter ones, and in a column."""

PICTURE_SCRIPT = "workflow_picture.js"
"""What builds and paints a drawing of the workflow; ``dom.js`` comes before it, and what uses it behind it."""


def plan_of(graph: WorkflowGraph, name: str) -> Layout:
    """The plan of a width named in :data:`PLANS`; the widest for any other name."""
    return layout_of(graph, **PLANS.get(name, {}))


def layouts(graph: WorkflowGraph) -> dict[str, Layout]:
    """The plans for the widths of a page, by name; one that is like the widest is left out."""
    wide = plan_of(graph, "wide")
    return {"wide": wide} | {name: plan for name in PLANS if (plan := plan_of(graph, name)) != wide}


def moment(graph: WorkflowGraph, record: RunRecord, words: Words, plan: str) -> dict[str, Any]:
    """Return the current view of a live run as flat values; a stream sends only those that changed.

    The answer is in it, its texts one by one so that a stream sends what they grew by, and a value for each verdict; no
    text of passages is.
    """
    picture = picture_of(graph, record, words)
    prose = answer_so_far(record, words)
    texts: list[str] = []
    rows = path_of(record, words)
    return {
        "status": picture.status,
        "began": record.started_at,
        "outcome": record.outcome or "",
        "answer": [_without_texts(block, texts) for block in prose.kids] if prose else None,
        **{f"text.{number}": text for number, text in enumerate(texts)},
        **verdict_values(record, words),
        "path.rows": len(rows),
        **{f"path.{place}": row.plain() for place, row in enumerate(rows)},
        **painted(plan_of(graph, plan), picture),
    }


def _without_texts(part: Node | str, texts: list[str]) -> Any:
    """An element as the browser builds it, for each text its number; the text itself is added to ``texts``."""
    if isinstance(part, str):
        texts.append(part)
        return len(texts) - 1
    return [part.tag, dict(part.attrs), [_without_texts(kid, texts) for kid in part.kids]]
