"""A chat model as generator."""

from __future__ import annotations

from functools import partial

from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.prompts import generator_messages, rules_tokens
from engine.llm.streaming import fault_of_cited, streamed
from engine.llm.tokens import estimate_tokens
from engine.roles import SILENT, GenerationRequest, Trace
from engine.settings import Settings

_LONGEST_REPLY = 2048
_QUESTION_TOKENS = 1000
_FENCE_TOKENS = 400
"""Tags, numbers and chat template around some twenty passages."""


class ChatGenerator:
    """Answers with a chat model (contract: :class:`engine.roles.Generator`), streaming through ``trace.token``.

    A call that fails before anything was streamed, or says nothing, is repeated once; later failures are raised, since
    a second answer after half of a first one would be read as one text. An answer of markers or the question alone, or
    without a marker, is asked for again. Thinking is left to the model's own default and kept out of the answer.
    Raises ``EmptyReply`` where the model says nothing twice, ``WordlessReply`` where nothing else comes twice.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        # A quarter of a small context, so that passages keep the larger part.
        reply_tokens = min(_LONGEST_REPLY, model.num_ctx // 4)
        reserve = reply_tokens + rules_tokens() + min(_QUESTION_TOKENS, model.num_ctx // 8) + _FENCE_TOKENS
        self._context_tokens = max(0, model.num_ctx - reserve)
        self._chat = chat or ChatModel(model, settings, "generator", think=None, reply_tokens=reply_tokens)

    @property
    def context_tokens(self) -> int:
        """``num_ctx`` less what reply, rules, question and tags take."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Estimated, erring high."""
        return estimate_tokens(text)

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        fault_of = partial(fault_of_cited, question=request.question)
        return await streamed(self._chat, generator_messages(request), trace, fault_of)
