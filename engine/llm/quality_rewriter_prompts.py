"""The prompt of the quality-control loop's rewriter, versioned as those of :mod:`engine.llm.prompts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.builtin.wishes import WISHES, worded
from engine.language import language_of
from engine.llm.prompts import fenced, rewriter_messages
from engine.llm.tokens import estimate_tokens
from engine.roles import NearPassage, RewriteRequest
from engine.values import Message

QUALITY_REWRITER_PROMPT_VERSION: Final = "quality-rewriter-2"

_RULES = """

This search has several kinds of sources, and a router in front of it that reads your query. A check found issues with \
the last result; they stand below. Answer every one of them in the new query:
- passages that are not relevant enough, or none: sharper keywords. The nearest passages show which words these \
sources use; take the ones that belong to the question, and invent no subject that it does not ask for.
- too little from the history of weak points: ask for it, in these words: "__HISTORY__"
- one kind of source alone: ask for several, in these words: "__SEVERAL__"
- too few passages: ask for a wider scope, in these words: "__WIDER__"
Put such requests in brackets behind the words to search, and keep those that the current query has already."""


def quality_rewriter_messages(
    request: RewriteRequest, token_budget: int, former: str | None = None
) -> tuple[Message, ...]:
    """The shared rewriter's prompt with the issues and the nearest passages; never a figure of score or threshold.

    Passages that failed and nearest ones share ``token_budget`` tokens.
    """
    system, asked, *second = rewriter_messages(request, token_budget, former)
    left = token_budget - sum(estimate_tokens(item.text) for item in request.failed)
    shown = {item.id for item in request.failed}
    parts = [f"Issues:\n{fenced('reason', item.text)}" for item in request.issues]
    parts += _nearest([item for item in request.nearest if item.id not in shown], left)
    rules = system.content + _wishes(_RULES, request.question)
    return Message("system", rules), Message("user", "\n\n".join([*parts, asked.content])), *second


def _wishes(rules: str, question: str) -> str:
    for wish in WISHES:
        rules = rules.replace(f"__{wish.upper()}__", worded(wish, chinese=language_of(question) == "zh"))
    return rules


def _nearest(passages: Sequence[NearPassage], token_budget: int) -> list[str]:
    parts: list[str] = []
    for item in passages:
        part = f"Near the query:\n{fenced('passage', item.text)}"
        token_budget -= estimate_tokens(part)
        if token_budget < 0:
            break
        parts.append(part)
    return parts
