"""Routes that branch off a run, and that say beforehand what it would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from engine.api.bodies import ForkChanges, ForkRequest
from engine.api.encoding import Json
from engine.api.errors import NOT_KEPT_YET, answered
from engine.api.links import link_of, linked
from engine.api.partial_config import config_over
from engine.api.waiting import finished, while_connected
from engine.engine import Engine
from engine.model.values import PassageId, RunId
from engine.people.authorization import needs
from engine.replay.fork import fork_price


def add_fork(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    """``POST /runs/{run_id}/fork`` and ``POST /runs/{run_id}/fork/price``."""

    @api.post(
        "/runs/{run_id}/fork",
        summary="Continue from a decision of a run with something changed, reusing all that was asked before",
        responses={
            202: {"description": f"The branch runs; its id, the path of its events, its link. Or: {NOT_KEPT_YET}"}
        },
    )
    @needs("editor")
    async def fork(run_id: str, body: ForkRequest, request: Request) -> Response:
        engine = get_engine()
        branch_id = await asyncio.to_thread(_begun, engine, run_id, body)
        if not body.wait:
            return Json({"id": branch_id, "events": f"/api/runs/{branch_id}/events", "link": link_of(branch_id)}, 202)
        record, kept = await while_connected(request, finished(engine, branch_id))
        return answered(record, linked(record), kept=kept)

    @api.post(
        "/runs/{run_id}/fork/price",
        summary="What a branch would cost beyond what is reused: the next step, and the rest at worst",
    )
    @needs("viewer")
    async def price(run_id: str, body: ForkChanges) -> Response:
        return Json(await asyncio.to_thread(_priced, get_engine(), run_id, body))


def _begun(engine: Engine, run_id: str, body: ForkChanges) -> RunId:
    parent = engine.record(run_id)
    config = config_over(parent.config, body.config)
    return engine.fork(parent, config, round=body.round, query=body.query, verdicts=_verdicts(body))


def _priced(engine: Engine, run_id: str, body: ForkChanges) -> dict[str, Any]:
    parent = engine.record(run_id)
    config = config_over(parent.config, body.config)
    return asdict(fork_price(parent, config, body.round, body.query, _verdicts(body)))


def _verdicts(body: ForkChanges) -> dict[PassageId, bool]:
    return {PassageId(name): relevant for name, relevant in body.verdicts.items()}
