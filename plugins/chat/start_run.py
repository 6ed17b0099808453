"""From the messages of a chat to a run."""

from __future__ import annotations

import asyncio
import re

from engine.api.attaching import attached
from engine.api.bodies import AttachmentBody
from engine.api.waiting import started
from engine.engine import Engine
from engine.errors import InvalidQuestion
from engine.model.config import RunConfig
from engine.model.values import Attachment, Chat, Message, RunId
from plugins.chat.bodies import ChatMessage, ChatRequest
from plugins.chat.errors import IMAGE_ADDRESS, NO_QUESTION

_DATA = re.compile(r"data:image/([a-z0-9.+-]{1,20})(?:;[\w=.+-]+)*;base64,", re.IGNORECASE)


async def begun(engine: Engine, body: ChatRequest, config: RunConfig) -> RunId:
    """The run of the question that the messages ask; raises what makes it impossible.

    Images of the last message go along with it; earlier ones have been answered.
    """
    asked = body.messages[-1]
    if asked.role != "user":
        raise NO_QUESTION()
    images = [_image(place, address) for place, address in enumerate(asked.images, 1)]
    if not config.milvus_address:
        # A collection of another server is none of those here.
        await asyncio.to_thread(engine.describe, config.collection)
    chat = Chat(asked.text, body.model, tuple(_said(body.messages[:-1])))
    beginning = await asyncio.to_thread(engine.condense, chat, config)
    question, chat = await asyncio.wrap_future(beginning)
    files = await attached(engine, images, config, question)
    return await started(lambda: _start(engine, question, config, files, chat), engine.cancel)


def _start(engine: Engine, question: str, config: RunConfig, files: tuple[Attachment, ...], chat: Chat) -> RunId:
    try:
        return engine.start(question, config, attachments=files, chat=chat)
    except InvalidQuestion as error:
        error.params["field"] = "messages"
        raise


def _said(messages: list[ChatMessage]) -> list[Message]:
    """Join what both said; instructions and tool results are not part of a question."""
    return [Message(item.role, item.text) for item in messages if item.role in ("user", "assistant") and item.text]


def _image(place: int, address: str) -> AttachmentBody:
    found = _DATA.match(address)
    if found is None:
        raise IMAGE_ADDRESS()
    name = f"image-{place}.{found.group(1).lower()}"
    return AttachmentBody(name=name, data=address[found.end() :].strip())
