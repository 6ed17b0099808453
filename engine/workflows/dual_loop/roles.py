"""The roles that only the dual loop has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.flow.context import Retrieval, SectionRetrieval
from engine.model.values import Memory, Verdict
from engine.roles import DirectAnswerer, Distiller, Evaluator, LongTermMemory, StrategyRouter, Trace


class SectionRetriever(Protocol):
    """Searches summaries of sources and sections first, then the passages inside them (DL-03)."""

    async def has_summaries(self) -> bool: ...

    async def search_sections(self, query: str, limit: int) -> SectionRetrieval: ...


class WebRetriever(Protocol):
    """Searches the web and gives each result its similarity to the query, as other retrievers do."""

    async def search(self, query: str, limit: int) -> Retrieval: ...


class RecallGrader(Protocol):
    """Says of each memory whether it answers the question, as the grader says it of a passage (DL-06)."""

    async def grade(self, question: str, memories: Sequence[Memory], trace: Trace) -> list[Verdict]: ...


@dataclass(frozen=True, slots=True)
class DualRoles:
    """The further roles of the dual loop."""

    sections: SectionRetriever
    router: StrategyRouter
    direct: DirectAnswerer
    evaluator: Evaluator
    memory: LongTermMemory
    recall_grader: RecallGrader
    distiller: Distiller
    """Words what is remembered."""
    web: WebRetriever | None = None
    """None where no search engine is set."""
    fingerprint: str = ""
    """Of the collection as it is now."""
    collection: str = ""
    """Its own name, where the run asked for it by an alias; memories are kept under this one."""
