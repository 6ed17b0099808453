"""What a workflow makes the roles of one run from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.config import RunConfig
from engine.roles import Evaluator, StoredPassage

if TYPE_CHECKING:
    from engine.knowledge.base import KnowledgeBase
    from engine.retrieval.graph_looks import GraphLooks
    from engine.retrieval.search import CollectionRetriever
    from engine.retrieval.source_kinds import SourceKinds
    from engine.roles.graph import GraphStore
    from engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Given:
    """One run's config, and what it draws on."""

    config: RunConfig
    settings: Settings
    retriever: CollectionRetriever
    knowledge: KnowledgeBase
    looks: GraphLooks

    @property
    def own_store(self) -> bool:
        """Whether the collection is one of the settings' own store: graphs and histories belong to those alone."""
        address = self.config.milvus_address
        return not address or self.settings.known_address(address) == self.settings.store_uri

    @property
    def graphs(self) -> Callable[[], GraphStore] | None:
        """Opens the graphs of the collection's store; None for another store, whose names are not names here."""
        return (lambda: self.knowledge.graphs) if self.own_store else None

    def source_kinds(self) -> SourceKinds:
        """Searches the kinds of sources of the collection."""
        from engine.retrieval.source_kinds import SourceKinds

        collection = self.retriever.manifest["collection"]

        async def weak_points(question: str) -> list[StoredPassage]:
            return await asyncio.to_thread(self.knowledge.weak_points.passages, collection, question)

        return SourceKinds(
            self.retriever,
            self.config,
            self.looks,
            self.graphs,
            # Of another store nothing is noted, no matter what its collections are called.
            weak_points=weak_points if self.own_store else None,
            vectors=self.knowledge.weak_point_vectors,
        )

    def evaluator(self) -> Evaluator:
        """The evaluator of answers."""
        from engine.builtin.evaluator import BuiltinEvaluator
        from engine.llm.evaluator import ChatEvaluator

        model = self.config.models.evaluator
        return BuiltinEvaluator(self.retriever.similarity_of) if model.built_in else ChatEvaluator(model, self.settings)

    def rewriters(self, built_in: type, chat: type) -> dict[str, object]:
        """The rewriter and, where it is a chat model, the built-in one that stands in for it: it may repeat itself."""
        model = self.config.models.rewriter
        if model.built_in:
            return {"rewriter": built_in(), "stand_in": None}
        return {"rewriter": chat(model, self.settings), "stand_in": built_in()}
