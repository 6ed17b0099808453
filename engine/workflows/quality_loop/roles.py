"""The roles that only the quality-control loop has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from engine.flow.context import Retrieval
from engine.model.values import SourceKind
from engine.roles import Reranker, SourceRouter


class KindRetriever(Protocol):
    """Searches one source kind of a collection; similarities as of :class:`engine.flow.context.Retriever`."""

    async def kinds(self, question: str = "") -> tuple[SourceKind, ...]:
        """Return the kinds that a run of ``question`` would find something of, in the order of ``SOURCE_KINDS``."""

    async def search_kind(self, query: str, kind: SourceKind, limit: int) -> Retrieval: ...


@dataclass(frozen=True, slots=True)
class QualityRoles:
    """The further roles of the quality-control loop."""

    retriever: KindRetriever
    router: SourceRouter
    reranker: Reranker
