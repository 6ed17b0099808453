"""An open store, in blocking calls: what :class:`engine.knowledge.milvus_store.MilvusStore` runs in its threads."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from engine.errors import CollectionExists, EmbeddingMismatch, ForeignCollection, StoreError, UnknownCollection
from engine.knowledge.milvus_catalogue import Catalogue, SourceRow, counted, digest, fingerprint, pending_row
from engine.knowledge.milvus_connection import Client, Freshness, connect, disconnect, embedded
from engine.knowledge.milvus_filter import equals, one_of
from engine.knowledge.milvus_schema import (
    Layout,
    check_new_name,
    create_collection,
    foreign_layout,
    own_layout,
    readable_name,
    row,
    vector_field,
)
from engine.knowledge.milvus_summaries import SummaryRows
from engine.roles import (
    ANYWHERE,
    NO_SUMMARIES,
    CollectionInfo,
    Hit,
    SourceInfo,
    StoredPassage,
    Summaries,
    Vector,
    Within,
)
from engine.values import SOURCE_KINDS, PassageId

UNKNOWN_MODEL = "unknown"
"""Embedding model of a collection that another program made."""

_BATCH = 500
_MOST_HITS = 16_384
"""Milvus refuses to return more from one search or one page of a query."""


class MilvusSession:
    """A connected client with what it learned; methods block and raise foreign exceptions untranslated.

    Reads may run in several threads; writes must come from one, so that passages and catalogue change together.
    """

    def __init__(self, uri: str, token: str, timeout_s: float) -> None:
        self._uri = uri
        self._timeout_s = timeout_s
        self._client: Client = connect(uri, token, timeout_s)
        self._catalogue = Catalogue(self._client, timeout_s)
        self._summaries = SummaryRows(self._client, exact=embedded(uri), timeout_s=timeout_s)
        self._layouts: dict[str, Layout] = {}
        self._fresh = Freshness()
        try:
            self._scores = self._catalogue.open(uri)
        except BaseException:
            disconnect(self._client, uri)
            raise

    def close(self) -> None:
        disconnect(self._client, self._uri)

    def collections(self) -> list[CollectionInfo]:
        recorded = self._catalogue.collections()
        sources = self._catalogue.all_sources()
        names = filter(readable_name, self._client.list_collections(timeout=self._timeout_s))
        return [self._info(name, recorded.get(name), sources.get(name, [])) for name in sorted(names)]

    def describe(self, name: str) -> CollectionInfo:
        self._require(name)
        return self._info(name, self._catalogue.collection(name), self._catalogue.sources(name).values())

    def create(self, info: CollectionInfo) -> None:
        check_new_name(info.name)
        if self._client.has_collection(info.name, timeout=self._timeout_s):
            raise CollectionExists.named(info.name)
        # The catalogue first: its row without a collection is never shown, a collection without a row would be foreign.
        self._catalogue.forget_collection(info.name)
        self._summaries.drop(info.name)
        self._catalogue.put_collection(replace(info, metric="COSINE"))
        create_collection(self._client, info.name, info.dim, exact=embedded(self._uri), timeout_s=self._timeout_s)
        self._layouts[info.name] = own_layout(info.dim)

    def set_query_prefix(self, name: str, prefix: str) -> CollectionInfo:
        self._own(name)
        changed = replace(self.describe(name), query_prefix=prefix)
        self._catalogue.put_collection(changed)
        return changed

    def drop(self, name: str) -> None:
        self._own(name)
        self._layouts.pop(name, None)
        self._summaries.drop(name)
        self._client.drop_collection(name, timeout=self._timeout_s)
        self._catalogue.forget_collection(name)

    def insert(
        self, name: str, passages: Sequence[StoredPassage], vectors: Vector, summaries: Summaries = NO_SUMMARIES
    ) -> None:
        layout = self._own(name)
        self._check_vectors(name, layout, vectors, rows=len(passages))
        self._check_summaries(name, layout, summaries)
        if not passages:
            return
        latest = {passage.id: (passage, vector) for passage, vector in zip(passages, vectors, strict=True)}
        rows = [row(passage, vector.tolist()) for passage, vector in latest.values()]
        known = self._catalogue.sources(name)
        touched = {passage.source for passage in passages}
        if any(not item.id.startswith(f"{item.source}#") for item in passages):
            # Ids that do not name their source may replace a passage of another source.
            touched |= {item.source for item in self.get(name, list(latest))}
        # Marked as incomplete first, so that an interrupted write is never taken for a finished source.
        by_source = {source: list(group) for source, group in groupby(sorted(passages, key=_source_of), key=_source_of)}
        pending = {source: pending_row(source, by_source.get(source, []), known.get(source)) for source in touched}
        self._catalogue.put_sources(name, pending.values())
        # Before the passages, so that nothing ever tells of passages that were replaced.
        self._summaries.forget(name, touched & known.keys())
        with self._looked_at_afresh(name):
            for start in range(0, len(rows), _BATCH):
                self._client.upsert(name, rows[start : start + _BATCH], timeout=self._timeout_s)
        self._summaries.put(name, summaries, layout.dim)
        counts = Counter(item.source for item in summaries.rows)
        pending = {source: counted(entry, counts[source]) for source, entry in pending.items()}
        self._settle(name, pending, {source: by_source.get(source, []) for source in touched - known.keys()})

    def summarise(self, name: str, summaries: Summaries) -> None:
        layout = self._own(name)
        self._check_summaries(name, layout, summaries)
        counts = Counter(item.source for item in summaries.rows)
        known = {source: entry for source, entry in self._catalogue.sources(name).items() if source in counts}
        gone = counts.keys() - known.keys()
        if gone:
            raise StoreError(
                f"Collection {name!r} has no source {min(gone)!r} that a summary could tell of.",
                remedy="Ingest the source again.",
                params={"collection": name, "source": min(gone)},
            )
        self._summaries.forget(name, known)
        self._summaries.put(name, summaries, layout.dim)
        self._catalogue.put_sources(name, [counted(entry, counts[source]) for source, entry in known.items()])

    def search_summaries(self, name: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        layout = self._layout(name)
        self._check_vectors(name, layout, vector[np.newaxis], rows=1)
        where = layout.filter(within, name)
        if not layout.own or where is None:
            return []
        found = self._summaries.search(name, vector, limit, where)
        return sorted((self._hit(name, layout, vector, item) for item in found), key=lambda hit: -hit.cosine)

    def search(self, name: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        layout = self._layout(name)
        self._check_vectors(name, layout, vector[np.newaxis], rows=1)
        where = layout.filter(within, name)
        if limit < 1 or where is None:
            return []
        by_vector = layout.metric != "COSINE" and not layout.dynamic
        with self._looked_at_afresh(name):
            (found,) = self._client.search(
                name,
                data=[vector.tolist()],
                anns_field=layout.vector,
                filter=where,
                limit=min(limit, _MOST_HITS),
                output_fields=[*layout.output, layout.vector] if by_vector else layout.output,
                consistency_level=self._fresh.level(name),
                timeout=self._timeout_s,
            )
        hits = [self._hit(name, layout, vector, item) for item in found]
        return sorted(hits, key=lambda hit: -hit.cosine)

    def get(self, name: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        layout = self._layout(name)
        found = {
            passage.id: passage
            for entity in self._by_ids(name, layout, ids, layout.output)
            for passage in [layout.passage(entity, name)]
        }
        return [found[item] for item in ids if item in found]

    def vectors(self, name: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        layout = self._layout(name)
        rows = self._by_ids(name, layout, ids, [layout.key, layout.vector])
        return {PassageId(str(item[layout.key])): np.asarray(item[layout.vector], dtype=np.float32) for item in rows}

    def sources(self, name: str) -> list[SourceInfo]:
        self._require(name)
        if self._catalogue.collection(name) is not None:
            rows = self._catalogue.sources(name).values()
            return sorted((item.info for item in rows), key=lambda info: info.source)
        passages = sorted(self._query(name, self._layout(name), ""), key=_source_of)
        return [
            SourceInfo(source, members[0].title, len(members), content_hash="", added_at="")
            for source, group in groupby(passages, key=_source_of)
            for members in [list(group)]
        ]

    def passages(self, name: str, source: str) -> list[StoredPassage]:
        layout = self._layout(name)
        where = equals(layout.source, source) if layout.source else ""
        found = self._query(name, layout, where)
        return sorted((item for item in found if item.source == source), key=lambda item: (item.ordinal, item.id))

    def delete_source(self, name: str, source: str) -> int:
        self._own(name)
        present = self.passages(name, source)
        known = self._catalogue.sources(name).get(source)
        if known is not None:
            self._catalogue.put_sources(name, [pending_row(source, [], known)])
        self._summaries.forget(name, [source])
        self._client.delete(name, filter=equals("source", source), timeout=self._timeout_s)
        self._catalogue.forget_sources(name, [source])
        return len(present)

    def _settle(self, name: str, pending: Mapping[str, SourceRow], new: Mapping[str, Sequence[StoredPassage]]) -> None:
        """Write final catalogue rows; what is not wholly new is read back, for earlier passages may still be there."""
        final: list[SourceRow] = []
        gone: list[str] = []
        for source, entry in pending.items():
            members = {item.id: item for item in new[source]} if source in new else {}
            if not members:
                members = {item.id: item for item in self.passages(name, source)}
            if not members:
                gone.append(source)
                continue
            content_hash = next((str(item.meta["content_hash"]) for item in members.values() if _hashed(item)), "")
            content_hash = content_hash or hashlib.sha256(digest(members.values()).encode()).hexdigest()
            info = replace(entry.info, passages=len(members), content_hash=content_hash)
            final.append(SourceRow(info, digest(members.values())))
        self._catalogue.put_sources(name, final)
        if gone:
            self._catalogue.forget_sources(name, gone)

    def _info(self, name: str, recorded: Mapping[str, Any] | None, sources: Iterable[SourceRow]) -> CollectionInfo:
        if recorded is None:
            return self._foreign_info(name)
        rows = list(sources)
        present = {item.info.kind for item in rows if item.info.passages}
        return CollectionInfo(
            name=name,
            **recorded,
            passages=sum(item.info.passages for item in rows),
            sources=len(rows),
            fingerprint=fingerprint(rows),
            kinds=tuple(kind for kind in SOURCE_KINDS if kind in present),
            summaries=sum(item.info.summaries for item in rows),
        )

    def _foreign_info(self, name: str) -> CollectionInfo:
        try:
            layout = self._layout(name)
            counted = self._rows(name, "", ["count(*)"])
        except Exception:
            # One collection that cannot be read (no index, no text) must not hide all the others.
            return CollectionInfo(name, UNKNOWN_MODEL, 0, "", "", "", metric="")
        passages = int(counted[0]["count(*)"])
        seen = CollectionInfo(name, UNKNOWN_MODEL, layout.dim, "", "", "", metric=layout.metric)
        return replace(seen, passages=passages, fingerprint=f"rows-{passages}", kinds=("vector",))

    def _layout(self, name: str) -> Layout:
        """The fields of a loaded collection; raises ``UnknownCollection``."""
        known = self._layouts.get(name)
        if known is not None:
            return known
        self._require(name)
        recorded = self._catalogue.collection(name)
        self._client.load_collection(name, timeout=max(self._timeout_s, 60.0))
        layout = self._foreign_layout(name) if recorded is None else own_layout(int(recorded["dim"]))
        if layout.text:  # an empty collection with a dynamic schema shows its fields only later
            self._layouts[name] = layout
        return layout

    def _foreign_layout(self, name: str) -> Layout:
        description = self._client.describe_collection(name, timeout=self._timeout_s)
        vector = (vector_field(description) or {}).get("name")
        indexes = [
            self._client.describe_index(name, index_name, timeout=self._timeout_s)
            for index_name in self._client.list_indexes(name, timeout=self._timeout_s)
        ]
        metric = next((str(item["metric_type"]) for item in indexes if item.get("field_name") == vector), "COSINE")
        sample = self._rows(name, "", ["*"], limit=1)
        return foreign_layout(name, description, metric, dict(sample[0]) if sample else {})

    def _require(self, name: str) -> None:
        if not readable_name(name) or not self._client.has_collection(name, timeout=self._timeout_s):
            self._layouts.pop(name, None)
            raise UnknownCollection.named(name)

    def _own(self, name: str) -> Layout:
        """The layout of a collection that is about to be written to; what is read for that must be current."""
        layout = self._layout(name)
        if not layout.own:
            raise ForeignCollection.named(name)
        self._fresh.wrote(name)
        self._catalogue.about_to_change()
        return layout

    @contextmanager
    def _looked_at_afresh(self, name: str) -> Iterator[None]:
        """After a failure look at the collection anew: somebody may have dropped, released or rebuilt it."""
        try:
            yield
        except Exception:
            self._layouts.pop(name, None)
            raise

    def _check_vectors(self, name: str, layout: Layout, vectors: Vector, rows: int) -> None:
        # An empty embedded collection answers a vector of any width with "no hits", so the store cannot be asked.
        if rows and vectors.shape[-1] != layout.dim:
            recorded = self._catalogue.collection(name) or {"embedding_model": UNKNOWN_MODEL}
            built_with = f"{recorded['embedding_model']} ({layout.dim} dimensions)"
            raise EmbeddingMismatch.between(name, built_with, f"a model of {vectors.shape[-1]} dimensions")
        if len(vectors) != rows or not np.isfinite(vectors).all():
            raise StoreError(
                f"The vectors for collection {name!r} are not one finite vector a passage.",
                remedy="Choose another embedding model: this one returned unusable numbers.",
                params={"collection": name},
            )

    def _check_summaries(self, name: str, layout: Layout, summaries: Summaries) -> None:
        rows = len(summaries.rows)
        vectors = np.empty((0, layout.dim), dtype=np.float32) if summaries.vectors is None else summaries.vectors
        self._check_vectors(name, layout, vectors, rows=rows)

    def _hit(self, name: str, layout: Layout, vector: Vector, item: Mapping[str, Any]) -> Hit:
        found = item["entity"]
        # Milvus Lite calls the key "id" whatever its field is called; a server uses the field's name.
        passage = layout.passage(found, name, key=item.get(layout.key, item.get("id")))
        if layout.metric == "COSINE":
            return Hit(passage, self._scores.cosine(float(item["distance"])))
        return Hit(passage, _cosine(vector, found[layout.vector]))

    def _by_ids(self, name: str, layout: Layout, ids: Sequence[PassageId], output: list[str]) -> list[Any]:
        keys = layout.keys(list(dict.fromkeys(ids)))
        found: list[Any] = []
        for start in range(0, len(keys), _BATCH):
            where = one_of(layout.key, keys[start : start + _BATCH])
            found += self._rows(name, where, output)
        return found

    def _query(self, name: str, layout: Layout, where: str) -> list[StoredPassage]:
        """Every passage that a filter matches; without a filter at most 16 384 of another program's collection."""
        bounds = {} if where else {"limit": _MOST_HITS}
        return [layout.passage(entity, name) for entity in self._rows(name, where, layout.output, **bounds)]

    def _rows(self, name: str, where: str, output: list[str], **bounds: int) -> list[Any]:
        return list(
            self._client.query(
                name,
                filter=where,
                output_fields=output,
                consistency_level=self._fresh.level(name),
                timeout=self._timeout_s,
                **bounds,
            )
        )


def _source_of(passage: StoredPassage) -> str:
    return passage.source


def _hashed(passage: StoredPassage) -> bool:
    return bool(passage.meta.get("content_hash"))


def _cosine(left: Vector, right: Sequence[float]) -> float:
    other = np.asarray(right, dtype=np.float32)
    norms = float(np.linalg.norm(left) * np.linalg.norm(other))
    return min(1.0, max(-1.0, float(left @ other) / norms)) if norms else 0.0
