"""Routes of the knowledge base: collections, their sources, and ingestions in progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from engine.api.bodies import SourceRequest
from engine.api.encoding import Json, from_base64
from engine.api.waiting import while_connected
from engine.engine import Engine
from engine.errors import InvalidConfig
from engine.knowledge.items import IngestItem
from engine.people.authorization import needs

GetEngine = Callable[[], Engine]
AT_ONCE = 100_000
"""Bytes of the largest file that a request waits for: of text some 125 passages, half a minute to a minute of the
built-in model on two cores."""


def add_knowledge(api: FastAPI, get_engine: GetEngine) -> None:
    """``/collections`` and ``/ingestions``."""
    _add_collections(api, get_engine)
    _add_ingestions(api, get_engine)


def _add_collections(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/collections", summary="Collections of the knowledge base")
    @needs("viewer")
    async def collections() -> Response:
        return Json([asdict(item) for item in await asyncio.to_thread(get_engine().collections)])

    @api.get("/collections/{name}/sources", summary="Sources of a collection")
    @needs("viewer")
    async def sources(name: str) -> Response:
        return Json([asdict(item) for item in await asyncio.to_thread(get_engine().sources, name)])

    @api.post(
        "/collections/{name}/sources",
        summary=f"Put one file into a collection: up to {AT_ONCE // 1000} kB at once, a larger one as a job",
        responses={202: {"description": "The job that puts it in; it is followed at `/ingestions/{id}`"}},
    )
    @needs("editor")
    async def add_source(name: str, body: SourceRequest, request: Request) -> Response:
        item = IngestItem(body.name, data=await asyncio.to_thread(_content, body), hidden=body.hidden)
        if len(item.data or b"") > AT_ONCE or await asyncio.to_thread(_written, get_engine(), name, body):
            return Json(await asyncio.to_thread(_as_job, get_engine(), item, name, body), 202)
        ingesting = asyncio.wrap_future(
            get_engine().start_ingest(
                [item],
                name,
                query_prefix=body.query_prefix,
                passage_prefix=body.passage_prefix,
                chunks=body.chunks.options(),
                embedding_model=body.embedding_model,
                context=body.context,
            )
        )

        async def ingested() -> dict[str, Any]:
            return (await ingesting).to_dict()

        return Json(await while_connected(request, ingested()))

    @api.post(
        "/collections/{name}/sources/price",
        summary="What putting a file in would take, by the same body; puts nothing in and asks no model",
    )
    @needs("editor")
    async def price(name: str, body: SourceRequest) -> Response:
        item = IngestItem(body.name, data=await asyncio.to_thread(_content, body), hidden=body.hidden)
        return Json(await asyncio.to_thread(_price, get_engine(), item, name, body))


def _add_ingestions(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/jobs", summary="Jobs of every kind, newest first, batches and downloads of models among them")
    @needs("viewer")
    async def jobs() -> Response:
        return Json([item.to_dict() for item in await asyncio.to_thread(get_engine().jobs.all)])

    @api.get("/ingestions", summary="Jobs of the knowledge base, newest first: unfinished ones, and the last ones done")
    @needs("viewer")
    async def ingestions() -> Response:
        return Json([item.to_dict() for item in await asyncio.to_thread(get_engine().ingestions.jobs)])

    @api.get("/ingestions/{job_id}", summary="How far one job has come")
    @needs("viewer")
    async def ingestion(job_id: str) -> Response:
        return Json((await asyncio.to_thread(get_engine().ingestions.job, job_id)).to_dict())

    @api.post("/ingestions/{job_id}/stop", summary="Stop a job between two batches; it can be resumed")
    @needs("editor")
    async def stop(job_id: str) -> Response:
        return Json((await asyncio.to_thread(get_engine().ingestions.stop, job_id)).to_dict())

    @api.post("/ingestions/{job_id}/resume", summary="Continue a job that was stopped, failed or interrupted")
    @needs("editor")
    async def resume(job_id: str) -> Response:
        return Json((await asyncio.to_thread(get_engine().ingestions.resume, job_id)).to_dict())

    @api.delete(
        "/ingestions/{job_id}",
        summary="Forget a job that is over; what it put into its collection stays",
        status_code=204,
        response_class=Response,
    )
    @needs("editor")
    async def discard(job_id: str) -> Response:
        await asyncio.to_thread(get_engine().ingestions.discard, job_id)
        return Response(status_code=204)


def _written(engine: Engine, collection: str, body: SourceRequest) -> bool:
    """Whether a chat model is asked about each passage, which takes longer than a request."""
    there = [info for info in engine.collections() if collection in (info.name, *info.aliases)]
    return any(info.context == "written" for info in there) or body.context == "written"


def _as_job(engine: Engine, item: IngestItem, collection: str, body: SourceRequest) -> dict[str, Any]:
    job_id = engine.ingestions.start(
        [item],
        collection,
        chunks=body.chunks.options(),
        embedding_model=body.embedding_model,
        query_prefix=body.query_prefix,
        passage_prefix=body.passage_prefix,
        context=body.context,
        context_model=body.context_model,
    )
    return engine.ingestions.job(job_id).to_dict()


def _price(engine: Engine, item: IngestItem, collection: str, body: SourceRequest) -> dict[str, Any]:
    found = engine.ingestions.preview(
        [item],
        collection,
        body.chunks.options(),
        embedding_model=body.embedding_model,
        context=body.context,
        context_model=body.context_model,
    )
    return {
        "passages": found.passages,
        "seconds": found.seconds,
        "measured": found.measured,
        "writing": asdict(found.writing) if found.writing else None,
        "failed": [{"name": name, **fault.said()} for name, fault in found.failed],
    }


def _content(body: SourceRequest) -> bytes:
    try:
        return from_base64(body.content_base64)
    except ValueError:
        raise InvalidConfig.not_base64() from None
