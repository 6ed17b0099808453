"""What one node of the workflow had to do with: the tabs show that alone while it is chosen in the picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from components.common.life_lines import LifeLine
from engine.model.values import RunRecord

Tab = Literal["loop", "passages", "path", "rewrites", "timeline", "calls", "record"]
"""``loop`` exists in the workflows of ``loop_tab.LOOP_WORKFLOWS`` alone."""

_FIRST_TAB: dict[str, Tab] = {
    "retrieve": "passages",
    "grade": "passages",
    "rewrite": "rewrites",
    "generate": "calls",
    # Quality-control loop
    "question_router": "loop",
    "fuse": "passages",
    "rerank": "passages",
    "grade_documents": "loop",
    # Dual loop
    "retrieve_memory": "loop",
    "route_query": "loop",
    "rewrite_query": "rewrites",
    "retrieve_documents": "loop",
    "generate_response": "loop",
    "direct_response": "loop",
    "grade_relevance": "loop",
    "consolidate_memory": "loop",
    # Answer-evaluation loop
    "prepare": "passages",
    "generate_answer": "loop",
    "eval_answer": "loop",
    # Graph + vector retrieval
    "analyze_query": "loop",
    "refine_query": "rewrites",
}


def tab_of(node: str) -> Tab:
    """The tab that shows best what a node did."""
    return _FIRST_TAB.get(node, "timeline")


def of_node(record: RunRecord, node: str | None) -> RunRecord:
    """The record with the visits and model calls of one node; all of them where none is chosen."""
    if node is None:
        return record
    return replace(
        record,
        nodes=tuple(item for item in record.nodes if item.node == node),
        model_calls=tuple(item for item in record.model_calls if item.node == node),
    )


def concerns(line: LifeLine, node: str | None) -> bool:
    """Whether a passage went through a node: grade judged it, rewrite saw why it failed, generate was given it."""
    match node:
        case "grade" | "rerank" | "grade_documents":
            return line.verdict is not None
        case "rewrite" | "rewrite_query" | "refine_query":
            return line.verdict is not None and not line.passes
        case "generate" | "generate_response" | "grade_relevance" | "prepare" | "generate_answer" | "eval_answer":
            return line.marker is not None
        case _:
            return True
