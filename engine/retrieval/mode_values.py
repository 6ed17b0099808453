"""Request and results of a search in one of the modes (GH-02)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from engine.errors import WorkbenchError
from engine.model.config import Mode, RunConfig
from engine.model.values import GraphEvidence, RetrievalList
from engine.retrieval.ordering import Found
from engine.roles import StoredPassage


@dataclass(frozen=True, slots=True)
class QueryLook:
    """Graph names in a query, and the modes that could work on it."""

    entities: tuple[str, ...] = ()
    """As they stand in the query."""
    modes: tuple[Mode, ...] = ("naive",)


@dataclass(frozen=True, slots=True)
class ModeRequest:
    mode: Mode
    query: str
    """What is searched: the newest query, joined with what was read in images."""
    question: str
    """As asked: entities of the graph are looked for in it too, no matter what the query became."""
    config: RunConfig
    attached: tuple[StoredPassage, ...] = ()
    """Passages of what came with the question."""


@dataclass(frozen=True, slots=True)
class ModeFound:
    """The lists that a mode searched, no matter what became of each, and what they took from the graph."""

    lists: Mapping[RetrievalList, tuple[Found, ...]]
    """Each best first; those that failed or found nothing are empty."""
    evidence: GraphEvidence
    floor: float = 0.0
    anchors: str = ""
    faults: Mapping[RetrievalList, WorkbenchError] = field(default_factory=dict)
    """What kept a list from being searched."""

    @property
    def anything(self) -> bool:
        return any(self.lists.values())


class ModeSearcher(Protocol):
    """Searches one collection and its graph; nothing but cancellation is ever raised by :meth:`search`."""

    async def look(self, query: str) -> QueryLook: ...

    async def search(self, request: ModeRequest, left_s: Callable[[], float]) -> ModeFound:
        """All lists of the mode at once; ``left_s`` gives the seconds that are left for it."""
