"""What a mode of graph + vector retrieval could not do; warnings, not failures."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class ModeFellBack(WorkbenchError):
    """No list of a mode could do its work, and vectors were searched in their place (SPEC GH-02)."""

    code = "WB120"

    @classmethod
    def of(cls, mode: str, collection: str) -> Self:
        return cls(
            f"The mode {mode!r} could not do its own work in the collection {collection!r}; vectors were searched.",
            remedy="Build the knowledge graph of the collection, name an entity of it in the question, or choose "
            "another mode.",
            params={"mode": mode, "collection": collection},
        )
