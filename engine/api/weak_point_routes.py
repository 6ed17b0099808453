"""Routes of the history of weak points: its entries, and the switch of each collection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

from fastapi import FastAPI, Query
from fastapi.responses import Response

from engine.api.bodies import SwitchRequest
from engine.api.encoding import Json
from engine.engine import Engine
from engine.errors import RunError
from engine.people.authorization import needs

GetEngine = Callable[[], Engine]


def add_weak_points(api: FastAPI, get_engine: GetEngine) -> None:
    """``/weak-points`` and ``/collections/{name}/weak-points``."""

    @api.get("/weak-points", summary="Questions that were refused, forced or judged unhelpful, newest first")
    @needs("viewer")
    async def weak_points(collection: Annotated[str, Query(max_length=255)] = "") -> Response:
        found = await asyncio.to_thread(get_engine().weak_points.list, collection)
        return Json([asdict(item) for item in found])

    @api.delete(
        "/weak-points/{point_id}", summary="Remove one entry for good", status_code=204, response_class=Response
    )
    @needs("admin")
    async def delete(point_id: str) -> Response:
        if not await asyncio.to_thread(get_engine().weak_points.delete, point_id):
            raise RunError.unknown_weak_point(point=point_id)
        return Response(status_code=204)

    @api.put("/collections/{name}/weak-points", summary="Whether runs of a collection add entries to its history")
    @needs("admin")
    async def switch(name: str, body: SwitchRequest) -> Response:
        engine = get_engine()
        info = await asyncio.to_thread(engine.describe, name)
        await asyncio.to_thread(lambda: engine.weak_points.switch(info.name, on=body.on))
        return Json({"collection": info.name, "on": body.on})
