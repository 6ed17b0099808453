"""A chat model as rewriter."""

from __future__ import annotations

from engine.llm.chat import ChatModel
from engine.llm.parsing import RewriteReply
from engine.llm.prompts import REWRITE_SCHEMA, SHORT_REWRITE_SCHEMA, rewriter_messages
from engine.llm.role import ChatRole, Inquiry
from engine.model.config import RoleModel
from engine.model.language import language_of
from engine.model.values import Message
from engine.roles import SILENT, RewriteProposal, RewriteRequest, Trace
from engine.settings import Settings


class ChatRewriter(ChatRole):
    """Rewrites with a chat model (contract: :class:`engine.roles.Rewriter`).

    It sees the request and nothing else. A reply that cannot be read gets one more try and is then ``UnreadableReply``;
    so does a query in another language than the question's, which is then taken as it is.
    """

    role = "rewriter"

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        super().__init__(model, settings, chat=chat)
        self.passage_tokens = max(0, model.num_ctx // 2 - self._reply_tokens // 2)

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        inquiry = Inquiry(
            self.messages,
            lambda _, second: SHORT_REWRITE_SCHEMA if second else REWRITE_SCHEMA,
            RewriteReply,
            proposal,
            proposal_as_it_is,
        )
        # Also where the node refused what was proposed to the same request a moment ago.
        refused = bool(request.history and request.history[-1].refused)
        return (await self.taken(inquiry, request, trace, warmer=refused or None)).value

    def messages(self, request: RewriteRequest, former: str | None) -> tuple[Message, ...]:
        return rewriter_messages(request, self.passage_tokens, former)


def proposal(request: RewriteRequest, reply: RewriteReply) -> RewriteProposal | None:
    """Return the query proposed by a reply; None if its language differs from the question's."""
    asked, proposed = language_of(request.question), language_of(reply.query)
    # A query of names and numbers alone has no language of its own.
    if "other" not in (asked, proposed) and asked != proposed:
        return None
    return proposal_as_it_is(request, reply)


def proposal_as_it_is(_: RewriteRequest, reply: RewriteReply) -> RewriteProposal:
    """Return the query proposed by a reply, in any language."""
    return RewriteProposal(reply.query, reply.reason, reply.keywords, reply.strategy)
