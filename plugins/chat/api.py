"""The tuned pipeline behind OpenAI's chat protocol: saved settings are its models, and every chat is a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from engine.api.encoding import Json, as_json
from engine.api.errors import add_error_handlers
from engine.api.incoming import QuickRoute
from engine.api.links import link_of
from engine.api.waiting import STREAM, finished, while_connected
from engine.api.web import ApiFirst, ApiGuard, error_body
from engine.engine import Engine
from engine.errors import status_of
from engine.model.traceparent import TRACEPARENT, called_by
from engine.model.values import RunId
from engine.people.authorization import needs
from engine.plugins import Front
from plugins.chat import models
from plugins.chat.bodies import ChatRequest
from plugins.chat.replies import Reply, completion, fault_of
from plugins.chat.settings import ChatSettings
from plugins.chat.start_run import begun
from plugins.chat.streaming import DONE, chunks
from plugins.chat.tasks import task_reply

GetEngine = Callable[[], Engine]
MOST_NAMES = 50_000
"""Names that a request may hold: each message of a chat has some, and long chats are sent whole every time."""


def served(front: Front) -> Middleware:
    """The API behind its guards; it takes every path below ``/v1`` to itself."""
    api = create_chat_api(front.get_engine, heartbeat_s=front.heartbeat_s, base=front.base)
    chat: ASGIApp = ApiGuard.around(api, front.settings, MOST_NAMES)
    apis = {"v1": chat if front.sign_in is None else front.sign_in.api(chat)}
    return Middleware(ApiFirst, apis=apis, base=front.base)


def create_chat_api(get_engine: GetEngine, *, heartbeat_s: float, base: str = "") -> FastAPI:
    """The application without its guards; its paths are relative to ``/v1``, and ``base`` stands before that."""
    api = FastAPI(title="Chat", openapi_url=None, redirect_slashes=False, default_response_class=Json)
    api.router.route_class = QuickRoute
    add_error_handlers(api)
    _add_models(api, get_engine)
    _add_chat(api, get_engine, heartbeat_s, base)
    return api


def _add_models(api: FastAPI, get_engine: GetEngine) -> None:
    @api.get("/models")
    @needs("viewer")
    async def listed() -> Response:
        return Json({"object": "list", "data": await asyncio.to_thread(models.models, get_engine())})

    @api.get("/models/{model_id:path}")
    @needs("viewer")
    async def one(model_id: str) -> Response:
        return Json(await asyncio.to_thread(models.model, get_engine(), model_id))


def _add_chat(api: FastAPI, get_engine: GetEngine, heartbeat_s: float, base: str) -> None:
    @api.post("/chat/completions")
    @needs("editor")
    async def complete(body: ChatRequest, request: Request) -> Response:
        engine = get_engine()
        body.require_supported()
        config = await asyncio.to_thread(models.config_of, engine, body.model)
        if (said := task_reply(body.messages)) is not None:
            return _said_at_once(body, said)
        with called_by(request.headers.get(TRACEPARENT)):
            run_id = await while_connected(request, begun(engine, body, config))
        asked_usage = body.stream_options is not None and body.stream_options.include_usage
        link = _link(engine, request, base, run_id)
        reply = Reply(body.model, link, body.workbench.footnotes, asked_usage, body.ignored)
        if body.stream:
            return StreamingResponse(chunks(engine, run_id, reply, heartbeat_s), **STREAM)
        record, kept = await while_connected(request, finished(engine, run_id))
        if (fault := fault_of(record)) is not None:
            failed = error_body(fault.code, fault.fact, fault.remedy, runId=record.id)
            return Json(failed, status_of(fault.code))
        return Json(completion(record, reply), 200 if kept else 202)


def _said_at_once(body: ChatRequest, text: str) -> Response:
    """The answer to a task, which no run and no model gave."""
    head: dict[str, Any] = {"id": "chatcmpl-task", "created": int(time.time()), "model": body.model}
    own = {"workbench": {"run": None, "task": True}}
    if body.stream:
        whole = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        piece = {**head, "object": "chat.completion.chunk", "choices": [whole], **own}
        return Response(b"data: %s\n\n" % as_json(piece) + DONE, **STREAM)
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    used = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return Json({**head, "object": "chat.completion", "choices": [choice], "usage": used, **own})


def _link(engine: Engine, request: Request, base: str, run_id: RunId) -> str:
    """The address of the run's page for a person, by the name that the settings give it or the request came to."""
    named = (
        engine.settings.of(ChatSettings).public_url or f"{request.url.scheme}://{request.headers.get('host', '')}{base}"
    )
    return named + link_of(run_id)
