"""Reading one collection, ours or another program's: passages by id, by source, and nearest to a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Protocol, runtime_checkable

import numpy as np

from engine.errors import StoreError
from engine.knowledge.milvus_database import MOST_ROWS, Database
from engine.knowledge.milvus_probe import Scores
from engine.knowledge.milvus_schema import Layout, stored_field
from engine.model.values import PassageId
from engine.roles import ANYWHERE, UNKNOWN_MODEL, Hit, SourceInfo, StoredPassage, Stretch, Vector, Within

source_of = attrgetter("source")

_WIDER, _FURTHER = 10, 300
"""Hits fetched beyond those asked for where the store's own order is not that of the cosine."""
_LOOKED_AT = 64
_EVEN = 1.01
"""Vectors whose lengths differ by no more are in the order of their cosines by any metric."""
PARAMETER: Mapping[str, str] = {
    "IVF_FLAT": "nprobe",
    "IVF_SQ8": "nprobe",
    "HNSW": "ef",
    "DISKANN": "search_list",
}
"""What an index calls its breadth; those that are not here have none that could be chosen."""
MOST_BREADTH: Mapping[str, int] = {"ef": 32_768, "nprobe": 65_536, "search_list": 65_535}


@dataclass(frozen=True, slots=True)
class Searching:
    """Instructions for searching a collection with only the address of its store."""

    layout: Layout
    scores: Scores | None
    parameter: str
    """What its index calls how far it looks; empty where the store chooses."""
    breadth: int


@runtime_checkable
class SearchedAnywhere(Protocol):
    """A store that such programs can search."""

    @property
    def uri(self) -> str: ...

    @property
    def database(self) -> str: ...

    async def searching(self, collection: str) -> Searching: ...


