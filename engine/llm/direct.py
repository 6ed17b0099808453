"""A chat model as the answerer without a search."""

from __future__ import annotations

from engine.builtin.direct import best_memory, closing, opening
from engine.config import RoleModel
from engine.errors import EmptyReply, ModelError
from engine.llm.chat import ChatModel
from engine.llm.direct_prompts import direct_messages
from engine.llm.faults import worth_repeating
from engine.roles import SILENT, DirectRequest, Trace
from engine.settings import Settings
from engine.small_talk import small_talk

_TRIES = 2
_LONGEST_REPLY = 1024


class ChatDirectAnswerer:
    """Answers with a chat model (contract: :class:`engine.roles.DirectAnswerer`), streaming through ``trace.token``.

    That an answer comes from memory, from when, and which sources it had, is said in fixed words around the model's
    own: no model can leave it out. A call that fails before anything of the model's was streamed is repeated once.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        reply_tokens = min(_LONGEST_REPLY, model.num_ctx // 4)
        self._chat = chat or ChatModel(model, settings, "generator", think=None, reply_tokens=reply_tokens)

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        memory = None if small_talk(request.question) else best_memory(request)
        if memory is None:
            return await self._said(request, trace, "")
        before, after = f"{opening(request, memory)}\n\n", f"\n\n{closing(request, memory)}"
        text = await self._said(request, trace, before)
        trace.token(after)
        return text + after

    async def _said(self, request: DirectRequest, trace: Trace, before: str) -> str:
        """The model's words after ``before``, which is streamed with the first of them."""
        messages = direct_messages(request, best_memory(request) if before else None)
        begun = False

        def hear(piece: str) -> None:
            nonlocal begun
            trace.token(piece if begun else before + piece)
            begun = True

        for attempt in range(1, _TRIES + 1):
            try:
                said = await self._chat.say(messages, trace, hear, attempt=attempt)
            except ModelError as failure:
                if begun or attempt == _TRIES or not worth_repeating(failure):
                    raise
                continue
            if said.text:
                return before + said.text
        raise EmptyReply(model=self._chat.name)
