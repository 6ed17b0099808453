"""A chat model as the router of the dual loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from pydantic import AliasChoices, Field, field_validator

from engine.builtin.strategy_router import choose
from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.parsing import Reply, reason_text
from engine.llm.strategy_router_prompts import DIRECT_CODES, SEARCH_CODES, strategy_messages, strategy_schema
from engine.llm.usable import usable
from engine.roles import SILENT, StrategyRequest, Trace
from engine.settings import Settings
from engine.values import RouteChoice

REPLY_TOKENS = 512
_LONGEST_REASON = 300


class StrategyReply(Reply):
    route: str = Field(validation_alias=AliasChoices("route", "strategy", "路由", "策略"))
    code: str = ""
    reason: str = Field("", validation_alias=AliasChoices("reason", "why", "reasoning", "理由", "原因"))

    @field_validator("route", "code", mode="before")
    @classmethod
    def _name(cls, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("not a name")
        return value.strip().casefold().replace("-", "_").replace(" ", "_")

    @field_validator("reason", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return reason_text(value, _LONGEST_REASON)

    def decisive(self) -> tuple[object, ...]:
        return (self.route,)


class ChatStrategyRouter:
    """Decides with a chat model (contract: :class:`engine.roles.StrategyRouter`).

    A choice that cannot be used here, or an answer from memory where nothing is remembered, gets one more try and is
    then ``UnreadableReply``. What would have been chosen without memory is the built-in router's word, which costs
    no second call.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "router", think=False, reply_tokens=REPLY_TOKENS)

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice:
        choice = await usable(
            self._chat,
            trace,
            messages=lambda former: strategy_messages(request, former),
            shape=StrategyReply,
            schema=lambda short: strategy_schema(request, short=short),
            take=lambda reply: _choice(reply, request),
        )
        return replace(choice, without_memory=_without_memory(choice, request))


def _choice(reply: StrategyReply, request: StrategyRequest) -> RouteChoice | None:
    """The choice that a reply makes; None where it cannot be followed."""
    if reply.route == "direct":
        code = reply.code if reply.code in DIRECT_CODES else ("remembered" if request.memories else "smalltalk")
        usable = code != "remembered" or bool(request.memories)
        return RouteChoice("direct", code, reply.reason) if usable else None
    if reply.route not in request.strategies:
        return None
    code = reply.code if reply.code in SEARCH_CODES else ""
    return RouteChoice(cast(Any, reply.route), code, reply.reason)


def _without_memory(choice: RouteChoice, request: StrategyRequest) -> Any:
    return choose(replace(request, memories=())).route if request.memories else choice.route
