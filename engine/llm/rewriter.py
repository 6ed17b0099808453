"""A chat model as rewriter."""

from __future__ import annotations

from collections.abc import Callable

from engine.config import RoleModel
from engine.errors import ModelError, UnreadableReply
from engine.language import language_of
from engine.llm.chat import ChatModel
from engine.llm.faults import worth_repeating
from engine.llm.parsing import RewriteReply
from engine.llm.prompts import REWRITE_SCHEMA, SHORT_REWRITE_SCHEMA, rewriter_messages
from engine.roles import SILENT, RewriteProposal, RewriteRequest, Trace
from engine.settings import Settings
from engine.values import Message

Prompt = Callable[[RewriteRequest, int, str | None], tuple[Message, ...]]
"""Messages for a request, the tokens that its passages may take, and the former reply that could not be used."""

REPLY_TOKENS = 1024
_TRIES = 2


class ChatRewriter:
    """Rewrites with a chat model (contract: :class:`engine.roles.Rewriter`).

    It sees the request and nothing else. A reply that cannot be read, or a query in another language than the
    question's, gets one more try and is then ``UnreadableReply``.
    """

    def __init__(
        self,
        model: RoleModel,
        settings: Settings,
        *,
        chat: ChatModel | None = None,
        prompt: Prompt = rewriter_messages,
    ) -> None:
        self._prompt = prompt
        self._chat = chat or ChatModel(model, settings, "rewriter", think=False, reply_tokens=REPLY_TOKENS)
        self._passage_tokens = max(0, model.num_ctx // 2 - REPLY_TOKENS // 2)

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        former: str | None = None
        for attempt in range(1, _TRIES + 1):
            messages = self._prompt(request, self._passage_tokens, former)
            try:
                reply, said = await self._chat.ask(
                    messages,
                    trace,
                    shape=RewriteReply,
                    schema=REWRITE_SCHEMA if former is None else SHORT_REWRITE_SCHEMA,
                    attempt=attempt,
                    # Also where the node refused what was proposed to the same request a moment ago.
                    warmer=former is not None or bool(request.history and request.history[-1].refused),
                )
            except ModelError as failure:
                if attempt == _TRIES or not worth_repeating(failure):
                    raise
                continue
            if reply is not None and _same_language(request.question, reply.query):
                return RewriteProposal(reply.query, reply.reason, reply.keywords, reply.strategy)
            former = said.text
        raise UnreadableReply(model=self._chat.name)


def _same_language(question: str, query: str) -> bool:
    asked, proposed = language_of(question), language_of(query)
    # A query of names and numbers alone has no language of its own.
    return "other" in (asked, proposed) or asked == proposed
