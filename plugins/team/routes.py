"""Routes of a team: who is asking, tokens, the log of changes, limits of collections, and figures for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from engine.api.encoding import Json
from engine.engine import Engine
from engine.people import current_user
from engine.people.authorization import needs
from plugins.team.audit import as_csv
from plugins.team.bodies import GroupsRequest, TokenRequest
from plugins.team.team import MOST_ENTRIES, Team
from plugins.team.tokens import Token

GetEngine = Callable[[], Engine]
_Before = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


def add_team(api: FastAPI, get_engine: GetEngine) -> None:
    """``/me``, ``/tokens``, ``/audit``, ``/collections/{name}/groups`` and ``/metrics``."""
    _add_tokens(api, get_engine)
    _add_audit(api, get_engine)
    _add_groups(api, get_engine)
    _add_metrics(api, get_engine)


def _add_tokens(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/me", summary="Who is asking, and with which role")
    @needs("viewer")
    async def me() -> Response:
        person = current_user()
        return Json({"id": person.id, "name": person.name, "role": person.role, "groups": sorted(person.groups)})

    @api.get("/tokens", summary="Bearer tokens, newest first, without their texts")
    @needs("admin")
    async def tokens() -> Response:
        return Json([_shown(item) for item in await asyncio.to_thread(Team.of(get_engine()).tokens)])

    @api.post("/tokens", summary="Make a bearer token; `token` of the answer is shown this once", status_code=201)
    @needs("admin")
    async def make(body: TokenRequest) -> Response:
        team = Team.of(get_engine())
        made, text = await asyncio.to_thread(team.make_token, body.name, body.role, body.days, body.collections)
        return Json({**_shown(made), "token": text}, 201)

    @api.delete("/tokens/{token_id}", summary="Revoke a bearer token", status_code=204, response_class=Response)
    @needs("admin")
    async def revoke(token_id: str) -> Response:
        await asyncio.to_thread(Team.of(get_engine()).revoke_token, token_id)
        return Response(status_code=204)


def _add_audit(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/audit", summary="What people changed, newest first")
    @needs("admin")
    async def audit(before: _Before = None, limit: Annotated[int, Query(ge=1, le=MOST_ENTRIES)] = 100) -> Response:
        return Json([asdict(item) for item in await asyncio.to_thread(Team.of(get_engine()).entries, before, limit)])

    @api.get("/audit.csv", summary="The same as a table", response_class=Response)
    @needs("admin")
    async def table(before: _Before = None, limit: Annotated[int, Query(ge=1, le=MOST_ENTRIES)] = 1000) -> Response:
        found = await asyncio.to_thread(Team.of(get_engine()).entries, before, limit)
        return Response(as_csv(found), media_type="text/csv; charset=utf-8")


def _add_groups(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/collections/{name}/groups", summary="The groups that a collection is limited to; none: all may read it")
    @needs("viewer")
    async def groups(name: str) -> Response:
        return Json(await asyncio.to_thread(_groups, get_engine(), name))

    @api.put("/collections/{name}/groups", summary="Limit a collection to groups; with none all may read it")
    @needs("admin")
    async def limit(name: str, body: GroupsRequest) -> Response:
        engine = get_engine()
        await asyncio.to_thread(engine.limit_collection, name, body.groups)
        return Json(await asyncio.to_thread(_groups, engine, name))


def _groups(engine: Engine, collection: str) -> dict[str, Any]:
    name = engine.describe(collection).name
    return {"collection": name, "groups": sorted(engine.limits.all().get(name, ()))}


def _shown(token: Token) -> dict[str, Any]:
    return {name: value for name, value in asdict(token).items() if name != "digest"}


def _add_metrics(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get(
        "/metrics",
        summary="Figures of this process for Prometheus",
        responses={
            200: {"content": {"text/plain": {}}, "description": "Prometheus' text format."},
            404: {"description": "WORKBENCH_METRICS is not set."},
        },
    )
    @needs("viewer")
    async def metrics() -> Response:
        from plugins.team.metrics import CONTENT_TYPE_LATEST, Metrics

        figures = get_engine().part(Metrics)
        if figures is None:
            raise HTTPException(404)
        return Response(await asyncio.to_thread(figures.text), media_type=CONTENT_TYPE_LATEST)
