"""The live workflow: a picture that follows a run's events, and hands the growing answer to its card (SPEC SC-12).

The browser receives the run's events itself, so the picture needs no rerun of the page until the run has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components.markup import script
from components.workflow_export import workflow_svg
from components.workflow_facts import slim_verdict
from components.workflow_layout import layout_of
from engine.workflows.graph import WorkflowGraph

PICTURE_SCRIPTS = (
    *("live_run_fold.js", "live_run_words.js", "live_run_facts_graph.js", "live_run_facts.js"),
    "live_run_picture.js",
    "live_run_draw.js",
)
"""What draws the picture of a run from its events; ``dom.js`` comes before it, and what uses it behind it."""

_SHORT_ROW = 5
"""Columns of a row on a page that is not wide enough for all."""

_HTML = """
<div class="wb live">
  <div class="glance" hidden><div class="steps"></div><button type="button" class="unfold"></button></div>
  <div class="whole"><div class="inside">
    <div class="canvas"></div>
    <div class="foot">
      <span class="state" role="status"></span><span class="clock" aria-hidden="true"></span>
      <span class="tools" hidden></span>
    </div>
  </div></div>
</div>
"""

_draw = st.components.v2.component(
    "live_run",
    html=_HTML,
    css=script("tokens.css", "live_run.css"),
    js=script("dom.js", *PICTURE_SCRIPTS, "live_run_line.js", "live_run.js"),
)


@dataclass(frozen=True, slots=True)
class LiveRunResult:
    """What the reader or the end of the run has to say to the page."""

    selected_node: str | None
    """The node chosen in the picture; stays until it is chosen again."""
    finished: str | None
    """The outcome, in the one rerun that follows the end of the run; ``not_found`` where the run is not known."""


def live_run(
    graph: WorkflowGraph,
    record: Mapping[str, Any] | None,
    run_id: str | None,
    *,
    active: bool,
    words: Mapping[str, str],
    key: str,
    base: str = "",
) -> LiveRunResult:
    """Draw the workflow: live from ``{base}/api/runs/{run_id}/events`` while ``active``, else from ``record``.

    A finished run is one line of its nodes, which opens; before a run and during it the whole picture is open.
    ``record`` is what ``RunRecord.to_dict()`` gives, None before a run; ``words`` is a table of ``words_live``;
    ``base`` is the server's base path without a closing slash.
    """
    shown = None if active else record
    drawings = None
    if shown is not None:
        drawings = {"light": workflow_svg(graph, shown, words), "dark": workflow_svg(graph, shown, words, dark=True)}
    state = st.session_state.get(key) or {}
    result = _draw(
        key=key,
        data={
            "layouts": layouts(graph),
            "names": list(graph.nodes),
            "edges": [
                {"source": edge.source, "target": edge.target, "conditional": edge.conditional} for edge in graph.edges
            ],
            "record": slim(shown) if shown is not None else None,
            "run_id": run_id,
            "active": active,
            "shown": run_id,
            "folded": shown is not None,
            "selected": state.get("selected"),
            "cleared": st.session_state.get(f"{key}_cleared", 0),
            "words": dict(words),
            "base": base,
            "svg": drawings,
        },
        on_selected_change=_nothing,
        on_finished_change=_nothing,
    )
    selected = result.selected if result.selected in graph.nodes else None
    return LiveRunResult(selected, result.finished)


def layouts(graph: WorkflowGraph) -> dict[str, Any]:
    """Plans for the widths of a page: in a row, in two shorter ones, and in a column."""
    return {
        "wide": layout_of(graph).to_dict(),
        "middle": layout_of(graph, longest=_SHORT_ROW).to_dict(),
        "narrow": layout_of(graph, vertical=True).to_dict(),
    }


def clear_selection(key: str) -> None:
    """Choose no node in the picture drawn under ``key``, in the next run of the whole page."""
    # The choice is the browser's: it is asked to forget it, and says so in a rerun of its own.
    st.session_state[f"{key}_cleared"] = st.session_state.get(f"{key}_cleared", 0) + 1


def slim(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the picture reads of a record: no prompt and no text of passages or memories leaves with it."""
    kept = (
        "nodes",
        "decisions",
        "rewrites",
        "outcome",
        "answer_note",
        "error",
        "duration_ms",
        "citations",
        "tried_routes",
    )
    config, context, route = record["config"], record["context"], record["route"]
    recall, remembered = record["recall"], record["remembered"]
    analysis = record["analysis"]
    return {
        **{name: record[name] for name in kept},
        "config": {name: config[name] for name in ("min_confidence", "workflow", "options", "search", "mode")},
        "rounds": [_slim_round(item) for item in record["rounds"]],
        "model_calls": [
            {name: call[name] for name in ("role", "node", "reply_tokens")} for call in record["model_calls"]
        ],
        "context": _slim_context(context) if context else None,
        "drafts": [_slim_draft(item) for item in record["drafts"]],
        "recall": {**recall, "memories": [{"id": item["id"]} for item in recall["memories"]]} if recall else None,
        "route": {name: route[name] for name in ("route", "code", "without_memory")} if route else None,
        "remembered": {"passed": remembered["passed"]} if remembered else None,
        "analysis": {name: analysis[name] for name in ("complexity", "entities")} if analysis else None,
        "cell_citations": [{} for _ in record["cell_citations"]],
    }


def _slim_context(context: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: context[name] for name in ("tokens", "token_budget")}
    return {**kept, "passages": [{"id": item["id"]} for item in context["passages"]]}


def _slim_round(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("index", "searched", "reused", "routing", "quality", "strategy")
    graph = item["graph"]
    return {
        **{name: item[name] for name in kept},
        "graph": {name: graph[name] for name in ("mode", "fell_back_to")} if graph else None,
        "candidates": [
            {name: candidate[name] for name in ("gate", "kind", "found_at", "graph_score")}
            for candidate in item["candidates"]
        ],
        "verdicts": {name: slim_verdict(verdict) for name, verdict in item["verdicts"].items()},
    }


def _slim_draft(item: Mapping[str, Any]) -> dict[str, Any]:
    evaluation = item["evaluation"]
    # Only their number is drawn.
    judged: dict[str, Any] | None = {"suggestions": [{} for _ in evaluation["suggestions"]]} if evaluation else None
    return {"index": item["index"], "evaluation": judged}


def _nothing() -> None:
    """A value or a trigger exists on the result only where a callback is named."""
