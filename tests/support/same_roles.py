"""The real roles of an engine, made once, for tests that ask the same questions under many settings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, cast

from engine.model.config import RunConfig
from engine.running.context import Retrieval, Retriever, Roles
from engine.running.resources import Resources
from engine.settings import Settings


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
            roles, prompts = await super().roles(config)
            remembering = cast(Retriever, _Remembered(roles.retriever))
            self._made[wanted] = (replace(roles, retriever=remembering), prompts)
        return self._made[wanted]


class _Remembered:
    """A retriever that searches for the same query only once: the same store would find the same."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._found: dict[tuple[str, int], Retrieval] = {}

    async def search(self, query: str, limit: int) -> Retrieval:
        if (query, limit) not in self._found:
            self._found[query, limit] = await self._retriever.search(query, limit)
        return self._found[query, limit]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._retriever, name)
