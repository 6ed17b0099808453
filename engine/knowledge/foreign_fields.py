"""The fields of a collection that another program made: what each may hold, and passages read from its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import TextlessCollection, UnusableCollection, WorkbenchError
from engine.knowledge.milvus_filter import equals, quoted, within_filter
from engine.library.values import Connection, FieldMap, RemoteField
from engine.model.values import PassageId, kind_named
from engine.roles import StoredPassage, Within

FLOATS = "FLOAT_VECTOR"
DYNAMIC = "dynamic"
JSON_KEY = "json"
"""Type of a text inside a JSON field, which is named as the store's filters name it: ``metadata["source"]``."""
METRICS = ("COSINE", "IP", "L2")

_TEXT_TYPES = ("VARCHAR", "STRING", "TEXT", DYNAMIC, JSON_KEY)
_TEXT_NAMES = (
    *("text", "content", "page_content", "chunk_text", "chunk", "document", "passage", "body", "paragraph"),
    *("chunk_content", "doc", "doc_text", "text_content", "answer", "abstract", "description"),
)
_SOURCE_NAMES = (
    *("source", "file", "filename", "file_name", "file_path", "path", "document_name", "doc_name", "url", "uri"),
    *("link", "doc_id", "document_id", "doc"),
)
_TITLE_NAMES = ("title", "name", "headline", "subject")
_SECTION_NAMES = ("section", "heading", "header", "chapter")
_ORDINAL_NAMES = ("ordinal", "chunk_index", "chunk_no", "index", "position", "chunk_id", "page")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PATH = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)\["([A-Za-z_][A-Za-z0-9_]*)"\]')
_SAMPLE = 160
_NUMBERS = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """What a store told of one collection."""

    name: str
    description: Mapping[str, Any]
    metrics: Mapping[str, str]
    """Of the fields that have an index."""
    rows: Sequence[Mapping[str, Any]]
    """A few of its rows, with every field and dynamic key."""
    needs_index: bool
    """Whether the store searches only what has an index, as servers do."""


def fields_of(seen: Seen) -> tuple[RemoteField, ...]:
    """The fields of the schema, then keys seen in the dynamic field and in JSON fields, each with a sample."""
    found = []
    for item in seen.description.get("fields", ()):
        name, kind = str(item["name"]), type_name(item)
        found.append(
            RemoteField(
                name=name,
                type=kind,
                primary=bool(item.get("is_primary")),
                dim=_dim(item) if kind.endswith("_VECTOR") else 0,
                metric=seen.metrics.get(name, ""),
                sample=_sample(seen.rows, name),
            )
        )
    declared = {item.name: item.type for item in found}
    if seen.description.get("enable_dynamic_field"):
        for key in _keys(seen.rows):
            if key not in declared and _PLAIN_KEY.fullmatch(key) and _is_text(seen.rows, key):
                found.append(RemoteField(key, DYNAMIC, sample=_sample(seen.rows, key)))
    for name in [name for name, kind in declared.items() if kind == "JSON"]:
        for key in _keys([row[name] for row in seen.rows if isinstance(row.get(name), Mapping)]):
            path = f"{name}[{quoted(key)}]"
            if _PLAIN_KEY.fullmatch(key) and _is_text(seen.rows, path):
                found.append(RemoteField(path, JSON_KEY, sample=_sample(seen.rows, path)))
    return tuple(found)


def proposed_fields(fields: Sequence[RemoteField], rows: Sequence[Mapping[str, Any]]) -> FieldMap | None:
    """Which field probably holds what; None where there are no float vectors, or no text."""
    key = next((item.name for item in fields if item.primary), "")
    vectors = [item for item in fields if item.type == FLOATS]
    vector = next((item.name for item in vectors if item.metric in METRICS), "") or next(
        (item.name for item in vectors), ""
    )
    texts = [item.name for item in text_fields(fields)]
    text = _text_field(texts, rows)
    if not key or not vector or not text:
        return None
    others = [name for name in texts if name != text]
    source = _first(_SOURCE_NAMES, others)
    others = [name for name in others if name != source]
    return FieldMap(key, text, vector, source, _first(_TITLE_NAMES, others), _first(_SECTION_NAMES, others))


