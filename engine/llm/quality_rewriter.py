"""A chat model as rewriter of the quality-control loop."""

from __future__ import annotations

from dataclasses import replace

from engine.builtin.quality_rewriter import strategy_of, wishes_of
from engine.builtin.wishes import wishes_in, with_wishes
from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.quality_rewriter_prompts import quality_rewriter_messages
from engine.llm.rewriter import ChatRewriter
from engine.roles import SILENT, RewriteProposal, RewriteRequest, Trace
from engine.settings import Settings


class ChatQualityRewriter:
    """Rewrites with a chat model that is told the issues (contract: :class:`engine.roles.Rewriter`, SPEC QL-04).

    Runs at the role's own temperature. A wish that an issue asks for and the model left out is put behind its query,
    because without it the router would search what it searched before.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._rewriter = ChatRewriter(model, settings, chat=chat, prompt=quality_rewriter_messages)

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        proposal = await self._rewriter.rewrite(request, trace)
        left_out = [wish for wish in wishes_of(request) if wish not in wishes_in(proposal.query)]
        query = with_wishes(proposal.query, left_out)
        return replace(proposal, query=query, strategy=strategy_of(query, request))
