"""The step that decides whether anything is searched at all (GH-01)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.attachments.passages import images_of, tables_of
from engine.errors import AttachmentsNotTaken
from engine.model.events import Decided
from engine.running.context import NodeTrace, RunContext
from engine.workflows.graph_hybrid.policy import decide_route, mode_of


async def route_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Go to the search, or straight to the answer; nothing is called."""
    tables = bool(tables_of(run.attachments))
    decision = decide_route(state["analysis"], run.config, attached=bool(run.attachments), tables=tables)
    run.emit(Decided(decision=decision))
    if decision.reason == "tables_only" and images_of(run.attachments):
        run.warn(AttachmentsNotTaken.beside_tables(images=len(images_of(run.attachments))), trace.node)
    if decision.reason == "bypass" and run.attachments:
        run.warn(AttachmentsNotTaken.in_mode(mode="bypass"), trace.node)
    return {"decision": decision, "mode": mode_of(run.config, state["analysis"])}
