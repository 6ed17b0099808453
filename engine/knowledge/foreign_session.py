"""A connected collection in blocking calls: reads only, and every cosine computed from the vectors themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from engine.errors import EmbeddingMismatch, StoreError, UnusableCollection
from engine.knowledge.foreign_client import close_client, open_client
from engine.knowledge.foreign_fields import ForeignLayout, layout_of
from engine.knowledge.foreign_look import make_searchable, recorded_there
from engine.knowledge.milvus_catalogue import Catalogue, fingerprint
from engine.knowledge.milvus_connection import Client, Freshness
from engine.knowledge.milvus_filter import one_of
from engine.library.values import Connection, Place
from engine.model.values import SOURCE_KINDS, PassageId
from engine.roles import ANYWHERE, CollectionInfo, Hit, SourceInfo, StoredPassage, Vector, Within

T = TypeVar("T")

MOST_PASSAGES = 1000
"""Passages of one source that are ever read at once."""
_MOST_ROWS = 16_384
"""Rows that are looked through for sources; Milvus refuses to return more from one call."""
_BATCH = 500
_WIDER, _FURTHER = 10, 300
"""Hits fetched beyond those asked for where the store's own order is not that of the cosine."""
_LOOKED_AT = 64
_EVEN = 1.01
"""Vectors whose lengths differ by no more are in the order of their cosines by any metric."""
_NOT_LOADED = ("not loaded", "has not been loaded", "not been loaded", "released")


