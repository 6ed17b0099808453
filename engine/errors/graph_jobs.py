"""What can go wrong with building a knowledge graph, apart from its store and its model."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class GraphJobError(WorkbenchError):
    """A knowledge graph cannot be built, looked at or given up."""

    code = "WB328"


class GraphReplaced(GraphJobError):
    """Another extractor has read the collection: rebuilding would throw its graph away."""

    code = "WB329"

    @classmethod
    def by(cls, collection: str, has: str, wanted: str) -> Self:
        return cls(
            f"Collection {collection!r} has a knowledge graph read by {has}; building with {wanted} replaces it.",
            remedy="Build it on its own and say so (`graph build --replace`), or let the same one read what is new.",
            params={"collection": collection, "has": has, "wanted": wanted},
        )


class GraphBusy(GraphJobError):
    code = "WB330"

    @classmethod
    def at(cls, collection: str) -> Self:
        return cls(
            f"A job is at work on the knowledge graph of collection {collection!r}.",
            remedy="Wait for its end, or stop it first.",
            params={"collection": collection},
        )


class UnknownEntity(GraphJobError):
    code = "WB331"

    @classmethod
    def named(cls, collection: str, name: str) -> Self:
        return cls(
            f"The knowledge graph of collection {collection!r} has no entity {name[:80]!r}.",
            remedy="Correct the name, or look for it among the entities on the page Knowledge.",
            params={"collection": collection, "entity": name[:80]},
        )


class NothingToRead(GraphJobError):
    code = "WB332"

    @classmethod
    def of(cls, collection: str) -> Self:
        return cls(
            f"Collection {collection!r} has no passages, so there is nothing to build a knowledge graph of.",
            remedy="Put files into it first.",
            params={"collection": collection},
        )


class ExtractorFailed(GraphJobError):
    """Every reply was unreadable: a graph of nothing would say that the passages name nothing."""

    code = "WB333"

    @classmethod
    def all_unreadable(cls, model: str, passages: int) -> Self:
        return cls(
            f"None of the replies of {model} to {passages} passages could be read.",
            remedy="Choose another model as extractor, or the built-in one.",
            params={"model": model, "passages": str(passages)},
        )
