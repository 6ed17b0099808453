"""Makes the roles that only the quality-control loop has, and says beforehand what its bar asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.errors import WorkbenchError
from engine.flow.context import Roles
from engine.flow.declaration import KindsOf
from engine.model.config import RunConfig
from engine.model.values import SourceKind
from engine.roles import RoutingRequest
from engine.workflows.quality_loop.policy import Ceiling, bar_warnings, score_ceiling
from engine.workflows.quality_loop.roles import QualityRoles
from engine.workflows.run_resources import RunResources


async def quality_roles(roles: Roles, given: RunResources) -> tuple[Roles, Mapping[str, str]]:
    """Add the search by kinds of sources, its router, and the rewriter that sees the findings of the quality check.

    The reranker is the run's grader.
    """
    from engine.builtin.quality_rewriter import BuiltinQualityRewriter
    from engine.builtin.rerank import GraderReranker
    from engine.builtin.source_router import BuiltinSourceRouter

    router = given.role("router", BuiltinSourceRouter, "engine.llm.source_router:ChatSourceRouter")
    kinds = given.source_kinds()
    own = QualityRoles(retriever=kinds, router=router, reranker=GraderReranker(roles.grader))
    rewriters = given.rewriters(BuiltinQualityRewriter, "engine.llm.quality_rewriter:ChatQualityRewriter")
    return replace(roles, own=own, **rewriters), await kinds.manifest()


async def warned_of_bar(question: str, config: RunConfig, known: KindsOf) -> Sequence[WorkbenchError]:
    """Say, as the first step will, whether the bar can be reached with the kinds of sources there are (QL-08)."""
    kinds = await known.source_kinds(config, question) or ("vector",)
    return bar_warnings(ceiling_of(question, config, kinds), config)


def ceiling_of(question: str, config: RunConfig, kinds: tuple[SourceKind, ...]) -> Ceiling:
    """The ceiling of a run of this question; an empty one stands for a question that names no kind of source.

    The built-in router is the same for the same question. What a chat model will route is not known before it is asked,
    so there any routing bounds the score.
    """
    from engine.builtin.source_router import routed

    routing = routed(RoutingRequest(question, question, kinds)) if config.models.router.built_in and kinds else None
    return score_ceiling(config, kinds, routing)
