"""A connected collection in blocking calls: reads only, and every cosine computed from the vectors themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import StoreError
from engine.knowledge.connected import kept_info
from engine.knowledge.foreign_fields import FLOATS, PLAIN_KEY, dim_of, layout_by, type_name
from engine.knowledge.milvus_catalogue import Catalogue, SourceRow, fingerprint
from engine.knowledge.milvus_database import BATCH, MOST_ROWS
from engine.knowledge.milvus_reader import CollectionReader, has_length, unit
from engine.knowledge.milvus_schema import DYNAMIC_FIELD, Layout, stored_field
from engine.model.values import CONTEXTS, SOURCE_KINDS, PassageContext
from engine.roles import ANYWHERE, CollectionInfo, Hit, SourceInfo, StoredPassage, Vector, Within
from plugins.connected.client import close_place, open_place
from plugins.connected.errors import CHANGED, GONE
from plugins.connected.file import plain_connection
from plugins.connected.look import real_name, recorded_there
from plugins.connected.values import Connection, Place

MOST_PASSAGES = 1000
"""Passages of one source that are ever read at once."""


def connected_info(connection: Connection, address: str) -> CollectionInfo:
    """Describe a collection from its connection."""
    return kept_info(plain_connection(connection), address)


class ForeignSession:
    """An open client with the reader of the one collection that it looks at; raises foreign exceptions untranslated.

    The collection is loaded where it is not, and never released; nothing else of the store changes.
    """

    def __init__(self, connection: Connection, place: Place, timeout_s: float) -> None:
        self._connection = connection
        self._place = place
        self._db = open_place(place, timeout_s)
        try:
            collection = connection.collection
            if not self._db.there(collection):
                raise GONE(gone=collection, address=place.address)
            described = self._db.describe(collection)
            self._collection = real_name(described, collection)
            recorded = recorded_there(self._db).get(self._collection)
            self._own = recorded is not None
            form = (recorded or {}).get("context")
            # One of a later version may be unknown here.
            self._context: PassageContext = form if form in CONTEXTS else "none"
            self._writer = str((recorded or {}).get("context_model") or "")
            layout = layout_of(connection, described, own=self._own)
            self.reader = CollectionReader(self._db, layout, embedding_model=connection.embedding_model)
            self._db.load(collection)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        close_place(self._db)

    def describe(self) -> CollectionInfo:
        """Describe the collection; ``sources`` is 0, since counting them would mean reading every row."""
        passages = self.reader.count()
        info = connected_info(self._connection, self._place.address)
        info = replace(info, passages=passages, fingerprint=f"rows-{passages}", context=self._context)
        return self._with_sources(info) if self._own else info

    def search(self, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        """The nearest passages by cosine, regardless of the metric of the index that found them."""
        if not np.isfinite(vector).all():
            raise StoreError.query_not_finite(collection=self._connection.name)
        return self.reader.search(vector, limit, within)

    def sources(self) -> list[SourceInfo]:
        """Sources by name, with their passages among the first 16 384 rows of a collection not made by us."""
        if self._own:
            return sorted((item.info for item in self._recorded()), key=lambda info: info.source)
        if not self.reader.layout.source:
            return [SourceInfo(self._connection.name, "", self.reader.count(), content_hash="", added_at="")]
        return self.reader.sources(MOST_ROWS)

    def passages(self, source: str) -> list[StoredPassage]:
        """The first thousand passages of one source in their order; none for an unknown source."""
        return self.reader.passages(source, MOST_PASSAGES)

    def some(self, most: int) -> tuple[list[tuple[StoredPassage, Vector]], int]:
        """Passages that have text, with their vectors, spread over the first rows; and how many lack a vector."""
        layout = self.reader.layout
        rows = self._db.rows(layout.collection, "", [*layout.output, layout.vector], limit=min(most * 10, BATCH))
        whole = [row for row in rows if has_length(row[layout.vector])]
        pairs = [(layout.passage(row), unit(np.asarray(row[layout.vector], dtype=np.float32))) for row in whole]
        pairs = list({item.text: (item, vector) for item, vector in pairs if item.text.strip()}.values())
        step = max(1, len(pairs) // most)
        return pairs[::step][:most], len(rows) - len(whole)

    def _recorded(self) -> list[SourceRow]:
        """Sources of one of our own, from its catalogue there."""
        return list(Catalogue(self._db).sources(self._collection).values())

    def _with_sources(self, info: CollectionInfo) -> CollectionInfo:
        rows = self._recorded()
        present = {item.info.kind for item in rows if item.info.passages}
        kinds = tuple(kind for kind in SOURCE_KINDS if kind in present)
        known = replace(info, kinds=kinds or ("vector",), context_model=self._writer)
        return replace(known, sources=len(rows), fingerprint=fingerprint(rows))


def layout_of(connection: Connection, description: Mapping[str, Any], *, own: bool) -> Layout:
    """The layout of a connected collection as it is now.

    Raises ``StoreError`` where a field is gone, or is not what it was when the collection was connected.
    """
    fields = {str(item["name"]): item for item in description.get("fields", ())}
    dynamic = bool(description.get("enable_dynamic_field"))
    chosen = connection.fields
    for name in (chosen.id, chosen.vector, chosen.text, chosen.source, chosen.title, chosen.section):
        undeclared = dynamic and (stored_field(name) == DYNAMIC_FIELD or PLAIN_KEY.fullmatch(name))
        if name and stored_field(name) not in fields and not undeclared:
            raise CHANGED(name=connection.collection, field=name)
    key, vector = fields.get(chosen.id), fields.get(chosen.vector)
    if key is None or not key.get("is_primary"):
        raise CHANGED(name=connection.collection, field=chosen.id)
    if vector is None or type_name(vector) != FLOATS or dim_of(vector) != connection.dim:
        raise CHANGED(name=connection.collection, field=chosen.vector)
    layout = layout_by(connection.collection, chosen, description)
    layout = replace(layout, name=connection.name, dim=connection.dim, metric=connection.metric)
    if not own:
        return layout
    return replace(layout, meta="meta" if "meta" in fields else "", kind="kind" if "kind" in fields else "")
