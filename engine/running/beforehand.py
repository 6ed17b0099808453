"""What can be said of a run before it begins: that its settings ask for what its collection cannot give."""

from __future__ import annotations

from typing import Protocol

from engine.builtin.source_router import routed
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import SourceKind
from engine.roles import RoutingRequest
from engine.running.gate_reach import gate_warnings
from engine.workflows.quality_loop.policy import Ceiling, bar_warnings, score_ceiling


class KindsOf(Protocol):
    """Who knows which kinds of sources a run would find: :class:`engine.running.resources.Resources`."""

    async def source_kinds(self, config: RunConfig, question: str = "") -> tuple[SourceKind, ...]: ...


async def warnings_before(question: str, config: RunConfig, resources: KindsOf) -> tuple[WorkbenchError, ...]:
    """What a run is to be warned of, of the quality loop as its first step will; raises what makes it impossible."""
    if config.workflow != "quality_loop":
        return gate_warnings(config)
    kinds = await resources.source_kinds(config, question) or ("vector",)
    return bar_warnings(ceiling_of(question, config, kinds), config)


def ceiling_of(question: str, config: RunConfig, kinds: tuple[SourceKind, ...]) -> Ceiling:
    """The ceiling of a run of this question; an empty one stands for a question that names no kind of source.

    The built-in router is the same for the same question. What a chat model will route is not known before it is asked,
    so there any routing bounds the score.
    """
    routing = routed(RoutingRequest(question, question, kinds)) if config.models.router.built_in and kinds else None
    return score_ceiling(config, kinds, routing)