def text_fields(fields: Sequence[RemoteField]) -> list[RemoteField]:
    """Fields that may hold text, source, title or section."""
    return [item for item in fields if item.type in _TEXT_TYPES and not item.primary]


def why_unusable(seen: Seen, fields: Sequence[RemoteField], vector: str = "") -> WorkbenchError | None:
    """What stands against answering questions from a collection, by one vector field or by any; None if nothing."""
    vectors = [item for item in fields if item.type.endswith("_VECTOR")]
    if not vectors:
        return UnusableCollection.no_vectors(name=seen.name)
    floats = [item for item in vectors if item.type == FLOATS and vector in ("", item.name)]
    if not floats:
        return UnusableCollection.other_vectors(
            name=seen.name, types=", ".join(sorted({item.type for item in vectors}))
        )
    if not text_fields(fields):
        return TextlessCollection(name=seen.name)
    if seen.needs_index and not any(item.metric for item in floats):
        return UnusableCollection.no_index(name=seen.name, unindexed=floats[0].name)
    if not any(item.metric in ("", *METRICS) for item in floats):
        return UnusableCollection.other_metric(name=seen.name, metric=floats[0].metric)
    return None


@dataclass(frozen=True, slots=True)
class ForeignLayout:
    """How rows of a connected collection become passages."""

    name: str
    """What the collection is called here, and its source where it names none."""
    fields: FieldMap
    key_is_text: bool
    dim: int
    metric: str
    ordinal: str = ""
    meta: str = ""
    kind: str = ""
    """Fields of the source kind, which only our own collections have."""

    @property
    def output(self) -> list[str]:
        """Fields of the store that make a passage, without its vector."""
        item = self.fields
        names = (item.id, item.text, item.source, item.title, item.section, self.ordinal, self.meta, self.kind)
        return list(dict.fromkeys(_field_of(name) for name in names if name))

    def filter(self, within: Within) -> str | None:
        """The filter of a search; empty where everything may be found, None where nothing can be."""
        return within_filter(
            within,
            self.name,
            source=self.fields.source,
            section=self.fields.section,
            meta=self.meta,
            kind=self.kind,
        )

    def of_source(self, source: str) -> str | None:
        """The filter for one source's passages; None where there cannot be any."""
        if self.fields.source:
            return equals(self.fields.source, source) if source != self.name else ""
        return "" if source == self.name else None

    def keys(self, ids: Sequence[PassageId]) -> list[str | int]:
        """Ids in the type of the key field; those that cannot be one are left out."""
        if self.key_is_text:
            return list(ids)
        return [int(item) for item in ids if re.fullmatch(r"-?\d{1,19}", item)]

    def passage(self, row: Mapping[str, Any], key: str | int | None = None) -> StoredPassage:
        """A stored passage from one row; ``key`` where a search tells it apart from the row."""
        ordinal = value_at(row, self.ordinal)
        meta = row.get(self.meta) if self.meta else None
        kind = kind_named(row.get(self.kind)) if self.kind else None
        found = dict(meta) if isinstance(meta, Mapping) else {}
        return StoredPassage(
            id=PassageId(str(row[self.fields.id] if key is None else key)),
            source=_text(row, self.fields.source) or self.name,
            text=_text(row, self.fields.text),
            section=_text(row, self.fields.section),
            title=_text(row, self.fields.title),
            ordinal=ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) else 0,
            meta={**found, "kind": kind} if kind else found,
        )


