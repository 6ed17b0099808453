"""The fields of a collection: how ours are made, how those of other programs are read, how one may be named."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import FieldTooLong, InvalidCollectionName, StoreError
from engine.knowledge import full_text
from engine.knowledge.milvus_connection import Client
from engine.knowledge.milvus_filter import within_filter
from engine.model.values import PassageId
from engine.roles import StoredPassage, Within

RESERVED_PREFIX = "workbench_"
"""Collections that begin so are the workbench's own and never listed."""

LIMITS: Mapping[str, int] = {"id": 1200, "source": 1024, "title": 2048, "section": 2048, "text": 65535}
"""Bytes of UTF-8 that each text field holds; 65 535 is the most that Milvus allows."""

WORDS = "tokens"
SPARSE = "sparse"
"""Fields of full-text search: the words of a passage, and what the store makes of them by itself."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_READABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")

_TEXT_NAMES = ("text", "content", "page_content", "document", "chunk", "passage", "body")
_SOURCE_NAMES = ("source", "file", "filename", "file_name", "file_path", "path", "document_name", "doc", "url")
_TITLE_NAMES = ("title", "name")
_SECTION_NAMES = ("section", "heading", "header")
_ORDINAL_NAMES = ("ordinal", "chunk_index", "index", "chunk_id")


def check_new_name(name: str) -> None:
    """Raise ``InvalidCollectionName`` unless the name may be given to a new collection."""
    if not _NAME.fullmatch(name) or name.lower().startswith(RESERVED_PREFIX):
        raise InvalidCollectionName(name=name)


def readable_name(name: str) -> bool:
    """Whether a collection of that name could exist and is not one of our own."""
    return bool(_READABLE_NAME.fullmatch(name)) and not name.startswith(RESERVED_PREFIX)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which field of a collection holds what; an empty name means that there is none."""

    dim: int
    metric: str
    key: str
    key_is_text: bool
    vector: str
    text: str
    source: str = ""
    title: str = ""
    section: str = ""
    ordinal: str = ""
    meta: str = ""
    kind: str = ""
    """A field of its own, which an embedded store compares a hundred times faster than a key of ``meta``."""
    words: str = ""
    """The words of a passage joined by spaces, for full-text search."""
    dynamic: bool = False
    own: bool = False
    """Made by the workbench, so it may be written to."""

    @property
    def output(self) -> list[str]:
        """Fields that a search must return to make a passage."""
        if self.dynamic:
            return ["*"]
        names = (self.key, self.text, self.source, self.title, self.section, self.ordinal, self.meta)
        return [name for name in names if name]

    @property
    def every(self) -> str:
        """A filter that every row matches; without one a query returns at most 16 384 rows."""
        return f'{self.key} != ""' if self.key_is_text else f"{self.key} >= {-(2**63) + 1}"

    def filter(self, within: Within, collection: str) -> str | None:
        """The filter of a search; empty where everything may be found, None where nothing can be."""
        return within_filter(
            within, collection, source=self.source, section=self.section, meta=self.meta, kind=self.kind
        )

    def keys(self, ids: Sequence[PassageId]) -> list[str | int]:
        """Ids in the type of the key field; those that cannot be one are left out."""
        if self.key_is_text:
            return list(ids)
        return [int(item) for item in ids if re.fullmatch(r"-?\d{1,19}", item)]

    def passage(self, entity: Mapping[str, Any], collection: str, key: str | int | None = None) -> StoredPassage:
        """A stored passage from one row, with what the collection has of it; ``key`` where the row lacks it."""
        meta = entity.get(self.meta) if self.meta else None
        if isinstance(meta, str | bytes):
            meta = _json_or_none(meta)
        ordinal = entity.get(self.ordinal) if self.ordinal else None
        return StoredPassage(
            id=PassageId(str(entity[self.key] if key is None else key)),
            source=str(entity.get(self.source) or collection) if self.source else collection,
            text=str(entity.get(self.text) or "") if self.text else "",
            section=str(entity.get(self.section) or "") if self.section else "",
            title=str(entity.get(self.title) or "") if self.title else "",
            ordinal=ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) else 0,
            meta=meta if isinstance(meta, Mapping) else {},
        )


def own_layout(dim: int, *, kinded: bool = True, worded: bool = False) -> Layout:
    """The layout of our own collections; those of earlier versions have no field of kinds and none of words."""
    return Layout(
        dim=dim,
        metric="COSINE",
        key="id",
        key_is_text=True,
        vector="vector",
        text="text",
        source="source",
        title="title",
        section="section",
        ordinal="ordinal",
        meta="meta",
        kind="kind" if kinded else "",
        words=WORDS if worded else "",
        own=True,
    )


def own_layout_of(dim: int, description: Mapping[str, Any]) -> Layout:
    """The layout of one of our own collections, from what the store says of its fields."""
    names = field_names(description)
    return own_layout(dim, kinded="kind" in names, worded=WORDS in names)


def field_names(description: Mapping[str, Any]) -> list[str]:
    """Names of the fields in a collection's description."""
    return [str(item["name"]) for item in description.get("fields", ())]


