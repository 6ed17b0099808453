"""Routes of a team."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import FastAPI
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from engine.engine import Engine

GetEngine = Callable[[], Engine]


def add_metrics(api: FastAPI, get_engine: GetEngine) -> None:
    """``/metrics``."""

    @api.get(
        "/metrics",
        summary="Figures of this process for Prometheus",
        responses={
            200: {"content": {"text/plain": {}}, "description": "Prometheus' text format."},
            404: {"description": "WORKBENCH_METRICS is not set."},
        },
    )
    async def metrics() -> Response:
        from plugins.team.metrics import CONTENT_TYPE_LATEST, Metrics

        figures = get_engine().part(Metrics)
        if figures is None:
            raise HTTPException(404)
        return Response(await asyncio.to_thread(figures.text), media_type=CONTENT_TYPE_LATEST)
