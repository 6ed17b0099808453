"""The fields of a collection: how ours are made, how those of other programs are read, how one may be named."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.builtin import full_text
from engine.errors import FieldTooLong, StoreError
from engine.knowledge.milvus_database import SPARSE, Database, data_types
from engine.knowledge.milvus_filter import any_of, equals, within_filter
from engine.model.values import PassageContext, PassageId
from engine.roles import StoredPassage, Stretch, Within

RESERVED_PREFIX = "workbench_"
"""Collections that begin so are the workbench's own and never listed."""

LIMITS: Mapping[str, int] = {"id": 1200, "source": 1024, "title": 2048, "section": 2048, "text": 65535}
"""Bytes of UTF-8 that each text field holds; 65 535 is the most that Milvus allows."""

WORDS = "tokens"
"""The field of full-text search: the words of a passage."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_READABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_PATH = re.compile(r'(\$meta|[^\W\d]\w*)\["((?:[^"\\]|\\.)+)"\]')
DYNAMIC_FIELD = "$meta"
"""What a store calls the field of keys that its schema does not name; its rows have these next to the fields."""


def check_new_name(name: str) -> None:
    """Raise ``StoreError.invalid_collection_name`` unless the name may be given to a new collection."""
    if not _NAME.fullmatch(name) or name.lower().startswith(RESERVED_PREFIX):
        raise StoreError.invalid_collection_name(name=name)


def readable_name(name: str) -> bool:
    """Return whether a collection of that name could exist and is not one of our own."""
    return bool(_READABLE_NAME.fullmatch(name)) and not name.startswith(RESERVED_PREFIX)


@dataclass(frozen=True, slots=True)
class Layout:
    """Role of each field of a collection; an empty name means that there is none.

    A field may be a key of a JSON field, named as the store's filters name it: ``metadata["source"]``.
    """

    name: str
    """What the collection is called here, and its source where it names none."""
    collection: str
    """What it is called in its store."""
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
    context: PassageContext = "none"
    """What stands in front of a passage when its words are cut."""
    own: bool = False
    """Made by the workbench, so it may be written to."""

    @property
    def output(self) -> list[str]:
        """Fields of the store that make a passage, without its vector."""
        names = (self.key, self.text, self.source, self.title, self.section, self.ordinal, self.meta)
        return list(dict.fromkeys(stored_field(name) for name in names if name))

    @property
    def every(self) -> str:
        """A filter that every row matches; without one a query returns at most 16 384 rows."""
        return f'{self.key} != ""' if self.key_is_text else f"{self.key} >= {-(2**63) + 1}"

    def filter(self, within: Within) -> str | None:
        """The filter of a search; empty where everything may be found, None where nothing can be."""
        return within_filter(
            within, self.name, source=self.source, section=self.section, meta=self.meta, kind=self.kind
        )

    def of_source(self, source: str) -> str | None:
        """The filter for one source's passages; None where there cannot be any."""
        if self.source and (self.own or source != self.name):
            return equals(self.source, source)
        return self.every if source == self.name else None

    def of_stretches(self, wanted: Sequence[Stretch]) -> str:
        """The filter for places of sources; empty where there cannot be any."""
        places = [
            f"({where}) and {self.ordinal} >= {item.first} and {self.ordinal} <= {item.last}"
            for item in wanted
            if self.ordinal and (where := self.of_source(item.source))
        ]
        return any_of(places) if places else ""

    def keys(self, ids: Sequence[PassageId]) -> list[str | int]:
        """Ids in the type of the key field; those that cannot be one are left out."""
        if self.key_is_text:
            return list(ids)
        return [int(item) for item in ids if re.fullmatch(r"-?\d{1,19}", item)]

    def passage(self, row: Mapping[str, Any], key: str | int | None = None) -> StoredPassage:
        """A stored passage from one row, with what the collection has of it; ``key`` where the row lacks it."""
        return passage_in(
            row,
            row[self.key] if key is None else key,
            name=self.name,
            text=self.text,
            source=self.source,
            section=self.section,
            title=self.title,
            ordinal=self.ordinal,
            meta=self.meta,
        )

    def row(self, passage: StoredPassage, vector: Sequence[float]) -> dict[str, Any]:
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
        if self.kind:
            values[self.kind] = passage.kind
        if self.words:
            values[self.words] = full_text.field_of(passage.searched(self.context))
        return {**values, "ordinal": passage.ordinal, "meta": dict(passage.meta), "vector": vector}


def passage_in(
    row: Mapping[str, Any],
    key: str | int,
    *,
    name: str,
    text: str,
    source: str,
    section: str,
    title: str,
    ordinal: str,
    meta: str,
) -> StoredPassage:
    """The passage of one row, by the names of its fields; ``name`` is its source where it names none."""
    about = row.get(meta) if meta else None
    if isinstance(about, str | bytes):
        about = _json_or_none(about)
    place = value_at(row, ordinal)
    return StoredPassage(
        id=PassageId(str(key)),
        source=text_at(row, source) or name,
        text=text_at(row, text),
        section=text_at(row, section),
        title=text_at(row, title),
        ordinal=place if isinstance(place, int) and not isinstance(place, bool) else 0,
        meta=about if isinstance(about, Mapping) else {},
    )


def own_layout(
    name: str, dim: int, *, kinded: bool = True, worded: bool = False, context: PassageContext = "none"
) -> Layout:
    """The layout of our own collections; those of earlier versions have no field of kinds and none of words."""
    return Layout(
        name=name,
        collection=name,
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
        context=context,
        own=True,
    )


def own_layout_of(name: str, dim: int, description: Mapping[str, Any], context: PassageContext = "none") -> Layout:
    """The layout of one of our own collections, from what the store says of its fields."""
    names = [item["name"] for item in description.get("fields", ())]
    return own_layout(name, dim, kinded="kind" in names, worded=WORDS in names, context=context)


def create_passages(db: Database, layout: Layout, analyzer: str = "") -> None:
    """Make and load one of our own collections.

    ``analyzer`` is the store's tokenizer for words joined by spaces, where the layout has words.
    """
    schema = db.schema()
    types = data_types()
    for field, limit in LIMITS.items():
        schema.add_field(field, types.VARCHAR, max_length=limit, is_primary=field == "id")
    schema.add_field("ordinal", types.INT64)
    schema.add_field("meta", types.JSON)
    if layout.kind:
        schema.add_field("kind", types.VARCHAR, max_length=32)
    schema.add_field("vector", types.FLOAT_VECTOR, dim=layout.dim)
    if layout.words:
        _add_full_text(schema, analyzer)
    db.make(layout.name, schema, worded=bool(layout.words))


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


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field, a dynamic key, or a key of a JSON field; None if there is none."""
    path = json_path(name)
    if path is None:
        return row.get(name) if name else None
    inside = row if path[0] == DYNAMIC_FIELD else row.get(path[0])
    return inside.get(path[1]) if isinstance(inside, Mapping) else None


def text_at(row: Mapping[str, Any], name: str) -> str:
    """Return what :func:`value_at` finds as a text; empty where there is none."""
    value = value_at(row, name)
    return "" if value is None else str(value)


def json_path(name: str) -> tuple[str, str] | None:
    """Field and key of what is named as a key of a JSON field; None for any other name."""
    path = _PATH.fullmatch(name) if "[" in name else None
    return (path[1], re.sub(r"\\(.)", r"\1", path[2])) if path else None


def stored_field(name: str) -> str:
    """The field of the store that holds what is named so."""
    path = json_path(name)
    return path[0] if path else name


def _json_or_none(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
