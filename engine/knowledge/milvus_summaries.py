"""Summaries of collections: a reserved collection that is never listed, made with the first summary.

They are apart from the passages, so that no search for passages finds one and no count or fingerprint knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_schema import RESERVED_PREFIX, Layout, create_passages, own_layout
from engine.roles import Summaries, Vector

_PREFIX = f"{RESERVED_PREFIX}summaries_"


class SummaryRows:
    """Reads and writes the summaries of every collection; methods block and raise foreign exceptions untranslated."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, collection: str, summaries: Summaries, layout: Layout) -> None:
        """Keep summaries in fields like those of the collection, so that one filter serves both."""
        if summaries.vectors is None or not summaries.rows:
            return
        beside = own_layout(_beside(collection), layout.dim, kinded=bool(layout.kind))
        if not self._db.there(beside.name):
            create_passages(self._db, beside)
        pairs = zip(summaries.rows, summaries.vectors, strict=True)
        self._db.upsert(beside.name, [beside.row(item, vector.tolist()) for item, vector in pairs])

    def forget(self, collection: str, sources: Iterable[str]) -> None:
        """Remove the summaries of some sources; those that have none are no error."""
        names, beside = list(sources), _beside(collection)
        if names and self._db.there(beside):
            self._db.delete(beside, "source", names)

    def drop(self, collection: str) -> None:
        self._db.drop(_beside(collection))

    def rename(self, collection: str, new_name: str) -> None:
        """Let a collection's summaries follow it; done again, or with none there, it changes nothing."""
        if self._db.there(_beside(collection)):
            # The rows under the new name are left of a collection that is gone.
            self.drop(new_name)
            self._db.rename(_beside(collection), _beside(new_name))

    def there(self, collection: str) -> bool:
        """Return whether a collection has summaries."""
        return self._db.there(_beside(collection))

    def search(self, collection: str, vector: Vector, limit: int, where: str) -> list[Any]:
        """The store's own hits that a filter matches; none where nothing was ever kept."""
        name = _beside(collection)
        if limit < 1 or not self._db.there(name):
            return []
        output = own_layout(name, len(vector)).output
        return self._db.search(name, "vector", vector.tolist(), where, limit=limit, output=output)


def _beside(collection: str) -> str:
    return f"{_PREFIX}{collection}"
