"""A chat model that answers from what it knows by itself, without a search (SPEC GH-02, mode ``bypass``)."""

from __future__ import annotations

from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.streaming import streamed
from engine.llm.unsearched_prompts import unsearched_messages
from engine.roles import SILENT, DirectRequest, Trace
from engine.settings import Settings

_LONGEST_REPLY = 1024


class ChatUnsearched:
    """Answers with a chat model (contract: :class:`engine.roles.DirectAnswerer`), streaming through ``trace.token``."""

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        reply_tokens = min(_LONGEST_REPLY, model.num_ctx // 4)
        self._chat = chat or ChatModel(model, settings, "generator", think=None, reply_tokens=reply_tokens)

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        return await streamed(self._chat, unsearched_messages(request), trace)
