"""Embedding models that may have made vectors of a width, and whether they can be used here."""

from __future__ import annotations

from collections.abc import Mapping

from engine.builtin.embedder import HashingEmbedder
from engine.library.values import ProposedModel
from engine.model.config import BUILTIN

KNOWN_DIMENSIONS: dict[str, int] = {
    "nomic-embed-text": 768,
    "embeddinggemma": 768,
    "paraphrase-multilingual": 768,
    "mxbai-embed-large": 1024,
    "bge-m3": 1024,
    "bge-large": 1024,
    "snowflake-arctic-embed": 1024,
    "snowflake-arctic-embed2": 1024,
    "qwen3-embedding:0.6b": 1024,
    "qwen3-embedding:4b": 2560,
    "qwen3-embedding:8b": 4096,
    "all-minilm": 384,
    "granite-embedding": 384,
}
"""Numbers in a vector of the embedding models in Ollama's library, as their cards say; the most used first."""


def proposed_models(dim: int, builtin_dim: int, installed: Mapping[str, int]) -> tuple[ProposedModel, ...]:
    """Models whose vectors have ``dim`` numbers: those that are here first, then those that Ollama could pull.

    ``installed``: Ollama's embedding models with the width of their vectors, 0 where Ollama does not say.
    """
    found: list[ProposedModel] = []
    if dim == builtin_dim:
        found.append(ProposedModel(BUILTIN, dim, True, "dimension"))
    for name, width in installed.items():
        if (width or KNOWN_DIMENSIONS.get(_plain(name), 0)) == dim:
            found.append(ProposedModel(f"ollama:{name}", dim, True, "installed"))
    present = {_plain(name) for name in installed}
    for name, width in KNOWN_DIMENSIONS.items():
        if width == dim and name not in present:
            found.append(ProposedModel(f"ollama:{name}", dim, False, "not_pulled"))
    if dim == HashingEmbedder().dim:
        # Last: hardly any other program makes such vectors.
        found.append(ProposedModel("hashing", dim, True, "dimension"))
    return tuple(found)


def _plain(name: str) -> str:
    """A model's name without the tag that Ollama adds to all that have none."""
    return name.removesuffix(":latest")
