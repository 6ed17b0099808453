"""Collections as another program makes them with plain pymilvus, and all that such a place holds, for comparing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.builtin.embedder import HashingEmbedder
from engine.knowledge.milvus_connection import connect, disconnect
from engine.knowledge.milvus_database import data_types
from engine.roles import Vector

SENTENCES = (
    "Green tea is brewed at eighty degrees for two minutes.",
    "Honey bees store honey in wax combs for the winter.",
    "A truth table with five variables has thirty two rows.",
    "The barn swallow spends the northern winter in Africa.",
    "Sourdough bread is raised by wild yeast in a starter.",
    "胰岛素由胰腺的β细胞分泌，能降低血糖。",
    "Glass is blown from a gob that is gathered on an iron pipe.",
    "A suspension bridge hangs from steel cables over towers.",
)
QUESTION = "At how many degrees is green tea brewed?"
MODEL = HashingEmbedder()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A place with collections of other programs; their names begin with ``prefix``."""

    uri: str
    prefix: str
    database: str = ""

    def named(self, name: str) -> str:
        return f"{self.prefix}{name}"


def vectors(texts: Sequence[str] = SENTENCES) -> Vector:
    return asyncio.run(MODEL.embed_passages(texts))


def make_wiki(client: Any, name: str) -> None:
    """Automatic whole-number keys, another name for everything, sources in a JSON field, compared by L2."""
    types = data_types()
    schema = client.create_schema(auto_id=True, enable_dynamic_field=False)
    schema.add_field("pk", types.INT64, is_primary=True)
    schema.add_field("chunk_text", types.VARCHAR, max_length=2000)
    schema.add_field("embedding", types.FLOAT_VECTOR, dim=MODEL.dim)
    schema.add_field("metadata", types.JSON)
    create(client, name, schema, "embedding", "L2")
    rows = zip(SENTENCES, vectors(), strict=True)
    client.insert(
        name,
        [
            {"chunk_text": text, "embedding": vector.tolist(), "metadata": {"source": f"page{n % 3}.md", "n": n}}
            for n, (text, vector) in enumerate(rows)
        ],
    )


def make_notes(client: Any, name: str) -> None:
    """Text keys, vectors of very different lengths compared by the inner product: long ones come first."""
    types = data_types()
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("note_id", types.VARCHAR, max_length=60, is_primary=True)
    schema.add_field("title", types.VARCHAR, max_length=200)
    schema.add_field("content", types.VARCHAR, max_length=2000)
    schema.add_field("file_name", types.VARCHAR, max_length=200)
    schema.add_field("chunk_index", types.INT64)
    schema.add_field("vec", types.FLOAT_VECTOR, dim=MODEL.dim)
    create(client, name, schema, "vec", "IP")
    rows = zip(SENTENCES, vectors(), strict=True)
    client.insert(
        name,
        [
            {
                "note_id": f"n'\"{n}",
                "title": f"Note {n}",
                "content": text,
                "file_name": "all.txt",
                "chunk_index": len(SENTENCES) - n,
                "vec": (vector * 4.0 ** (n - 2)).tolist(),
            }
            for n, (text, vector) in enumerate(rows)
        ],
    )


def make_loose(client: Any, name: str) -> None:
    """A key and a vector; text and file are keys of the dynamic field."""
    client.create_collection(name, dimension=MODEL.dim, metric_type="COSINE")
    rows = zip(SENTENCES, vectors(), strict=True)
    client.insert(
        name,
        [
            {"id": n, "vector": vector.tolist(), "doc": text, "file": f"f{n % 2}"}
            for n, (text, vector) in enumerate(rows)
        ],
    )


def create(client: Any, name: str, schema: Any, vector: str, metric: str) -> None:
    index = client.prepare_index_params()
    index.add_index(vector, index_type="FLAT", metric_type=metric)
    client.create_collection(name, schema=schema, index_params=index, timeout=60)


def fill(place: Elsewhere) -> None:
    """Make all three in a place, and close it again."""
    client = connect(place.uri, "", 30, place.database)
    try:
        make_wiki(client, place.named("wiki"))
        make_notes(client, place.named("notes"))
        make_loose(client, place.named("loose"))
    finally:
        disconnect(client, place.uri)


def everything(place: Elsewhere) -> Mapping[str, Any]:
    """Databases, collections, schemas with aliases, indexes and every row of a place, no matter what is loaded."""
    client = connect(place.uri, "", 30, place.database)
    try:
        names = sorted(item for item in client.list_collections() if item.startswith(place.prefix))
        return {
            "databases": sorted(client.list_databases()),
            "every name": sorted(client.list_collections()),
            "collections": {name: _whole(client, name) for name in names},
        }
    finally:
        disconnect(client, place.uri)


def _whole(client: Any, name: str) -> Mapping[str, Any]:
    description = client.describe_collection(name)
    client.load_collection(name)
    rows = client.query(name, filter="", output_fields=["*"], limit=1000, consistency_level="Strong")
    indexes = [client.describe_index(name, index) for index in client.list_indexes(name)]
    schema = {key: str(value) for key, value in description.items() if key != "update_timestamp"}
    return {
        "schema": schema,
        "indexes": [{key: item[key] for key in ("index_type", "metric_type", "field_name")} for item in indexes],
        "rows": sorted(json.dumps(dict(row), default=float, sort_keys=True) for row in rows),
    }


def empty(place: Elsewhere) -> None:
    """Drop what :func:`fill` made."""
    client = connect(place.uri, "", 30, place.database)
    try:
        for name in client.list_collections():
            if name.startswith(place.prefix):
                client.drop_collection(name)
    finally:
        disconnect(client, place.uri)
