"""``POST /api/settings/code``: settings as the zip of a LangGraph project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import FastAPI
from fastapi.responses import Response

from engine.api.bodies import SettingsRequest
from engine.engine import Engine
from engine.people.authorization import needs
from plugins.export.project import code_project


def add_code(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    """The one route."""

    @api.post(
        "/settings/code",
        summary="Settings as a LangGraph project that runs without the workbench",
        responses={200: {"content": {"application/zip": {}}, "description": "The files in one folder of a zip."}},
        response_class=Response,
    )
    @needs("viewer")
    async def code(body: SettingsRequest) -> Response:
        engine = get_engine()
        made = await asyncio.to_thread(code_project, engine, body.over(engine.settings))
        return Response(made.zipped(), media_type="application/zip")
