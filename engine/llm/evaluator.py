"""A chat model as evaluator."""

from __future__ import annotations

from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.evaluator_prompts import EVALUATION_SCHEMA, evaluator_messages
from engine.llm.evaluator_reply import EvaluationReply, SuggestionReply
from engine.llm.usable import usable
from engine.roles import SILENT, EvaluationRequest, Trace
from engine.settings import Settings
from engine.values import Evaluation, Suggestion

REPLY_TOKENS = 1024


class ChatEvaluator:
    """Evaluates with a chat model (contract: :class:`engine.roles.Evaluator`).

    It sees the request and nothing else, and its client is its own, whoever else uses the same model (SPEC AE-05). A
    judgement with suggestions is a failed one even if it says otherwise. A reply that cannot be read, or that fails an
    answer without a suggestion, gets one more try and is then ``UnreadableReply``.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "evaluator", think=False, reply_tokens=REPLY_TOKENS)

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        return await usable(
            self._chat,
            trace,
            messages=lambda former: evaluator_messages(request, former),
            shape=EvaluationReply,
            schema=lambda _: EVALUATION_SCHEMA,
            take=lambda reply: self._evaluation(request, reply) if reply.usable else None,
        )

    def _evaluation(self, request: EvaluationRequest, reply: EvaluationReply) -> Evaluation:
        suggestions = tuple(_suggestion(item, request) for item in reply.suggestions)
        return Evaluation(passed=not suggestions, suggestions=suggestions, evaluator=self._chat.name)


def _suggestion(item: SuggestionReply, request: EvaluationRequest) -> Suggestion:
    dimension = "reasonableness" if request.aim == "relevance" else item.about
    # A quotation that the answer does not have points at nothing.
    quote = item.quote if item.quote in request.answer else ""
    return Suggestion(dimension, item.text, quote=quote)
