"""The real roles of an engine, made once, for tests that ask the same questions under many settings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

from engine.flow.context import Retrieval, Retriever, Roles
from engine.model.config import RunConfig
from engine.model.values import Passage, PassageId
from engine.retrieval.search import CollectionRetriever
from engine.running.resources import Resources
from engine.settings import Settings
from engine.workflows.run_resources import RunResources


class SameRoles(Resources):
    """Roles depend on models and collection alone, so they remember the queries they embedded and what was found.

    ``of`` says what else of a configuration they depend on. Not for tests that change the collection.
    """

    def __init__(self, settings: Settings, of: Callable[[RunConfig], Hashable] = lambda config: None) -> None:
        super().__init__(settings)
        self._of = of
        self._made: dict[Hashable, tuple[Roles, Mapping[str, str]]] = {}

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        wanted = self._of(config)
        if wanted not in self._made:
            self._made[wanted] = await super().roles(config)
        return self._made[wanted]

    def _given(self, config: RunConfig, retriever: CollectionRetriever) -> RunResources:
        return super()._given(config, cast(CollectionRetriever, _Remembered(retriever)))


class _Remembered:
    """A retriever that asks the store only once for what it was asked before: the same store would find the same."""

    def __init__(self, retriever: Retriever | CollectionRetriever) -> None:
        self._retriever: Any = retriever
        self._found: dict[tuple[str, int], Retrieval] = {}
        self._similar: dict[tuple[str, tuple[PassageId, ...]], Sequence[float]] = {}

    async def search(self, query: str, limit: int) -> Retrieval:
        if (query, limit) not in self._found:
            self._found[query, limit] = await self._retriever.search(query, limit)
        return self._found[query, limit]

    async def similarity_of(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        wanted = query, tuple(passage.id for passage in passages)
        if wanted not in self._similar:
            self._similar[wanted] = await self._retriever.similarity_of(query, passages)
        return self._similar[wanted]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._retriever, name)
