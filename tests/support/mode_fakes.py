"""Hand-written roles of graph + vector retrieval, obedient and adversarial, without a store or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.builtin.direct import BuiltinDirectAnswerer, BuiltinUnsearched
from engine.builtin.query_analyst import BuiltinQueryAnalyst
from engine.builtin.rerank import GraderReranker
from engine.errors import WorkbenchError
from engine.flow.context import Roles
from engine.model.config import RunConfig
from engine.model.events import Event, fold_all
from engine.model.values import (
    Attachment,
    Entity,
    FoundEntity,
    GraphEvidence,
    ModelCall,
    ModeNote,
    QueryAnalysis,
    Relationship,
    RetrievalList,
    RunRecord,
    lists_of_mode,
)
from engine.retrieval.graph_options import GraphOptions
from engine.retrieval.mode_values import ModeFound, ModeRequest, QueryLook
from engine.retrieval.ordering import Found
from engine.roles import SILENT, AnalysisRequest, QueryAnalyst, Trace
from engine.settings import Settings
from engine.workflows.graph_hybrid.roles import GraphRoles
from tests.support import fakes
from tests.support.fakes import FakeGenerator, FakeGrader, FakeKnowledge, FakeRetriever, FakeRewriter
from tests.support.loop_fakes import HANG, passage

VIA = "insulin|LOWERS|glucose"
ENTITIES = (
    FoundEntity(Entity("insulin", "Insulin", "HORMONE", degree=1), "name", 1.0),
    FoundEntity(Entity("glucose", "Glucose", "SUGAR", degree=1), "neighbour", 0.6, 1),
)
RELATIONSHIPS = (Relationship("insulin", "glucose", "LOWERS", "It lowers it.", (passage("g1").id,)),)


def found(letter: str, count: int = 8, *, graph: bool = False) -> tuple[Found, ...]:
    """Passages ``v1``, ``v2`` … of one list, best first, each with words of its own."""
    items = []
    for place in range(1, count + 1):
        text = f"Passage {letter}{place} tells of {letter * 3}{place * 7} and nothing else."
        score = round(0.9 - place * 0.05, 4)
        items.append(Found(passage(f"{letter}{place}", score, text), score if graph else None, (VIA,) if graph else ()))
    return tuple(items)


ALL_LISTS: Mapping[RetrievalList, tuple[Found, ...]] = {
    "vector": found("v"),
    "local": found("g", graph=True),
    "global": found("c", graph=True),
    "attachment": found("a", 2),
}


@dataclass
class FakeSearcher:
    """A :class:`engine.retrieval.mode_values.ModeSearcher` over fixed lists; notes what it was asked."""

    lists: Mapping[RetrievalList, tuple[Found, ...]] = field(default_factory=lambda: ALL_LISTS)
    notes: tuple[ModeNote, ...] = ()
    fell_back_to: tuple[RetrievalList, ...] = ()
    entities: tuple[str, ...] = ()
    faults: Mapping[RetrievalList, WorkbenchError] = field(default_factory=dict)
    script: Sequence[Any] = ()
    """What happens instead, by search: an exception is raised, ``HANG`` never returns, a ``ModeFound`` is given."""
    look_error: Any = None
    requests: list[ModeRequest] = field(default_factory=list)
    entered: Callable[[], object] | None = None
    """Called when a search begins."""

    async def look(self, query: str) -> QueryLook:
        await _said(self.look_error)
        return QueryLook(tuple(name for name in self.entities if name in query), ("naive", "local", "hybrid", "mix"))

    async def search(self, request: ModeRequest, left_s: Callable[[], float]) -> ModeFound:
        self.requests.append(request)
        if self.entered is not None:
            self.entered()
        place = len(self.requests) - 1
        said = await _said(self.script[place]) if place < len(self.script) else None
        if said is not None:
            return said  # type: ignore[no-any-return]
        wanted = (*lists_of_mode(request.mode, attached=bool(request.attached)), *self.fell_back_to)
        lists = {name: () if name in self.faults else tuple(self.lists.get(name, ())) for name in wanted}
        own = {item.passage.id for name, items in lists.items() if name != "attachment" for item in items}
        if "vector" not in wanted and own and len(own) < request.config.fetch_k:
            lists["near"] = tuple(self.lists.get("vector", ()))
        of_graph = any(name in ("local", "global") and lists[name] for name in lists)
        evidence = GraphEvidence(
            mode=request.mode,
            entities=ENTITIES if of_graph else (),
            relationships=RELATIONSHIPS if of_graph else (),
            notes=self.notes,
            fell_back_to=self.fell_back_to,
        )
        faults = {name: fault for name, fault in self.faults.items() if name in wanted}
        return ModeFound(lists, evidence, 0.7, "none", faults)


class FakeAnalyst:
    """Suggests the last of the modes given, for any names that stand in the query."""

    async def analyse(self, request: AnalysisRequest, trace: Trace = SILENT) -> QueryAnalysis:
        trace.call(ModelCall("router", "", 0, "fake", (), request.query, start_ms=trace.now_ms()))
        return QueryAnalysis("single", request.entities, request.modes[-1] if request.modes else "mix", by="fake")


@dataclass
class ScriptedAnalyst:
    """Gives its analyses in order, then the last one again; an exception among them is raised, ``HANG`` hangs."""

    script: Sequence[Any]
    requests: list[AnalysisRequest] = field(default_factory=list)

    async def analyse(self, request: AnalysisRequest, trace: Trace = SILENT) -> QueryAnalysis:
        self.requests.append(request)
        said: QueryAnalysis = await _said(self.script[min(len(self.requests), len(self.script)) - 1])
        return said


@dataclass
class GraphResources(fakes.Ready):
    """What a run of graph + vector retrieval draws on, with fakes in it; without a reranker it is the grader."""

    settings: Settings = field(default_factory=Settings)
    searcher: Any = field(default_factory=FakeSearcher)
    analyst: QueryAnalyst = field(default_factory=BuiltinQueryAnalyst)
    reranker: Any = None
    grader: FakeGrader = field(default_factory=lambda: FakeGrader(relevant=frozenset({"v1", "g1", "c1"})))
    rewriter: Any = field(default_factory=FakeRewriter)
    generator: Any = field(default_factory=FakeGenerator)
    direct: Any = field(default_factory=BuiltinDirectAnswerer)
    unsearched: Any = field(default_factory=BuiltinUnsearched)
    knowledge: FakeKnowledge = field(default_factory=FakeKnowledge)

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        graph = GraphRoles(
            analyst=self.analyst,
            searcher=self.searcher,
            reranker=self.reranker or GraderReranker(self.grader),
            unsearched=self.unsearched,
            direct=self.direct,
        )
        roles = Roles(FakeRetriever(), self.grader, self.rewriter, self.generator, own=graph)
        return roles, {"grader": "fake", "graph": "ready"}


def graph_config(**changes: Any) -> RunConfig:
    """A config of the workflow; names of its own options may stand among the others."""
    options = {name: changes.pop(name) for name in list(changes) if name in GraphOptions.__slots__}
    return RunConfig(workflow="graph_hybrid", options=GraphOptions(**options), **changes)


def events_of(
    resources: GraphResources,
    config: RunConfig | None = None,
    question: str = "What does insulin do?",
    attachments: tuple[Attachment, ...] = (),
) -> list[Event]:
    return fakes.events_of(resources, config or graph_config(), question, attachments)


def finished(resources: GraphResources, *given: Any, **more: Any) -> RunRecord:
    """The record of one run."""
    return fold_all(events_of(resources, *given, **more))


async def _said(said: Any) -> Any:
    if said is HANG:
        await asyncio.Event().wait()
    if isinstance(said, BaseException):
        raise said
    return said
