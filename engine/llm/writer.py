"""A chat model as writer: it is sent the conversation, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from engine.llm.chat import SHORTEST_REPLY, ChatModel
from engine.llm.sizes import MESSAGE_TOKENS, estimate_tokens
from engine.llm.streaming import AnsweringRole, streamed_from
from engine.llm.writer_prompts import writer_rules_tokens
from engine.model.config import RoleModel
from engine.model.values import Message
from engine.roles import SILENT, Trace
from engine.roles.conversation import request_of
from engine.settings import Settings

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_SUGGESTION_TOKENS = 512
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {"system": "system", "human": "user", "ai": "assistant"}


class ChatWriter(AnsweringRole):
    """Writes with a chat model (contract: :class:`engine.roles.Writer`), streaming through ``trace.token``.

    Calls are repeated as those of :class:`engine.llm.generator.ChatGenerator`. A conversation that has grown past the
    model's context loses its oldest revisions first: the newest one says by itself what was written and criticised.
    """

    reply_share = 6
    """A revision needs room for the last answer and for the next."""

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        super().__init__(model, settings, chat=chat)
        self._room = model.num_ctx - max(SHORTEST_REPLY, self._reply_tokens)

    def reserve(self, reply_tokens: int) -> int:
        """The last answer with its review takes room in addition to the reply."""
        return 2 * reply_tokens + writer_rules_tokens() + _SUGGESTION_TOKENS

    async def write(self, messages: Sequence[BaseMessage], trace: Trace = SILENT) -> str:
        sent = fitting([Message(_ROLES[item.type], item.text) for item in messages], self._room)
        return await streamed_from(self._chat, sent, trace, request_of(messages))


def fitting(messages: Sequence[Message], room: int) -> tuple[Message, ...]:
    """The conversation within ``room`` tokens: rules and request, then as many of the newest turns as fit.

    The newest review holds the answer that it is about, so it can follow the request directly; both then are one
    message, because some chat templates refuse two of the same speaker. What is left too long is sent as it is.
    """
    opening, turns = list(messages[:2]), list(messages[2:])
    while len(turns) > 2 and _tokens([*opening, *turns]) > room:
        # An answer and the review of it go together.
        del turns[:2]
    if turns and _tokens([*opening, *turns]) > room:
        return opening[0], Message("user", f"{opening[1].content}\n\n{turns[-1].content}")
    return (*opening, *turns)


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate_tokens(message.content) + MESSAGE_TOKENS for message in messages)
