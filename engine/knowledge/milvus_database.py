"""The collections of one Milvus by their names: every call within a time limit, reads as current as they must be."""

from __future__ import annotations

import importlib
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from engine.builtin import full_text
from engine.errors import StoreError
from engine.knowledge.milvus_connection import Client, connect, disconnect, embedded, make_database
from engine.knowledge.milvus_errors import no_database
from engine.knowledge.milvus_filter import one_of

Level = Literal["Strong", "Bounded"]
"""How current a read is: after everything ever written, or what is at most 5 s old."""

MOST_ROWS = 16_384
"""Milvus refuses to return more from one search, or from one query without a filter of the key."""
BATCH = 500
SPARSE = "sparse"
"""Field of full-text search that the store makes by itself of a passage's words."""

_MOST_BYTES = 16 * 1024 * 1024
"""Of one request: a server takes 64 MB, and a row may have 200 KB of text next to its vector."""
_FLUSH_AFTER = 500
"""Rows of an embedded store that may lie in its log before they are made a file of columns.

Searching 5 000 rows takes 400 ms from the log and 10 ms from a file (measured, Milvus Lite 3.2, 384 dimensions).
"""
_CURRENT_S = 10.0
"""How long after a write of ours, or after opening, reads wait for everything ever written.

That costs 200 ms a read on a server, reading what is at most 5 s old costs 3 ms (measured, Milvus 2.3.5).
"""
_PATIENCE_S = 60.0
"""Building an index, or loading a collection, takes a server seconds however small the collection is."""
_REINDEXING_S = 1800.0
"""Loading a collection of a million passages again takes a server minutes."""
_FIRST_RETRY_S = 0.05
_NOT_LOADED = (
    "not loaded",
    "not been loaded",
    "not fully loaded",
    "released",
    "channel not found",
    "channel not available",
)