class ForeignSession:
    """An open client with the layout of the one collection that it reads; raises foreign exceptions untranslated.

    The collection is loaded where it is not, and never released; nothing else of the store changes.
    """

    def __init__(self, connection: Connection, place: Place, timeout_s: float) -> None:
        self._connection = connection
        self._place = place
        self._timeout_s = timeout_s
        self._collection = connection.collection
        self._fresh = Freshness()
        self._client: Client = open_client(place, timeout_s)
        try:
            self._layout, self._own = self._read_layout()
            self._even = self._layout.metric == "COSINE" or self._has_even_vectors()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        close_client(self._client, self._place)

    def describe(self) -> CollectionInfo:
        """How the collection is now; ``sources`` is 0, for counting them would mean reading every row."""
        counted = self._searchable(lambda: self._rows("", ["count(*)"]))
        passages = int(counted[0]["count(*)"])
        item = self._connection
        info = CollectionInfo(
            name=item.name,
            embedding_model=item.embedding_model,
            dim=item.dim,
            query_prefix=item.query_prefix or "",
            passage_prefix=item.passage_prefix or "",
            created_at=item.connected_at,
            metric=item.metric,
            passages=passages,
            fingerprint=f"rows-{passages}",
            kinds=("vector",),
            address=self._place.address,
            remote_name=item.collection,
            read_only=True,
        )
        return self._with_sources(info) if self._own else info

    def search(self, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        """The nearest passages by cosine, regardless of the metric of the index that found them."""
        layout = self._layout
        where = layout.filter(within)
        self._check(vector)
        if limit < 1 or where is None:
            return []
        asked = limit if self._even else limit * _WIDER + _FURTHER
        (found,) = self._searchable(
            lambda: self._client.search(
                self._collection,
                data=[vector.tolist()],
                anns_field=layout.fields.vector,
                filter=where,
                limit=min(asked, _MOST_ROWS),
                output_fields=[*layout.output, layout.fields.vector],
                consistency_level=self._fresh.level(self._collection),
                timeout=self._timeout_s,
            )
        )
        hits = [self._hit(vector, item) for item in found]
        return sorted(hits, key=lambda hit: -hit.cosine)[:limit]

    def get(self, ids: Sequence[PassageId]) -> list[StoredPassage]:
        found = {item.id: item for row in self._by_ids(ids, []) for item in [self._layout.passage(row)]}
        return [found[item] for item in ids if item in found]

    def vectors(self, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        """Stored vectors at length 1, for the products that others take of them are to be cosines."""
        layout = self._layout
        rows = self._by_ids(ids, [layout.fields.vector])
        return {PassageId(str(row[layout.fields.id])): _unit(row[layout.fields.vector]) for row in rows}

    def ids(self) -> list[PassageId]:
        """Every id: a filter of the key is not bounded to the rows that a query without one may return."""
        key = self._layout.fields.id
        where = f'{key} != ""' if self._layout.key_is_text else f"{key} >= {-(2**63) + 1}"
        rows = self._searchable(lambda: self._rows(where, [key]))
        return sorted(PassageId(str(row[key])) for row in rows)

    def page(self, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors at length 1, in the order asked for; ids that are not there are left out."""
        found = {}
        for row in self._by_ids(ids, [self._layout.fields.vector]):
            passage = self._layout.passage(row)
            found[passage.id] = (passage, _unit(row[self._layout.fields.vector]))
        return [found[item] for item in ids if item in found]

    def sources(self) -> list[SourceInfo]:
        """Sources by name, with their passages among the first 16 384 rows of a collection not made by us."""
        if self._own:
            recorded = Catalogue(self._client, self._timeout_s).sources(self._collection).values()
            return sorted((item.info for item in recorded), key=lambda info: info.source)
        layout = self._layout
        if not layout.fields.source:
            return [SourceInfo(layout.name, "", self.describe().passages, content_hash="", added_at="")]
        bare = replace(layout, fields=replace(layout.fields, text="", section=""), ordinal="")
        rows = self._searchable(lambda: self._rows("", bare.output, limit=_MOST_ROWS))
        passages = sorted((bare.passage(row) for row in rows), key=_source_of)
        return [
            SourceInfo(source, members[0].title, len(members), content_hash="", added_at="")
            for source, group in groupby(passages, key=_source_of)
            for members in [list(group)]
        ]

    def passages(self, source: str) -> list[StoredPassage]:
        """The first thousand passages of one source in their order; none for an unknown source."""
        where = self._layout.of_source(source)
        if where is None:
            return []
        rows = self._searchable(lambda: self._rows(where, self._layout.output, limit=MOST_PASSAGES))
        found = (self._layout.passage(row) for row in rows)
        return sorted((item for item in found if item.source == source), key=lambda item: (item.ordinal, item.id))

    def some(self, most: int) -> list[tuple[StoredPassage, Vector]]:
        """Passages that have text, with their vectors at length 1, spread over the first rows."""
        layout = self._layout
        rows = self._searchable(
            lambda: self._rows("", [*layout.output, layout.fields.vector], limit=min(most * 10, _BATCH))
        )
        pairs = [(layout.passage(row), _unit(row[layout.fields.vector])) for row in rows]
        pairs = list({item.text: (item, vector) for item, vector in pairs if item.text.strip()}.values())
        step = max(1, len(pairs) // most)
        return pairs[::step][:most]

    def _read_layout(self) -> tuple[ForeignLayout, bool]:
        if not self._client.has_collection(self._collection, timeout=self._timeout_s):
            raise UnusableCollection.gone(gone=self._collection, address=self._place.address)
        description = self._client.describe_collection(self._collection, timeout=self._timeout_s)
        own = self._collection in recorded_there(self._client, self._timeout_s)
        layout = layout_of(self._connection, description, own=own)
        make_searchable(self._client, self._collection, self._timeout_s)
        return layout, own

    def _has_even_vectors(self) -> bool:
        name = self._layout.fields.vector
        lengths = [float(np.linalg.norm(row[name])) for row in self._rows("", [name], limit=_LOOKED_AT)]
        return not lengths or max(lengths) <= _EVEN * min(lengths)

    def _with_sources(self, info: CollectionInfo) -> CollectionInfo:
        """One of our own, from its catalogue there."""
        rows = list(Catalogue(self._client, self._timeout_s).sources(self._collection).values())
        present = {item.info.kind for item in rows if item.info.passages}
        kinds = tuple(kind for kind in SOURCE_KINDS if kind in present)
        return replace(info, sources=len(rows), fingerprint=fingerprint(rows), kinds=kinds or ("vector",))

    def _hit(self, vector: Vector, item: Mapping[str, Any]) -> Hit:
        row = item["entity"]
        # Milvus Lite calls the key as its field is called; a server calls it "id".
        key = item.get(self._layout.fields.id, item.get("id"))
        return Hit(self._layout.passage(row, key=key), _cosine(vector, row[self._layout.fields.vector]))

    def _by_ids(self, ids: Sequence[PassageId], more: list[str]) -> list[Mapping[str, Any]]:
        keys = self._layout.keys(list(dict.fromkeys(ids)))
        found: list[Mapping[str, Any]] = []
        for start in range(0, len(keys), _BATCH):
            where = one_of(self._layout.fields.id, keys[start : start + _BATCH])
            found += self._searchable(partial(self._rows, where, [*self._layout.output, *more]))
        return found

    def _rows(self, where: str, output: list[str], **bounds: int) -> list[Mapping[str, Any]]:
        return list(
            self._client.query(
                self._collection,
                filter=where,
                output_fields=output,
                consistency_level=self._fresh.level(self._collection),
                timeout=self._timeout_s,
                **bounds,
            )
        )

    def _searchable(self, read: Callable[[], T]) -> T:
        """A read; where the collection's owner released it meanwhile, it is loaded again once."""
        try:
            return read()
        except Exception as error:
            if not any(sign in str(error).lower() for sign in _NOT_LOADED):
                raise
            make_searchable(self._client, self._collection, self._timeout_s)
            return read()

    def _check(self, vector: Vector) -> None:
        item = self._connection
        # An empty embedded collection answers a vector of any width with "no hits", so the store cannot be asked.
        if vector.shape[-1] != item.dim:
            built_with = f"{item.embedding_model} ({item.dim} dimensions)"
            raise EmbeddingMismatch(
                collection=item.name, built_with=built_with, offered=f"a model of {vector.shape[-1]} dimensions"
            )
        if not np.isfinite(vector).all():
            raise StoreError.query_not_finite(collection=item.name)


def _source_of(passage: StoredPassage) -> str:
    return passage.source


def _unit(values: Sequence[float]) -> Vector:
    vector = np.asarray(values, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    unit: Vector = vector / length if length else vector
    return unit


def _cosine(left: Vector, right: Sequence[float]) -> float:
    length = float(np.linalg.norm(left))
    return min(1.0, max(-1.0, float(left @ _unit(right)) / length)) if length else 0.0
