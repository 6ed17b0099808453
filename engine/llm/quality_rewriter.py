"""A chat model as rewriter of the quality-control loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.builtin.quality_rewriter import intents_of, strategy_of
from engine.builtin.query_intents import INTENTS, intents_in, with_intents, worded
from engine.llm.prompts import fenced, prompt, rewriter_messages, shown, within
from engine.llm.rewriter import ChatRewriter
from engine.llm.sizes import estimate_tokens
from engine.model.language import language_of
from engine.model.values import Message
from engine.roles import SILENT, RewriteProposal, RewriteRequest, Trace

QUALITY_REWRITER_PROMPT_VERSION: Final = "quality-rewriter-3"

_RULES = """

This search has several kinds of sources, and a router in front of it that reads your query. A check found issues with \
the last result; they stand below. Answer every one of them in the new query:
- passages that are not relevant enough, or none: sharper keywords. The nearest passages show which words these \
sources use; take the ones that belong to the question, and invent no subject that it does not ask for.
- too little from the history of weak points: ask for it, in these words: "__HISTORY__"
- one kind of source alone: ask for several, in these words: "__SEVERAL__"
- too few passages: ask for a wider scope, in these words: "__WIDER__"
Put such requests in brackets behind the words to search, and keep those that the current query has already."""


class ChatQualityRewriter(ChatRewriter):
    """Rewrites with a chat model that is given the issues (contract: :class:`engine.roles.Rewriter`, QL-04).

    Runs at the role's own temperature. An intent that an issue asks for and the model left out is put behind its query,
    because without it the router would search what it searched before.
    """

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        proposal = await super().rewrite(request, trace)
        left_out = [intent for intent in intents_of(request) if intent not in intents_in(proposal.query)]
        query = with_intents(proposal.query, left_out)
        return replace(proposal, query=query, strategy=strategy_of(query, request))

    def messages(self, request: RewriteRequest, former: str | None) -> tuple[Message, ...]:
        return quality_rewriter_messages(request, self.passage_tokens, former)


def quality_rewriter_messages(
    request: RewriteRequest, token_budget: int, former: str | None = None
) -> tuple[Message, ...]:
    """The shared rewriter's prompt with the issues and the nearest passages; never a figure of score or threshold.

    Passages that failed and nearest ones share ``token_budget`` tokens.
    """
    system, asked, *second = rewriter_messages(request, token_budget, former)
    left = token_budget - sum(estimate_tokens(shown(item)) for item in request.failed)
    failed = {item.id for item in request.failed}
    near = (f"Near the query:\n{fenced('passage', shown(item))}" for item in request.nearest if item.id not in failed)
    parts = [f"Issues:\n{fenced('reason', item.text)}" for item in request.issues] + within(near, left)
    rules = system.content + _wishes(_RULES, request.question)
    return *prompt(rules, [*parts, asked.content]), *second


def _wishes(rules: str, question: str) -> str:
    for intent in INTENTS:
        rules = rules.replace(f"__{intent.upper()}__", worded(intent, chinese=language_of(question) == "zh"))
    return rules
