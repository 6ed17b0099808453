"""Makes the roles that only the dual loop has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from engine.builtin.direct import remembered_text, without_markers
from engine.flow.context import Roles
from engine.model.decide import cascades
from engine.model.values import Memory, PassageId, Verdict
from engine.roles import Grader, StoredPassage, Trace
from engine.workflows.dual_loop.distil import Measured
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import skips, usable_strategies
from engine.workflows.dual_loop.roles import DualRoles, WebRetriever
from engine.workflows.run_resources import RunResources

_WEB_S = 10.0
"""Longest wait for one web search: an engine asks several others, but a run should not hang on it."""


async def dual_roles(roles: Roles, given: RunResources) -> tuple[Roles, Mapping[str, str]]:
    """Add memory, search by sections and on the web, evaluator and direct answers.

    The rewriter words a question for the search, and gets what an answer lacked. The manifest names the search
    strategies that can be used here, in the order in which they are tried.
    """
    from engine.builtin.direct import BuiltinDirectAnswerer
    from engine.builtin.dual_rewriter import BuiltinDualRewriter
    from engine.builtin.strategy_router import BuiltinStrategyRouter
    from engine.workflows.dual_loop.distil import ExtractiveDistiller

    # A screener's cuts are about passages; :class:`engine.workflows.cascade.Cascade` has the run's own grader.
    grader: Grader = roles.grader.grader if cascades(given.config) else roles.grader  # type: ignore[attr-defined]
    manifest, measured = given.retriever.manifest, given.retriever.measured
    own = DualRoles(
        sections=given.retriever,
        router=given.role("router", BuiltinStrategyRouter, "engine.llm.strategy_router:ChatStrategyRouter"),
        direct=given.role("generator", BuiltinDirectAnswerer, "engine.llm.direct:ChatDirectAnswerer"),
        evaluator=given.evaluator(),
        memory=given.knowledge.memory(),
        recall_grader=MemoryGrader(grader, measured),
        distiller=given.role("generator", partial(ExtractiveDistiller, measured), "engine.llm.distiller:ChatDistiller"),
        web=_web(given),
        fingerprint=manifest["collection_fingerprint"],
        collection=manifest["collection"],
    )
    rewriters = given.rewriters(BuiltinDualRewriter, "engine.llm.dual_rewriter:ChatDualRewriter")
    summaries, web_on = await own.sections.has_summaries(), dual_options(given.config).web_search
    strategies = usable_strategies(skips(summaries=summaries, web_on=web_on, web_set=own.web is not None))
    return replace(roles, own=own, **rewriters), {"strategies": ",".join(strategies)}


def _web(given: RunResources) -> WebRetriever | None:
    """None where no search engine is set."""
    if not given.settings.searxng_url:
        return None
    from engine.web import SearchedWeb, SearxngSearch

    patience_s = min(_WEB_S, given.settings.call_timeout_s)
    return SearchedWeb(SearxngSearch(given.settings.searxng_url, patience_s), given.retriever.measured)


class MemoryGrader:
    """Shows what memories say, and not the questions that they answered, to the run's grader."""

    def __init__(self, grader: Grader, measured: Measured) -> None:
        self._grader = grader
        self._measured = measured

    async def grade(self, question: str, memories: Sequence[Memory], trace: Trace) -> list[Verdict]:
        """One verdict a memory, in the order given. Raises what grader and embedder raise."""
        texts = [without_markers(remembered_text(item)) for item in memories]
        shown = [
            StoredPassage(PassageId(f"memory:{item.id}"), ", ".join(item.sources), text)
            for item, text in zip(memories, texts, strict=True)
        ]
        places = {item.id: place for place, item in enumerate(shown)}
        found = (await self._measured(question, shown)).passages
        passages = sorted(found, key=lambda item: places[item.id])
        return await self._grader.grade(question, passages, trace)
