"""A chat model that puts the claim of an answer into one or two sentences for long-term memory."""

from __future__ import annotations

from engine.config import RoleModel
from engine.errors import EmptyReply, ModelError
from engine.llm.chat import ChatModel
from engine.llm.distiller_prompts import distiller_messages
from engine.llm.faults import worth_repeating
from engine.roles import SILENT, DistilRequest, Trace
from engine.settings import Settings

REPLY_TOKENS = 256
_TRIES = 2


class ChatDistiller:
    """Distils with the generator's model (contract: :class:`engine.roles.Distiller`); nothing is streamed.

    A call that fails is repeated once where that may help. What the model adds is not its own to judge: the step that
    remembers refuses it.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "generator", think=False, reply_tokens=REPLY_TOKENS)
        self.name = model.model

    async def distil(self, request: DistilRequest, trace: Trace = SILENT) -> str:
        for attempt in range(1, _TRIES + 1):
            try:
                said = await self._chat.say(distiller_messages(request), trace, lambda _: None, attempt=attempt)
            except ModelError as failure:
                if attempt == _TRIES or not worth_repeating(failure):
                    raise
                continue
            if said.text.strip():
                return said.text.strip()
        raise EmptyReply(model=self._chat.name)
