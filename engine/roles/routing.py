"""The roles that choose where to search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.model.values import Memory, RouteChoice, Routing, SourceKind, Strategy

if TYPE_CHECKING:
    pass
from engine.roles.trace import SILENT, Trace


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """Input of a router of source kinds: no score, no threshold, no budget."""

    question: str
    query: str
    """The question, or its newest rewrite: a wish for history, several sources or a wider scope stands in it."""
    kinds: tuple[SourceKind, ...]
    """Kinds that the collection has."""


class SourceRouter(Protocol):
    """Chooses which source kinds a query needs (QL-03).

    Contract (tests/contracts/test_router.py): shares above 0 that sum to 1, of available kinds only, at least one; a
    query that asks for history has ``temporal`` among them, one that asks for several sources at least two, one that
    asks for a wider scope is ``wide``, each where the collection allows it. Never calls a store.
    """

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing: ...


@dataclass(frozen=True, slots=True)
class StrategyRequest:
    question: str
    memories: tuple[Memory, ...]
    """Recalled ones that still hold, best first."""
    strategies: tuple[Strategy, ...]
    """Those that can be used here."""


class StrategyRouter(Protocol):
    """Decides how the dual loop begins (DL-02); never searches.

    Contract (tests/contracts/test_strategy_router.py): ``direct`` or one of the strategies given; ``direct`` only for
    small talk or where a memory answers; says what it would have been without memory where it knows. A reply that
    cannot be read is ``UnreadableReply``.
    """

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice: ...
