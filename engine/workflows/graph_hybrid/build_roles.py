"""Makes the roles that only graph + vector retrieval has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.flow.context import Roles
from engine.roles import Grader, Reranker
from engine.workflows.graph_hybrid.roles import GraphRoles
from engine.workflows.run_resources import RunResources


async def graph_roles(roles: Roles, given: RunResources) -> tuple[Roles, Mapping[str, str]]:
    """Add the analyst of queries, the search of a collection and its graph, and direct answers."""
    from engine.builtin.direct import BuiltinDirectAnswerer, BuiltinUnsearched
    from engine.builtin.query_analyst import BuiltinQueryAnalyst
    from engine.retrieval.modes import ModeSearch

    searcher = ModeSearch(given.retriever, given.graphs, given.looks)
    own = GraphRoles(
        analyst=given.role("router", BuiltinQueryAnalyst, "engine.llm.query_analyst:ChatQueryAnalyst"),
        searcher=searcher,
        reranker=reranker_of(given, roles.grader),
        unsearched=given.role("generator", BuiltinUnsearched, "engine.llm.direct:ChatUnsearched"),
        direct=given.role("generator", BuiltinDirectAnswerer, "engine.llm.direct:ChatDirectAnswerer"),
    )
    return replace(roles, own=own), await searcher.manifest(given.config.mode)


def reranker_of(given: RunResources, grader: Grader) -> Reranker:
    """The run's grader, a model that gives scores, or a chat model (GH-04).

    Raises ``ModelError`` for a name that no cross encoder can have, or where no rerank server is set.
    """
    model = given.config.models.reranker
    if model.built_in:
        from engine.builtin.rerank import GraderReranker

        return GraderReranker(grader)
    if model.scores:
        from engine.llm.scorers import scorer_of
        from engine.llm.scoring import ScoringReranker

        return ScoringReranker(scorer_of(model, given.settings))
    reranker: Reranker = given.chat("reranker", "engine.llm.reranker:ChatReranker")
    return reranker
