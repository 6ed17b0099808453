"""A chat model as generator."""

from __future__ import annotations

from engine.llm.prompts import generator_messages, rules_tokens
from engine.llm.streaming import AnsweringRole, streamed_from
from engine.roles import SILENT, GenerationRequest, Trace


class ChatGenerator(AnsweringRole):
    """Answers with a chat model (contract: :class:`engine.roles.Generator`), streaming through ``trace.token``.

    A call that fails before anything was streamed, or says nothing, is repeated once; later failures are raised, since
    a second answer after half of a first one would be read as one text. An answer of markers or the question alone,
    without a marker, or with what no passage says, is asked for again. Thinking is left to the model's own default and
    kept out of the answer. Raises ``ModelError`` where the model says nothing, or nothing else, twice.
    """

    reply_share = 4
    """Passages keep the larger part of a small context."""

    def reserve(self, reply_tokens: int) -> int:
        return reply_tokens + rules_tokens()

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        return await streamed_from(self._chat, generator_messages(request), trace, request)
