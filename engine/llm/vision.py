"""A chat model that sees, as reader of images."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from engine.attachments.apart import read_apart
from engine.config import RoleModel
from engine.errors import ModelError
from engine.language import language_of
from engine.llm.chat import ChatModel
from engine.llm.faults import worth_repeating
from engine.llm.vision_prompts import vision_messages
from engine.roles import SILENT, ImageType, Trace
from engine.settings import Settings
from engine.values import Message

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_TRIES = 2
_LONGEST_REPLY = 2048
_REPLY_SHARE = 4


class ChatVision:
    """Reads with a vision model (contract: :class:`engine.roles.ImageReader`): what is written, and what it shows.

    The image is decoded and made smaller in a process apart before it is sent, so a model never gets what a camera
    writes beside a picture. A call that fails is repeated once where that may help. The record of the call has the
    words of the prompt alone.
    """

    def __init__(
        self, model: RoleModel, settings: Settings, *, make: Callable[[], BaseChatModel] | None = None
    ) -> None:
        """``make`` replaces the client."""
        self._model = model
        self._settings = settings
        self._make = make

    @property
    def name(self) -> str:
        return self._model.model

    async def read(self, image: bytes, media_type: ImageType, question: str = "", trace: Trace = SILENT) -> str:
        smaller = await asyncio.to_thread(read_apart, "jpeg", "image", image)
        chat = _SeeingModel(self._model, self._settings, smaller, self._make)
        messages = vision_messages(question, language_of(question) if question.strip() else "en")
        for attempt in range(1, _TRIES + 1):
            try:
                return (await chat.say(messages, trace, _unheard, attempt=attempt)).text.strip()
            except ModelError as failure:
                if attempt == _TRIES or not worth_repeating(failure):
                    raise
        raise AssertionError("every try returns or raises")


class _SeeingModel(ChatModel):
    """A chat model whose last message carries an image; made for that one image."""

    def __init__(
        self, model: RoleModel, settings: Settings, jpeg_base64: str, make: Callable[[], BaseChatModel] | None
    ) -> None:
        reply_tokens = min(_LONGEST_REPLY, model.num_ctx // _REPLY_SHARE)
        super().__init__(model, settings, "vision", think=None, reply_tokens=reply_tokens, make=make)
        # The form that every provider of LangChain understands.
        self._image = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{jpeg_base64}"}}

    def _sent(self, messages: Sequence[Message]) -> list[tuple[str, Any]]:
        *before, (role, text) = super()._sent(messages)
        return [*before, (role, [{"type": "text", "text": text}, self._image])]


def _unheard(_: str) -> None: ...
