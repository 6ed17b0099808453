"""Routes for traces of other programs: taking them in, and judging what they left ungraded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from engine.api.encoding import Json, from_base64
from engine.api.waiting import started, while_connected
from engine.engine import Engine
from engine.model.config import RoleModel
from engine.people.authorization import needs
from plugins.traces.bodies import TraceFile, TracesRequest, VerdictsRequest
from plugins.traces.errors import NOT_JSON
from plugins.traces.report import previewed, taken
from plugins.traces.taking import Traces

GetEngine = Callable[[], Engine]


def add_traces(api: FastAPI, get_engine: GetEngine) -> None:
    """``POST /traces`` and ``POST /runs/{run_id}/verdicts``."""

    @api.post("/traces", summary="Take in traces of another program as runs; with dry_run say what they hold")
    @needs("editor")
    async def take(body: TracesRequest, request: Request) -> Response:
        return Json(await while_connected(request, asyncio.to_thread(_take, get_engine(), body)))

    @api.post("/runs/{run_id}/verdicts", summary="Have a grader judge what an imported run left ungraded")
    @needs("editor")
    async def judge(run_id: str, body: VerdictsRequest, request: Request) -> Response:
        engine, model = get_engine(), RoleModel(body.grader)
        return Json({"run": run_id, "judged": await while_connected(request, judged(engine, run_id, model))})


async def judged(engine: Engine, run_id: str, model: RoleModel) -> int:
    """Judge the passages and count them; cancelling ends the calls, and no thread waits for them meanwhile."""
    judging = await started(lambda: Traces.of(engine).judge([run_id], model), Future.cancel)
    return await asyncio.wrap_future(judging)


def _take(engine: Engine, body: TracesRequest) -> dict[str, Any]:
    traces, files = Traces.of(engine), [(item.name, _content(item)) for item in body.files]
    target = {"project": body.project, "collection": body.collection}
    if body.dry_run:
        return previewed(traces.preview(files, **target))
    return taken(traces.take(files, **target, set_name=body.set_name, names=[name for name, _ in files]))


def _written(item: TraceFile) -> bytes:
    """The JSON of a file as its text, where a number may be none (``NaN``): that is for who reads the file to take."""
    try:
        return json.dumps(item.content, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        raise NOT_JSON(name=item.name, why="it holds a number or a depth beyond JSON") from None


def _content(item: TraceFile) -> bytes:
    if isinstance(item.content, str) and not item.content_base64:
        return item.content.encode(errors="replace")
    if not item.content_base64:
        return _written(item) if item.content is not None else b""
    try:
        return from_base64(item.content_base64)
    except ValueError:
        raise NOT_JSON(name=item.name, why="its content is not base64") from None
