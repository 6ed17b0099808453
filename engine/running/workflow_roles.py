"""Who else works in the loops beyond the four-node one: their roles, made for one run from models and knowledge base.

Each loop's own modules are imported when a run of it is made: most runs are of the four-node loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from engine.builtin.rewriter import BuiltinRewriter
from engine.knowledge.base import KnowledgeBase
from engine.llm.prompts import (
    GENERATOR_PROMPT_VERSION,
    GRADER_PROMPT_VERSION,
    GRAPH_GENERATOR_PROMPT_VERSION,
    REWRITER_PROMPT_VERSION,
)
from engine.model.config import CROSS_ENCODER, RoleName, RunConfig, WorkflowName
from engine.model.values import Strategy
from engine.retrieval.search import CollectionRetriever
from engine.roles import Evaluator, Grader, Reranker, Rewriter, StoredPassage
from engine.running.context import AnswerRoles, DualRoles, GraphRoles, QualityRoles, WebRetriever
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.retrieval.graph_looks import GraphLooks
    from engine.retrieval.modes import ModeSearch
    from engine.retrieval.source_kinds import SourceKinds
    from engine.roles.graph import GraphStore

_PROMPTS: Mapping[RoleName, str] = {
    "grader": GRADER_PROMPT_VERSION,
    "rewriter": REWRITER_PROMPT_VERSION,
    "generator": GENERATOR_PROMPT_VERSION,
}


_WEB_S = 10.0
"""Longest wait for one web search: an engine asks several others, but a run should not hang on it."""


def stand_in_rewriter(config: RunConfig) -> Rewriter | None:
    """The built-in rewriter of a workflow whose rewriter is a chat model: it may only repeat itself."""
    if config.models.rewriter.built_in:
        return None
    if config.workflow == "quality_loop":
        from engine.builtin.quality_rewriter import BuiltinQualityRewriter

        return BuiltinQualityRewriter()
    if config.workflow == "dual_loop":
        from engine.builtin.dual_rewriter import BuiltinDualRewriter

        return BuiltinDualRewriter()
    return BuiltinRewriter()


def prompt_version(workflow: WorkflowName, role: RoleName) -> str:
    """Which prompt a chat model of this role is asked with."""
    match workflow, role:
        case "quality_loop", "router":
            from engine.llm.source_router import SOURCE_ROUTER_PROMPT_VERSION

            return SOURCE_ROUTER_PROMPT_VERSION
        case "quality_loop", "rewriter":
            from engine.llm.quality_rewriter import QUALITY_REWRITER_PROMPT_VERSION

            return QUALITY_REWRITER_PROMPT_VERSION
        case "dual_loop", "rewriter":
            from engine.llm.dual_rewriter import DUAL_REWRITER_PROMPT_VERSION

            return DUAL_REWRITER_PROMPT_VERSION
        case "graph_hybrid", "router":
            from engine.llm.query_analyst import QUERY_ANALYST_PROMPT_VERSION

            return QUERY_ANALYST_PROMPT_VERSION
        case _, "router":
            from engine.llm.strategy_router import STRATEGY_ROUTER_PROMPT_VERSION

            return STRATEGY_ROUTER_PROMPT_VERSION
        case _, "evaluator":
            from engine.llm.evaluator import EVALUATOR_PROMPT_VERSION

            return EVALUATOR_PROMPT_VERSION
        case _, "reranker":
            from engine.llm.reranker import RERANKER_PROMPT_VERSION

            return RERANKER_PROMPT_VERSION
        case "graph_hybrid", "generator":
            return GRAPH_GENERATOR_PROMPT_VERSION
        case "answer_evaluation", "generator":
            from engine.llm.writer_prompts import WRITER_PROMPT_VERSION

            return WRITER_PROMPT_VERSION
        case _:
            return _PROMPTS[role]


def source_kinds(
    config: RunConfig, settings: Settings, retriever: CollectionRetriever, knowledge: KnowledgeBase, looks: GraphLooks
) -> SourceKinds:
    """Searches the kinds of sources of a run's collection."""
    from engine.retrieval.source_kinds import SourceKinds

    graphs = _graphs_of(config, settings, knowledge)
    collection = retriever.manifest["collection"]

    async def weak_points(question: str) -> list[StoredPassage]:
        return await asyncio.to_thread(knowledge.weak_points.passages, collection, question)

    # Of another store nothing is noted, no matter what its collections are called.
    history = None if graphs is None else weak_points
    return SourceKinds(retriever, config, looks, graphs, weak_points=history, vectors=knowledge.weak_point_vectors)


def quality_roles(config: RunConfig, settings: Settings, kinds: SourceKinds, grader: Grader) -> QualityRoles:
    """For the quality-control loop; its reranker is the run's grader."""
    from engine.builtin.rerank import GraderReranker
    from engine.builtin.source_router import BuiltinSourceRouter
    from engine.llm.source_router import ChatSourceRouter

    model = config.models.router
    router = BuiltinSourceRouter() if model.built_in else ChatSourceRouter(model, settings)
    return QualityRoles(retriever=kinds, router=router, reranker=GraderReranker(grader))


def quality_rewriter(config: RunConfig, settings: Settings) -> Rewriter:
    """The rewriter that is told what the quality check found."""
    from engine.builtin.quality_rewriter import BuiltinQualityRewriter
    from engine.llm.quality_rewriter import ChatQualityRewriter

    model = config.models.rewriter
    return BuiltinQualityRewriter() if model.built_in else ChatQualityRewriter(model, settings)


