"""A chat model as the rewriter of the dual loop."""

from __future__ import annotations

from engine.builtin.dual_rewriter import initial
from engine.config import RoleModel
from engine.errors import ModelError, UnreadableReply
from engine.language import language_of
from engine.llm.chat import ChatModel
from engine.llm.dual_rewriter_prompts import dual_rewriter_messages
from engine.llm.faults import worth_repeating
from engine.llm.parsing import RewriteReply
from engine.llm.prompts import REWRITE_SCHEMA
from engine.policies.dual import INITIAL
from engine.roles import SILENT, RewriteProposal, RewriteRequest, Trace
from engine.settings import Settings

REPLY_TOKENS = 1024
_TRIES = 2


class ChatDualRewriter:
    """Rewrites with a chat model in both modes of SPEC DL-05 (contract: :class:`engine.roles.Rewriter`).

    The initial mode, told by an issue of that name, may return the question itself. A reply that cannot be read, or a
    query in another language than the question's, gets one more try and is then ``UnreadableReply``.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "rewriter", think=False, reply_tokens=REPLY_TOKENS)
        self._passage_tokens = max(0, model.num_ctx // 2 - REPLY_TOKENS // 2)

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        former: str | None = None
        for attempt in range(1, _TRIES + 1):
            messages = dual_rewriter_messages(request, self._passage_tokens, former)
            try:
                reply, said = await self._chat.ask(
                    messages, trace, shape=RewriteReply, schema=REWRITE_SCHEMA, attempt=attempt
                )
            except ModelError as failure:
                if attempt == _TRIES or not worth_repeating(failure):
                    raise
                continue
            if reply is not None and _same_language(request.question, reply.query):
                strategy = INITIAL if initial(request) else reply.strategy
                return RewriteProposal(reply.query, reply.reason, reply.keywords, strategy)
            former = said.text
        raise UnreadableReply(model=self._chat.name)


def _same_language(question: str, query: str) -> bool:
    asked, proposed = language_of(question), language_of(query)
    # A query of names and numbers alone has no language of its own.
    return "other" in (asked, proposed) or asked == proposed
