"""The roles that only graph + vector retrieval has."""

from __future__ import annotations

from dataclasses import dataclass

from engine.retrieval.mode_values import ModeSearcher
from engine.roles import DirectAnswerer, QueryAnalyst, Reranker


@dataclass(frozen=True, slots=True)
class GraphRoles:
    """The further roles of graph + vector retrieval."""

    analyst: QueryAnalyst
    searcher: ModeSearcher
    reranker: Reranker
    unsearched: DirectAnswerer
    """Answers in mode ``bypass``."""
    direct: DirectAnswerer
    """Answers small talk."""
