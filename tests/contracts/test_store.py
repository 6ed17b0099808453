"""The contract of ``PassageStore``, for the embedded Milvus Lite and, where one can be had, a Milvus server."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.errors import FieldTooLong, StoreError, UnknownCollection
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, Stretch, Summaries
from tests.contracts.stores import DIM, Case, axes, passage
from tests.support.errors import raises


def test_a_passage_comes_back_as_it_was_put_in(case: Case) -> None:
    case.create()
    stored = passage(
        "a.md", 1, "糖尿病 and 'quotes' \\ \n new line", section="One > Two", title="T", meta={"lang": "zh"}
    )
    case.insert(stored)
    assert case.run(case.store.get(case.name, [stored.id])) == [stored]
    (hit,) = case.run(case.store.search(case.name, axes(1)[0], 5))
    assert hit.passage == stored
    assert hit.cosine == pytest.approx(1.0, abs=1e-3)


def test_search_is_best_first_and_reports_the_cosine_whatever_the_length_of_the_vectors(case: Case) -> None:
    """SC-09: the raw score is the cosine in [-1, 1], also for vectors that are not of unit length."""
    case.create()
    random = np.random.default_rng(5)
    vectors = random.normal(size=(40, DIM)).astype(np.float32) * random.uniform(0.5, 3, size=(40, 1)).astype(np.float32)
    case.insert(*(passage("a.md", n + 1) for n in range(40)), vectors=vectors)
    query = random.normal(size=DIM).astype(np.float32)
    expected = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    hits = case.run(case.store.search(case.name, query, 40))
    assert [hit.cosine for hit in hits] == pytest.approx(sorted(expected.tolist(), reverse=True), abs=2e-3)
    assert [hit.passage.ordinal - 1 for hit in hits] == list(np.argsort(-expected))
    assert len(case.run(case.store.search(case.name, query, 7))) == 7
    assert case.run(case.store.search(case.name, query, 0)) == []


def test_inserting_an_id_again_replaces_it(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1, "old"), passage("a.md", 2, "kept"))
    before = case.run(case.store.describe(case.name))
    case.insert(passage("a.md", 1, "new"), vectors=axes(3)[2:])
    hits = case.run(case.store.search(case.name, axes(3)[2], 10))
    assert sorted(hit.passage.text for hit in hits) == ["kept", "new"]
    assert hits[0].passage.text == "new"
    after = case.run(case.store.describe(case.name))
    assert (before.passages, after.passages) == (2, 2)
    assert before.fingerprint != after.fingerprint


def test_an_id_given_twice_in_one_call_keeps_the_last(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1, "first"), passage("a.md", 1, "last"))
    assert [hit.passage.text for hit in case.run(case.store.search(case.name, axes(1)[0], 10))] == ["last"]
    assert case.run(case.store.describe(case.name)).passages == 1


def test_a_deleted_source_is_gone_from_the_next_search(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1), passage("b.md", 1), passage("b.md", 2))
    assert case.run(case.store.delete_source(case.name, "b.md")) == 2
    assert [hit.passage.source for hit in case.run(case.store.search(case.name, axes(2)[1], 10))] == ["a.md"]
    assert [item.source for item in case.run(case.store.sources(case.name))] == ["a.md"]
    assert case.run(case.store.passages(case.name, "b.md")) == []
    assert case.run(case.store.delete_source(case.name, "b.md")) == 0


def test_passages_of_a_source_come_in_their_order(case: Case) -> None:
    case.create()
    case.insert(*(passage("a.md", n) for n in (3, 10, 1, 2)), passage("b.md", 1))
    assert [item.ordinal for item in case.run(case.store.passages(case.name, "a.md"))] == [1, 2, 3, 10]


def test_places_of_sources_are_read_in_one_go_and_names_cannot_reach_further(case: Case) -> None:
    """BE-04"""
    odd = 'a" or source != "'
    case.create()
    case.insert(*(passage(name, place) for name in ("a.md", "b.md", odd) for place in range(1, 8)))
    wanted = [Stretch("a.md", 2, 3), Stretch(odd, 6, 9), Stretch("a.md", 3, 4), Stretch("none.md", 1, 9)]
    found = case.run(case.store.stretches(case.name, wanted))
    assert sorted((item.source, item.ordinal) for item in found) == [
        *((odd, place) for place in (6, 7)),
        *(("a.md", place) for place in (2, 3, 4)),
    ]
    many = [Stretch("b.md", place, place) for place in range(200)]
    assert len(case.run(case.store.stretches(case.name, many))) == 7
    assert case.run(case.store.stretches(case.name, [])) == []


def test_get_and_vectors_keep_to_what_is_there(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1), passage("a.md", 2))
    wanted = [PassageId("a.md#2"), PassageId("nowhere#1"), PassageId("a.md#1")]
    assert [item.id for item in case.run(case.store.get(case.name, wanted))] == ["a.md#2", "a.md#1"]
    vectors = case.run(case.store.vectors(case.name, wanted))
    assert set(vectors) == {"a.md#1", "a.md#2"}
    assert vectors[PassageId("a.md#2")] == pytest.approx(axes(2)[1])
    assert vectors[PassageId("a.md#2")].dtype == np.float32


def test_what_a_collection_was_built_with_is_remembered_with_counts(case: Case) -> None:
    """SC-02: model, dimension and prefixes are recorded with the collection."""
    case.create()
    empty = case.run(case.store.describe(case.name))
    case.insert(passage("a.md", 1), passage("a.md", 2), passage("b.md", 1))
    info = case.run(case.store.describe(case.name))
    assert replace(info, fingerprint="", full_text=False, segmenting="") == CollectionInfo(
        case.name,
        "model:a",
        DIM,
        "query: ",
        "passage: ",
        "2026-01-02T03:04:05+00:00",
        passages=3,
        sources=2,
        kinds=("vector",),
        unaccounted=2,
    )
    assert info in case.run(case.store.collections())
    assert info.fingerprint != empty.fingerprint
    assert (empty.passages, empty.sources) == (0, 0)


def test_everything_survives_closing_and_opening_again(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1, meta={"content_hash": "h1", "added_at": "2026-02-03"}, title="Title"))
    described = case.run(case.store.describe(case.name))
    case.run(case.store.close())

    async def reopened() -> tuple[Any, ...]:
        store = MilvusStore(case.store.uri, timeout_s=30)
        try:
            hits = await store.search(case.name, axes(1)[0], 5)
            return await store.describe(case.name), hits, await store.sources(case.name)
        finally:
            await store.close()

    again, hits, sources = case.run(reopened())
    assert again == described
    assert [hit.passage.id for hit in hits] == ["a.md#1"]
    assert [(item.source, item.title, item.passages, item.content_hash, item.added_at) for item in sources] == [
        ("a.md", "Title", 1, "h1", "2026-02-03")
    ]


def test_the_prefix_of_queries_can_be_changed_and_nothing_else_is(case: Case) -> None:
    """SC-02: shown and editable; stored vectors do not depend on it."""
    case.create()
    case.insert(passage("a.md", 1))
    before = case.run(case.store.describe(case.name))
    for prefix in ('Instruct: 查找 "x"\nQuery: ', ""):
        changed = case.run(case.store.set_query_prefix(case.name, prefix))
        assert changed == case.run(case.store.describe(case.name)) == replace(before, query_prefix=prefix)
    assert [hit.passage.id for hit in case.run(case.store.search(case.name, axes(1)[0], 5))] == ["a.md#1"]
    assert [item.passages for item in case.run(case.store.sources(case.name))] == [1]


def test_the_fingerprint_does_not_depend_on_the_order_of_ingestion(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1), passage("b.md", 1))
    first = case.run(case.store.describe(case.name)).fingerprint
    case.run(case.store.delete_source(case.name, "a.md"))
    between = case.run(case.store.describe(case.name)).fingerprint
    case.insert(passage("a.md", 1), vectors=axes(4)[3:])
    assert case.run(case.store.describe(case.name)).fingerprint == first != between


def test_parallel_writes_leave_passages_and_counts_in_agreement(case: Case) -> None:
    case.create()

    async def write() -> None:
        await asyncio.gather(
            *(
                case.store.insert(case.name, [passage(f"s{n}.md", 1), passage("shared.md", n)], axes(2))
                for n in range(6)
            )
        )

    case.run(write())
    info = case.run(case.store.describe(case.name))
    assert (info.passages, info.sources) == (12, 7)
    assert [item.ordinal for item in case.run(case.store.passages(case.name, "shared.md"))] == list(range(6))


def test_an_unknown_collection_is_our_error_for_every_call(case: Case) -> None:
    store = case.store
    calls: list[Callable[[str], Coroutine[Any, Any, Any]]] = [
        store.describe,
        store.sources,
        store.drop,
        lambda name: store.search(name, axes(1)[0], 3),
        lambda name: store.search_text(name, "text", axes(1)[0], 3),
        lambda name: store.search_summaries(name, axes(1)[0], 3),
        store.add_full_text,
        lambda name: store.summarise(name, Summaries()),
        lambda name: store.get(name, [PassageId("a#1")]),
        lambda name: store.vectors(name, [PassageId("a#1")]),
        lambda name: store.passages(name, "a"),
        lambda name: store.delete_source(name, "a"),
        lambda name: store.set_query_prefix(name, "q: "),
        lambda name: store.insert(name, [passage("a", 1)], axes(1)),
    ]
    for call in calls:
        for name in (case.name, "workbench_catalog", "no such name", "", '"; drop'):
            with pytest.raises(UnknownCollection):
                case.run(call(name))


def test_a_vector_of_another_width_is_a_mismatch_that_names_both_even_in_an_empty_collection(case: Case) -> None:
    """SC-02: an embedded store would answer with no hits."""
    case.create()
    for call in (
        lambda: case.store.search(case.name, axes(1, 5)[0], 3),
        lambda: case.store.insert(case.name, [passage("a", 1)], axes(1, 5)),
    ):
        with raises(StoreError.embedding_mismatch, match=r"model:a \(8 dimensions\).*5 dimensions"):
            case.run(call())


def test_vectors_that_are_not_numbers_or_not_one_a_passage_are_refused(case: Case) -> None:
    case.create()
    with pytest.raises(StoreError, match="finite"):
        case.run(case.store.insert(case.name, [passage("a", 1)], np.full((1, DIM), np.nan, dtype=np.float32)))
    with pytest.raises(StoreError, match="one finite vector a passage"):
        case.run(case.store.insert(case.name, [passage("a", 1)], axes(2)))
    assert case.run(case.store.describe(case.name)).passages == 0


def test_a_text_that_the_store_cannot_hold_is_refused_before_anything_is_written(case: Case) -> None:
    case.create()
    with pytest.raises(FieldTooLong, match="text of a passage"):
        case.insert(passage("a", 1), passage("a", 2, "字" * 30_000))
    assert case.run(case.store.search(case.name, axes(1)[0], 5)) == []


def test_a_collection_cannot_be_made_twice_and_can_be_made_again_after_a_drop(case: Case) -> None:
    case.create()
    case.insert(passage("a.md", 1))
    with raises(StoreError.collection_exists):
        case.create()
    case.run(case.store.drop(case.name))
    with pytest.raises(UnknownCollection):
        case.run(case.store.search(case.name, axes(1)[0], 3))
    case.create(dim=4)
    assert case.run(case.store.describe(case.name)).passages == 0
    assert case.run(case.store.search(case.name, axes(1, 4)[0], 3)) == []


HOSTILE = [
    "a'b",
    'a"b',
    "a\\",
    '\\"',
    "a\nb",
    "a\r\tb",
    "中文😀",
    '" or source != "',
    "%",
    "x\x01y",
    "\u2028",
    " ",
    "a#1",
]


def test_names_with_quotes_backslashes_and_line_breaks_find_and_delete_only_themselves(case: Case) -> None:
    case.create()
    case.insert(*(passage(name, 1) for name in HOSTILE[:DIM]))
    case.insert(*(passage(name, 1) for name in HOSTILE[DIM:]))
    for name in HOSTILE:
        assert [item.source for item in case.run(case.store.passages(case.name, name))] == [name]
    for name in HOSTILE[::2]:
        assert case.run(case.store.delete_source(case.name, name)) == 1
    left = sorted(HOSTILE[1::2])
    assert [item.source for item in case.run(case.store.sources(case.name))] == left
    assert sorted(hit.passage.source for hit in case.run(case.store.search(case.name, axes(1)[0], 50))) == left


def test_a_collection_of_another_program_can_be_read_but_not_changed(case: Case) -> None:
    case.create()
    client = case.client()
    name = f"{case.name}_theirs"
    client.create_collection(name, dimension=4)
    rows = [{"id": n, "vector": [1.0, 0.1 * n, 0, 0], "content": f"words {n}", "file": f"f{n}.txt"} for n in (1, 2)]
    client.insert(name, rows)
    info = case.run(case.store.describe(name))
    assert (info.embedding_model, info.dim, info.metric, info.passages) == ("unknown", 4, "COSINE", 2)
    assert info in case.run(case.store.collections())
    hits = case.run(case.store.search(name, axes(1, 4)[0], 5))
    assert [(hit.passage.id, hit.passage.text, hit.passage.source) for hit in hits] == [
        ("1", "words 1", "f1.txt"),
        ("2", "words 2", "f2.txt"),
    ]
    assert [item.text for item in case.run(case.store.get(name, [PassageId("2"), PassageId("x")]))] == ["words 2"]
    assert set(case.run(case.store.vectors(name, [PassageId("1")]))) == {"1"}
    assert [item.source for item in case.run(case.store.sources(name))] == ["f1.txt", "f2.txt"]
    assert [item.id for item in case.run(case.store.passages(name, "f2.txt"))] == ["2"]
    for call in (
        lambda: case.store.insert(name, [passage("a", 1)], axes(1, 4)),
        lambda: case.store.delete_source(name, "f1.txt"),
        lambda: case.store.set_query_prefix(name, "q: "),
        lambda: case.store.add_full_text(name),
        lambda: case.store.drop(name),
    ):
        with raises(StoreError.foreign_collection):
            case.run(call())
    assert case.run(case.store.describe(name)).passages == 2


@pytest.mark.parametrize("metric", ["L2", "IP"])
def test_hits_of_another_metric_are_reported_as_cosines(case: Case, metric: str) -> None:
    """SC-09: one meaning for every metric and sign."""
    client = case.client()
    name = f"{case.name}_metric"
    types = importlib.import_module("pymilvus").DataType
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("pk", types.VARCHAR, max_length=20, is_primary=True)
    schema.add_field("document", types.VARCHAR, max_length=200)
    schema.add_field("emb", types.FLOAT_VECTOR, dim=2)
    index = client.prepare_index_params()
    index.add_index("emb", index_type="FLAT", metric_type=metric)
    client.create_collection(name, schema=schema, index_params=index)
    vectors = {"near": [0.6, 0.8], "same": [2.0, 0.0], "against": [-1.0, 0.0]}
    client.insert(name, [{"pk": key, "document": key, "emb": value} for key, value in vectors.items()])
    hits = case.run(case.store.search(name, axes(1, 2)[0], 3))
    assert [(hit.passage.text, round(hit.cosine, 4)) for hit in hits] == [
        ("same", 1.0),
        ("near", 0.6),
        ("against", -1.0),
    ]


def test_a_source_whose_writing_was_cut_off_is_not_taken_for_complete(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.create()
    case.insert(passage("a.md", 1, meta={"content_hash": "whole"}))
    client = case.client()
    honest = client.upsert

    def dies(collection_name: str, *args: Any, **kwargs: Any) -> Any:
        if collection_name == case.name:
            raise OSError(28, "No space left on device")
        return honest(collection_name, *args, **kwargs)

    monkeypatch.setattr(client, "upsert", dies)
    with pytest.raises(StoreError):
        case.insert(passage("a.md", 1, "other", meta={"content_hash": "newer"}))
    monkeypatch.undo()
    assert [item.content_hash for item in case.run(case.store.sources(case.name))] == [""]
