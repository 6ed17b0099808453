"""Routes of drafted questions: made from a collection, listed, accepted or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response

from engine.api.bodies import DraftDecision, DraftsRequest
from engine.api.encoding import Json
from engine.api.waiting import while_connected
from engine.drafting.values import Kept
from engine.engine import Engine
from engine.people.authorization import needs

GetEngine = Callable[[], Engine]
_State = Annotated[Literal["open", "accepted", "refused", "all"], Query()]


def add_drafts(api: FastAPI, get_engine: GetEngine) -> None:
    """``/collections/{name}/drafts`` and ``/drafts``."""

    @api.post(
        "/collections/{name}/drafts",
        summary="Let a chat model draft questions from the documents of a collection, and wait for them",
    )
    @needs("editor")
    async def make(name: str, body: DraftsRequest, request: Request) -> Response:
        drafting = get_engine().drafting
        making = asyncio.wrap_future(drafting.start(name, body.limit, body.model))

        async def made() -> dict[str, object]:
            found = await making
            drafts = [item.to_dict() for item in found.drafts]
            return {"drafts": drafts, "passages": found.passages, "unread": found.unread}

        return Json(await while_connected(request, made()))

    @api.get("/drafts", summary="Drafted questions, in the order in which they are best looked through")
    @needs("viewer")
    async def drafts(
        collection: Annotated[str, Query(max_length=255)] = "",
        state: _State = "open",
    ) -> Response:
        wanted = None if state == "all" else state
        found = await asyncio.to_thread(get_engine().drafting.list, collection, wanted)
        return Json([item.to_dict() for item in found])

    @api.put("/drafts/{draft_id}", summary="Accept a drafted question into a query set, refuse it, or reopen it")
    @needs("editor")
    async def decide(draft_id: str, body: DraftDecision) -> Response:
        return Json((await asyncio.to_thread(_decided, get_engine(), draft_id, body)).to_dict())


def _decided(engine: Engine, draft_id: str, body: DraftDecision) -> Kept:
    if body.state == "accepted":
        return engine.drafting.accept(draft_id, body.set, question=body.question, gold_answers=body.gold_answers)
    return engine.drafting.refuse(draft_id) if body.state == "refused" else engine.drafting.reopen(draft_id)
