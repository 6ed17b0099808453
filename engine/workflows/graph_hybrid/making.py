"""Makes the roles that only graph + vector retrieval has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.roles import Grader, Reranker
from engine.running.context import Roles
from engine.running.given import Given
from engine.workflows.graph_hybrid.roles import GraphRoles


async def graph_roles(roles: Roles, given: Given) -> tuple[Roles, Mapping[str, str]]:
    """Add the analyst of queries, the search of a collection and its graph, and direct answers."""
    from engine.builtin.direct import BuiltinDirectAnswerer
    from engine.builtin.query_analyst import BuiltinQueryAnalyst
    from engine.builtin.unsearched import BuiltinUnsearched
    from engine.llm.direct import ChatDirectAnswerer
    from engine.llm.query_analyst import ChatQueryAnalyst
    from engine.llm.unsearched import ChatUnsearched
    from engine.retrieval.modes import ModeSearch

    searcher = ModeSearch(given.retriever, given.graphs, given.looks)
    settings, router, generator = given.settings, given.config.models.router, given.config.models.generator
    own = GraphRoles(
        analyst=BuiltinQueryAnalyst() if router.built_in else ChatQueryAnalyst(router, settings),
        searcher=searcher,
        reranker=reranker_of(given, roles.grader),
        unsearched=BuiltinUnsearched() if generator.built_in else ChatUnsearched(generator, settings),
        direct=BuiltinDirectAnswerer() if generator.built_in else ChatDirectAnswerer(generator, settings),
    )
    return replace(roles, own=own), await searcher.manifest(given.config.mode)


def reranker_of(given: Given, grader: Grader) -> Reranker:
    """The run's grader, a model that gives scores, or a chat model (GH-04).

    Raises ``CrossEncoderMisnamed`` for a name that no cross encoder can have, ``RerankServerUnset``.
    """
    model = given.config.models.reranker
    if model.built_in:
        from engine.builtin.rerank import GraderReranker

        return GraderReranker(grader)
    if model.scores:
        from engine.llm.scorers import scorer_of
        from engine.llm.scoring import ScoringReranker

        return ScoringReranker(scorer_of(model, given.settings))
    from engine.llm.reranker import ChatReranker

    return ChatReranker(model, given.settings)