def vector_field(description: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first field of float vectors in a collection's description."""
    return next((item for item in description.get("fields", ()) if _type(item) == "FLOAT_VECTOR"), None)


def foreign_layout(name: str, description: Mapping[str, Any], metric: str, sample: Mapping[str, Any]) -> Layout:
    """Read another program's collection; ``sample`` is one row, which shows the fields of a dynamic schema.

    Raises ``StoreError`` where there is no float vector field or no text at all.
    """
    fields = list(description.get("fields", ()))
    key = next((item for item in fields if item.get("is_primary")), None)
    vector = vector_field(description)
    dynamic = bool(description.get("enable_dynamic_field"))
    names = [str(item["name"]) for item in fields]
    texts = [str(item["name"]) for item in fields if _type(item) == "VARCHAR" and not item.get("is_primary")]
    if dynamic:
        texts += [name for name, value in sample.items() if isinstance(value, str) and name not in names]
        names += [name for name in sample if name not in names]
    text = _first(_TEXT_NAMES, texts) or next(iter(texts), "")
    if key is None or vector is None or not (text or (dynamic and not sample)):
        raise StoreError.without_text(name=name)
    numbers = [item for item in names if item not in texts]
    return Layout(
        dim=int(vector.get("params", {}).get("dim", 0)),
        metric=metric.upper(),
        key=str(key["name"]),
        key_is_text=_type(key) == "VARCHAR",
        vector=str(vector["name"]),
        text=text,
        source=_first(_SOURCE_NAMES, texts),
        title=_first(_TITLE_NAMES, texts),
        section=_first(_SECTION_NAMES, texts),
        ordinal=_first(_ORDINAL_NAMES, numbers),
        dynamic=dynamic,
    )


def create_collection(
    client: Client, name: str, dim: int, *, exact: bool, timeout_s: float, kinded: bool = True, analyzer: str = ""
) -> None:
    """Make and load a collection of passages; ``exact`` asks for an index that compares with every vector.

    ``analyzer`` is the store's tokenizer for words joined by spaces; empty for a collection without full text.
    """
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    types = data_types()
    for field, limit in LIMITS.items():
        schema.add_field(field, types.VARCHAR, max_length=limit, is_primary=field == "id")
    schema.add_field("ordinal", types.INT64)
    schema.add_field("meta", types.JSON)
    if kinded:
        schema.add_field("kind", types.VARCHAR, max_length=32)
    schema.add_field("vector", types.FLOAT_VECTOR, dim=dim)
    if analyzer:
        _add_full_text(schema, analyzer)
    make(client, name, schema, exact=exact, timeout_s=timeout_s, worded=bool(analyzer))


def make(client: Client, name: str, schema: Any, *, exact: bool, timeout_s: float, worded: bool = False) -> None:
    """Create, index by cosine, and by BM25 where it is ``worded``, and load."""
    index = client.prepare_index_params()
    index.add_index("vector", index_type="FLAT" if exact else "AUTOINDEX", metric_type="COSINE")
    if worded:
        index.add_index(
            SPARSE,
            index_type="SPARSE_INVERTED_INDEX",
            metric_type="BM25",
            params={"bm25_k1": full_text.K1, "bm25_b": full_text.B},
        )
    # Building an index takes a server seconds however small the collection is.
    patience_s = max(timeout_s, 60.0)
    client.create_collection(name, schema=schema, consistency_level="Strong", timeout=patience_s)
    # An embedded store has built it when the call returns; the client would sleep half a second before it looks.
    client.create_index(name, index, timeout=patience_s, sync=not exact)
    client.load_collection(name, timeout=patience_s)


def _add_full_text(schema: Any, analyzer: str) -> None:
    pymilvus = importlib.import_module("pymilvus")
    types = pymilvus.DataType
    schema.add_field(
        WORDS,
        types.VARCHAR,
        max_length=full_text.MOST_BYTES,
        enable_analyzer=True,
        analyzer_params={"tokenizer": analyzer},
    )
    schema.add_field(SPARSE, types.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        pymilvus.Function(
            name="bm25",
            function_type=pymilvus.FunctionType.BM25,
            input_field_names=[WORDS],
            output_field_names=[SPARSE],
        )
    )


def row(
    passage: StoredPassage, vector: Sequence[float], *, kinded: bool = True, worded: bool = False
) -> dict[str, Any]:
    """One row of our own collections; raises ``FieldTooLong`` where a field would not hold it."""
    values = {
        "id": str(passage.id),
        "source": passage.source,
        "title": passage.title,
        "section": passage.section,
        "text": passage.text,
    }
    for field, limit in LIMITS.items():
        size = len(values[field].encode())
        if size > limit:
            raise FieldTooLong(field=field, source=passage.source, size=size, limit=limit)
    kind = {"kind": passage.kind} if kinded else {}
    if worded:
        values[WORDS] = full_text.field_of(passage.text)
    return {**values, **kind, "ordinal": passage.ordinal, "meta": dict(passage.meta), "vector": vector}


def data_types() -> Any:
    """The client's ``DataType``; imported late because the client takes 2 s to import."""
    return importlib.import_module("pymilvus").DataType


def _type(field: Mapping[str, Any]) -> str:
    kind = field.get("type")
    return str(getattr(kind, "name", kind))


def _first(wanted: Sequence[str], present: Sequence[str]) -> str:
    by_lower = {name.lower(): name for name in reversed(present)}
    return next((by_lower[name] for name in wanted if name in by_lower), "")


def _json_or_none(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
