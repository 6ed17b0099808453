"""The readers of images that come with a question: text recognition, or the vision model that the config names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from engine.attachments.reading import read_attachment
from engine.builtin.image_header import image_header
from engine.builtin.ocr import OcrReader
from engine.errors import AttachmentError
from engine.llm.discovery import OllamaStatus
from engine.model.config import RoleModel
from engine.model.values import Attachment
from engine.roles import ImageReader
from engine.settings import Settings


async def image_reader(
    model: RoleModel, settings: Settings, status: Callable[[], Awaitable[OllamaStatus]]
) -> ImageReader:
    """The reader of a model; raises ``AttachmentError`` for one that Ollama knows to take no images."""
    if model.built_in:
        return OcrReader()
    from engine.llm.vision import ChatVision

    provider, _, name = model.model.partition(":")
    if provider == "ollama":
        found = (await status()).model(name)
        if found is not None and "vision" not in found.capabilities:
            raise AttachmentError.model_cannot_see(model=model.model)
    return ChatVision(model, settings)


async def read_with(
    model: RoleModel,
    settings: Settings,
    status: Callable[[], Awaitable[OllamaStatus]],
    *,
    name: str,
    data: bytes,
    question: str = "",
) -> Attachment:
    """Read an attachment from its name and bytes; a table needs no model, even where one is named."""
    reader: ImageReader = OcrReader()
    if image_header(data) is not None and not model.built_in:
        reader = await image_reader(model, settings, status)
    return await read_attachment(name, data, reader, question)