class CollectionReader:
    """Blocks, and raises foreign exceptions untranslated.

    Vectors of other programs come at length 1, for the products that others take of them are to be cosines.
    """

    def __init__(
        self,
        db: Database,
        layout: Layout,
        scores: Scores | None = None,
        *,
        embedding_model: str = UNKNOWN_MODEL,
        parameter: str = "",
        breadth: int = 0,
    ) -> None:
        """``scores``: what the store's scores mean; without it every cosine is computed from the vectors.

        ``breadth``: how far a search looks, and what its index calls that; without it the store chooses.
        """
        self.layout = layout
        self.embedding_model = embedding_model
        self.breadth = breadth
        self._parameter = parameter
        self._db = db
        self._scores = scores

    @property
    def searching(self) -> Searching:
        """Parameters of :meth:`search`."""
        return Searching(self.layout, self._scores, self._parameter, self.breadth)

    def count(self) -> int:
        return self._db.count(self.layout.collection)

    def search(self, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        """The nearest passages by cosine, regardless of the metric of the index; raises as :meth:`check`."""
        layout = self.layout
        self.check(vector[np.newaxis], rows=1)
        where = layout.filter(within)
        if limit < 1 or where is None:
            return []
        asked = limit if self._even else limit * _WIDER + _FURTHER
        output = layout.output if self._scores else [*layout.output, layout.vector]
        params = search_params(self._parameter, self.breadth, asked)
        more: dict[str, Any] = {"search_params": {"params": params}} if params else {}
        found = self._db.search(
            layout.collection, layout.vector, vector.tolist(), where, limit=asked, output=output, **more
        )
        near = [item for item in found if self._scores or has_length(item["entity"][layout.vector])]
        if len(near) < min(len(found), limit) and len(found) == asked and asked < MOST_ROWS:
            # Rows without a vector took the places of others.
            return self.search(vector, min(asked * _WIDER, MOST_ROWS), within)[:limit]
        return sorted((self.hit(vector, item) for item in near), key=lambda hit: -hit.cosine)[:limit]

    def check(self, vectors: Vector, rows: int) -> None:
        """Raise ``StoreError`` for another width, or unless there is one finite vector a row."""
        layout = self.layout
        # An empty embedded collection answers a vector of any width with "no hits", so the store cannot be asked.
        if rows and vectors.shape[-1] != layout.dim:
            built_with = f"{self.embedding_model} ({layout.dim} dimensions)"
            offered = f"a model of {vectors.shape[-1]} dimensions"
            raise StoreError.embedding_mismatch(collection=layout.name, built_with=built_with, offered=offered)
        if len(vectors) != rows or not np.isfinite(vectors).all():
            raise StoreError.vectors_not_finite(collection=layout.name)

    def hit(self, vector: Vector, item: Mapping[str, Any]) -> Hit:
        """A hit from what the client returns of it."""
        row = item["entity"]
        # The store calls the key "id" or as its field is called, which differs between Milvus Lite and a server.
        passage = self.layout.passage(row, key=item.get(self.layout.key, item.get("id")))
        if self._scores:
            return Hit(passage, self._scores.cosine(float(item["distance"])))
        return Hit(passage, cosine(vector, row[self.layout.vector]))

    def by_ids(self, ids: Sequence[PassageId], output: list[str]) -> list[Any]:
        layout = self.layout
        return self._db.rows_with(layout.collection, layout.key, layout.keys(list(dict.fromkeys(ids))), output)

    def get(self, ids: Sequence[PassageId]) -> list[StoredPassage]:
        """Passages in the order asked for; ids that are not there are left out."""
        found = {item.id: item for item in map(self.layout.passage, self.by_ids(ids, self.layout.output))}
        return [found[item] for item in ids if item in found]

    def vectors(self, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        rows = self.by_ids(ids, [self.layout.key, self.layout.vector])
        return {PassageId(str(row[self.layout.key])): self._vector(row) for row in rows}

    def ids(self) -> list[PassageId]:
        """Every id, in a fixed order: a collection is read whole by asking for its ids and then for batches of these.

        A filter of the key itself is not bounded to the 16 384 rows that a query without one may return.
        """
        rows = self._db.rows(self.layout.collection, self.layout.every, [self.layout.key])
        return sorted(PassageId(str(row[self.layout.key])) for row in rows)

    def page(self, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors, in the order asked for; ids that are not there are left out."""
        found = {}
        for row in self.by_ids(ids, [*self.layout.output, self.layout.vector]):
            passage = self.layout.passage(row)
            found[passage.id] = (passage, self._vector(row))
        return [found[item] for item in ids if item in found]

    def sources(self, most: int | None = None) -> list[SourceInfo]:
        """Sources by name with their passages, of all rows or of the first ones."""
        layout = self.layout
        # Without the texts, which would be nearly all of it.
        names = (layout.key, layout.source, layout.title)
        output = list(dict.fromkeys(stored_field(name) for name in names if name))
        rows = self._db.rows(layout.collection, "" if most else layout.every, output, limit=most)
        found = sorted(map(layout.passage, rows), key=source_of)
        return [
            SourceInfo(source, members[0].title, len(members), content_hash="", added_at="")
            for source, group in groupby(found, key=source_of)
            for members in [list(group)]
        ]

    def passages(self, source: str, most: int | None = None) -> list[StoredPassage]:
        """Passages of one source in their order, all or the first ones; none for an unknown source."""
        where = self.layout.of_source(source)
        if where is None:
            return []
        rows = self._db.rows(self.layout.collection, where, self.layout.output, limit=most)
        found = [item for item in map(self.layout.passage, rows) if item.source == source]
        return sorted(found, key=lambda item: (item.ordinal, item.id))

    def stretches(self, wanted: Sequence[Stretch]) -> list[StoredPassage]:
        """Passages by their places, each once; none where the collection records no places."""
        where = self.layout.of_stretches(wanted)
        rows = self._db.rows(self.layout.collection, where, self.layout.output) if where else []
        return list(map(self.layout.passage, rows))

    @cached_property
    def _even(self) -> bool:
        """True if the store's order is that of the cosine."""
        if self.layout.metric == "COSINE":
            return True
        name = self.layout.vector
        rows = self._db.rows(self.layout.collection, "", [name], limit=_LOOKED_AT)
        lengths = [float(np.linalg.norm(row[name])) for row in rows]
        return not lengths or max(lengths) <= _EVEN * min(lengths)

    def _vector(self, row: Mapping[str, Any]) -> Vector:
        vector = np.asarray(row[self.layout.vector], dtype=np.float32)
        return vector if self.layout.own else unit(vector)


def search_params(parameter: str, breadth: int, limit: int) -> dict[str, int]:
    """Return the search parameters for ``limit`` passages; empty if the server chooses.

    A graph cannot be asked for more than it looks at, so that a long list widens the search.
    """
    if not parameter or breadth < 1:
        return {}
    least = limit if parameter in ("ef", "search_list") else 1
    return {parameter: min(max(breadth, least), MOST_BREADTH[parameter])}


def unit(vector: Vector) -> Vector:
    """The vector at length 1; zeros stay as they are."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length, dtype=np.float32) if length else vector


def has_length(vector: Sequence[float] | None) -> bool:
    """Return whether a row has a vector: other programs leave it out, or write zeros."""
    return vector is not None and len(vector) > 0 and bool(np.any(np.asarray(vector, dtype=np.float32)))


def cosine(left: Vector, right: Sequence[float]) -> float:
    """Return the cosine of two vectors in [-1, 1]; 0 where either has no length."""
    other = np.asarray(right, dtype=np.float32)
    norms = float(np.linalg.norm(left) * np.linalg.norm(other))
    return min(1.0, max(-1.0, float(left @ other) / norms)) if norms else 0.0
