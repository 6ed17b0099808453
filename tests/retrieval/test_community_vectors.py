"""Where communities lie: at their passages where rules wrote the summary, else at its words. GH-02"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from engine.builtin.embedder import HashingEmbedder
from engine.model.values import Community, PassageId
from engine.retrieval.graph_looks import MADE_FROM, community_vectors
from engine.roles import PassageStore, Vector


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.texts += texts
        return await super().embed_passages(texts)


class Stored:
    """A store that has the vectors of passages p0 to p9, each along its own axis."""

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        assert collection == "farm"
        axes = np.eye(64, dtype=np.float32)
        return {item: axes[int(item[1:])] for item in ids if int(item[1:]) < 10}


def community(*passages: int, by: str = "builtin", summary: str = "Rain.") -> Community:
    ids = tuple(PassageId(f"p{number}") for number in passages)
    return Community(str(passages), "T", summary, ("a", "b"), ids, by)


def vectors_of(*communities: Community) -> tuple[Any, list[str]]:
    embedder = CountingEmbedder()
    made = asyncio.run(community_vectors(communities, cast(PassageStore, Stored()), "farm", embedder))
    assert made.shape == (len(communities), 64)
    assert np.allclose(np.linalg.norm(made, axis=1), 1.0)
    return made, embedder.texts


def test_a_summary_of_sentences_is_placed_where_its_passages_are_and_nothing_is_embedded() -> None:
    """GH-02: hundreds of communities that rules summed up cost no embedding."""
    made, embedded = vectors_of(community(0, 1), community(*range(10)))
    assert embedded == []
    assert np.allclose(made[0][:3], [0.5**0.5, 0.5**0.5, 0])
    assert np.count_nonzero(made[1]) == MADE_FROM


def test_what_a_model_wrote_or_whose_passages_are_gone_is_embedded() -> None:
    """GH-02"""
    _, embedded = vectors_of(
        community(0), community(1, by="ollama:m", summary="Model."), community(99, summary="Gone.")
    )
    assert embedded == ["T\nModel.", "T\nGone."]
