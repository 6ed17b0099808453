"""What only one workflow has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import get_args

from engine.errors import InvalidConfig
from engine.model.config.parameters import (
    DUAL_PARAMETERS,
    EVALUATION_PARAMETERS,
    GRAPH_PARAMETERS,
    QUALITY_PARAMETERS,
    QUALITY_WEIGHTS,
    GradeOn,
    ModeFrom,
    Reranking,
    WorkflowName,
    check_all,
    default_number,
    require,
    require_flags,
)

_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class SelfCorrectiveOptions:
    """What only the four-node loop has: nothing beyond :class:`RunConfig`."""


@dataclass(frozen=True, slots=True)
class QualityOptions:
    """What only the quality-control loop has: weights, cut-offs and the graded number (QL-01, QL-02)."""

    coverage_weight: float = default_number(QUALITY_PARAMETERS, "coverage_weight")
    relevance_weight: float = default_number(QUALITY_PARAMETERS, "relevance_weight")
    diversity_weight: float = default_number(QUALITY_PARAMETERS, "diversity_weight")
    count_weight: float = default_number(QUALITY_PARAMETERS, "count_weight")
    grade_on: GradeOn = "weighted"
    high_score: float = default_number(QUALITY_PARAMETERS, "high_score")
    medium_score: float = default_number(QUALITY_PARAMETERS, "medium_score")
    """Scores from which a round is graded high, and medium; below it is low and rewritten."""

    def __post_init__(self) -> None:
        check_all(self, QUALITY_PARAMETERS)
        require("grade_on", self.grade_on, get_args(GradeOn))
        total = sum(getattr(self, name) for name in QUALITY_WEIGHTS)
        if abs(total - 1.0) > _ROUNDING:
            raise InvalidConfig.weights(sum=f"{total:.4g}", weights=QUALITY_WEIGHTS)
        if self.high_score < self.medium_score:
            raise InvalidConfig.out_of_range(field="high_score", low=self.medium_score, high=1)


@dataclass(frozen=True, slots=True)
class DualLoopOptions:
    """What only the dual loop has (DL-04, DL-06, DL-07)."""

    max_corrections: int = default_number(DUAL_PARAMETERS, "max_corrections")
    """Answers that may be corrected; at most one more answer than that is written."""
    memory: bool = True
    """Whether earlier answers are recalled and this one is kept."""
    web_search: bool = False
    """Whether the web may be searched where the settings of this machine name a search engine."""

    def __post_init__(self) -> None:
        check_all(self, DUAL_PARAMETERS)
        require_flags(self, "memory", "web_search")


@dataclass(frozen=True, slots=True)
class AnswerEvaluationOptions:
    """What only the answer-evaluation loop has (AE-01)."""

    gener_epoch: int = default_number(EVALUATION_PARAMETERS, "gener_epoch")
    """Answers that may be written at most, the first included."""

    def __post_init__(self) -> None:
        check_all(self, EVALUATION_PARAMETERS)


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """What only graph + vector retrieval has (GH-01, GH-02, GH-04, GH-06)."""

    hops: int = default_number(GRAPH_PARAMETERS, "hops")
    """How many relationships away from the entities of the query an entity may lie."""
    max_entities: int = default_number(GRAPH_PARAMETERS, "max_entities")
    """Entities that a search begins from, at most."""
    max_communities: int = default_number(GRAPH_PARAMETERS, "max_communities")
    """Community summaries that a search in mode ``global`` looks inside."""
    graph_weight: float = default_number(GRAPH_PARAMETERS, "graph_weight")
    """Share of the graph in ``mix``; the rest is that of the vectors."""
    graph_threshold: float = default_number(GRAPH_PARAMETERS, "graph_threshold")
    """Least graph score of a passage that the graph found; the similarity threshold does not cut these."""
    rerank: Reranking = "by_mode"
    rerank_k: int = default_number(GRAPH_PARAMETERS, "rerank_k")
    """How many of the best passages are reranked."""
    rerank_threshold: float = default_number(GRAPH_PARAMETERS, "rerank_threshold")
    """Least score of a passage that was reranked."""
    duplicate_threshold: float = default_number(GRAPH_PARAMETERS, "duplicate_threshold")
    """Likeness to a passage above it from which on a passage is pushed down as a near-duplicate."""
    freshness_weight: float = default_number(GRAPH_PARAMETERS, "freshness_weight")
    """What being the newest dated passage counts for in the order, against 1 for relevance."""
    refine: bool = False
    """Whether passages are cut to the sentences that bear on the question before generation."""
    sentence_threshold: float = default_number(GRAPH_PARAMETERS, "sentence_threshold")
    """Least bearing of a sentence that refinement keeps."""
    context_tokens: int = default_number(GRAPH_PARAMETERS, "context_tokens")
    """Budget for graph, tables and passages together; never more than the generator's own."""
    answer_directly: bool = True
    """Whether a simple query is answered without a search."""
    tables_only: bool = False
    """Whether a question that comes with tables is answered from them alone, without a search."""
    mode_from: ModeFrom = "config"
    """Whether the mode is the config's, or the one that the analysis of the query suggests."""

    def __post_init__(self) -> None:
        check_all(self, GRAPH_PARAMETERS)
        require("rerank", self.rerank, get_args(Reranking))
        require("mode_from", self.mode_from, get_args(ModeFrom))
        require_flags(self, "refine", "answer_directly", "tables_only")


WorkflowOptions = SelfCorrectiveOptions | QualityOptions | DualLoopOptions | AnswerEvaluationOptions | GraphOptions

OPTIONS: Mapping[WorkflowName, type[WorkflowOptions]] = MappingProxyType(
    {
        "self_corrective": SelfCorrectiveOptions,
        "quality_loop": QualityOptions,
        "dual_loop": DualLoopOptions,
        "answer_evaluation": AnswerEvaluationOptions,
        "graph_hybrid": GraphOptions,
    }
)
