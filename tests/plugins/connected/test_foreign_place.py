"""Another program's collection in an embedded store: names in Chinese, aliases, rows without a vector."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.knowledge.milvus_connection import connect, disconnect
from engine.knowledge.milvus_database import data_types
from engine.library.values import FieldMap
from engine.roles import Within
from plugins.connected.check import self_search
from plugins.connected.client import close_place, open_place
from plugins.connected.look import inspect, look
from plugins.connected.store import ForeignStore
from plugins.connected.values import Connection, Place

MODEL = HashingEmbedder()
TEXTS = ("胰岛素由胰腺分泌。", "绿茶用八十度的水冲泡。", "吊桥挂在钢缆上。")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Three texts with vectors, and forty without: zeros, as Milvus Lite stores what is left out."""
    uri = str(tmp_path_factory.mktemp("theirs") / "theirs.db")
    client: Any = connect(uri, "", 30)
    types = data_types()
    schema = client.create_schema(enable_dynamic_field=True)
    schema.add_field("pk", types.INT64, is_primary=True)
    schema.add_field("vector", types.FLOAT_VECTOR, dim=MODEL.dim, nullable=True)
    index = client.prepare_index_params()
    index.add_index("vector", index_type="FLAT", metric_type="IP")
    client.create_collection("docs_v2", schema=schema, index_params=index)
    made = asyncio.run(MODEL.embed_passages(TEXTS))
    rows = [
        {"pk": n, "正文": text, "来源": f"{n % 2}.md", "vector": vector.tolist()}
        for n, (text, vector) in enumerate(zip(TEXTS, made, strict=True))
    ]
    empty = [
        {"pk": 10 + n, "正文": f"没有向量 {n}", "来源": "2.md", "vector": [0.0] * MODEL.dim if n % 2 else None}
        for n in range(400)
    ]
    client.insert("docs_v2", rows + empty)
    client.create_alias("docs_v2", "docs")
    disconnect(client, uri)
    return Place(uri)


def test_aliases_are_offered_like_collections(place: Place) -> None:
    db = open_place(place, 5)
    try:
        assert [(item.name, item.alias_of) for item in look(db, place)] == [("docs", "docs_v2"), ("docs_v2", "")]
        found = inspect(db, place, "docs")
        assert (found.alias_of, found.passages, found.fault) == ("docs_v2", 403, None)
        assert found.proposed == FieldMap("pk", '$meta["正文"]', "vector", '$meta["来源"]')
    finally:
        close_place(db)


def test_rows_are_read_by_keys_in_chinese_and_those_without_a_vector_are_left_out_and_counted(place: Place) -> None:
    fields = FieldMap("pk", '$meta["正文"]', "vector", '$meta["来源"]')
    connection = Connection("here", place, "docs", fields, MODEL.dim, "IP", "hashing")

    async def read() -> None:
        store = ForeignStore(connection, place)
        try:
            # Its cosine with all three is below 0, where rows without a vector would come before them.
            vector = -np.sum(await MODEL.embed_passages(TEXTS), axis=0)
            hits = await store.search("here", vector / np.linalg.norm(vector), 3)
            assert {hit.passage.text for hit in hits} == set(TEXTS)
            assert all(hit.cosine < 0 for hit in hits)
            within = Within(sections=(("1.md", ""),))
            assert [hit.passage.text for hit in await store.search("here", vector, 3, within)] == [TEXTS[1]]
            assert [item.text for item in await store.passages("here", "0.md")] == [TEXTS[0], TEXTS[2]]
            checked = await self_search(store, MODEL, None)
            assert (checked.asked, checked.first, checked.without_vector) == (3, 3, 197)
        finally:
            await store.close()

    asyncio.run(read())
