"""An open store, in blocking calls: what :class:`engine.knowledge.milvus_store.MilvusStore` runs in its threads."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from engine.errors import (
    AliasTaken,
    CollectionExists,
    ForeignCollection,
    StoreError,
    UnknownCollection,
)
from engine.knowledge.full_text import SEGMENTING
from engine.knowledge.milvus_catalogue import Catalogue, SourceRow, counted, digest, info_of, pending_row
from engine.knowledge.milvus_connection import Client, Freshness, connect, disconnect, embedded
from engine.knowledge.milvus_copying import CopyProgress, FullTextCopy
from engine.knowledge.milvus_filter import equals
from engine.knowledge.milvus_names import CollectionNames
from engine.knowledge.milvus_reading import RowReader
from engine.knowledge.milvus_schema import (
    Layout,
    check_new_name,
    own_layout,
    own_layout_of,
    readable_name,
    row,
)
from engine.knowledge.milvus_summaries import SummaryRows
from engine.knowledge.milvus_vectors import UNKNOWN_MODEL, check_summaries, check_vectors, cosine, hit_of
from engine.knowledge.milvus_words import WordIndex
from engine.knowledge.milvus_writing import RowWriter
from engine.model.values import PassageId
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

_MOST_HITS = 16_384
"""Milvus refuses to return more from one search or one page of a query."""

_source_of = attrgetter("source")


class MilvusSession:
    """A connected client with what it learned; methods block and raise foreign exceptions untranslated.

    Reads may run in several threads; writes must come from one, so that passages and catalogue change together.
    """

    def __init__(self, uri: str, token: str, timeout_s: float) -> None:
        self._uri = uri
        self._timeout_s = timeout_s
        self._client: Client = connect(uri, token, timeout_s)
        exact = embedded(uri)
        self._catalogue = Catalogue(self._client, timeout_s, exact=exact)
        self._summaries = SummaryRows(self._client, exact=exact, timeout_s=timeout_s)
        self._writer = RowWriter(self._client, exact=exact, timeout_s=timeout_s)
        self._fresh = Freshness()
        self._reader = RowReader(self._client, self._fresh, timeout_s)
        self._words = WordIndex(self._client, self._reader, self._fresh, uri, timeout_s)
        self._layouts: dict[str, Layout] = {}
        self.names = CollectionNames(
            self._client,
            self._catalogue,
            self._summaries,
            forget=self._forget,
            check_own=self._own,
            timeout_s=timeout_s,
        )
        self._copying = FullTextCopy(
            self._client,
            self._catalogue,
            self.names,
            words=self._words,
            reader=self._reader,
            writer=self._writer,
            forget=self._forget,
            timeout_s=timeout_s,
        )
        try:
            self._scores = self._catalogue.open(uri)
            self.names.finish()
            self._copying.finish()
        except BaseException:
            disconnect(self._client, uri)
            raise

    def close(self) -> None:
        disconnect(self._client, self._uri)

    def version(self) -> str:
        if embedded(self._uri):
            return version("milvus-lite")
        return str(self._client.get_server_version(timeout=self._timeout_s))

    def collections(self) -> list[CollectionInfo]:
        recorded = self._catalogue.collections()
        sources = self._catalogue.all_sources()
        names = filter(readable_name, self._client.list_collections(timeout=self._timeout_s))
        aliases = self.names.aliases()
        infos = [self._info(name, recorded.get(name), sources.get(name, [])) for name in sorted(names)]
        return [replace(info, aliases=aliases.get(info.name, ())) for info in infos]

    def describe(self, name: str) -> CollectionInfo:
        self._require(name)
        recorded = self._catalogue.collection(name)
        layout = self._layouts.get(name)
        if layout and layout.own and (recorded is None or layout.dim != recorded["dim"]):
            # Another process has renamed it since, or given the name to another collection.
            self._forget(name)
            return self.describe(self.real(name))
        info = self._info(name, recorded, self._catalogue.sources(name).values())
        return replace(info, aliases=self.names.aliases().get(name, ()))

    def real(self, name: str) -> str:
        """The collection that a name or an alias stands for; a name that leads nowhere is left as it is."""
        return name if name in self._layouts else self.names.real_or_same(name)

    def create(self, info: CollectionInfo) -> None:
        check_new_name(info.name)
        if self._client.has_collection(info.name, timeout=self._timeout_s):
            raise CollectionExists(name=info.name)
        # The catalogue first: its row without a collection is never shown, a collection without a row would be foreign.
        self._catalogue.forget_collection(info.name)
        self._summaries.drop(info.name)
        info = self._words.told(replace(info, metric="COSINE"))
        self._catalogue.put_collection(info)
        worded = self._words.make_collection(info.name, info.dim)
        if worded != info.full_text:
            self._catalogue.put_collection(self._words.told(info))
        self._layouts[info.name] = own_layout(info.dim, worded=worded)

    def note(self, name: str, query_prefix: str | None = None, description: str | None = None) -> CollectionInfo:
        """Record another query prefix or description; what is stored does not depend on either."""
        self._own(name)
        info = self.describe(name)
        info = info if query_prefix is None else replace(info, query_prefix=query_prefix)
        info = info if description is None else replace(info, description=description)
        self._catalogue.put_collection(info)
        return info

    def set_alias(self, alias: str, name: str) -> None:
        self._require(name)
        self.names.set_alias(alias, name)

    def drop(self, name: str) -> None:
        """By its own name only: raises ``AliasTaken`` for an alias."""
        if self.real(name) != name:
            raise AliasTaken(alias=name, collection=self.real(name))
        self._own(name)
        self.names.drop(name)

    def insert(
        self, name: str, passages: Sequence[StoredPassage], vectors: Vector, summaries: Summaries = NO_SUMMARIES
    ) -> None:
        layout = self._own(name)
        check_vectors(self._catalogue, name, layout, vectors, rows=len(passages))
        check_summaries(self._catalogue, name, layout, summaries)
        if not passages:
            return
        latest = {passage.id: (passage, vector) for passage, vector in zip(passages, vectors, strict=True)}
        rows = [
            row(passage, vector.tolist(), kinded=bool(layout.kind), worded=bool(layout.words))
            for passage, vector in latest.values()
        ]
        touched = {passage.source for passage in passages}
        if any(not item.id.startswith(f"{item.source}#") for item in passages):
            # Ids that do not name their source may replace a passage of another source.
            touched |= {item.source for item in self.get(name, list(latest))}
        known = self._catalogue.some_sources(name, touched)
        # Marked as incomplete first, so that an interrupted write is never taken for a finished source.
        by_source = {source: list(group) for source, group in groupby(sorted(passages, key=_source_of), key=_source_of)}
        pending = {source: pending_row(source, by_source.get(source, []), known.get(source)) for source in touched}
        self._catalogue.put_sources(name, pending.values())
        # Before the passages, so that nothing ever tells of passages that were replaced.
        self._summaries.forget(name, touched & known.keys())
        with self._looked_at_afresh(name):
            self._writer.upsert(name, rows)
        self._words.wrote(name)
        self._summaries.put(name, summaries, layout)
        counts = Counter(item.source for item in summaries.rows)
        pending = {source: counted(entry, counts[source]) for source, entry in pending.items()}
        self._settle(name, pending, {source: by_source.get(source, []) for source in touched - known.keys()})

    def summarise(self, name: str, summaries: Summaries) -> None:
        layout = self._own(name)
        check_summaries(self._catalogue, name, layout, summaries)
        counts = Counter(item.source for item in summaries.rows)
        known = self._catalogue.some_sources(name, counts)
        gone = counts.keys() - known.keys()
        if gone:
            raise StoreError.without_source(collection=name, source=min(gone))
        self._summaries.forget(name, known)
        self._summaries.put(name, summaries, layout)
        self._catalogue.put_sources(name, [counted(entry, counts[source]) for source, entry in known.items()])

    def search_summaries(self, name: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        layout = self._layout(name)
        check_vectors(self._catalogue, name, layout, vector[np.newaxis], rows=1)
        where = layout.filter(within, name)
        if not layout.own or where is None:
            return []
        found = self._summaries.search(name, vector, limit, where)
        return sorted((hit_of(name, layout, vector, item, self._scores) for item in found), key=lambda hit: -hit.cosine)

    def search(self, name: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        layout = self._layout(name)
        check_vectors(self._catalogue, name, layout, vector[np.newaxis], rows=1)
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
        hits = [hit_of(name, layout, vector, item, self._scores) for item in found]
        return sorted(hits, key=lambda hit: -hit.cosine)

    def search_text(self, name: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        layout = self._layout(name)
        self._words.check(name, layout)
        check_vectors(self._catalogue, name, layout, vector[np.newaxis], rows=1)
        where = layout.filter(within, name)
        if limit < 1 or where is None:
            return []
        with self._looked_at_afresh(name):
            found = self._words.search(name, layout, text, min(limit, _MOST_HITS), where)
        return [Hit(layout.passage(row, name), cosine(vector, row[layout.vector]), score) for row, score in found]

    def add_full_text(self, name: str, progress: CopyProgress | None = None) -> CollectionInfo:
        layout, info = self._own(name), self.describe(name)
        if layout.words and info.segmenting == SEGMENTING:
            return info
        self._copying.make(info, layout, progress)
        return self.describe(name)

    def get(self, name: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        layout = self._layout(name)
        found = {
            passage.id: passage
            for entity in self._reader.by_ids(name, layout, ids, layout.output)
            for passage in [layout.passage(entity, name)]
        }
        return [found[item] for item in ids if item in found]

    def vectors(self, name: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        layout = self._layout(name)
        rows = self._reader.by_ids(name, layout, ids, [layout.key, layout.vector])
        return {PassageId(str(item[layout.key])): np.asarray(item[layout.vector], dtype=np.float32) for item in rows}

    def ids(self, name: str) -> list[PassageId]:
        return self._reader.ids(name, self._layout(name))

    def page(self, name: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        return self._reader.page(name, self._layout(name), ids)

    def sources(self, name: str) -> list[SourceInfo]:
        self._require(name)
        if self._catalogue.collection(name) is not None:
            rows = self._catalogue.sources(name).values()
            return sorted((item.info for item in rows), key=lambda info: info.source)
        layout = self._layout(name)
        # Without the texts, which would be nearly all of it; the fields of a dynamic schema cannot be told apart.
        fields = layout.output if layout.dynamic else list(filter(None, (layout.key, layout.source, layout.title)))
        found = [layout.passage(item, name) for item in self._reader.rows(name, layout.every, fields)]
        return [
            SourceInfo(source, members[0].title, len(members), content_hash="", added_at="")
            for source, group in groupby(sorted(found, key=_source_of), key=_source_of)
            for members in [list(group)]
        ]

    def passages(self, name: str, source: str) -> list[StoredPassage]:
        layout = self._layout(name)
        where = equals(layout.source, source) if layout.source else layout.every
        found = [layout.passage(item, name) for item in self._reader.rows(name, where, layout.output)]
        return sorted((item for item in found if item.source == source), key=lambda item: (item.ordinal, item.id))

    def delete_source(self, name: str, source: str) -> int:
        self._own(name)
        present = self.passages(name, source)
        known = self._catalogue.some_sources(name, [source]).get(source)
        if known is not None:
            self._catalogue.put_sources(name, [pending_row(source, [], known)])
        self._summaries.forget(name, [source])
        self._client.delete(name, filter=equals("source", source), timeout=self._timeout_s)
        self._words.wrote(name)
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
            chunks = next((str(item.meta["chunks"]) for item in members.values() if item.meta.get("chunks")), "")
            info = replace(entry.info, passages=len(members), content_hash=content_hash, chunks=chunks)
            final.append(SourceRow(info, digest(members.values())))
        self._catalogue.put_sources(name, final)
        if gone:
            self._catalogue.forget_sources(name, gone)

    def _info(self, name: str, recorded: Mapping[str, Any] | None, sources: Iterable[SourceRow]) -> CollectionInfo:
        return self._foreign_info(name) if recorded is None else info_of(name, recorded, list(sources))

    def _foreign_info(self, name: str) -> CollectionInfo:
        try:
            layout = self._layout(name)
            counted = self._reader.rows(name, "", ["count(*)"])
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
        description = self._client.describe_collection(name, timeout=self._timeout_s)
        if recorded is None:
            layout = self._reader.foreign_layout(name, description)
        else:
            layout = own_layout_of(int(recorded["dim"]), description)
        if layout.text:  # an empty collection with a dynamic schema shows its fields only later
            self._layouts[name] = layout
        return layout

    def _forget(self, name: str) -> None:
        self._layouts.pop(name, None)
        self._words.wrote(name)

    def _require(self, name: str) -> None:
        if not readable_name(name) or not self._client.has_collection(name, timeout=self._timeout_s):
            self._layouts.pop(name, None)
            raise UnknownCollection(name=name)

    def _own(self, name: str) -> Layout:
        """The layout of a collection that is about to be written to; what is read for that must be current."""
        layout = self._layout(name)
        if not layout.own:
            raise ForeignCollection(name=name)
        self._fresh.wrote(name)
        self._catalogue.about_to_change()
        return layout

    @contextmanager
    def _looked_at_afresh(self, name: str) -> Iterator[None]:
        """After a failure look at the collection again: it may have been dropped, released or rebuilt."""
        try:
            yield
        except Exception:
            self._layouts.pop(name, None)
            raise


def _hashed(passage: StoredPassage) -> bool:
    return bool(passage.meta.get("content_hash"))
