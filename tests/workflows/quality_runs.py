"""Settings, knowledge and resources of the quality-control loop that its tests share."""

from __future__ import annotations

from typing import Any

from engine.builtin.quality_rewriter import BuiltinQualityRewriter
from engine.errors import ModelError, StoreError
from engine.model.config import RunConfig
from engine.workflows.quality_loop.options import QualityOptions
from tests.support.loop_fakes import (
    HANG,
    FakeKinds,
    LoopResources,
    ScriptedReranker,
    ScriptedRewriter,
    ScriptedRouter,
    a_list,
)

GONE = ModelError.ollama_unreachable(address="http://127.0.0.1:1")
NO_STORE = StoreError.unreachable(address="http://127.0.0.1:1")
ONE_LOOP = ["question_router", "retrieve", "fuse", "rerank", "grade_documents"]


def config(**changes: Any) -> RunConfig:
    options = {name: changes.pop(name) for name in list(changes) if name in QualityOptions.__slots__}
    return RunConfig(workflow="quality_loop", options=QualityOptions(**options), **changes)


def knowledge_base(**more: Any) -> FakeKinds:
    """A collection of textbook passages and nothing else."""
    return FakeKinds({"vector": a_list("vector")}, **more)


def good(relevance: float = 0.9) -> LoopResources:
    return LoopResources(reranker=ScriptedReranker(otherwise=relevance), rewriter=BuiltinQualityRewriter())


def hanging(node: str) -> LoopResources:
    resources = LoopResources(reranker=ScriptedReranker(relevance={"v1": 0.9}))
    match node:
        case "kinds":
            resources.kinds = FakeKinds(kinds_hang=True)
        case "question_router":
            resources.router = ScriptedRouter([HANG])
        case "retrieve":
            resources.kinds = FakeKinds(hanging=frozenset({"vector", "graph", "temporal"}))
        case "rerank":
            resources.reranker = ScriptedReranker(script=[HANG])
        case "rewrite":
            resources.rewriter = ScriptedRewriter([HANG])
    return resources
