"""Memory, web, graph and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from engine.values import (
    Memory,
)

if TYPE_CHECKING:
    pass
from engine.roles.store import StoredPassage


class LongTermMemory(Protocol):
    """Earlier questions with their answers, kept across restarts (SPEC DL-06).

    Contract (tests/contracts/test_memory.py): ``recall`` gives passed memories of the collection alone, best first
    with ``similarity`` filled in; failed ones are kept apart and never recalled; keeping an id again replaces it;
    everything raised is our own error.
    """

    async def recall(self, question: str, collection: str, limit: int) -> list[Memory]: ...

    async def keep(self, memory: Memory) -> None: ...

    async def list(self) -> list[Memory]:
        """Every memory, passed and failed, newest first."""

    async def forget(self, memory_id: str) -> bool:
        """Whether there was one to forget."""


class WebSearch(Protocol):
    """Searches the web; its results are untrusted text (SPEC DL-07).

    Contract (tests/contracts/test_web_search.py): at most ``limit`` results with a title, an http(s) address as
    ``source`` and plain text; nothing but the engine's address is ever contacted; slow, failing or malformed engines
    are a ``WebSearchError``.
    """

    async def search(self, query: str, limit: int) -> list[StoredPassage]: ...


@dataclass(frozen=True, slots=True)
class Entity:
    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Relationship:
    source: str
    target: str
    type: str


class GraphStore(Protocol):
    """Entities and relationships of a collection."""

    async def entities(self, collection: str, names: Sequence[str]) -> list[Entity]: ...

    async def neighbours(self, collection: str, entity: str, depth: int) -> list[Relationship]: ...


class ImageReader(Protocol):
    """Describes an image in words."""

    async def read(self, image: bytes, media_type: Literal["image/png", "image/jpeg", "image/webp"]) -> str: ...
