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
        summaries_layout = own_layout(_summaries_of(collection), layout.dim, kinded=bool(layout.kind))
        if not self._db.there(summaries_layout.name):
            create_passages(self._db, summaries_layout)
        pairs = zip(summaries.rows, summaries.vectors, strict=True)
        self._db.upsert(summaries_layout.name, [summaries_layout.row(item, vector.tolist()) for item, vector in pairs])

    def forget(self, collection: str, sources: Iterable[str]) -> None:
        """Remove the summaries of some sources; those that have none are no error."""
        names, name = list(sources), _summaries_of(collection)
        if names and self._db.there(name):
            self._db.delete(name, "source", names)

    def drop(self, collection: str) -> None:
        self._db.drop(_summaries_of(collection))

    def rename(self, collection: str, new_name: str) -> None:
        """Let a collection's summaries follow it; done again, or with none there, it changes nothing."""
        if self._db.there(_summaries_of(collection)):
            # The rows under the new name are left of a collection that is gone.
            self.drop(new_name)
            self._db.rename(_summaries_of(collection), _summaries_of(new_name))

    def there(self, collection: str) -> bool:
        """Return whether a collection has summaries."""
        return self._db.there(_summaries_of(collection))

    def search(self, collection: str, vector: Vector, limit: int, where: str) -> list[Any]:
        """The store's own hits that a filter matches; none where nothing was ever kept."""
        name = _summaries_of(collection)
        if limit < 1 or not self._db.there(name):
            return []
        output = own_layout(name, len(vector)).output
        return self._db.search(name, "vector", vector.tolist(), where, limit=limit, output=output)


def _summaries_of(collection: str) -> str:
    return f"{_PREFIX}{collection}"
