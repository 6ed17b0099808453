"""Routes of knowledge graphs: build, look at, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import FastAPI, Query
from fastapi.responses import Response

from engine.api.bodies import GraphRequest
from engine.api.encoding import Json
from engine.engine import Engine
from engine.errors import GraphStoreError
from engine.people.authorization import needs

GetEngine = Callable[[], Engine]
_Name = Annotated[str, Query(min_length=1, max_length=200)]


def add_graphs(api: FastAPI, get_engine: GetEngine) -> None:
    """``/collections/{name}/graph``."""
    _add_building(api, get_engine)
    _add_looking(api, get_engine)


def _add_building(api: FastAPI, get_engine: GetEngine) -> None:
    @api.post(
        "/collections/{name}/graph",
        summary="Begin to build the knowledge graph of a collection; its job is followed at `/ingestions/{id}`",
        status_code=202,
    )
    @needs("editor")
    async def build(name: str, body: GraphRequest) -> Response:
        engine = get_engine()
        usual = engine.settings.models.extractor.model
        job_id = await asyncio.to_thread(engine.graphs.build, name, body.extractor or usual, replace=body.replace)
        return Json((await asyncio.to_thread(engine.ingestions.job, job_id)).to_dict(), 202)

    @api.delete(
        "/collections/{name}/graph",
        summary="Drop the knowledge graph of a collection; its passages stay",
        status_code=204,
        response_class=Response,
    )
    @needs("admin")
    async def delete(name: str) -> Response:
        if not await asyncio.to_thread(get_engine().graphs.delete, name):
            raise GraphStoreError.missing(collection=name)
        return Response(status_code=204)


def _add_looking(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/collections/{name}/graph", summary="The knowledge graph of a collection: how far it is, what it holds")
    @needs("viewer")
    async def describe(
        name: str,
        entities: Annotated[int, Query(ge=0, le=2000)] = 50,
        query: Annotated[str, Query(max_length=200)] = "",
        communities: Annotated[int, Query(ge=0, le=500)] = 20,
    ) -> Response:
        return Json(await asyncio.to_thread(get_engine().graphs.to_dict, name, query, entities, communities))

    @api.get(
        "/collections/{name}/graph/neighbourhood",
        summary="Entities around one, by its name, alias or id, and the relationships between all of them",
    )
    @needs("viewer")
    async def neighbourhood(
        name: str,
        entity: _Name,
        hops: Annotated[int, Query(ge=0, le=4)] = 1,
        limit: Annotated[int, Query(ge=1, le=2000)] = 200,
    ) -> Response:
        found = await asyncio.to_thread(get_engine().graphs.neighbourhood, name, [entity], hops, limit)
        return Json(found.to_dict())
