"""One embedding of a question for all who ask for it: memory before the search, the search, and memory after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from engine.roles import Embedder, Vector

_MOST = 64


class SharedQueries:
    """An ``Embedder`` that embeds each of the last queries once; lives on one event loop.

    A long Chinese question takes seconds. A caller that gives up waiting leaves the work to the next one that asks.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: dict[str, asyncio.Future[Vector]] = {}

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def query_prefix(self) -> str:
        return self._embedder.query_prefix

    @property
    def passage_prefix(self) -> str:
        return self._embedder.passage_prefix

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, of shape (dim,).

        Raises what the embedder raises, and asks it again the next time.
        """
        known = self._asked.pop(text, None)
        if known is None or (known.done() and (known.cancelled() or known.exception() is not None)):
            known = asyncio.ensure_future(self._embedder.embed_query(text))
            # Looked at here, so that a fault which no one waits for is not reported as never retrieved.
            known.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._asked[text] = known
        if len(self._asked) > _MOST:
            del self._asked[next(iter(self._asked))]
        return await asyncio.shield(known)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await self._embedder.embed_passages(texts)
