"""The web as a retriever: search results with the similarity that passages of the collection have (DL-07)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from engine.flow.context import Retrieval
from engine.roles import StoredPassage, WebSearch

Measured = Callable[[str, Sequence[StoredPassage]], Awaitable[Retrieval]]
"""Embeds texts with the collection's model and ranks them for a query, best first."""


class SearchedWeb:
    """A ``WebRetriever`` over a search engine; ``measured`` is that of the collection's own retriever."""

    def __init__(self, web: WebSearch, measured: Measured) -> None:
        self._web = web
        self._measured = measured

    async def search(self, query: str, limit: int) -> Retrieval:
        """Return at most ``limit`` results, most similar first; raises ``WebSearchError``."""
        return await self._measured(query, await self._web.search(query, limit))
