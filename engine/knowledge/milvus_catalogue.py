"""The catalogue: one collection in the same store that remembers what the others were built with, and their sources.

It is kept in the store and not next to it, so that all users of a server see the same; Milvus Lite forgets the
description of a schema, so it cannot be kept there. Its vectors mean nothing, except those of the probe's four rows.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from engine.knowledge.milvus_database import Database, data_types
from engine.knowledge.milvus_filter import equals
from engine.knowledge.milvus_probe import PROBE_QUERY, PROBE_VECTORS, Scores, learn
from engine.model.values import SOURCE_KINDS, Account, SourceKind
from engine.roles import CollectionInfo, SourceInfo, StoredPassage

CATALOGUE = "workbench_catalog"

_RECORDED = (
    "embedding_model",
    "dim",
    "query_prefix",
    "passage_prefix",
    "created_at",
    "context",
    "context_model",
    "metric",
    "description",
    "full_text",
    "segmenting",
    "breadth",
)
_CHANGE = "change"
_RECALL = "recall"
_REVISION = "revision"
_OUTPUT = ["collection", "info"]
_KINDED = ["kind", "info"]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Catalogue entry of a source."""

    info: SourceInfo
    digest: str
    """Hash over the ids and texts of its passages; empty while they are being written."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Totals over the sources of a collection."""

    passages: int
    sources: int
    fingerprint: str
    kinds: tuple[SourceKind, ...]
    summaries: int
    incomplete: int
    unaccounted: int


@dataclass(frozen=True, slots=True)
class Revision:
    """Another one whenever the sources of a collection change."""

    id: str
    at: float
    """Seconds since 1970, by the clock of who made the change."""