class Database:
    """A connected client; methods block and raise foreign exceptions untranslated.

    A collection is loaded by its first read, again where its owner released it meanwhile, and never released.
    """

    def __init__(self, client: Client, uri: str, timeout_s: float) -> None:
        self.client = client
        self.timeout_s = timeout_s
        self.embedded = embedded(uri)
        self._uri = uri
        self._patience_s = max(timeout_s, _PATIENCE_S)
        self._opened = time.monotonic()
        self._written: dict[str, float] = {}
        self._loaded: set[str] = set()
        self._in_log: Counter[str] = Counter()
        self._loading = threading.RLock()
        """Held while a collection is loaded or gets another index: a read that finds it released waits for that."""

    @classmethod
    def connected(cls, uri: str, token: str, timeout_s: float, database: str = "") -> Self:
        """Connect to a database; raises as :func:`engine.knowledge.milvus_connection.connect`."""
        return cls(connect(uri, token, timeout_s, database), uri, timeout_s)

    @classmethod
    def of_ours(cls, uri: str, token: str, timeout_s: float, database: str) -> Self:
        """Connect to a database of our own, which is made where it is missing.

        Raises ``StoreError.database_missing`` too.
        """
        if not database:
            return cls.connected(uri, token, timeout_s)
        try:
            return cls._listing(uri, token, timeout_s, database)
        except Exception as error:
            missing = isinstance(error, StoreError) and error.code == StoreError.database_missing.code
            if not missing and not no_database(error):
                raise
        make_database(uri, token, timeout_s, database)
        return cls._listing(uri, token, timeout_s, database)

    @classmethod
    def _listing(cls, uri: str, token: str, timeout_s: float, database: str) -> Self:
        db = cls.connected(uri, token, timeout_s, database)
        try:
            # A database that is not there shows with the first call only.
            db.names()
        except BaseException:
            db.close()
            raise
        return db

    def close(self) -> None:
        disconnect(self.client, self._uri)

    def version(self) -> str:
        """Version of a server."""
        return str(self.client.get_server_version(timeout=self.timeout_s))

    def names(self) -> list[str]:
        return list(self.client.list_collections(timeout=self.timeout_s))

    def aliases(self) -> dict[str, str]:
        """Other names of collections, each with the name of its collection; none on a server that tells none."""
        from pymilvus.exceptions import MilvusException

        try:
            found = self.client.list_aliases(timeout=self.timeout_s).get("aliases", [])
        except MilvusException:
            return {}
        return {name: str(self.describe(name).get("collection_name", "")) for name in map(str, found)}

    def there(self, name: str) -> bool:
        """Return whether a collection, or an alias of one, is called so."""
        there = bool(self.client.has_collection(name, timeout=self.timeout_s))
        if not there:
            self._loaded.discard(name)
        return there

    def describe(self, name: str) -> dict[str, Any]:
        return dict(self.client.describe_collection(name, timeout=self.timeout_s))

    def metrics(self, name: str) -> dict[str, str]:
        """The metric of every field that has an index."""
        indexes = [
            self.client.describe_index(name, index, timeout=self.timeout_s)
            for index in self.client.list_indexes(name, timeout=self.timeout_s)
        ]
        return {str(item["field_name"]): str(item.get("metric_type", "")).upper() for item in indexes if item}

    def loaded(self, name: str) -> bool:
        state = self.client.get_load_state(name, timeout=self.timeout_s).get("state")
        return str(getattr(state, "name", state)) == "Loaded"

    def load(self, name: str) -> None:
        if name in self._loaded:
            return
        with self._loading:
            if not self.loaded(name):
                self.client.load_collection(name, timeout=self._patience_s)
            self._loaded.add(name)

    def note_released(self, name: str) -> None:
        """Load a collection before its next read, wherever it is by now."""
        self._loaded.discard(name)

    def index_of(self, name: str, field: str) -> dict[str, Any]:
        """Return the index of a field as the store describes it, build progress included; empty if there is none."""
        for index in self.client.list_indexes(name, timeout=self.timeout_s):
            found = self.client.describe_index(name, index, timeout=self.timeout_s)
            if found and found.get("field_name") == field:
                return {**found, "index_name": index}
        return {}

    def reindex(self, name: str, field: str, kind: str, build: Mapping[str, int]) -> None:
        """Put another index in the place of a field's own, and load the collection; the build continues after that.

        Reads of this process wait meanwhile, those of others fail for the moment in which there is no index.
        """
        # Rows in the log of a server are in no segment yet, and would not be indexed.
        self.flush(name)
        index = self.client.prepare_index_params()
        index.add_index(field, index_type=kind, metric_type="COSINE", params=dict(build))
        with self._loading:
            self._loaded.discard(name)
            self.client.release_collection(name, timeout=self._patience_s)
            old = self.index_of(name, field)
            if old:
                self.client.drop_index(name, old["index_name"], timeout=self._patience_s)
            self.client.create_index(name, index, timeout=self._patience_s, sync=False)
            self.client.load_collection(name, timeout=_REINDEXING_S)
            self._loaded.add(name)

    def reload(self, name: str) -> None:
        """Release and load a collection, so that its searches use an index that was built since; reads wait."""
        with self._loading:
            self._loaded.discard(name)
            self.client.release_collection(name, timeout=self._patience_s)
            self.client.load_collection(name, timeout=_REINDEXING_S)
            self._loaded.add(name)

    def take_in(self, name: str) -> None:
        """Let searches find segments that were imported since the collection was loaded."""
        # A server loads a new collection on its own, but not at once, and refuses to refresh it before.
        self.load(name)
        self.client.refresh_load(name, timeout=_REINDEXING_S)

    def flush(self, name: str) -> None:
        """Let a server make segments of its log: only those are indexed."""
        self.client.flush(name, timeout=_REINDEXING_S)

    def schema(self) -> Any:
        """An empty schema, for :meth:`make`."""
        return self.client.create_schema(auto_id=False, enable_dynamic_field=False)

    def make(self, name: str, schema: Any, *, worded: bool = False, exact: bool = False) -> None:
        """Create, index by cosine, and by BM25 where it is ``worded``, and load.

        An embedded store compares with every vector, a server where it is to be ``exact``.
        """
        exact = exact or self.embedded
        index = self.client.prepare_index_params()
        index.add_index("vector", index_type="FLAT" if exact else "AUTOINDEX", metric_type="COSINE")
        if worded:
            index.add_index(
                SPARSE,
                index_type="SPARSE_INVERTED_INDEX",
                metric_type="BM25",
                params={"bm25_k1": full_text.K1, "bm25_b": full_text.B},
            )
        self.client.create_collection(name, schema=schema, consistency_level="Strong", timeout=self._patience_s)
        # There is nothing to build yet, and the client would sleep half a second before it looks.
        self.client.create_index(name, index, timeout=self._patience_s, sync=False)
        # A server takes two seconds for an empty one: its first read waits for what is left of them.
        self.client.load_collection(name, timeout=self._patience_s, _async=not self.embedded)

    def rename(self, name: str, new_name: str) -> None:
        self.client.rename_collection(name, new_name, timeout=self.timeout_s)
        self._loaded -= {name, new_name}
        self.wrote(new_name)

    def drop(self, name: str) -> None:
        """Delete a collection, if it is there."""
        if self.there(name):
            self.client.drop_collection(name, timeout=self.timeout_s)
        self._loaded.discard(name)

    def wrote(self, name: str) -> None:
        """Read everything ever written from now on, as after a write or for a decision to write."""
        self._written[name] = time.monotonic()

    def count(self, name: str, level: Level | None = None) -> int:
        (row,) = self.rows(name, "", ["count(*)"], level=level)
        return int(row["count(*)"])

    def estimated(self, name: str) -> int:
        """About how many rows a collection has, without loading it."""
        return int(self.client.get_collection_stats(name, timeout=self.timeout_s).get("row_count", 0))

    def rows(
        self,
        name: str,
        where: str,
        output: list[str],
        *,
        patience_s: float = 0.0,
        level: Level | None = None,
        limit: int | None = None,
    ) -> list[Any]:
        """Rows that a filter matches; an empty filter needs a ``limit`` of at most 16 384, or a count as output."""
        bounds = {} if limit is None else {"limit": limit}
        attempt = _Attempt(self, name)
        while True:
            with attempt:
                found = self.client.query(
                    name,
                    filter=where,
                    output_fields=output,
                    consistency_level=level or self._level(name),
                    timeout=max(self.timeout_s, patience_s),
                    **bounds,
                )
                return list(found)

    def rows_with(self, name: str, field: str, values: Sequence[str | int], output: list[str]) -> list[Any]:
        """Rows whose field has one of the values, however many these are."""
        return [
            row
            for start in range(0, len(values), BATCH)
            for row in self.rows(name, one_of(field, values[start : start + BATCH]), output)
        ]

    def search(
        self,
        name: str,
        field: str,
        data: list[float] | str,
        where: str,
        *,
        limit: int,
        output: list[str],
        level: Level | None = None,
        **more: Any,
    ) -> list[Any]:
        """The store's own hits for one vector, or one text; ``more`` is for the client."""
        attempt = _Attempt(self, name)
        while True:
            with attempt:
                (found,) = self.client.search(
                    name,
                    data=[data],
                    anns_field=field,
                    filter=where,
                    limit=min(limit, MOST_ROWS),
                    output_fields=output,
                    consistency_level=level or self._level(name),
                    timeout=self.timeout_s,
                    **more,
                )
                return list(found)

    def upsert(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows in requests that a server takes; an embedded store's log is made a file before it is slow."""
        self.wrote(name)
        for batch in batches(rows):
            self.client.upsert(name, batch, timeout=self.timeout_s)
        self._in_log[name] += len(rows)
        if self.embedded and self._in_log[name] >= _FLUSH_AFTER:
            del self._in_log[name]
            self.client.flush(name, timeout=self._patience_s)
        self.wrote(name)

    def delete(self, name: str, field: str, values: Iterable[str]) -> None:
        """Delete the rows whose field has one of the values."""
        wanted = list(values)
        for start in range(0, len(wanted), BATCH):
            # By a filter of our own: the client makes one of ids without escaping anything in them.
            where = one_of(field, wanted[start : start + BATCH])
            attempt = _Attempt(self, name)
            while not attempt.done:
                with attempt:
                    self.client.delete(name, filter=where, timeout=self.timeout_s)
        self.wrote(name)

    def _level(self, name: str) -> Level:
        since = max(self._opened, self._written.get(name, 0.0))
        return "Strong" if time.monotonic() - since < _CURRENT_S else "Bounded"


class _Attempt:
    """Load a collection for the call inside, which is to be made again, after a pause, until it is :attr:`done`.

    A failure that says that the collection is not loaded does not come out until the time for calls is over.
    """

    def __init__(self, db: Database, name: str) -> None:
        self.done = False
        self._db = db
        self._name = name
        self._pause_s = _FIRST_RETRY_S
        self._until = time.monotonic() + db.timeout_s

    def __enter__(self) -> None:
        self._db.load(self._name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self.done = error is None
        if not isinstance(error, Exception):
            return False
        # It may have been dropped, released or made again since; another index takes two releases.
        self._db.note_released(self._name)
        late = time.monotonic() + self._pause_s > self._until
        if late or not any(sign in str(error).lower() for sign in _NOT_LOADED):
            return False
        time.sleep(self._pause_s)
        self._pause_s *= 2
        return True


def data_types() -> Any:
    """The client's ``DataType``; imported late because the client takes 2 s to import."""
    return importlib.import_module("pymilvus").DataType


def batches(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Rows in their order, at most 500 and about 16 MB at a time."""
    batch: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        length = _size(row)
        if batch and (len(batch) == BATCH or size + length > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch


def _size(row: Mapping[str, Any]) -> int:
    """Bytes that a row takes on the wire, roughly: four a character at most, four a number of a vector."""
    return sum(4 * len(value) for value in row.values() if isinstance(value, str | list))
