"""The HTTP API: a FastAPI application over an engine, without Streamlit, so that it can be tested alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import FastAPI, Header, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from engine.api import published
from engine.api.addresses import listed
from engine.api.answer_routes import add_answers
from engine.api.attaching import add_attachments, attached
from engine.api.bodies import (
    CheckRequest,
    ErrorBody,
    RunRequest,
    RunsQuery,
    SeedRequest,
    WhatIfRequest,
)
from engine.api.draft_routes import add_drafts
from engine.api.encoding import Json
from engine.api.errors import NOT_KEPT_YET, add_error_handlers, answered
from engine.api.forking import add_fork
from engine.api.graph_routes import add_graphs
from engine.api.host_routes import add_host
from engine.api.incoming import OPEN, QuickRoute
from engine.api.judging_routes import add_judging
from engine.api.knowledge_routes import add_knowledge
from engine.api.links import link_of, linked
from engine.api.partial_config import config_over
from engine.api.waiting import STREAM, event_stream, finished, view_stream, while_connected
from engine.api.weak_point_routes import add_weak_points
from engine.api.web import ApiFirst, ApiGuard, guards
from engine.engine import Engine
from engine.errors import InvalidQuestion
from engine.model.config import USUAL, RunConfig, models_from_dict
from engine.model.noted_faults import NotedFault
from engine.model.traceparent import TRACEPARENT, called_by
from engine.model.values import Attachment, RunId, RunRecord
from engine.people.authorization import needs
from engine.plugins import Front, SignIn, plugins
from engine.running.seed_response import seed_response
from engine.settings import Settings
from engine.version import __version__

GetEngine = Callable[[], Engine]
Views = Callable[[RunRecord, Mapping[str, str]], Mapping[str, Any]]
"""What a page shows of a run, from the record and the parameters of the address that the page follows."""
_Tag = Annotated[str, Path(json_schema_extra=published.TAG)]
_HEARTBEAT_S = 15.0
_LARGEST_SEQ = 10**9
_ERRORS: dict[int | str, dict[str, Any]] = {
    422: {"model": ErrorBody, "description": "The request is not valid; fields and their ranges are named."},
    "4XX": {"model": ErrorBody, "description": "The request was refused."},
    "5XX": {"model": ErrorBody, "description": "Nothing could be graded or generated."},
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "Events in order, ending with `run_finished`."},
    204: {"description": "The run has ended and every event of it was seen."},
}


def middleware(
    get_engine: GetEngine,
    settings: Settings,
    *,
    heartbeat_s: float = _HEARTBEAT_S,
    views: Views | None = None,
    sign_in: SignIn | None = None,
    base: str = "",
) -> list[Middleware]:
    """The guards of pages and API, and behind them the API, which takes every path below ``/api`` to itself.

    ``views`` derives what pages show of a run while they follow it; without it there is no stream for them. ``sign_in``
    knows who calls where people sign in, and ``base`` is what stands before every path of the app.
    """
    api: ASGIApp = ApiGuard.around(create_api(get_engine, heartbeat_s=heartbeat_s, views=views), settings)
    apis = {"api": api if sign_in is None else sign_in.api(api, OPEN)}
    pages = [] if sign_in is None else [sign_in.pages(base)]
    front = Front(get_engine, settings, sign_in, base, heartbeat_s)
    first = [layer for plugin in plugins() if plugin.outermost for layer in plugin.outermost(front)]
    behind = [layer for plugin in plugins() if plugin.middleware for layer in plugin.middleware(front)]
    return [*first, *guards(settings), *behind, Middleware(ApiFirst, apis=apis, base=base), *pages]


def create_api(get_engine: GetEngine, *, heartbeat_s: float = _HEARTBEAT_S, views: Views | None = None) -> FastAPI:
    """The application without its guard; its paths are relative to where it is served."""
    # The docs pages would load scripts from other servers; the description itself is served.
    api = FastAPI(
        title="Self-Corrective RAG Workbench",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=_ERRORS,
        default_response_class=Json,
    )
    api.router.route_class = QuickRoute
    add_error_handlers(api)
    _add_ask(api, get_engine)
    _add_runs(api, get_engine)
    _add_one_run(api, get_engine, heartbeat_s)
    if views is not None:
        _add_view(api, get_engine, heartbeat_s, views)
    _add_what_if_and_tags(api, get_engine)
    _add_memories(api, get_engine)
    add_attachments(api, get_engine)
    add_fork(api, get_engine)
    add_host(api, get_engine)
    add_knowledge(api, get_engine)
    add_graphs(api, get_engine)
    add_weak_points(api, get_engine)
    add_drafts(api, get_engine)
    add_answers(api, get_engine)
    add_judging(api, get_engine)
    for plugin in plugins():
        if plugin.routes is not None and not plugin.missing:
            plugin.routes(api, get_engine)
    return api


def _add_ask(api: FastAPI, get_engine: GetEngine) -> None:
    @api.post(
        "/self-corrective-rag",
        summary="Ask a question and wait for the answer",
        responses={202: {"description": NOT_KEPT_YET}},
    )
    @needs("editor")
    async def ask(body: SeedRequest, request: Request) -> Response:
        engine = get_engine()
        # What the form of this endpoint names has the defaults of that form; the rest is as everywhere.
        config = replace(
            engine.settings.defaults_of_runs.of(USUAL),
            collection=body.milvusConfig.collectionName,
            milvus_address=listed(engine.settings, body.milvusConfig.address, "milvusConfig.address"),
            top_k=body.topK,
            similarity_threshold=body.similarityThreshold,
            max_rewrites=body.maxRewriteAttempts,
            grade_pass_threshold=body.gradePassThreshold,
            models=models_from_dict(body.models, engine.settings.models),
            gate="pass_rate",
        )
        run_id = _started(engine, body.query, config, "query", traceparent=request.headers.get(TRACEPARENT))
        record, kept = await while_connected(request, finished(engine, run_id))
        return answered(record, linked(record, seed_response(record)), kept=kept)

    @api.get("/health", summary="Whether the workbench can answer")
    @needs("viewer")
    async def health() -> Response:
        engine = get_engine()
        kept = engine.unopened
        return Json(
            {
                "status": "ok",
                "version": __version__,
                "instance": engine.instance,
                "ready": engine.ready,
                "loading": engine.loading,
                "active_runs": engine.active_runs(),
                "faults": [_noted(item) for item in engine.noted_faults] + ([kept.said()] if kept else []),
            }
        )

    @api.get("/ready", summary="Whether this replica takes new work", responses={503: {"description": "It does not."}})
    @needs("viewer")
    async def ready() -> Response:
        """For a proxy in front of several replicas: not while the knowledge base opens, nor shortly before the end."""
        engine = get_engine()
        takes = engine.ready and not engine.draining
        return Json({"ready": takes, "draining": engine.draining}, status_code=200 if takes else 503)


def _add_runs(api: FastAPI, get_engine: GetEngine) -> None:
    @api.post(
        "/runs",
        summary="Start a run, and wait for its record unless `wait` is false",
        responses={
            202: {
                "description": "The run is still running; its id, its events, its link, `warnings` where it has any. "
                f"Or: {NOT_KEPT_YET}"
            }
        },
    )
    @needs("editor")
    async def start(body: RunRequest, request: Request) -> Response:
        engine = get_engine()
        config = body.over(engine.settings)
        reading = attached(engine, body.attachments, config, body.question)
        attachments = await while_connected(request, reading)
        above = request.headers.get(TRACEPARENT)
        if not body.wait:
            if not config.milvus_address:
                # Said now: this caller may never look at how the run ended.
                await asyncio.to_thread(engine.describe, config.collection)
            warnings = await asyncio.to_thread(engine.warnings_before, body.question, config)
            run_id = _started(
                engine, body.question, config, "question", attachments, trial=body.trial, traceparent=above
            )
            said = {"warnings": [item.said() for item in warnings]} if warnings else {}
            return Json({"id": run_id, "events": f"/api/runs/{run_id}/events", "link": link_of(run_id), **said}, 202)
        run_id = _started(engine, body.question, config, "question", attachments, trial=body.trial, traceparent=above)
        record, kept = await while_connected(request, finished(engine, run_id))
        return answered(record, linked(record), kept=kept)

    @api.post("/runs/check", summary="What a run would be warned of before it begins; nothing is run")
    @needs("viewer")
    async def check(body: CheckRequest) -> Response:
        engine = get_engine()
        found = await asyncio.to_thread(engine.warnings_before, body.question, body.over(engine.settings))
        return Json({"warnings": [item.said() for item in found]})

    @api.get("/runs", summary="Stored runs, newest first")
    @needs("viewer")
    async def runs(asked: Annotated[RunsQuery, Query()]) -> Response:
        found = await asyncio.to_thread(lambda: get_engine().runs(asked.limit, **asked.filters()))
        return Json([{**asdict(item), "cursor": item.cursor, "link": link_of(item.id)} for item in found])


def _add_one_run(api: FastAPI, get_engine: GetEngine, heartbeat_s: float) -> None:
    @api.get("/runs/{run_id}", summary="The record of a run, live or stored")
    @needs("viewer")
    async def run(run_id: str) -> Response:
        return Json(linked(await asyncio.to_thread(get_engine().record, run_id)))

    @api.get(
        "/runs/{run_id}/events",
        summary="Server-sent events of a run, from the first or after Last-Event-ID",
        responses=_EVENTS,
        response_class=StreamingResponse,
    )
    @needs("viewer")
    async def events(
        run_id: str,
        last_event_id: Annotated[str | None, Header()] = None,
        after: Annotated[int, Query(ge=0, le=_LARGEST_SEQ)] = 0,
    ) -> Response:
        engine = get_engine()
        record = await asyncio.to_thread(engine.record, run_id)
        after = _seen(last_event_id, after)
        if _all_seen(record, after):
            return Response(status_code=204)
        return StreamingResponse(event_stream(engine, run_id, after, heartbeat_s), **STREAM)

    @api.post("/runs/{run_id}/cancel", summary="Stop a run")
    @needs("editor")
    async def cancel(run_id: str) -> Response:
        return Json({"id": run_id, "cancelled": await asyncio.to_thread(get_engine().cancel, run_id)})

    @api.delete("/runs/{run_id}", summary="Remove the record of a run", status_code=204, response_class=Response)
    @needs("admin")
    async def delete(run_id: str) -> Response:
        await asyncio.to_thread(get_engine().delete_run, run_id)
        return Response(status_code=204)


def _add_view(api: FastAPI, get_engine: GetEngine, heartbeat_s: float, views: Views) -> None:
    # For the pages of this version alone, so it is no part of what the API promises.
    @api.get("/runs/{run_id}/view", include_in_schema=False)
    @needs("viewer")
    async def view(run_id: str, request: Request, last_event_id: Annotated[str | None, Header()] = None) -> Response:
        engine = get_engine()
        record = await asyncio.to_thread(engine.record, run_id)
        if _all_seen(record, _seen(last_event_id, 0)):
            return Response(status_code=204)

        def derived(record: RunRecord) -> Mapping[str, Any]:
            return views(record, request.query_params)

        return StreamingResponse(view_stream(engine, run_id, derived, heartbeat_s), **STREAM)


def _add_what_if_and_tags(api: FastAPI, get_engine: GetEngine) -> None:
    @api.post(
        "/runs/{run_id}/what-if", summary="What a run would have done under other settings, without calling anything"
    )
    @needs("viewer")
    async def what_if(run_id: str, body: WhatIfRequest) -> Response:
        engine = get_engine()

        def computed() -> dict[str, Any]:
            record = engine.record(run_id)
            return engine.what_if(record, config_over(record.config, body.config)).to_dict()

        return Json(await asyncio.to_thread(computed))

    @api.put("/runs/{run_id}/tags/{tag:path}", summary="Put a tag on a run; answers with all its tags")
    @needs("editor")
    async def tag_run(run_id: str, tag: _Tag) -> Response:
        return Json({"id": run_id, "tags": await asyncio.to_thread(get_engine().tag_run, run_id, tag)})

    @api.delete("/runs/{run_id}/tags/{tag:path}", summary="Take a tag from a run; answers with those left")
    @needs("editor")
    async def untag_run(run_id: str, tag: _Tag) -> Response:
        return Json({"id": run_id, "tags": await asyncio.to_thread(get_engine().untag_run, run_id, tag)})


def _add_memories(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/memories", summary="What long-term memory holds, passed and failed answers, newest first")
    @needs("viewer")
    async def memories() -> Response:
        found = await asyncio.to_thread(get_engine().memories)
        return Json([{name: value for name, value in asdict(item).items() if name != "similarity"} for item in found])

    @api.delete("/memories/{memory_id}", summary="Forget one memory for good", status_code=204, response_class=Response)
    @needs("admin")
    async def forget(memory_id: str) -> Response:
        await asyncio.to_thread(get_engine().forget_memory, memory_id)
        return Response(status_code=204)


def _started(
    engine: Engine,
    question: str,
    config: RunConfig,
    field: str,
    attachments: Sequence[Attachment] = (),
    *,
    trial: bool = False,
    traceparent: str | None = None,
) -> RunId:
    """Start a run; the error on an unusable question names it as the request did."""
    try:
        with called_by(traceparent):
            return engine.start(question, config, attachments=attachments, trial=trial)
    except InvalidQuestion as error:
        error.params["field"] = field
        raise


def _all_seen(record: RunRecord, after: int) -> bool:
    """Return whether there is nothing to send: an answer of 204, since any other makes a browser reconnect for ever.

    The end of an interrupted run was made up when it was read, and its number says nothing about what the caller saw.
    """
    return record.outcome not in (None, "interrupted") and after >= record.last_seq


def _seen(last_event_id: str | None, after: int) -> int:
    """The sequence number to continue after; a reconnecting browser's header stands above the address it first used."""
    if last_event_id is None or not last_event_id.isdecimal() or len(last_event_id) > len(str(_LARGEST_SEQ)):
        return after
    return int(last_event_id)


def _noted(item: NotedFault) -> dict[str, str]:
    return {**item.said(), "since": item.since, "over_since": item.over_since}
