"""A chat model as router of source kinds."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import AliasChoices, Field, field_validator

from engine.builtin.source_router import honouring, normalised
from engine.builtin.terms import terms
from engine.builtin.wishes import without_wishes
from engine.config import RoleModel
from engine.llm.chat import ChatModel
from engine.llm.parsing import Reply, plain_text, read_confidence, reason_text
from engine.llm.source_router_prompts import routing_schema, source_router_messages
from engine.llm.usable import usable
from engine.roles import SILENT, RoutingRequest, Trace
from engine.settings import Settings
from engine.values import SOURCE_KINDS, Routing, SourceKind

REPLY_TOKENS = 512
_LONGEST = 400
_MOST = 1000.0
_NAMES: Mapping[str, SourceKind] = MappingProxyType(
    {
        **{kind: kind for kind in SOURCE_KINDS},
        "knowledge base": "vector",
        "知识库": "vector",
        "knowledge graph": "graph",
        "知识图谱": "graph",
        "history": "temporal",
        "历史": "temporal",
    }
)
_TRUE = frozenset({"true", "yes", "1", "是"})


class RoutingReply(Reply):
    """Shares of the kinds that were named; a bare list of kinds gives each the same."""

    shares: dict[SourceKind, float] = Field(
        validation_alias=AliasChoices("shares", "sources", "kinds", "weights", "来源")
    )
    wide: bool = False
    query: str = Field("", validation_alias=AliasChoices("query", "查询"))
    reason: str = Field("", validation_alias=AliasChoices("reason", "why", "reasoning", "理由", "原因"))

    @field_validator("shares", mode="before")
    @classmethod
    def _shares(cls, value: Any) -> dict[SourceKind, float]:
        if isinstance(value, str):
            value = re.split(r"[,，、;；]", value)
        if not isinstance(value, Mapping):
            value = {name: 1.0 for name in value if isinstance(name, str)} if isinstance(value, list | tuple) else {}
        read: dict[SourceKind, float] = {}
        for name, share in value.items():
            kind = _NAMES.get(unicodedata.normalize("NFKC", str(name)).casefold().strip())
            number = _share(share)
            if kind is not None and number > 0:
                read[kind] = number
        if not read:
            raise ValueError("no kind of source has a share")
        return read

    @field_validator("wide", mode="before")
    @classmethod
    def _wide(cls, value: Any) -> bool:
        return value if isinstance(value, bool) else str(value).casefold().strip() in _TRUE

    @field_validator("query", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return plain_text(value, _LONGEST)

    @field_validator("reason", mode="before")
    @classmethod
    def _reason(cls, value: Any) -> str:
        return reason_text(value, _LONGEST)

    def decisive(self) -> tuple[object, ...]:
        return tuple(sorted(self.shares.items())), self.wide


class ChatSourceRouter:
    """Routes with a chat model (contract: :class:`engine.roles.SourceRouter`).

    A reply that cannot be read, or that names no kind there is, gets one more try and is then ``UnreadableReply``.
    What the query asks for itself is added where the model left it out, and a searched text with words that were
    neither asked nor proposed is not taken: a router may choose sources, and not the subject.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "router", think=False, reply_tokens=REPLY_TOKENS)

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing:
        return await usable(
            self._chat,
            trace,
            messages=lambda former: source_router_messages(request, former),
            shape=RoutingReply,
            schema=lambda short: routing_schema(request.kinds, short=short),
            take=lambda reply: _routing(reply, request),
        )


def _routing(reply: RoutingReply, request: RoutingRequest) -> Routing | None:
    shares = {kind: share for kind, share in reply.shares.items() if kind in request.kinds}
    if not shares:
        return None
    routing = Routing(_searched(reply.query, request), normalised(shares), reply.wide, "", reply.reason)
    return honouring(routing, request)


def _searched(proposed: str, request: RoutingRequest) -> str:
    known = frozenset(terms(f"{request.query} {request.question}"))
    words = terms(proposed)
    usable = bool(words) and known.issuperset(words)
    return without_wishes(proposed if usable else request.query, request.question)


def _share(value: Any) -> float:
    number = float(value) if isinstance(value, int | float) else read_confidence(value) or 0.0
    # Beyond any sensible scale it says nothing, and a sum of such numbers would be infinite.
    return number if math.isfinite(number) and number <= _MOST else 0.0
