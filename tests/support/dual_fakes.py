"""Hand-written roles of the dual loop that keep their contracts, and the resources that hand them out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.flow.context import Retrieval, Roles, SectionRetrieval
from engine.model.config import RunConfig
from engine.model.events import Event, fold_all
from engine.model.values import (
    Evaluation,
    FoundSection,
    Memory,
    ModelCall,
    RouteChoice,
    RunRecord,
    Suggestion,
    Verdict,
)
from engine.roles import SILENT, DirectRequest, Distiller, EvaluationRequest, StrategyRequest, Trace
from engine.workflows.dual_loop.distil import ExtractiveDistiller
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.dual_loop.roles import DualRoles
from tests.support import fakes
from tests.support.fakes import FakeGrader, FakeResources, FakeRetriever

OFF = Evaluation(False, (Suggestion("reasonableness", "It does not say when."),), "fake")
WORSE = Evaluation(
    False, (Suggestion("reasonableness", "It is about cats."), Suggestion("reasonableness", "It is too short.")), "fake"
)
SOLVED = Evaluation(True, (), "fake")
BROAD = RouteChoice("hierarchical_search", "overview", "It is broad.")
SECTION = frozenset({"s1"})
PASSAGE = frozenset({"p1"})


async def hang() -> None:
    """Never returns; whoever waits for it must have a limit."""
    await asyncio.Event().wait()


@dataclass
class FakeSections:
    """Finds what its table says of a query, inside one section."""

    found: FakeRetriever = field(default_factory=lambda: FakeRetriever(otherwise={"s1": 0.9, "s2": 0.8}))
    summaries: bool = True
    hangs: bool = False

    async def has_summaries(self) -> bool:
        return self.summaries

    async def search_sections(self, query: str, limit: int) -> SectionRetrieval:
        if self.hangs:
            await hang()
        retrieval = await self.found.search(query, limit)
        return SectionRetrieval((FoundSection("s1.md", "First", "What it is about.", 0.8),), retrieval)


@dataclass
class FakeWeb(FakeRetriever):
    """Finds pages; may hang."""

    otherwise: Mapping[str, float] = field(default_factory=lambda: {"web:1": 0.9, "web:2": 0.6})
    hangs: bool = False

    async def search(self, query: str, limit: int) -> Retrieval:
        if self.hangs:
            self.queries.append(query)
            await hang()
        return await super().search(query, limit)


@dataclass
class FakeStrategyRouter:
    choice: RouteChoice = BROAD
    requests: list[StrategyRequest] = field(default_factory=list)
    error: Exception | None = None
    hangs: bool = False

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice:
        self.requests.append(request)
        if self.hangs:
            await hang()
        if self.error is not None:
            raise self.error
        trace.call(ModelCall("router", "", 0, "fake", (), self.choice.route, start_ms=trace.now_ms()))
        return self.choice


@dataclass
class FakeDirect:
    text: str = "As I said before."
    requests: list[DirectRequest] = field(default_factory=list)
    error: Exception | None = None
    hangs: bool = False

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        self.requests.append(request)
        trace.token(self.text[:4])
        if self.hangs:
            await hang()
        if self.error is not None:
            raise self.error
        trace.token(self.text[4:])
        return self.text


@dataclass
class FakeEvaluator:
    """Gives its judgements in order, then the last one again."""

    says: Sequence[Evaluation] = (SOLVED,)
    requests: list[EvaluationRequest] = field(default_factory=list)
    error: Exception | None = None
    hangs: bool = False

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        self.requests.append(request)
        if self.hangs:
            await hang()
        if self.error is not None:
            raise self.error
        trace.call(ModelCall("evaluator", "", 0, "fake", (), "judged", start_ms=trace.now_ms()))
        return self.says[min(len(self.requests), len(self.says)) - 1]


@dataclass
class FakeMemory:
    memories: Sequence[Memory] = ()
    kept: list[Memory] = field(default_factory=list)
    error: Exception | None = None
    keep_error: Exception | None = None
    hangs: bool = False
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    async def recall(self, question: str, collection: str, limit: int) -> list[Memory]:
        self.asked.append((question, collection, limit))
        if self.hangs:
            await hang()
        if self.error is not None:
            raise self.error
        return list(self.memories)

    async def keep(self, memory: Memory) -> None:
        if self.hangs:
            await hang()
        if self.keep_error is not None:
            raise self.keep_error
        self.kept.append(memory)

    async def list(self) -> list[Memory]:
        return [*self.memories, *self.kept]

    async def forget(self, memory_id: str) -> bool:
        return False


@dataclass
class FakeRecallGrader:
    """Says of every memory that it answers, but for those named; raises what it is given."""

    refused: frozenset[str] = frozenset()
    error: Exception | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)

    async def grade(self, question: str, memories: Sequence[Memory], trace: Trace) -> list[Verdict]:
        self.asked.append(tuple(item.id for item in memories))
        if self.error is not None:
            raise self.error
        return [Verdict(item.id not in self.refused, 0.9, "") for item in memories]


@dataclass
class DualResources(FakeResources):
    """Hands out the fake roles of the dual loop next to the shared ones."""

    sections: FakeSections = field(default_factory=FakeSections)
    router: FakeStrategyRouter = field(default_factory=FakeStrategyRouter)
    direct: FakeDirect = field(default_factory=FakeDirect)
    evaluator: FakeEvaluator = field(default_factory=FakeEvaluator)
    memory: FakeMemory = field(default_factory=FakeMemory)
    recall_grader: FakeRecallGrader = field(default_factory=FakeRecallGrader)
    distiller: Distiller = field(default_factory=ExtractiveDistiller)
    web: FakeWeb | None = None
    fingerprint: str = "now"

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        shared, manifest = await super().roles(config)
        dual = DualRoles(
            sections=self.sections,
            router=self.router,
            direct=self.direct,
            evaluator=self.evaluator,
            memory=self.memory,
            recall_grader=self.recall_grader,
            distiller=self.distiller,
            web=self.web,
            fingerprint=self.fingerprint,
        )
        return Roles(shared.retriever, shared.grader, shared.rewriter, shared.generator, own=dual), manifest


def relevant(names: frozenset[str] = SECTION, **roles: object) -> DualResources:
    """Resources whose grader passes the passages named."""
    return DualResources(grader=FakeGrader(relevant=names), **roles)  # type: ignore[arg-type]


def direct(**roles: object) -> DualResources:
    """Resources whose router answers at once."""
    return relevant(PASSAGE, router=FakeStrategyRouter(RouteChoice("direct", "smalltalk")), **roles)


def memory(question: str = "first", answer: str = "It is so [1].", **changes: object) -> Memory:
    """A passed memory of the collection ``samples`` as it is now, unless a test says otherwise."""
    known: dict[str, object] = {
        "id": "m1",
        "question": question,
        "answer": answer,
        "collection": "samples",
        "run_id": "earlier",
        "kept_at": "2026-01-01T09:00:00.000+00:00",
        "sources": ("a.md", "b.md"),
        "fingerprint": "now",
        "similarity": 1.0,
    }
    return Memory(**{**known, **changes})  # type: ignore[arg-type]


def events_of(
    resources: DualResources, config: RunConfig | None = None, question: str = "first", **more: Any
) -> list[Event]:
    return fakes.events_of(resources, config or RunConfig(workflow="dual_loop"), question, **more)


def finished(resources: DualResources, config: RunConfig | None = None, question: str = "first") -> RunRecord:
    """The record of one run."""
    return fold_all(events_of(resources, config, question))


def dual(max_corrections: int = 2, *, memory: bool = True, web_search: bool = False, **more: Any) -> RunConfig:
    options = DualLoopOptions(max_corrections, memory, web_search)
    return RunConfig(workflow="dual_loop", options=options, **more)
