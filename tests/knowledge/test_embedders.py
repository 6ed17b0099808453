"""A question is embedded once, whoever asks for its vector, and whoever gives up waiting for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.errors import StoreError
from engine.knowledge.embedders import SharedQueries
from engine.roles import Vector


@dataclass
class Slow(HashingEmbedder):
    """Answers when it is let, and fails when it is asked to."""

    free: asyncio.Event = field(default_factory=asyncio.Event)
    fails: int = 0
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HashingEmbedder.__init__(self)

    async def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        await self.free.wait()
        if len(self.asked) <= self.fails:
            raise StoreError.restored("no", "again")
        return await HashingEmbedder.embed_query(self, text)


def test_two_who_ask_at_once_and_one_who_asks_later_get_the_same_vector_from_one_embedding() -> None:
    slow = Slow()
    shared = SharedQueries(slow)

    async def asked() -> list[Vector]:
        both = asyncio.gather(shared.embed_query("血糖"), shared.embed_query("血糖"))
        slow.free.set()
        return [*await both, await shared.embed_query("血糖")]

    first, second, third = asyncio.run(asked())
    assert slow.asked == ["血糖"]
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert (shared.model_id, shared.dim, shared.query_prefix) == (slow.model_id, slow.dim, slow.query_prefix)


def test_what_one_gave_up_waiting_for_is_there_for_the_next() -> None:
    slow = Slow()
    shared = SharedQueries(slow)

    async def asked() -> Vector:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await shared.embed_query("long")
        waiting = asyncio.ensure_future(shared.embed_query("long"))
        slow.free.set()
        return await waiting

    assert asyncio.run(asked()).shape == (384,)
    assert len(slow.asked) <= 1


def test_a_failure_is_not_kept_and_old_queries_are_let_go() -> None:
    slow = Slow(fails=1)
    shared = SharedQueries(slow)

    async def asked() -> None:
        slow.free.set()
        with pytest.raises(StoreError):
            await shared.embed_query("one")
        await shared.embed_query("one")
        for place in range(100):
            await shared.embed_query(str(place))
        await shared.embed_query("one")

    asyncio.run(asked())
    assert slow.asked.count("one") == 3
