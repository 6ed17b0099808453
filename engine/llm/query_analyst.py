"""A chat model as the analyst of queries."""

from __future__ import annotations

import re
from typing import Any, cast

from pydantic import AliasChoices, Field, field_validator

from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.parsing import Reply, reason_text
from engine.llm.query_analyst_prompts import analysis_messages, analysis_schema, offered
from engine.llm.usable import usable
from engine.roles import SILENT, AnalysisRequest, Trace
from engine.settings import Settings
from engine.values import Complexity, QueryAnalysis

REPLY_TOKENS = 512
_LONGEST_REASON = 300
_MOST_ENTITIES = 20


class AnalysisReply(Reply):
    complexity: Complexity = Field(validation_alias=AliasChoices("complexity", "复杂度"))
    mode: str = Field(validation_alias=AliasChoices("mode", "suggested_mode", "strategy", "模式", "策略"))
    entities: tuple[str, ...] = Field((), validation_alias=AliasChoices("entities", "实体"))
    reason: str = Field("", validation_alias=AliasChoices("reason", "reasoning", "理由", "原因"))

    @field_validator("complexity", "mode", mode="before")
    @classmethod
    def _name(cls, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("not a name")
        return value.strip().casefold().replace("-", "_").replace(" ", "_")

    @field_validator("entities", mode="before")
    @classmethod
    def _entities(cls, value: Any) -> tuple[str, ...]:
        parts = re.split(r"[,，、;；]", value) if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            return ()
        return tuple(part.strip() for part in parts if isinstance(part, str) and part.strip())[:_MOST_ENTITIES]

    @field_validator("reason", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return reason_text(value, _LONGEST_REASON)

    def decisive(self) -> tuple[object, ...]:
        return self.complexity, self.mode


class ChatQueryAnalyst:
    """Analyses with a chat model (contract: :class:`engine.roles.QueryAnalyst`).

    A reply that cannot be read, or a mode that cannot be used here, gets one more try and is then ``UnreadableReply``.
    Names that do not stand in the query are left out, and a query that names an entity of the graph is never simple,
    no matter what the model says: nothing would be searched for it.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "router", think=False, reply_tokens=REPLY_TOKENS)

    async def analyse(self, request: AnalysisRequest, trace: Trace = SILENT) -> QueryAnalysis:
        return await usable(
            self._chat,
            trace,
            messages=lambda former: analysis_messages(request, former),
            shape=AnalysisReply,
            schema=lambda short: analysis_schema(request, short=short),
            take=lambda reply: _analysis(reply, request, self._chat.name) if reply.mode in offered(request) else None,
        )


def _analysis(reply: AnalysisReply, request: AnalysisRequest, model: str) -> QueryAnalysis:
    simple = reply.complexity == "simple"
    direct = simple and not request.entities
    named = dict.fromkeys((*request.entities, *(name for name in reply.entities if name in request.query)))
    return QueryAnalysis(
        complexity="single" if simple and not direct else reply.complexity,
        entities=tuple(named),
        suggested_mode=cast(Any, reply.mode),
        direct=direct,
        reason=reply.reason,
        by=model,
    )
