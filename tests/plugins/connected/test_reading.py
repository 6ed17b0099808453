"""Which collections can be asked, how their rows are read, and what an address and a model may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from engine.knowledge.foreign_fields import Seen, fields_of
from engine.library.values import FieldMap
from engine.model.values import PassageId
from engine.roles import Within
from plugins.connected.client import checked_place, translated_errors
from plugins.connected.errors import NO_ADDRESS, OTHER_VECTORS, UNKNOWN_DATABASE
from plugins.connected.look import why_unusable
from plugins.connected.models import proposed_models
from plugins.connected.session import layout_of
from plugins.connected.values import Connection, Place
from tests.knowledge.test_foreign_fields import KEY, VECTOR, field, proposal, seen
from tests.support.errors import raises


def test_a_name_that_a_filter_could_be_made_from_is_no_field() -> None:
    found = seen([KEY, field("meta", "JSON"), VECTOR], dynamic=True)
    for name in ('x" or 1==1', '$meta["x" or 1==1]', '$meta["x"] or pk == 1 or $meta["y"]'):
        connection = Connection("here", Place(""), "theirs", FieldMap("pk", name, "embedding"), 4, "COSINE", "hashing")
        with raises(OTHER_VECTORS):
            layout_of(connection, found.description, own=False)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (seen([KEY, field("text", "VARCHAR")]), "holds no vectors"),
        (seen([KEY, VECTOR]), "no field with text"),
        (seen([KEY, field("text", "VARCHAR"), field("v", "FLOAT16_VECTOR", dim=4)], v="COSINE"), "its vectors are"),
        (seen([KEY, field("text", "VARCHAR"), field("v", "BFLOAT16_VECTOR", dim=4)], v="COSINE"), "its vectors are"),
        (seen([KEY, field("text", "VARCHAR"), field("v", "BINARY_VECTOR", dim=16)], v="HAMMING"), "its vectors are"),
        (seen([KEY, field("text", "VARCHAR"), field("v", "SPARSE_FLOAT_VECTOR")], v="BM25"), "its vectors are"),
        (seen([KEY, field("text", "VARCHAR"), VECTOR], needs_index=True), "have no index"),
        (seen([KEY, field("text", "VARCHAR"), VECTOR], embedding="MHJACCARD"), "by MHJACCARD"),
    ],
    ids=["no vectors", "no text", "half", "bfloat", "binary", "sparse", "no index", "metric"],
)
def test_a_collection_that_cannot_be_asked_is_refused_with_the_reason(found: Seen, reason: str) -> None:
    error = why_unusable(found, fields_of(found))
    assert error is not None and error.code == OTHER_VECTORS.code
    assert reason in error.fact
    assert error.remedy


def test_an_embedded_store_searches_without_an_index() -> None:
    found = seen([KEY, field("text", "VARCHAR"), VECTOR])
    assert why_unusable(found, fields_of(found)) is None


CONNECTION = Connection(
    "wiki", Place("x.db"), "theirs", FieldMap("pk", "text", "embedding", "file"), 4, "L2", "builtin"
)


def described(*fields: Mapping[str, Any], dynamic: bool = False) -> dict[str, Any]:
    return {"fields": list(fields), "enable_dynamic_field": dynamic}


def test_rows_become_passages_whatever_the_types_of_their_values() -> None:
    schema = described(KEY, VECTOR, field("chunk_index", "INT64"), dynamic=True)
    layout = layout_of(CONNECTION, schema, own=False)
    passage = layout.passage({"pk": 7, "text": 12, "file": None, "chunk_index": 3})
    assert (passage.id, passage.text, passage.source, passage.ordinal) == ("7", "12", "wiki", 3)
    assert layout.output == ["pk", "text", "file", "chunk_index"]
    assert layout.keys([passage.id, PassageId("nonsense"), PassageId("1; drop")]) == [7]


@pytest.mark.parametrize(
    "schema",
    [
        described(KEY, field("text", "VARCHAR"), field("file", "VARCHAR")),
        described(KEY, field("text", "VARCHAR"), field("file", "VARCHAR"), field("embedding", "FLOAT_VECTOR", dim=8)),
        described(KEY, field("text", "VARCHAR"), field("file", "VARCHAR"), field("embedding", "BINARY_VECTOR", dim=8)),
        described(KEY, VECTOR, field("file", "VARCHAR")),
        described(field("id", "VARCHAR", primary=True), VECTOR, field("text", "VARCHAR"), field("file", "VARCHAR")),
    ],
    ids=["vector gone", "other width", "other type", "text gone", "other key"],
)
def test_a_collection_that_changed_since_it_was_connected_says_which_field(schema: Mapping[str, Any]) -> None:
    with raises(OTHER_VECTORS, match="no longer has the field"):
        layout_of(CONNECTION, schema, own=False)


def test_only_knowledge_can_be_found_where_no_kinds_are_recorded() -> None:
    layout = layout_of(CONNECTION, described(KEY, VECTOR, dynamic=True), own=False)
    assert layout.filter(Within(kinds=("vector",))) == ""
    assert layout.filter(Within(kinds=("graph",))) is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("127.0.0.1:19530", "http://127.0.0.1:19530"),
        ("http://milvus:19530/", "http://milvus:19530"),
        ("HTTPS://abc.zilliz.com", "https://abc.zilliz.com"),
        ("[::1]:19530", "http://[::1]:19530"),
        ("", ""),
    ],
)
def test_an_address_is_kept_in_one_form(given: str, kept: str) -> None:
    assert checked_place(Place(f" {given} ")).address == kept


@pytest.mark.parametrize(
    "given",
    [
        "nonsense",
        "ftp://x:1",
        "http://",
        "http://a b:1",
        "x:notaport",
        "http://h:1?x=y",
        "a\nb.db",
        "h:99999",
        "x" * 600,
        "~nobody-of-this-name/x.db",
    ],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with raises(NO_ADDRESS):
        checked_place(Place(given))


def test_a_login_in_an_address_becomes_the_token_and_is_in_no_message() -> None:
    place = checked_place(Place("http://root:Secret%21@milvus:19530"))
    assert (place.address, place.token) == ("http://milvus:19530", "root:Secret!")
    assert "Secret" not in repr(place)


@pytest.mark.parametrize(
    "given",
    [
        "ftp://root:Secret@milvus:19530",
        "http://root:Secret@milvus:19530\u200b",
        "http://milvus:19530?token=Secret",
        "http://milvus:19530/#Secret",
        "http://milvus:19530/root:Secret@x",
        "http://" + "x" * 600 + ":Secret@milvus",
    ],
)
def test_no_message_repeats_a_login_or_a_token_of_an_address(given: str) -> None:
    with raises(NO_ADDRESS) as caught:
        checked_place(Place(given))
    assert "Secret" not in f"{caught.value}{caught.value.params}"


@pytest.mark.parametrize("said", ["root:Secret7", "password Secret7", "header cm9vdDpTZWNyZXQ3"])
def test_a_store_that_repeats_the_token_is_quoted_without_it(said: str) -> None:
    with (
        raises(OTHER_VECTORS) as caught,
        translated_errors(Place("http://milvus:19530", "root:Secret7"), "wiki"),
    ):
        raise RuntimeError(f"it failed: {said}")
    text = f"{caught.value}{caught.value.params}"
    assert "it failed" in text
    assert "Secret7" not in text and "cm9vdDpTZWNyZXQ3" not in text
    assert caught.value.__suppress_context__


def test_a_folder_has_no_databases() -> None:
    assert checked_place(Place("some/store.db", database="default")).address.endswith("/some/store.db")
    with raises(UNKNOWN_DATABASE):
        checked_place(Place("some/store.db", database="other"))


def test_models_are_proposed_by_the_width_of_their_vectors_and_those_at_hand_come_first() -> None:
    """SC-02: the model is chosen from the dimension."""
    found = proposed_models(384, 384, {"all-minilm:latest": 384, "nomic-embed-text:latest": 768})
    assert [(item.model, item.available, item.why) for item in found] == [
        ("builtin", True, "dimension"),
        ("ollama:all-minilm:latest", True, "installed"),
        ("ollama:granite-embedding", False, "not_pulled"),
        ("hashing", True, "dimension"),
    ]
    assert proposed_models(768, 384, {})[0].model == "ollama:nomic-embed-text"
    # A model that Ollama does not describe goes by its name.
    assert proposed_models(1024, 384, {"bge-m3:latest": 0})[0].model == "ollama:bge-m3:latest"
    assert proposed_models(1536, 384, {}) == ()


def test_keys_of_any_script_and_form_are_fields() -> None:
    """Of rows that hold what the schema does not name, and of JSON fields."""
    rows = [
        {
            "pk": 1,
            "正文": "胰岛素由胰腺的β细胞分泌，能降低血糖。",
            "来源 文件": "a.md",
            'say "x"\\': "odd",
            "no\nname": "gone",
            "meta": {"标题": "激素", "page-no": "iv"},
        }
    ]
    found = seen([KEY, VECTOR, field("meta", "JSON")], rows, dynamic=True)
    names = [item.name for item in fields_of(found)]
    assert names[3:] == [
        '$meta["正文"]',
        '$meta["来源 文件"]',
        '$meta["say \\"x\\"\\\\"]',
        'meta["标题"]',
        'meta["page-no"]',
    ]
    chosen = proposal(found)
    assert chosen == FieldMap("pk", '$meta["正文"]', "embedding", "", 'meta["标题"]')
    fields = replace(chosen, source='$meta["来源 文件"]', section='$meta["say \\"x\\"\\\\"]')
    connection = Connection("here", Place(""), "theirs", fields, 4, "COSINE", "hashing")
    layout = layout_of(connection, found.description, own=False)
    passage = layout.passage(rows[0])
    assert (passage.text[:3], passage.source, passage.title, passage.section) == ("胰岛素", "a.md", "激素", "odd")
    assert layout.output == ["pk", "$meta", "meta"]
