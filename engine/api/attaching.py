"""Images and tables in requests: read where a file is sent, taken as they are where a person typed them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict

from fastapi import FastAPI, Request
from fastapi.responses import Response

from engine.api.bodies import AttachmentBody, ReadRequest
from engine.api.encoding import Json, from_base64
from engine.api.waiting import while_connected
from engine.attachments.admission import admissible, fitted
from engine.engine import Engine
from engine.errors import AttachmentError
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Attachment
from engine.people.authorization import needs


def add_attachments(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    """``POST /attachments``."""

    @api.post("/attachments", summary="Read an image or a table, to be corrected and sent along with a question")
    @needs("editor")
    async def read(body: ReadRequest, request: Request) -> Response:
        engine = get_engine()
        vision = RoleModel(body.vision) if body.vision else engine.settings.models.vision
        config = RunConfig(models=RoleModels(vision=vision))
        work = asyncio.to_thread(_read, engine, body, config)
        return Json(asdict(await while_connected(request, work)))


async def attached(
    engine: Engine, bodies: Sequence[AttachmentBody], config: RunConfig, question: str
) -> tuple[Attachment, ...]:
    """The attachments of a request, one read after the other; raises as ``Engine.read_attachment`` does.

    What would refuse them all is said before anything is read.
    """
    admissible(len(bodies), config)
    return tuple([await asyncio.to_thread(_attachment, engine, body, config, question) for body in bodies])


def _read(engine: Engine, body: ReadRequest, config: RunConfig) -> Attachment:
    return engine.read_attachment(body.name, _decoded(body.name, body.data), config, question=body.question)


def _attachment(engine: Engine, body: AttachmentBody, config: RunConfig, question: str) -> Attachment:
    if sum(map(bool, (body.data, body.text, body.rows))) != 1:
        raise AttachmentError.not_exactly_one_of(name=body.name)
    if body.data:
        return engine.read_attachment(body.name, _decoded(body.name, body.data), config, question=question)
    if body.text and body.kind == "table":
        return engine.read_attachment(body.name, body.text.encode(errors="replace"), config)
    return fitted(
        Attachment(
            kind="table" if body.rows else "image",
            name=body.name,
            text=body.text,
            rows=tuple(tuple("" if cell is None else str(cell) for cell in row) for row in body.rows),
            header=body.header,
            read_by=body.read_by,
            edited=body.edited or not body.read_by,
            digest=body.digest,
            cut=body.cut,
        )
    )


def _decoded(name: str, data: str) -> bytes:
    try:
        return from_base64(data)
    except ValueError:
        raise AttachmentError.not_base64(encoded=name) from None
