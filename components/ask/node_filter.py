"""What one node of the workflow had to do with: the tabs show that alone while it is chosen in the picture."""

from __future__ import annotations

from dataclasses import replace

from components.common.life_lines import LifeLine
from engine.flow import workflow
from engine.flow.flow import Tab
from engine.model.values import RunRecord


def tab_of(name: str, record: RunRecord) -> Tab:
    """The tab that shows best what a node did."""
    node = workflow(record.workflow).flow.nodes.get(name)
    return node.tab if node else "timeline"


def of_node(record: RunRecord, node: str | None) -> RunRecord:
    """The record with the visits and model calls of one node; all of them where none is chosen."""
    if node is None:
        return record
    return replace(
        record,
        nodes=tuple(item for item in record.nodes if item.node == node),
        model_calls=tuple(item for item in record.model_calls if item.node == node),
    )


def concerns(line: LifeLine, name: str | None, record: RunRecord) -> bool:
    """Whether a passage went through a node: grade judged it, rewrite saw why it failed, generate was given it."""
    flow = workflow(record.workflow).flow
    node = flow.nodes.get(name or "")
    match node.kind if node else "":
        case "grade":
            return line.verdict is not None
        case "rewrite":
            return line.verdict is not None and not line.passes
        case "context" | "answer" | "evaluate":
            # An answer without a search is given none, whatever is searched after it.
            searches = any(flow.reaches(search, name or "") for search in flow.of_kind("search"))
            return searches and line.marker is not None
        case _:
            return True
