"""An open store, in blocking calls: what :class:`engine.knowledge.milvus_store.MilvusStore` runs in its threads."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import groupby
from typing import Any

import numpy as np

from engine.builtin.full_text import SEGMENTING
from engine.errors import StoreError, UnknownCollection
from engine.knowledge.foreign_fields import layout_in, seen_in
from engine.knowledge.milvus_catalogue import Catalogue, SourceRow, counted, digest, pending_row
from engine.knowledge.milvus_copying import CopyProgress, FullTextCopy
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_index import IndexChanges
from engine.knowledge.milvus_names import CollectionNames
from engine.knowledge.milvus_reader import PARAMETER, CollectionReader, source_of
from engine.knowledge.milvus_schema import Layout, check_new_name, own_layout, own_layout_of, readable_name
from engine.knowledge.milvus_summaries import SummaryRows
from engine.knowledge.milvus_sums import Sums
from engine.knowledge.milvus_words import WordIndex
from engine.model.values import Account
from engine.roles import (
    ANYWHERE,
    NO_ACCOUNTS,
    NO_SUMMARIES,
    UNKNOWN_MODEL,
    CollectionInfo,
    Hit,
    SourceInfo,
    StoredPassage,
    Summaries,
    Vector,
    Within,
)

_log = logging.getLogger(__name__)


class MilvusSession:
    """A connected client with what it learned; methods block and raise foreign exceptions untranslated.

    Reads may run in several threads; writes must come from one, so that passages and catalogue change together.
    """

    def __init__(self, uri: str, token: str, timeout_s: float, database: str = "") -> None:
        self.place = (uri, token, database)
        self.db = Database.of_ours(uri, token, timeout_s, database)
        self.catalogue = Catalogue(self.db)
        self._sums = Sums(self.catalogue, embedded=self.db.embedded)
        self._summaries = SummaryRows(self.db)
        self._words = WordIndex(self.db, uri)
        self._readers: dict[str, CollectionReader] = {}
        self.names = CollectionNames(self.db, self.catalogue, self._summaries, forget=self._forget, check_own=self.own)
        self._copying = FullTextCopy(self.db, self.catalogue, self.names, self._words, self._forget)
        self.indexes = IndexChanges(self.db, self.catalogue, self._forget)
        try:
            self._scores = self.catalogue.open(uri)
            self.names.finish()
            self._copying.finish()
            self.indexes.finish()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.db.close()

    def version(self) -> str:
        return version("milvus-lite") if self.db.embedded else self.db.version()

    def collections(self) -> list[CollectionInfo]:
        recorded = self.catalogue.collections()
        names = sorted(filter(readable_name, self.db.names()))
        aliases = self.names.aliases()
        own = self._sums.infos(recorded, names)
        infos = [own[name] if name in own else self._foreign_info(name) for name in names]
        return [replace(info, aliases=aliases.get(info.name, ())) for info in infos]

    def describe(self, name: str) -> CollectionInfo:
        self._require(name)
        recorded, revision = self.catalogue.collection_now(name)
        known = self._readers.get(name)
        if known and known.layout.own and (recorded is None or _other(known, recorded)):
            # Another process has renamed it since, given the name to another collection, or set another breadth.
            self._forget(name)
            return self.describe(self.real(name))
        info = self._foreign_info(name) if recorded is None else self._sums.info(name, recorded, revision)
        return replace(info, aliases=self.names.aliases().get(name, ()))

    def real(self, name: str) -> str:
        """The collection that a name or an alias stands for; a name that leads nowhere is left as it is."""
        return name if name in self._readers else self.names.real_or_same(name)

    def create(self, info: CollectionInfo) -> None:
        check_new_name(info.name)
        if self.db.there(info.name):
            raise StoreError.collection_exists(name=info.name)
        # The catalogue first: its row without a collection is never shown, a collection without a row would be foreign.
        self.catalogue.forget_collection(info.name)
        self._summaries.drop(info.name)
        info = self._words.described(replace(info, metric="COSINE"))
        self.catalogue.put_collection(info)
        worded = self._words.make_collection(info.name, info.dim)
        if worded != info.full_text:
            self.catalogue.put_collection(self._words.described(info))
        layout = own_layout(info.name, info.dim, worded=worded, context=info.context)
        self._readers[info.name] = self._reader_of(layout, info.embedding_model)

    def note(
        self,
        name: str,
        query_prefix: str | None = None,
        description: str | None = None,
        breadth: int | None = None,
    ) -> CollectionInfo:
        """Record another query prefix, description or breadth; what is stored depends on none of them."""
        self.own(name)
        info = self.describe(name)
        info = info if query_prefix is None else replace(info, query_prefix=query_prefix)
        info = info if description is None else replace(info, description=description)
        if breadth is not None and breadth != info.breadth:
            info = replace(info, breadth=breadth)
            self._forget(name)
        self.catalogue.put_collection(info)
        return info

    def set_alias(self, alias: str, name: str) -> None:
        self._require(name)
        self.names.set_alias(alias, name)

    def drop(self, name: str) -> None:
        """Drop a collection by its own name only; raises ``StoreError.alias_taken`` for an alias."""
        if self.real(name) != name:
            raise StoreError.alias_taken(alias=name, collection=self.real(name))
        self.own(name)
        self.names.drop(name)

    def insert(
        self,
        name: str,
        passages: Sequence[StoredPassage],
        vectors: Vector,
        summaries: Summaries = NO_SUMMARIES,
        accounts: Mapping[str, Account] = NO_ACCOUNTS,
        *,
        put: Callable[[Sequence[Mapping[str, Any]]], None] | None = None,
    ) -> None:
        """Add or replace passages; ``put`` takes the rows to the store where requests are not to."""
        reader = self.own(name)
        layout = reader.layout
        reader.check(vectors, rows=len(passages))
        _check_summaries(reader, summaries)
        if not passages:
            return
        latest = {passage.id: (passage, vector) for passage, vector in zip(passages, vectors, strict=True)}
        rows = [layout.row(passage, vector.tolist()) for passage, vector in latest.values()]
        touched = {passage.source for passage in passages}
        if any(not item.id.startswith(f"{item.source}#") for item in passages):
            # Ids that do not name their source may replace a passage of another source.
            touched |= {item.source for item in reader.get(list(latest))}
        known = self.catalogue.some_sources(name, touched)
        # Marked as incomplete first, so that an interrupted write is never taken for a finished source.
        by_source = {source: list(group) for source, group in groupby(sorted(passages, key=source_of), key=source_of)}
        pending = {
            source: pending_row(source, by_source.get(source, []), known.get(source), accounts.get(source))
            for source in touched
        }
        self.catalogue.put_sources(name, pending.values())
        # Before the passages, so that nothing ever tells of passages that were replaced.
        self._summaries.forget(name, touched & known.keys())
        self.db.upsert(name, rows) if put is None else put(rows)
        self._words.wrote(name)
        self._summaries.put(name, summaries, layout)
        counts = Counter(item.source for item in summaries.rows)
        pending = {source: counted(entry, counts[source]) for source, entry in pending.items()}
        self._settle(name, pending, {source: by_source.get(source, []) for source in touched - known.keys()})

    def record_accounts(self, name: str, accounts: Mapping[str, Account]) -> None:
        self.own(name)
        known = self.catalogue.some_sources(name, accounts)
        rows = (replace(row, info=replace(row.info, account=accounts[source])) for source, row in known.items())
        self.catalogue.put_sources(name, rows)

    def summarise(self, name: str, summaries: Summaries) -> None:
        reader = self.own(name)
        _check_summaries(reader, summaries)
        counts = Counter(item.source for item in summaries.rows)
        known = self.catalogue.some_sources(name, counts)
        gone = counts.keys() - known.keys()
        if gone:
            raise StoreError.without_source(collection=name, source=min(gone))
        self._summaries.forget(name, known)
        self._summaries.put(name, summaries, reader.layout)
        self.catalogue.put_sources(name, [counted(entry, counts[source]) for source, entry in known.items()])

    def search_summaries(self, name: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        reader = self.reader(name)
        reader.check(vector[np.newaxis], rows=1)
        where = reader.layout.filter(within)
        if not reader.layout.own or where is None:
            return []
        found = self._summaries.search(name, vector, limit, where)
        return sorted((reader.hit(vector, item) for item in found), key=lambda hit: -hit.cosine)

    def search_text(self, name: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        reader = self.reader(name)
        if not reader.layout.words:
            raise self._words.missing(name)
        reader.check(vector[np.newaxis], rows=1)
        where = reader.layout.filter(within)
        if limit < 1 or where is None:
            return []
        return self._words.search(reader, text, vector, limit, where)

    def add_full_text(self, name: str, progress: CopyProgress | None = None) -> CollectionInfo:
        reader, info = self.own(name), self.describe(name)
        if reader.layout.words and info.segmenting == SEGMENTING:
            return info
        self._copying.make(info, reader, progress)
        return self.describe(name)

    def settle(self, name: str) -> None:
        """Have what was written indexed now, and not when the server thinks of it, which may be a day.

        Until then it searches them with a makeshift index that finds about half of what is nearest.
        """
        if self.db.embedded:
            return
        try:
            self.db.flush(name)
        except Exception:
            # A server that takes few of these in a minute does so by itself later; what was written is there.
            _log.warning("collection %r is not indexed at once", name, exc_info=True)

    def sources(self, name: str) -> list[SourceInfo]:
        self._require(name)
        if self.catalogue.collection(name) is None:
            return self.reader(name).sources()
        rows = self.catalogue.sources(name).values()
        return sorted((item.info for item in rows), key=source_of)

    def delete_source(self, name: str, source: str) -> int:
        present = self.own(name).passages(source)
        known = self.catalogue.some_sources(name, [source]).get(source)
        if known is not None:
            self.catalogue.put_sources(name, [pending_row(source, [], known)])
        self._summaries.forget(name, [source])
        self.db.delete(name, "source", [source])
        self._words.wrote(name)
        self.catalogue.forget_sources(name, [source])
        return len(present)

    def _settle(self, name: str, pending: Mapping[str, SourceRow], new: Mapping[str, Sequence[StoredPassage]]) -> None:
        """Write final catalogue rows; what is not wholly new is read back, for earlier passages may still be there."""
        final: list[SourceRow] = []
        gone: list[str] = []
        for source, entry in pending.items():
            members = {item.id: item for item in new[source]} if source in new else {}
            if not members:
                members = {item.id: item for item in self.reader(name).passages(source)}
            if not members:
                gone.append(source)
                continue
            content_hash = next((str(item.meta["content_hash"]) for item in members.values() if _hashed(item)), "")
            content_hash = content_hash or hashlib.sha256(digest(members.values()).encode()).hexdigest()
            chunks = next((str(item.meta["chunks"]) for item in members.values() if item.meta.get("chunks")), "")
            info = replace(entry.info, passages=len(members), content_hash=content_hash, chunks=chunks)
            final.append(SourceRow(info, digest(members.values())))
        self.catalogue.put_sources(name, final)
        if gone:
            self.catalogue.forget_sources(name, gone)

    def _foreign_info(self, name: str) -> CollectionInfo:
        try:
            reader = self.reader(name)
            passages = reader.count()
        except Exception:
            # One collection that cannot be read (no index, no text) must not hide all the others.
            return CollectionInfo(name, UNKNOWN_MODEL, 0, "", "", "", metric="")
        seen = CollectionInfo(name, UNKNOWN_MODEL, reader.layout.dim, "", "", "", metric=reader.layout.metric)
        return replace(seen, passages=passages, fingerprint=f"rows-{passages}", kinds=("vector",))

    def reader(self, name: str) -> CollectionReader:
        """Return the reader of a collection; raises ``UnknownCollection``."""
        known = self._readers.get(name)
        if known is not None:
            return known
        self._require(name)
        recorded = self.catalogue.collection(name)
        if recorded is None:
            layout = layout_in(seen_in(self.db, name))
        else:
            context = recorded.get("context", "none")
            layout = own_layout_of(name, int(recorded["dim"]), self.db.describe(name), context)
        known_by = recorded or {}
        model = str(known_by.get("embedding_model", UNKNOWN_MODEL))
        reader = self._reader_of(layout, model, int(known_by.get("breadth") or 0))
        if layout.text:  # an empty collection with a dynamic schema shows its fields only later
            self._readers[name] = reader
        return reader

    def _reader_of(self, layout: Layout, model: str, breadth: int = 0) -> CollectionReader:
        scores, parameter = self._scores if layout.own else None, ""
        if breadth and not self.db.embedded:
            kind = str(self.db.index_of(layout.collection, layout.vector).get("index_type", ""))
            parameter = PARAMETER.get(kind, "")
        return CollectionReader(self.db, layout, scores, embedding_model=model, parameter=parameter, breadth=breadth)

    def look_again(self, name: str) -> None:
        """Look at a collection again before its next use: it may have been dropped, released or rebuilt."""
        self._readers.pop(name, None)

    def _forget(self, name: str) -> None:
        self.look_again(name)
        self._words.wrote(name)

    def _require(self, name: str) -> None:
        if readable_name(name) and (self.db.there(name) or self.names.comes_back(name)):
            return
        self.look_again(name)
        raise UnknownCollection(name=name)

    def own(self, name: str) -> CollectionReader:
        """The reader of a collection that is about to be written to; what is read for that must be current."""
        reader = self.reader(name)
        if not reader.layout.own:
            raise StoreError.foreign_collection(name=name)
        self.db.wrote(name)
        self.catalogue.about_to_change()
        return reader


def _check_summaries(reader: CollectionReader, summaries: Summaries) -> None:
    empty = np.empty((0, reader.layout.dim), dtype=np.float32)
    reader.check(empty if summaries.vectors is None else summaries.vectors, rows=len(summaries.rows))


def _other(known: CollectionReader, recorded: Mapping[str, Any]) -> bool:
    read_as = known.embedding_model, known.layout.dim, known.layout.context, known.breadth
    context, breadth = recorded.get("context", "none"), int(recorded.get("breadth") or 0)
    return read_as != (recorded["embedding_model"], recorded["dim"], context, breadth)


def _hashed(passage: StoredPassage) -> bool:
    return bool(passage.meta.get("content_hash"))
