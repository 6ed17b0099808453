"""Events of whole runs of graph + vector retrieval, made by running it with hand-written roles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.builtin.direct import BuiltinDirectAnswerer, BuiltinUnsearched
from engine.builtin.query_analyst import BuiltinQueryAnalyst
from engine.builtin.rerank import GraderReranker
from engine.flow import compiled
from engine.flow.context import Roles
from engine.model.config import RunConfig
from engine.model.events import Event
from engine.model.values import (
    Attachment,
    Community,
    Entity,
    FoundCommunity,
    FoundEntity,
    GraphEvidence,
    ModeNote,
    PassageId,
    Relationship,
    RunId,
)
from engine.retrieval.mode_values import ModeFound, ModeRequest, QueryLook
from engine.retrieval.ordering import Found
from engine.running.execution import execute
from engine.running.runs import LiveRun
from engine.settings import Settings
from engine.workflows.graph_hybrid.roles import GraphRoles
from tests.support.fakes import FakeGenerator, FakeGrader, FakeKnowledge, FakeRetriever, FakeRewriter
from tests.support.loop_fakes import passage

DRUG = Entity("metformin", "Metformin", "DRUG", "A tablet.", degree=3, passages=(PassageId("g1"),))
PLANT = Entity("galega", "Galega", "PLANT", "A herb.", degree=1, passages=(PassageId("g2"),))
FROM = Relationship("metformin", "galega", "DERIVED_FROM", "Goat's rue.", (PassageId("g2"),))
COMMUNITY = Community("c1", "Tablets", "What lowers glucose.", ("metformin", "galega"), (PassageId("g1"),))
GRAPH = GraphEvidence(
    "mix",
    entities=(FoundEntity(DRUG, "name", 1.0), FoundEntity(PLANT, "neighbour", 0.6, 1)),
    relationships=(FROM,),
    communities=(FoundCommunity(COMMUNITY, 0.7),),
)
FELL_BACK = GraphEvidence(
    "local", notes=(ModeNote("no_graph", "local", {"collection": "samples"}),), fell_back_to=("vector",)
)
LISTS: Mapping[Any, tuple[Found, ...]] = {
    "vector": tuple(Found(passage(f"v{at}", 0.8 - at / 20)) for at in range(1, 5)),
    "local": (Found(passage("g1", 0.4), 0.9, ("metformin",)), Found(passage("g2", 0.1), 0.6, ("galega", FROM.id))),
    "global": (Found(passage("g1", 0.4), 0.7, ("c1",)), Found(passage("v1", 0.75), 0.5, ("c1",))),
}
TABLE = Attachment("table", "doses.csv", rows=(("Drug", "Dose"), ("Metformin", "500")), read_by="csv")
QUESTION = "Which plant does metformin come from?"


@dataclass
class FakeSearcher:
    """Gives the same lists for every query."""

    evidence: GraphEvidence = GRAPH
    lists: Mapping[Any, tuple[Found, ...]] = field(default_factory=lambda: LISTS)

    async def look(self, query: str) -> QueryLook:
        return QueryLook(("metformin",), ("naive", "local", "global", "hybrid", "mix"))

    async def search(self, request: ModeRequest, left_s: Callable[[], float]) -> ModeFound:
        return ModeFound(self.lists, self.evidence, 0.1, "en")


@dataclass
class GraphResources:
    """What a run draws on, with fakes in it."""

    settings: Settings = field(default_factory=Settings)
    searcher: FakeSearcher = field(default_factory=FakeSearcher)
    grader: FakeGrader = field(default_factory=FakeGrader)
    generator: Any = field(default_factory=FakeGenerator)
    knowledge: FakeKnowledge = field(default_factory=FakeKnowledge)

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        graph = GraphRoles(
            BuiltinQueryAnalyst(),
            self.searcher,
            GraderReranker(self.grader),
            unsearched=BuiltinUnsearched(),
            direct=BuiltinDirectAnswerer(),
        )
        return Roles(FakeRetriever(), self.grader, FakeRewriter(), self.generator, own=graph), {"grader": "fake"}

    async def warm_up(self) -> None:
        return None

    async def close(self) -> None:
        return None


def graph_config(**settings: Any) -> RunConfig:
    return RunConfig(workflow="graph_hybrid", **settings)


def events_of(
    resources: GraphResources,
    config: RunConfig,
    question: str = QUESTION,
    attachments: tuple[Attachment, ...] = (),
) -> list[Event]:
    """Every event of one run."""
    events: list[Event] = []
    compiled("graph_hybrid")
    run = LiveRun(RunId("r"), lambda _, event: events.append(event))
    run.begin(question, config, attachments=attachments)
    asyncio.run(execute(run, question, config, resources))
    return events


def graph_run(relevant: str, question: str = QUESTION, evidence: GraphEvidence = GRAPH, **settings: Any) -> list[Event]:
    """Events of a run in which these passages pass."""
    lists = LISTS if evidence is GRAPH else {"local": (), "vector": LISTS["vector"]}
    grader = FakeGrader(relevant=frozenset(relevant.split()))
    resources = GraphResources(searcher=FakeSearcher(evidence, lists), grader=grader)
    return events_of(resources, graph_config(**settings), question)
