"""Hand-written roles of the quality-control loop, obedient and adversarial, without a store or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.builtin.rerank import GraderReranker
from engine.builtin.source_router import BuiltinSourceRouter
from engine.flow.context import Retrieval, Roles
from engine.model.config import RunConfig
from engine.model.events import Event, fold_all
from engine.model.values import SOURCE_KINDS, Passage, PassageId, Routing, RunRecord, SourceKind, Verdict
from engine.roles import (
    SILENT,
    RewriteProposal,
    RewriteRequest,
    RoutingRequest,
    SourceRouter,
    Trace,
)
from engine.settings import Settings
from engine.workflows.quality_loop.roles import QualityRoles
from tests.support import fakes
from tests.support.fakes import FakeGenerator, FakeGrader, FakeKnowledge, FakeRetriever, FakeRewriter

Lists = Mapping[SourceKind, Sequence[Passage]]


def passage(name: str, similarity: float = 0.8, text: str = "") -> Passage:
    return Passage(PassageId(name), f"{name}.md", text or f"The text of {name}.", similarity, similarity)


def a_list(kind: SourceKind, count: int = 12, top: float = 0.95) -> tuple[Passage, ...]:
    """Passages named after their kind, ``v1`` best, all above the default similarity threshold."""
    return tuple(passage(f"{kind[0]}{place}", round(top - place * 0.02, 4)) for place in range(1, count + 1))


ALL_LISTS: Lists = {kind: a_list(kind) for kind in SOURCE_KINDS}


@dataclass
class FakeKinds:
    """A :class:`engine.flow.context.KindRetriever` over fixed lists; notes what was searched."""

    lists: Lists = field(default_factory=lambda: ALL_LISTS)
    searched: list[tuple[str, SourceKind]] = field(default_factory=list)
    errors: Mapping[SourceKind, Exception] = field(default_factory=dict)
    hanging: frozenset[SourceKind] = frozenset()
    kinds_error: Exception | None = None
    kinds_hang: bool = False
    from_round: int = 0
    """Round from which errors and hanging begin."""

    async def kinds(self, question: str = "") -> tuple[SourceKind, ...]:
        if self.kinds_hang:
            await asyncio.Event().wait()
        if self.kinds_error is not None:
            raise self.kinds_error
        return tuple(kind for kind in SOURCE_KINDS if self.lists.get(kind))

    async def search_kind(self, query: str, kind: SourceKind, limit: int) -> Retrieval:
        self.searched.append((query, kind))
        if len({asked for asked, _ in self.searched}) > self.from_round:
            if kind in self.hanging:
                await asyncio.Event().wait()
            if kind in self.errors:
                raise self.errors[kind]
        return Retrieval(tuple(self.lists.get(kind, ()))[:limit], 0.7, "none")


@dataclass
class ScriptedRouter:
    """Gives its routings in order, then the last one again; an exception among them is raised."""

    script: Sequence[Any] = ()
    requests: list[RoutingRequest] = field(default_factory=list)

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing:
        self.requests.append(request)
        said = self.script[min(len(self.requests), len(self.script)) - 1]
        routing: Routing = await _said(said)
        return routing


@dataclass
class ScriptedReranker:
    """Gives P(relevant) by passage id; what is named in ``script`` instead is raised, hung or returned."""

    relevance: Mapping[str, float] = field(default_factory=dict)
    otherwise: float = 0.0
    script: Sequence[Any] = ()
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]:
        self.asked.append((question, [item.id for item in passages]))
        place = len(self.asked) - 1
        if place < len(self.script) and self.script[place] is not None:
            return list(await _said(self.script[place]))
        return [(item, verdict(self.relevance.get(item.id, self.otherwise))) for item in passages]


@dataclass
class ScriptedRewriter:
    """Gives queries in order, then the last one again; an exception among them is raised, ``HANG`` never returns."""

    script: Sequence[Any] = ("second", "third", "fourth", "fifth", "sixth")
    requests: list[RewriteRequest] = field(default_factory=list)

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        self.requests.append(request)
        said = await _said(self.script[min(len(self.requests), len(self.script)) - 1])
        return RewriteProposal(said, "other words", ("word",))


HANG = object()


async def _said(said: Any) -> Any:
    if said is HANG:
        await asyncio.Event().wait()
    if isinstance(said, Exception):
        raise said
    return said


def verdict(p_relevant: float) -> Verdict:
    """A verdict with that P(relevant); a negative one is unreadable."""
    if p_relevant < 0:
        return Verdict(None, 0.0, "unreadable", grader="fake")
    relevant = p_relevant >= 0.5
    return Verdict(relevant, p_relevant if relevant else 1.0 - p_relevant, "scripted", grader="fake")


@dataclass
class LoopResources(fakes.Ready):
    """What a run of the quality-control loop draws on, with fakes in it."""

    settings: Settings = field(default_factory=Settings)
    kinds: FakeKinds = field(default_factory=FakeKinds)
    router: SourceRouter = field(default_factory=BuiltinSourceRouter)
    reranker: Any = None
    rewriter: Any = field(default_factory=FakeRewriter)
    generator: FakeGenerator = field(default_factory=FakeGenerator)
    grader: FakeGrader = field(default_factory=FakeGrader)
    knowledge: FakeKnowledge = field(default_factory=FakeKnowledge)

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        quality = QualityRoles(self.kinds, self.router, self.reranker or GraderReranker(self.grader))
        return Roles(FakeRetriever(), self.grader, self.rewriter, self.generator, own=quality), {"grader": "fake"}

    async def source_kinds(self, config: RunConfig, question: str = "") -> tuple[SourceKind, ...]:
        return await self.kinds.kinds()


def events_of(resources: LoopResources, config: RunConfig, question: str = "first") -> list[Event]:
    return fakes.events_of(resources, config, question)


def finished(resources: LoopResources, config: RunConfig | None = None, question: str = "first") -> RunRecord:
    """The record of one run."""
    return fold_all(events_of(resources, config or RunConfig(workflow="quality_loop"), question))
