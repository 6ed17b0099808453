"""Names and filters: nothing that a name contains can change what is asked of the store."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.errors import StoreError
from engine.knowledge.foreign_fields import Seen, layout_in
from engine.knowledge.milvus_filter import one_of, quoted
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo
from tests.support.errors import raises


@given(value=st.text(max_size=60), other=st.text(max_size=60))
@example(value='\\"', other='"')
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_quoted_value_is_one_literal_that_means_itself(value: str, other: str) -> None:
    evaluate = importlib.import_module("milvus_lite.search.filter.tokens").tokenize
    tokens = evaluate(f"source == {quoted(value)} and title == {quoted(other)}")
    assert [token.value for token in tokens if token.kind.name == "STRING"] == [value, other]
    assert len(tokens) == 8


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "a" * 61, "workbench_x", "集合", "a;b", "Workbench_catalog"])
def test_names_that_a_server_or_a_reader_could_misread_are_refused(tmp_path: Path, name: str) -> None:
    async def create() -> None:
        store = MilvusStore(str(tmp_path / "knowledge.db"))
        try:
            await store.create(CollectionInfo(name, "m", 4, "", "", ""))
        finally:
            await store.close()

    with raises(StoreError.invalid_collection_name):
        asyncio.run(create())


def test_a_membership_filter_keeps_numbers_as_numbers() -> None:
    assert one_of("id", ['a"b', "c"]) == 'id in ["a\\"b", "c"]'
    assert one_of("id", [1, -2]) == "id in [1, -2]"


FIELDS: list[dict[str, Any]] = [
    {"name": "pk", "type": "INT64", "is_primary": True},
    {"name": "embedding", "type": "FLOAT_VECTOR", "params": {"dim": 3}},
    {"name": "Content", "type": "VARCHAR"},
    {"name": "url", "type": "VARCHAR"},
]


def theirs(fields: list[dict[str, Any]], metric: str = "", *rows: dict[str, Any]) -> Seen:
    return Seen("theirs", {"fields": fields}, {"embedding": metric}, rows, needs_index=False)


def test_fields_of_another_program_are_found_by_their_usual_names() -> None:
    layout = layout_in(theirs(FIELDS, "IP"))
    assert (layout.key, layout.key_is_text, layout.vector, layout.dim) == ("pk", False, "embedding", 3)
    assert (layout.text, layout.source, layout.metric, layout.own) == ("Content", "url", "IP", False)
    assert layout.keys([PassageId("7"), PassageId("-8"), PassageId("x"), PassageId("7 or 1 == 1")]) == [7, -8]
    row = {"pk": 7, "Content": "words", "url": None}
    passage = layout.passage(row)
    assert (passage.id, passage.text, passage.source) == ("7", "words", "theirs")


@pytest.mark.parametrize("left_out", ["pk", "embedding"])
def test_a_collection_without_key_or_vectors_cannot_be_read(left_out: str) -> None:
    fields = [field for field in FIELDS if field["name"] != left_out]
    with pytest.raises(StoreError, match="theirs"):
        layout_in(theirs(fields))


def test_a_collection_of_vectors_without_any_text_cannot_be_read() -> None:
    with pytest.raises(StoreError, match="no field of text"):
        layout_in(theirs(FIELDS[:2], "", {"pk": 1}))
