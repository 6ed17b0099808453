"""Summaries beside a collection: a reserved collection of its own that is never listed, made with the first summary.

They are apart from the passages, so that no search for passages finds one and no count or fingerprint knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.knowledge.milvus_connection import Client, Freshness
from engine.knowledge.milvus_filter import one_of
from engine.knowledge.milvus_schema import RESERVED_PREFIX, Layout, create_collection, own_layout, row
from engine.knowledge.milvus_writing import RowWriter
from engine.roles import Summaries, Vector

_PREFIX = f"{RESERVED_PREFIX}summaries_"
_BATCH = 500


class SummaryRows:
    """Reads and writes the summaries of every collection; methods block and raise foreign exceptions untranslated."""

    def __init__(self, client: Client, *, exact: bool, timeout_s: float) -> None:
        self._client = client
        self._exact = exact
        self._timeout_s = timeout_s
        self._writer = RowWriter(client, exact=exact, timeout_s=timeout_s)
        self._fresh = Freshness()
        self._loaded: set[str] = set()

    def present(self, collection: str) -> bool:
        """Whether anything was ever kept for a collection."""
        return bool(self._client.has_collection(_beside(collection), timeout=self._timeout_s))

    def put(self, collection: str, summaries: Summaries, layout: Layout) -> None:
        """Keep summaries in fields like those of the collection, so that one filter serves both."""
        if summaries.vectors is None or not summaries.rows:
            return
        name = _beside(collection)
        if not self.present(collection):
            create_collection(
                self._client,
                name,
                layout.dim,
                exact=self._exact,
                timeout_s=self._timeout_s,
                kinded=bool(layout.kind),
            )
            self._loaded.add(name)
        pairs = zip(summaries.rows, summaries.vectors, strict=True)
        rows = [row(item, vector.tolist(), kinded=bool(layout.kind)) for item, vector in pairs]
        self._fresh.wrote(name)
        self._writer.upsert(name, rows)
        self._fresh.wrote(name)

    def forget(self, collection: str, sources: Iterable[str]) -> None:
        """Remove the summaries of some sources; those that have none are no error."""
        names = list(sources)
        if not names or not self.present(collection):
            return
        self._load(_beside(collection))
        for start in range(0, len(names), _BATCH):
            where = one_of("source", names[start : start + _BATCH])
            self._client.delete(_beside(collection), filter=where, timeout=self._timeout_s)
        self._fresh.wrote(_beside(collection))

    def drop(self, collection: str) -> None:
        self._loaded.discard(_beside(collection))
        if self.present(collection):
            self._client.drop_collection(_beside(collection), timeout=self._timeout_s)

    def rename(self, collection: str, new_name: str) -> None:
        """Let a collection's summaries follow it; done again, or with none there, it changes nothing."""
        old, new = _beside(collection), _beside(new_name)
        self._loaded -= {old, new}
        if not self.present(collection):
            return
        # What lies under the new name is left of a collection that is gone.
        self.drop(new_name)
        self._client.rename_collection(old, new, timeout=self._timeout_s)
        self._fresh.wrote(new)

    def search(self, collection: str, vector: Vector, limit: int, where: str) -> list[Any]:
        """The store's own hits that a filter matches; none where nothing was ever kept."""
        if limit < 1 or not self.present(collection):
            return []
        name = _beside(collection)
        self._load(name)
        try:
            (found,) = self._client.search(
                name,
                data=[vector.tolist()],
                anns_field="vector",
                filter=where,
                limit=limit,
                output_fields=own_layout(len(vector)).output,
                consistency_level=self._fresh.level(name),
                timeout=self._timeout_s,
            )
        except Exception:
            # Somebody may have dropped or released it: the next search loads it again.
            self._loaded.discard(name)
            raise
        return list(found)

    def _load(self, name: str) -> None:
        if name not in self._loaded:
            self._client.load_collection(name, timeout=max(self._timeout_s, 60.0))
            self._loaded.add(name)


def _beside(collection: str) -> str:
    return f"{_PREFIX}{collection}"