async def dual_roles(
    config: RunConfig, settings: Settings, retriever: CollectionRetriever, knowledge: KnowledgeBase
) -> DualRoles:
    """For the dual loop."""
    from engine.builtin.direct import BuiltinDirectAnswerer
    from engine.builtin.strategy_router import BuiltinStrategyRouter
    from engine.llm.direct import ChatDirectAnswerer
    from engine.llm.distiller import ChatDistiller
    from engine.llm.strategy_router import ChatStrategyRouter
    from engine.memory.distil import ExtractiveDistiller

    router, generator = config.models.router, config.models.generator
    return DualRoles(
        sections=retriever,
        router=BuiltinStrategyRouter() if router.built_in else ChatStrategyRouter(router, settings),
        direct=BuiltinDirectAnswerer() if generator.built_in else ChatDirectAnswerer(generator, settings),
        evaluator=_evaluator(config, settings, retriever),
        memory=knowledge.memory(),
        distiller=ExtractiveDistiller() if generator.built_in else ChatDistiller(generator, settings),
        web=_web(settings, retriever),
        fingerprint=retriever.manifest["collection_fingerprint"],
        collection=retriever.manifest["collection"],
    )


def dual_rewriter(config: RunConfig, settings: Settings) -> Rewriter:
    """The rewriter that words a question for the search, and is told what an answer lacked."""
    from engine.builtin.dual_rewriter import BuiltinDualRewriter
    from engine.llm.dual_rewriter import ChatDualRewriter

    model = config.models.rewriter
    return BuiltinDualRewriter() if model.built_in else ChatDualRewriter(model, settings)


async def strategies_of(config: RunConfig, roles: DualRoles) -> Sequence[Strategy]:
    """The search strategies that can be used here, in the order in which they are tried."""
    from engine.workflows.dual_loop.policy import dual_options, skips, usable_strategies

    summaries = await roles.sections.has_summaries()
    web_on = dual_options(config).web_search
    return usable_strategies(skips(summaries=summaries, web_on=web_on, web_set=roles.web is not None))


def answer_roles(config: RunConfig, settings: Settings, retriever: CollectionRetriever) -> AnswerRoles:
    """For the answer-evaluation loop; writer and evaluator never share an instance (AE-05)."""
    from engine.builtin.writer import BuiltinWriter
    from engine.llm.writer import ChatWriter
    from engine.records.observations import Observations

    model = config.models.generator
    return AnswerRoles(
        writer=BuiltinWriter() if model.built_in else ChatWriter(model, settings),
        evaluator=_evaluator(config, settings, retriever),
        observe=Observations(settings.data_dir / "observational_data.json").append,
    )


def graph_reranker(config: RunConfig, settings: Settings, grader: Grader) -> Reranker:
    """For graph + vector retrieval: the run's grader, a cross encoder, or a chat model (GH-04).

    Raises ``CrossEncoderMisnamed`` for a name that no cross encoder can have.
    """
    model = config.models.reranker
    if model.built_in:
        from engine.builtin.rerank import GraderReranker

        return GraderReranker(grader)
    if model.model.startswith(CROSS_ENCODER):
        from engine.retrieval.cross_encoder import cross_encoder

        return cross_encoder(model, settings.data_dir)
    from engine.llm.reranker import ChatReranker

    return ChatReranker(model, settings)


def graph_roles(config: RunConfig, settings: Settings, searcher: ModeSearch, grader: Grader) -> GraphRoles:
    """For graph + vector retrieval."""
    from engine.builtin.direct import BuiltinDirectAnswerer
    from engine.builtin.query_analyst import BuiltinQueryAnalyst
    from engine.builtin.unsearched import BuiltinUnsearched
    from engine.llm.direct import ChatDirectAnswerer
    from engine.llm.query_analyst import ChatQueryAnalyst
    from engine.llm.unsearched import ChatUnsearched

    router, generator = config.models.router, config.models.generator
    return GraphRoles(
        analyst=BuiltinQueryAnalyst() if router.built_in else ChatQueryAnalyst(router, settings),
        searcher=searcher,
        reranker=graph_reranker(config, settings, grader),
        unsearched=BuiltinUnsearched() if generator.built_in else ChatUnsearched(generator, settings),
        direct=BuiltinDirectAnswerer() if generator.built_in else ChatDirectAnswerer(generator, settings),
    )


def graph_searcher(
    config: RunConfig, settings: Settings, retriever: CollectionRetriever, knowledge: KnowledgeBase, looks: GraphLooks
) -> ModeSearch:
    """Searches a collection and its graph."""
    from engine.retrieval.modes import ModeSearch

    return ModeSearch(retriever, _graphs_of(config, settings, knowledge), looks)


def _graphs_of(config: RunConfig, settings: Settings, knowledge: KnowledgeBase) -> Callable[[], GraphStore] | None:
    """Graphs belong to collections of the settings' own store: one of the same name elsewhere is not meant."""
    return None if config.milvus_address not in ("", settings.store_uri) else lambda: knowledge.graphs


def _evaluator(config: RunConfig, settings: Settings, retriever: CollectionRetriever) -> Evaluator:
    from engine.builtin.evaluator import BuiltinEvaluator
    from engine.llm.evaluator import ChatEvaluator

    model = config.models.evaluator
    return BuiltinEvaluator(retriever.similarity_of) if model.built_in else ChatEvaluator(model, settings)


def _web(settings: Settings, retriever: CollectionRetriever) -> WebRetriever | None:
    """None where no search engine is set."""
    if not settings.searxng_url:
        return None
    from engine.web.retriever import SearchedWeb
    from engine.web.searxng import SearxngSearch

    patience_s = min(_WEB_S, settings.call_timeout_s)
    return SearchedWeb(SearxngSearch(settings.searxng_url, patience_s), retriever.measured)
