"""Routes of judgements: those of a query set as files, its scores over time, and graders fitted to a collection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

from fastapi import FastAPI, Query
from fastapi.responses import PlainTextResponse, Response

from engine.api.bodies import JudgementsRequest
from engine.api.encoding import Json
from engine.engine import Engine
from engine.evaluation.annotation.formats import Format
from engine.model.grader_fit import GraderFit
from engine.people.authorization import needs

GetEngine = Callable[[], Engine]


def add_judging(api: FastAPI, get_engine: GetEngine) -> None:
    """``…/judgements``, ``…/history``, ``…/grader`` of ``/query-sets/{set_name}`` (may have slashes), ``…/fits``."""

    @api.get(
        "/query-sets/{set_name:path}/judgements",
        summary="Judgements of a query set as JSON lines, TREC qrels, or the CSV of Quepid",
        responses={200: {"content": {"text/plain": {}}, "description": "The file."}},
    )
    @needs("viewer")
    async def export(set_name: str, format: Annotated[Format, Query()] = "jsonl") -> Response:
        return PlainTextResponse(await asyncio.to_thread(get_engine().judging.exported, set_name, format))

    @api.post("/query-sets/{set_name:path}/judgements", summary="Take in judgements of a query set from a file")
    @needs("editor")
    async def take_in(set_name: str, body: JudgementsRequest) -> Response:
        judging = get_engine().judging
        found = await asyncio.to_thread(
            lambda: judging.imported(
                set_name, body.content, body.name, body.format, judge=body.judge, relevant_from=body.relevant_from
            )
        )
        return Json(asdict(found))

    @api.get(
        "/query-sets/{set_name:path}/history",
        summary="What the finished gatherings of a query set came to, oldest first",
    )
    @needs("viewer")
    async def history(set_name: str) -> Response:
        return Json([asdict(item) for item in await asyncio.to_thread(get_engine().judging.history, set_name)])

    @api.get(
        "/query-sets/{set_name:path}/grader",
        summary="How good the grader of the newest gathering is, by kind of P(relevant); null before the first run",
    )
    @needs("viewer")
    async def grader(set_name: str) -> Response:
        found = await asyncio.to_thread(get_engine().judging.grader, set_name)
        return Json(found.to_dict() if found else None)

    @api.get("/collections/{name}/fits", summary="Graders fitted to a collection, newest first")
    @needs("viewer")
    async def fits(name: str) -> Response:
        return Json([fit.to_dict() for fit in await asyncio.to_thread(_fits, get_engine(), name)])


def _fits(engine: Engine, name: str) -> tuple[GraderFit, ...]:
    """By an alias, too; raises ``UnknownCollection``."""
    return engine.grader_fits.of(engine.describe(name).name)
