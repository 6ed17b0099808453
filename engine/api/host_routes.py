"""Routes about the machine under the workbench: health of its parts, and a diagnosis without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import FastAPI
from fastapi.responses import Response

from engine.api.encoding import Json
from engine.engine import Engine
from engine.people.authorization import needs


def add_host(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    """Add the answers to ``python -m engine doctor``."""

    @api.get("/host/health", summary="How every part is, with what to do about it")
    @needs("viewer")
    async def host_health() -> Response:
        return Json({"parts": [item.to_dict() for item in await asyncio.to_thread(get_engine().host.health)]})

    @api.get("/host/diagnosis", summary="A text about this host without secrets, questions and passages")
    @needs("admin")
    async def host_diagnosis() -> Response:
        return Json({"text": await asyncio.to_thread(get_engine().host.diagnosis)})
