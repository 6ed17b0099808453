"""Closed sets of a config, and the ranges its numbers may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from engine.errors import InvalidConfig

WorkflowName = Literal["self_corrective", "quality_loop", "dual_loop", "answer_evaluation", "graph_hybrid"]
SearchMethod = Literal["vector", "full_text", "fused"]
"""By meaning (vectors), by words (BM25), or both fused by reciprocal rank."""
Mode = Literal["naive", "local", "global", "hybrid", "mix", "bypass"]
GatePolicy = Literal["pass_rate", "min_relevant"]
ContextPolicy = Literal["union", "last_round"]
RoleName = Literal["grader", "rewriter", "generator", "evaluator", "router", "reranker", "extractor", "vision"]

GradeOn = Literal["weighted", "top3"]
Reranking = Literal["by_mode", "always", "never"]
"""Whether passages are reranked before the gates: in the modes that call for it, in all, in none (GH-04)."""
ModeFrom = Literal["config", "analysis"]

BUILTIN = "builtin"


@dataclass(frozen=True, slots=True)
class Parameter:
    """Range, default and usual range of one number of a run (SC-08)."""

    low: float
    high: float
    default: float
    step: float
    whole: bool
    usual: tuple[float, float] | None = None


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "top_k": Parameter(1, 20, 5, 1, whole=True, usual=(5, 10)),
        "similarity_threshold": Parameter(0, 1, 0.3, 0.01, whole=False, usual=(0.3, 0.5)),
        "grade_pass_threshold": Parameter(0, 1, 0.6, 0.01, whole=False, usual=(0.4, 0.8)),
        "max_rewrites": Parameter(0, 5, 3, 1, whole=True, usual=(2, 3)),
        "min_confidence": Parameter(0, 1, 0.5, 0.01, whole=False),
        "probe_k": Parameter(1, 100, 20, 1, whole=True),
        "min_relevant": Parameter(1, 20, 1, 1, whole=True),
        "budget_s": Parameter(1, 3600, 120, 1, whole=False),
    }
)

QUALITY_WEIGHTS = ("coverage_weight", "relevance_weight", "diversity_weight", "count_weight")

QUALITY_PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "coverage_weight": Parameter(0, 1, 0.4, 0.05, whole=False),
        "relevance_weight": Parameter(0, 1, 0.3, 0.05, whole=False),
        "diversity_weight": Parameter(0, 1, 0.2, 0.05, whole=False),
        "count_weight": Parameter(0, 1, 0.1, 0.05, whole=False),
        "high_score": Parameter(0, 1, 0.7, 0.01, whole=False),
        "medium_score": Parameter(0, 1, 0.5, 0.01, whole=False),
    }
)
"""The numbers of :class:`QualityOptions` (QL-01, QL-02)."""

DUAL_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({"max_corrections": Parameter(0, 5, 2, 1, whole=True)})
"""The numbers of :class:`DualLoopOptions`."""

EVALUATION_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({"gener_epoch": Parameter(1, 10, 3, 1, whole=True)})
"""The numbers of :class:`AnswerEvaluationOptions`."""

GRAPH_PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "hops": Parameter(1, 3, 2, 1, whole=True, usual=(1, 2)),
        "max_entities": Parameter(1, 20, 8, 1, whole=True, usual=(5, 10)),
        "max_communities": Parameter(1, 10, 3, 1, whole=True, usual=(2, 5)),
        "graph_weight": Parameter(0, 1, 0.5, 0.05, whole=False, usual=(0.3, 0.7)),
        "graph_threshold": Parameter(0, 1, 0.0, 0.01, whole=False),
        "rerank_k": Parameter(1, 100, 15, 1, whole=True, usual=(10, 30)),
        "rerank_threshold": Parameter(0, 1, 0.1, 0.01, whole=False, usual=(0, 0.3)),
        "duplicate_threshold": Parameter(0.5, 1, 0.9, 0.01, whole=False, usual=(0.8, 0.95)),
        "freshness_weight": Parameter(0, 1, 0.1, 0.05, whole=False, usual=(0, 0.3)),
        "sentence_threshold": Parameter(0, 1, 0.3, 0.01, whole=False, usual=(0.2, 0.5)),
        "context_tokens": Parameter(100, 32_768, 2000, 100, whole=True, usual=(1000, 4000)),
    }
)
"""The numbers of :class:`GraphOptions` (GH-02, GH-04, GH-06): one threshold a stage."""

ROLES_OF: Mapping[WorkflowName, tuple[RoleName, ...]] = MappingProxyType(
    {
        "self_corrective": ("grader", "rewriter", "generator"),
        "quality_loop": ("grader", "rewriter", "generator", "router"),
        "dual_loop": ("grader", "rewriter", "generator", "evaluator", "router"),
        "answer_evaluation": ("grader", "rewriter", "generator", "evaluator"),
        "graph_hybrid": ("grader", "rewriter", "generator", "router", "reranker"),
    }
)
"""The model roles that a workflow asks."""

OPTION_PARAMETERS: Mapping[WorkflowName, Mapping[str, Parameter]] = MappingProxyType(
    {
        "self_corrective": MappingProxyType({}),
        "quality_loop": QUALITY_PARAMETERS,
        "dual_loop": DUAL_PARAMETERS,
        "answer_evaluation": EVALUATION_PARAMETERS,
        "graph_hybrid": GRAPH_PARAMETERS,
    }
)

WORKFLOW_DEFAULTS: Mapping[WorkflowName, Mapping[str, float]] = MappingProxyType(
    {
        "self_corrective": MappingProxyType({}),
        "quality_loop": MappingProxyType({"top_k": 10, "max_rewrites": 2, "budget_s": 10}),
        "dual_loop": MappingProxyType({}),
        "answer_evaluation": MappingProxyType({}),
        "graph_hybrid": MappingProxyType({}),
    }
)
"""Where a workflow's defaults are other than those of :data:`PARAMETERS` (QL-01, QL-05)."""