def layout_of(connection: Connection, description: Mapping[str, Any], *, own: bool) -> ForeignLayout:
    """The layout of a connected collection as it is now.

    Raises ``UnusableCollection`` where a field is gone, or is not what it was when the collection was connected.
    """
    fields = {str(item["name"]): item for item in description.get("fields", ())}
    dynamic = bool(description.get("enable_dynamic_field"))
    chosen = connection.fields
    for name in (chosen.id, chosen.vector, chosen.text, chosen.source, chosen.title, chosen.section):
        if name and _field_of(name) not in fields and not (dynamic and _PLAIN_KEY.fullmatch(name)):
            raise UnusableCollection.changed(name=connection.collection, field=name)
    key, vector = fields.get(chosen.id), fields.get(chosen.vector)
    if key is None or not key.get("is_primary"):
        raise UnusableCollection.changed(name=connection.collection, field=chosen.id)
    if vector is None or type_name(vector) != FLOATS or _dim(vector) != connection.dim:
        raise UnusableCollection.changed(name=connection.collection, field=chosen.vector)
    numbers = [name for name, item in fields.items() if type_name(item).startswith("INT") and name != chosen.id]
    return ForeignLayout(
        name=connection.name,
        fields=chosen,
        key_is_text=type_name(key) == "VARCHAR",
        dim=connection.dim,
        metric=connection.metric,
        ordinal=_first(_ORDINAL_NAMES, numbers),
        meta="meta" if own and "meta" in fields else "",
        kind="kind" if own and "kind" in fields else "",
    )


def type_name(field: Mapping[str, Any]) -> str:
    """A field's type as Milvus calls it, e.g. ``VARCHAR``."""
    kind = field.get("type")
    return str(getattr(kind, "name", kind))


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """What a row holds under a field, a dynamic key, or a key of a JSON field; None where it has none."""
    path = _PATH.fullmatch(name)
    if path is None:
        return row.get(name) if name else None
    inside = row.get(path[1])
    return inside.get(path[2]) if isinstance(inside, Mapping) else None


def _text(row: Mapping[str, Any], name: str) -> str:
    value = value_at(row, name)
    return "" if value is None else str(value)


def _field_of(name: str) -> str:
    path = _PATH.fullmatch(name)
    return path[1] if path else name


def _dim(field: Mapping[str, Any]) -> int:
    return int((field.get("params") or {}).get("dim", 0) or 0)


def _keys(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Keys of the rows, each once, in the order of their first appearance."""
    return iter(dict.fromkeys(str(key) for row in rows for key in row))


def _is_text(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    values = [value for row in rows if (value := value_at(row, name)) is not None]
    return bool(values) and all(isinstance(value, str) for value in values)


def _text_field(texts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The field of the passages' text: by its name where it holds any, else the one with the longest values."""
    lengths = {name: sum(len(_text(row, name)) for row in rows) for name in texts}
    holding = [name for name in texts if lengths[name] or not rows]
    named = _first(_TEXT_NAMES, holding)
    # A short value under a good name beside a long one is a label: the text of a passage is its longest part.
    longest = max(holding, key=lambda name: lengths[name], default="")
    if named and (not rows or lengths[named] * 2 >= lengths[longest]):
        return named
    return longest or next(iter(texts), "")


def _first(wanted: Sequence[str], present: Sequence[str]) -> str:
    """The first wanted name that is present, regardless of its case; a key of a JSON field goes by the key alone."""
    by_name = {(path[2] if (path := _PATH.fullmatch(name)) else name).lower(): name for name in reversed(present)}
    return next((by_name[name] for name in wanted if name in by_name), "")


def _sample(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """The beginning of the first value that there is, on one line."""
    value = next((found for row in rows if (found := value_at(row, name)) not in (None, "")), None)
    if value is None:
        return ""
    if isinstance(value, list | tuple) and value and all(isinstance(item, int | float) for item in value[:_NUMBERS]):
        more = ", …" if len(value) > _NUMBERS else ""
        return f"[{', '.join(f'{item:.3g}' for item in value[:_NUMBERS])}{more}]"
    text = f"{len(value)} bytes" if isinstance(value, bytes) else " ".join(str(value).split())
    return text if len(text) <= _SAMPLE else f"{text[: _SAMPLE - 1]}…"
