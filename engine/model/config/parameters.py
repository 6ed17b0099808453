"""Closed sets of a config, and what the numbers of a model may be."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from engine.model.config.setting import Parameter

WorkflowName = str
"""A name of the registry, :data:`engine.model.config.registry.WORKFLOWS`."""
SearchMethod = Literal["vector", "full_text", "fused"]
"""By meaning (vectors), by words (BM25), or both fused by reciprocal rank."""
Mode = Literal["naive", "local", "global", "hybrid", "mix", "bypass"]
GatePolicy = Literal["pass_rate", "min_relevant"]
ContextPolicy = Literal["union", "last_round"]
RoleName = Literal["grader", "rewriter", "generator", "evaluator", "router", "reranker", "extractor", "vision"]
CallRole = RoleName | Literal["judge"]
"""Who may ask a model: a role of a run, or the judge of answers, which looks at runs that have ended."""

BUILTIN = "builtin"

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