MODEL_PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "temperature": Parameter(0, 2, 0, 0.1, whole=False),
        "seed": Parameter(-(2**31), 2**31 - 1, 7, 1, whole=True),
        "num_ctx": Parameter(512, 1_048_576, 8192, 512, whole=True),
    }
)
"""The numbers of a :class:`RoleModel`; built-in models have none."""

PRESETS: Mapping[str, float] = MappingProxyType({"lenient": 0.4, "balanced": 0.6, "strict": 0.8})
"""Named values of ``grade_pass_threshold``; a preset sets nothing else."""


def checked(name: str, value: object, parameter: Parameter) -> int | float:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not parameter.low <= value <= parameter.high:  # type: ignore[operator]
        raise InvalidConfig.out_of_range(field=name, low=parameter.low, high=parameter.high)
    number = float(value)  # type: ignore[arg-type]
    if not parameter.whole:
        return round(number, 4)
    if number != int(number):
        raise InvalidConfig.not_whole(field=name, low=parameter.low, high=parameter.high)
    return int(number)


def default_number(parameters: Mapping[str, Parameter], name: str) -> Any:
    """The default of one number, whole where the number is."""
    parameter = parameters[name]
    return int(parameter.default) if parameter.whole else float(parameter.default)


def check_all(value: object, parameters: Mapping[str, Parameter]) -> None:
    for name, parameter in parameters.items():
        object.__setattr__(value, name, checked(name, getattr(value, name), parameter))


def require(field_name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidConfig.not_one_of(field=field_name, allowed=allowed)


def require_flags(value: object, *names: str) -> None:
    for name in names:
        if not isinstance(getattr(value, name), bool):
            raise InvalidConfig.not_one_of(field=name, allowed=("true", "false"))