class Catalogue:
    """Reads and writes the catalogue; every method blocks."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def open(self, address: str) -> Scores:
        """Make the catalogue where it is missing, and learn from its probe rows what scores mean."""
        if not self._db.there(CATALOGUE):
            self._create()
        hits = self._probe()
        if len(hits) < len(PROBE_VECTORS):  # making the catalogue was interrupted
            self._write_probe()
            hits = self._probe()
        return learn(hits, address)

    def about_to_change(self) -> None:
        """Read everything ever written from now on, for a decision to write depends on it."""
        self._db.wrote(CATALOGUE)

    def collections(self) -> dict[str, dict[str, Any]]:
        return {str(row["collection"]): dict(row["info"]) for row in self._rows(equals("kind", "collection"))}

    def collection(self, name: str) -> dict[str, Any] | None:
        rows = self._rows(f"{equals('kind', 'collection')} and {equals('collection', name)}")
        return dict(rows[0]["info"]) if rows else None

    def collection_now(self, name: str) -> tuple[dict[str, Any] | None, Revision | None]:
        """Return the record of a collection and the revision of its sources, in one query."""
        ids = [_row_id(kind, name, name) for kind in ("collection", _REVISION)]
        found = {str(row["kind"]): dict(row["info"]) for row in self._db.rows_with(CATALOGUE, "id", ids, _KINDED)}
        return found.get("collection"), _revision(found.get(_REVISION))

    def revisions(self) -> dict[str, Revision | None]:
        """Revisions by collection; one that an earlier version wrote to last has none."""
        return {str(row["collection"]): _revision(row["info"]) for row in self._rows(equals("kind", _REVISION))}

    def put_collection(self, info: CollectionInfo) -> None:
        recorded = {field: getattr(info, field) for field in _RECORDED}
        self._upsert([_row("collection", info.name, info.name, recorded)])

    def sources(self, collection: str) -> dict[str, SourceRow]:
        """Sources of a collection by name, those included that an interrupted write left incomplete."""
        rows = self._rows(f"{equals('kind', 'source')} and {equals('collection', collection)}")
        return {row.info.source: row for row in map(_source_row, rows)}

    def some_sources(self, collection: str, names: Iterable[str]) -> dict[str, SourceRow]:
        """Return the named sources that a collection has: a write must not read all that is known of a large one."""
        ids = [_row_id("source", collection, name) for name in names]
        rows = self._db.rows_with(CATALOGUE, "id", ids, _OUTPUT)
        return {row.info.source: row for row in map(_source_row, rows)}

    def all_sources(self) -> dict[str, list[SourceRow]]:
        found: dict[str, list[SourceRow]] = {}
        for row in self._rows(equals("kind", "source")):
            found.setdefault(str(row["collection"]), []).append(_source_row(row))
        return found

    def put_sources(self, collection: str, rows: Iterable[SourceRow]) -> None:
        put = [_row("source", collection, row.info.source, {**asdict(row.info), "digest": row.digest}) for row in rows]
        if put:
            self._upsert([*put, _revised(collection)])

    def forget_sources(self, collection: str, sources: Iterable[str]) -> None:
        ids = [_row_id("source", collection, source) for source in sources]
        if ids:
            self._forget(ids)
            self._upsert([_revised(collection)])

    def forget_collection(self, name: str) -> None:
        """Remove all that is known of a name, a change of it that was cut off included."""
        self.forget_sources(name, self.sources(name))
        self._forget(_row_id(kind, name, name) for kind in ("collection", _CHANGE, _RECALL, _REVISION))

    def changes(self) -> dict[str, dict[str, Any]]:
        """Changes of names that were started and not finished, by the collection's name at their start."""
        return {str(row["collection"]): dict(row["info"]) for row in self._rows(equals("kind", _CHANGE))}

    def put_change(self, collection: str, change: Mapping[str, Any]) -> None:
        """Note what is about to be done to a collection, so that the next start can finish it."""
        self._upsert([_row(_CHANGE, collection, collection, change)])

    def forget_change(self, collection: str) -> None:
        self._forget((_row_id(_CHANGE, collection, collection),))

    def recall(self, collection: str) -> dict[str, Any] | None:
        """Return the last measured recall of a collection's index; None if it was never measured."""
        rows = self._db.rows_with(CATALOGUE, "id", [_row_id(_RECALL, collection, collection)], _OUTPUT)
        return dict(rows[0]["info"]) if rows else None

    def put_recall(self, collection: str, figures: Mapping[str, Any]) -> None:
        """Keep a measurement, in place of the one before."""
        self._upsert([_row(_RECALL, collection, collection, figures)])

    def _create(self) -> None:
        types = data_types()
        schema = self._db.schema()
        schema.add_field("id", types.VARCHAR, max_length=128, is_primary=True)
        schema.add_field("kind", types.VARCHAR, max_length=32)
        schema.add_field("collection", types.VARCHAR, max_length=255)
        schema.add_field("info", types.JSON)
        schema.add_field("vector", types.FLOAT_VECTOR, dim=2)
        self._db.make(CATALOGUE, schema, exact=True)
        self._write_probe()

    def _write_probe(self) -> None:
        self._upsert(
            [
                {"id": name, "kind": "probe", "collection": "", "info": {}, "vector": list(vector)}
                for name, vector in PROBE_VECTORS.items()
            ]
        )

    def _probe(self) -> list[tuple[str, float]]:
        self._db.wrote(CATALOGUE)
        where = equals("kind", "probe")
        hits = self._db.search(CATALOGUE, "vector", list(PROBE_QUERY), where, limit=len(PROBE_VECTORS), output=[])
        return [(str(hit["id"]), float(hit["distance"])) for hit in hits]

    def _rows(self, where: str) -> list[Mapping[str, Any]]:
        return self._db.rows(CATALOGUE, where, _OUTPUT)

    def _upsert(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._db.upsert(CATALOGUE, rows)

    def _forget(self, ids: Iterable[str]) -> None:
        self._db.delete(CATALOGUE, "id", ids)


def fingerprint(rows: Iterable[SourceRow]) -> str:
    """Hash over the contents of all sources, regardless of their order."""
    lines = sorted(f"{row.info.source}\n{row.digest}" for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def info_of(name: str, recorded: Mapping[str, Any], summed: Sum) -> CollectionInfo:
    """Describe a collection from its record and the totals of its sources."""
    return CollectionInfo(name=name, **recorded, **asdict(summed))


def sum_of(rows: Sequence[SourceRow]) -> Sum:
    """Add up the sources of a collection."""
    present = {item.info.kind for item in rows if item.info.passages}
    return Sum(
        passages=sum(item.info.passages for item in rows),
        sources=len(rows),
        fingerprint=fingerprint(rows),
        kinds=tuple(kind for kind in SOURCE_KINDS if kind in present),
        summaries=sum(item.info.summaries for item in rows),
        incomplete=sum(item.info.account is not None and bool(item.info.account.left_out) for item in rows),
        unaccounted=sum(item.info.account is None for item in rows),
    )


def digest(passages: Iterable[StoredPassage]) -> str:
    """Hash over ids and texts, regardless of their order."""
    lines = sorted(f"{item.id}\n{hashlib.sha256(item.text.encode()).hexdigest()}" for item in passages)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def pending_row(
    source: str, passages: Sequence[StoredPassage], known: SourceRow | None, account: Account | None = None
) -> SourceRow:
    """A source's row while it is being written: no digest, and no content hash that could pass for a duplicate.

    One that only loses passages keeps its account.
    """
    title = next((item.title for item in passages if item.title), known.info.title if known else "")
    added_at = next((str(item.meta["added_at"]) for item in passages if item.meta.get("added_at")), "")
    added_at = added_at or (known.info.added_at if known else "") or datetime.now(UTC).isoformat(timespec="seconds")
    kind = next((item.kind for item in passages), known.info.kind if known else "vector")
    if known is not None and not passages:
        account = known.info.account
    present = known.info.passages if known else 0
    return SourceRow(SourceInfo(source, title, present, "", added_at, kind, account=account), digest="")


def counted(entry: SourceRow, summaries: int) -> SourceRow:
    """The row with another number of summaries."""
    return replace(entry, info=replace(entry.info, summaries=summaries))


def _row(kind: str, collection: str, name: str, info: Mapping[str, Any]) -> dict[str, Any]:
    row_id = _row_id(kind, collection, name)
    return {"id": row_id, "kind": kind, "collection": collection, "info": dict(info), "vector": list(PROBE_QUERY)}


def _row_id(kind: str, collection: str, name: str) -> str:
    # Hashed: a source's name may be longer than a key, and may contain anything.
    content = "\n".join((collection, name))
    return f"{kind}-{hashlib.sha256(content.encode()).hexdigest()}"


def _revised(collection: str) -> dict[str, Any]:
    return _row(_REVISION, collection, collection, {"id": uuid.uuid4().hex, "at": time.time()})


def _revision(info: Mapping[str, Any] | None) -> Revision | None:
    return Revision(str(info["id"]), float(info["at"])) if info else None


def _source_row(row: Mapping[str, Any]) -> SourceRow:
    # Rows of earlier versions lack the newer fields, which have defaults.
    return SourceRow(SourceInfo.of(row["info"]), str(row["info"]["digest"]))
