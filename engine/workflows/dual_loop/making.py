"""Makes the roles that only the dual loop has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.flow.context import Roles
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import skips, usable_strategies
from engine.workflows.dual_loop.roles import DualRoles, WebRetriever
from engine.workflows.given import Given

_WEB_S = 10.0
"""Longest wait for one web search: an engine asks several others, but a run should not hang on it."""


async def dual_roles(roles: Roles, given: Given) -> tuple[Roles, Mapping[str, str]]:
    """Add memory, search by sections and on the web, evaluator and direct answers.

    The rewriter words a question for the search, and is told what an answer lacked. The manifest names the search
    strategies that can be used here, in the order in which they are tried.
    """
    from engine.builtin.direct import BuiltinDirectAnswerer
    from engine.builtin.dual_rewriter import BuiltinDualRewriter
    from engine.builtin.strategy_router import BuiltinStrategyRouter
    from engine.workflows.dual_loop.distil import ExtractiveDistiller
    from engine.workflows.dual_loop.memory_grading import MemoryGrader

    manifest, measured = given.retriever.manifest, given.retriever.measured
    own = DualRoles(
        sections=given.retriever,
        router=given.role("router", BuiltinStrategyRouter, "engine.llm.strategy_router:ChatStrategyRouter"),
        direct=given.role("generator", BuiltinDirectAnswerer, "engine.llm.direct:ChatDirectAnswerer"),
        evaluator=given.evaluator(),
        memory=given.knowledge.memory(),
        recall_grader=MemoryGrader(roles.grader, measured),
        distiller=given.role("generator", partial(ExtractiveDistiller, measured), "engine.llm.distiller:ChatDistiller"),
        web=_web(given),
        fingerprint=manifest["collection_fingerprint"],
        collection=manifest["collection"],
    )
    rewriters = given.rewriters(BuiltinDualRewriter, "engine.llm.dual_rewriter:ChatDualRewriter")
    summaries, web_on = await own.sections.has_summaries(), dual_options(given.config).web_search
    strategies = usable_strategies(skips(summaries=summaries, web_on=web_on, web_set=own.web is not None))
    return replace(roles, own=own, **rewriters), {"strategies": ",".join(strategies)}


def _web(given: Given) -> WebRetriever | None:
    """None where no search engine is set."""
    if not given.settings.searxng_url:
        return None
    from engine.web.retriever import SearchedWeb
    from engine.web.searxng import SearxngSearch

    patience_s = min(_WEB_S, given.settings.call_timeout_s)
    return SearchedWeb(SearxngSearch(given.settings.searxng_url, patience_s), given.retriever.measured)
