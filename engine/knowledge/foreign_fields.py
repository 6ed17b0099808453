"""The fields of a collection that another program made: what each may hold, and passages read from its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import StoreError
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_filter import quoted
from engine.knowledge.milvus_schema import DYNAMIC_FIELD, Layout, json_path, text_at, value_at
from engine.library.values import FieldMap, RemoteField

FLOATS = "FLOAT_VECTOR"
DYNAMIC = "dynamic"
JSON_KEY = "json"
"""Type of a text inside a JSON field, which is named as the store's filters name it: ``metadata["source"]``."""
METRICS = ("COSINE", "IP", "L2")

_TEXT_TYPES = ("VARCHAR", "STRING", "TEXT", DYNAMIC, JSON_KEY)
_TEXT_NAMES = (
    *("text", "content", "page_content", "chunk_text", "chunk", "document", "passage", "body", "paragraph"),
    *("chunk_content", "doc", "doc_text", "text_content", "answer", "abstract", "description"),
    *("正文", "内容", "文本", "原文", "段落", "文档内容", "內容", "文字", "段落內容"),
)
_SOURCE_NAMES = (
    *("source", "file", "filename", "file_name", "file_path", "path", "document_name", "doc_name", "url", "uri"),
    *("link", "doc_id", "document_id", "doc"),
    *("来源", "出处", "文件名", "文件", "文件路径", "文档名称", "文档", "链接", "网址", "來源", "出處", "檔名", "檔案"),
)
_TITLE_NAMES = ("title", "name", "headline", "subject", "标题", "题目", "名称", "標題", "題目")
_SECTION_NAMES = ("section", "heading", "header", "chapter", "章节", "小节", "章節")
_ORDINAL_NAMES = ("ordinal", "chunk_index", "chunk_no", "index", "position", "chunk_id", "page")
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_LONGEST_KEY = 200
_ROWS = 5
_SAMPLE = 160
_NUMBERS = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """Facts from a store about one collection."""

    name: str
    description: Mapping[str, Any]
    metrics: Mapping[str, str]
    """Of the fields that have an index."""
    rows: Sequence[Mapping[str, Any]]
    """A few of its rows, with every field and dynamic key."""
    needs_index: bool
    """Whether the store searches only what has an index, as servers do."""


def seen_in(db: Database, name: str, *, rows: bool = True) -> Seen:
    """Return a store's facts about a collection, with a few of its ``rows``; loads it and blocks."""
    found = db.rows(name, "", ["*"], limit=_ROWS) if rows else []
    return Seen(name, db.describe(name), db.metrics(name), found, needs_index=not db.embedded)


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
                dim=dim_of(item) if kind.endswith("_VECTOR") else 0,
                metric=seen.metrics.get(name, ""),
                sample=_sample(seen.rows, name),
            )
        )
    declared = {item.name: item.type for item in found}
    if seen.description.get("enable_dynamic_field"):
        for key in _keys(seen.rows):
            name = key if PLAIN_KEY.fullmatch(key) else _inside(DYNAMIC_FIELD, key)
            if key not in declared and _is_text(seen.rows, name):
                found.append(RemoteField(name, DYNAMIC, sample=_sample(seen.rows, name)))
    for name in [name for name, kind in declared.items() if kind == "JSON"]:
        for key in _keys([row[name] for row in seen.rows if isinstance(row.get(name), Mapping)]):
            path = _inside(name, key)
            if _is_text(seen.rows, path):
                found.append(RemoteField(path, JSON_KEY, sample=_sample(seen.rows, path)))
    return tuple(found)


def proposed_fields(fields: Sequence[RemoteField], rows: Sequence[Mapping[str, Any]]) -> FieldMap | None:
    """Guess the role of each field; None if there are no float vectors or no text."""
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


def layout_in(seen: Seen) -> Layout:
    """The layout of another program's collection in our own store, by the usual names of fields.

    Raises ``StoreError`` where there is no float vector field or no text at all.
    """
    fields = fields_of(seen)
    chosen = proposed_fields(fields, seen.rows)
    by_type = {item.type: item for item in reversed(fields)}
    if chosen is None and seen.description.get("enable_dynamic_field") and not seen.rows and FLOATS in by_type:
        # An empty collection with a dynamic schema shows its fields only later.
        chosen = FieldMap(next((item.name for item in fields if item.primary), ""), "", by_type[FLOATS].name)
    if chosen is None or not chosen.id:
        raise StoreError.without_text(name=seen.name)
    vector = next(item for item in fields if item.name == chosen.vector)
    layout = layout_by(seen.name, chosen, seen.description)
    return replace(layout, dim=vector.dim, metric=vector.metric or "COSINE")


def layout_by(collection: str, chosen: FieldMap, description: Mapping[str, Any]) -> Layout:
    """The layout of a collection by the fields that were chosen, but for its vectors' dimension and metric."""
    types = {str(item["name"]): type_name(item) for item in description.get("fields", ())}
    numbers = [name for name, kind in types.items() if kind.startswith("INT") and name != chosen.id]
    return Layout(
        name=collection,
        collection=collection,
        dim=0,
        metric="",
        key=chosen.id,
        key_is_text=types[chosen.id] == "VARCHAR",
        vector=chosen.vector,
        text=chosen.text,
        source=chosen.source,
        title=chosen.title,
        section=chosen.section,
        ordinal=_first(_ORDINAL_NAMES, numbers),
    )


def type_name(field: Mapping[str, Any]) -> str:
    """A field's type as Milvus calls it, e.g. ``VARCHAR``."""
    kind = field.get("type")
    return str(getattr(kind, "name", kind))


def dim_of(field: Mapping[str, Any]) -> int:
    return int((field.get("params") or {}).get("dim", 0) or 0)


def _inside(field: str, key: str) -> str:
    """A key of a JSON field, as the store's filters name it."""
    return f"{field}[{quoted(key)}]"


def _keys(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Keys of the rows that a filter can name, each once, in the order of their first appearance."""
    keys = dict.fromkeys(str(key) for row in rows for key in row)
    return (key for key in keys if key and key.isprintable() and len(key) <= _LONGEST_KEY)


def _is_text(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    values = [value for row in rows if (value := value_at(row, name)) is not None]
    return bool(values) and all(isinstance(value, str) for value in values)


def _text_field(texts: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The field of the passages' text: by its name where it holds any, else the one with the longest values."""
    lengths = {name: sum(len(text_at(row, name)) for row in rows) for name in texts}
    holding = [name for name in texts if lengths[name] or not rows]
    named = _first(_TEXT_NAMES, holding)
    # A short value under a good name next to a long one is a label: the text of a passage is its longest part.
    longest = max(holding, key=lambda name: lengths[name], default="")
    if named and (not rows or lengths[named] * 2 >= lengths[longest]):
        return named
    return longest or next(iter(texts), "")


def _first(wanted: Sequence[str], present: Sequence[str]) -> str:
    """The first wanted name that is present, regardless of its case; a key of a JSON field goes by the key alone."""
    by_name = {(path[1] if (path := json_path(name)) else name).lower(): name for name in reversed(present)}
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
