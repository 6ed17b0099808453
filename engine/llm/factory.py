"""Roles on models that are not built in, by model name; importing this imports neither LangChain nor Ollama."""

from __future__ import annotations

from engine.config import RoleModel
from engine.errors import UnknownProvider
from engine.llm.cache import VerdictCache
from engine.llm.embedder import OllamaEmbedder
from engine.llm.generator import ChatGenerator
from engine.llm.grader import ChatGrader
from engine.llm.rewriter import ChatRewriter
from engine.roles import Embedder, Generator, Grader, Rewriter
from engine.settings import Settings

_OLLAMA = "ollama"


def make_grader(
    model: RoleModel,
    settings: Settings,
    cache: VerdictCache | None,
    digest: str = "",
    ignore_cache: bool = False,
) -> Grader:
    """A grader on ``ollama:MODEL`` or ``provider:model``; ``digest`` makes cached verdicts end with the weights."""
    return ChatGrader(model, settings, cache, digest=digest, ignore_cache=ignore_cache)


def make_rewriter(model: RoleModel, settings: Settings) -> Rewriter:
    """A rewriter on ``ollama:MODEL`` or ``provider:model``."""
    return ChatRewriter(model, settings)


def make_generator(model: RoleModel, settings: Settings) -> Generator:
    """A generator on ``ollama:MODEL`` or ``provider:model``."""
    return ChatGenerator(model, settings)


def make_embedder(
    model_id: str, settings: Settings, query_prefix: str | None = None, passage_prefix: str | None = None
) -> Embedder:
    """An embedder on ``ollama:MODEL``; a prefix of None takes the one known for the model.

    Raises ``UnknownProvider`` for any other id: built-in embedders are made where they live.
    """
    provider, _, name = model_id.partition(":")
    if provider != _OLLAMA or not name:
        raise UnknownProvider.embedding(model=model_id)
    return OllamaEmbedder(name, settings, query_prefix, passage_prefix)
