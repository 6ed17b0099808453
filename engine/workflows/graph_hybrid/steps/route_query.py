"""The step that decides whether anything is searched at all (GH-01)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.builtin.table_work import on_tables_alone
from engine.errors import AttachmentError
from engine.flow.context import NodeTrace, RunContext
from engine.model.events import Decided
from engine.workflows.graph_hybrid.attached import images_of, tables_of
from engine.workflows.graph_hybrid.policy import decide_route, mode_of


async def route_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Go to the search, or straight to the answer; nothing is called."""
    tables = tables_of(run.attachments)
    alone = len(tables) == len(run.attachments) and on_tables_alone(state["question"], tables)
    decision = decide_route(
        state["analysis"], run.config, attached=bool(run.attachments), tables=bool(tables), on_tables=alone
    )
    run.emit(Decided(decision=decision))
    if decision.reason == "tables_only" and images_of(run.attachments):
        run.warn(AttachmentError.images_not_looked_at(images=len(images_of(run.attachments))), trace.node)
    if decision.reason == "bypass" and run.attachments:
        run.warn(AttachmentError.not_looked_at_in_mode(mode="bypass"), trace.node)
    return {"decision": decision, "mode": mode_of(run.config, state["analysis"])}
