"""The roles of a run as Protocols; each has one contract suite under ``tests/contracts`` that every version passes."""

from __future__ import annotations

from engine.roles.answering import (
    DirectAnswerer,
    DirectRequest,
    EvaluationAim,
    EvaluationRequest,
    Evaluator,
    GenerationRequest,
    Generator,
    Writer,
)
from engine.roles.further import Entity, GraphStore, ImageReader, LongTermMemory, Relationship, WebSearch
from engine.roles.grading import Grader, Reranker
from engine.roles.rewriting import (
    FailedPassage,
    NearPassage,
    RewriteIssue,
    RewriteProposal,
    Rewriter,
    RewriteRequest,
    TriedRewrite,
)
from engine.roles.routing import RoutingRequest, SourceRouter, StrategyRequest, StrategyRouter
from engine.roles.store import (
    ANYWHERE,
    NO_SUMMARIES,
    CollectionInfo,
    Embedder,
    Hit,
    PassageStore,
    SourceInfo,
    StoredPassage,
    Summaries,
    Within,
)
from engine.roles.trace import SILENT, SilentTrace, Trace, Vector

__all__ = [
    "ANYWHERE",
    "NO_SUMMARIES",
    "SILENT",
    "CollectionInfo",
    "DirectAnswerer",
    "DirectRequest",
    "Embedder",
    "Entity",
    "EvaluationAim",
    "EvaluationRequest",
    "Evaluator",
    "FailedPassage",
    "GenerationRequest",
    "Generator",
    "Grader",
    "GraphStore",
    "Hit",
    "ImageReader",
    "LongTermMemory",
    "NearPassage",
    "PassageStore",
    "Relationship",
    "Reranker",
    "RewriteIssue",
    "RewriteProposal",
    "RewriteRequest",
    "Rewriter",
    "RoutingRequest",
    "SilentTrace",
    "SourceInfo",
    "SourceRouter",
    "StoredPassage",
    "StrategyRequest",
    "StrategyRouter",
    "Summaries",
    "Trace",
    "TriedRewrite",
    "Vector",
    "WebSearch",
    "Within",
    "Writer",
]
