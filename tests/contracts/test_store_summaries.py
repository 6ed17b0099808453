"""The contract of ``PassageStore`` for summaries of a collection, for Milvus Lite and a Milvus server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import StoredPassage, Summaries, Within
from tests.contracts.stores import DIM, Case, axes, passage
from tests.support.errors import raises


def summaries(*sources: str, text: str = "summary", kind: str = "", section: str = "") -> Summaries:
    meta = {"kind": kind} if kind else {}
    rows = [
        StoredPassage(PassageId(f"{name}#summary"), name, f"{text} of {name}", section=section, meta=meta)
        for name in sources
    ]
    return Summaries(tuple(rows), axes(len(rows)))


def insert(case: Case, found: Summaries, *passages: StoredPassage) -> None:
    case.run(case.store.insert(case.name, list(passages), axes(len(passages)), found))


def found(case: Case, within: Within | None = None, name: str = "") -> list[str]:
    hits = case.run(case.store.search_summaries(name or case.name, axes(1)[0], 20, *([within] if within else [])))
    return sorted(hit.passage.text for hit in hits)


def kept(case: Case) -> dict[str, int]:
    return {item.source: item.summaries for item in case.run(case.store.sources(case.name))}


def test_summaries_are_searched_best_first_and_no_search_list_count_or_fingerprint_knows_them(case: Case) -> None:
    """DL-03"""
    case.create()
    insert(case, Summaries(), passage("a", 1), passage("b", 1))
    before = case.run(case.store.describe(case.name))
    insert(case, summaries("a", "b"), passage("a", 1), passage("b", 1))
    hits = case.run(case.store.search_summaries(case.name, axes(2)[1], 5))
    assert [(hit.passage.source, hit.passage.text) for hit in hits] == [("b", "summary of b"), ("a", "summary of a")]
    assert [hit.cosine for hit in hits] == pytest.approx([1.0, 0.0], abs=1e-3)
    assert len(case.run(case.store.search_summaries(case.name, axes(2)[1], 1))) == 1
    assert case.run(case.store.search_summaries(case.name, axes(2)[1], 0)) == []
    assert {hit.passage.text for hit in case.run(case.store.search(case.name, axes(1)[0], 20))} == {"text 1"}
    after = case.run(case.store.describe(case.name))
    assert after == replace(before, summaries=2)
    assert kept(case) == {"a": 1, "b": 1}
    names = [item.name for item in case.run(case.store.collections()) if case.name in item.name]
    assert names == [case.name]


def test_summaries_are_searched_within_kinds_and_sources(case: Case) -> None:
    case.create()
    insert(case, summaries("a", kind="graph"), passage("a", 1))
    insert(case, summaries("b"), passage("b", 1))
    assert found(case, Within(kinds=("graph",))) == ["summary of a"]
    assert found(case, Within(kinds=("vector", "temporal"))) == ["summary of b"]
    assert found(case, Within(sections=(("a", ""),))) == ["summary of a"]


def test_summaries_go_when_their_source_is_deleted_or_written_again(case: Case) -> None:
    """DL-03: nothing tells of passages that are gone."""
    case.create()
    insert(case, summaries("a", "b", "c"), passage("a", 1), passage("b", 1), passage("c", 1))
    case.run(case.store.delete_source(case.name, "a"))
    assert found(case) == ["summary of b", "summary of c"]
    insert(case, summaries("b", text="newer"), passage("b", 1, "other"))
    assert found(case) == ["newer of b", "summary of c"]
    insert(case, Summaries(), passage("c", 2))
    assert found(case) == ["newer of b"]
    assert kept(case) == {"b": 1, "c": 0}


def test_summaries_can_be_added_to_sources_that_are_there(case: Case) -> None:
    """DL-03: what an earlier version ingested."""
    case.create()
    insert(case, Summaries(), passage("a", 1), passage("b", 1))
    before = case.run(case.store.describe(case.name))
    assert (before.summaries, found(case)) == (0, [])
    case.run(case.store.summarise(case.name, summaries("a")))
    case.run(case.store.summarise(case.name, summaries("a", text="newer")))
    assert found(case) == ["newer of a"]
    assert case.run(case.store.describe(case.name)) == replace(before, summaries=1)
    with pytest.raises(StoreError, match="no source 'gone'"):
        case.run(case.store.summarise(case.name, summaries("a", "gone")))
    assert found(case) == ["newer of a"]


def test_summaries_are_dropped_with_their_collection(case: Case) -> None:
    case.create()
    insert(case, summaries("a"), passage("a", 1))
    case.run(case.store.drop(case.name))
    with pytest.raises(UnknownCollection):
        found(case)
    assert [name for name in case.client().list_collections() if case.name in name] == []
    case.create(dim=4)
    assert case.run(case.store.search_summaries(case.name, axes(1, 4)[0], 5)) == []


def test_summaries_that_were_left_behind_do_not_come_back_with_the_name(case: Case) -> None:
    case.create()
    insert(case, summaries("a"), passage("a", 1))
    case.client().drop_collection(case.name)
    case.create()
    insert(case, Summaries(), passage("a", 1))
    assert found(case) == []


def test_vectors_of_summaries_are_checked_before_anything_is_written(case: Case) -> None:
    """SC-02"""
    case.create()
    wide = Summaries(summaries("a").rows, axes(1, 5))
    endless = Summaries(summaries("a").rows, np.full((1, DIM), np.inf, dtype=np.float32))
    with raises(StoreError.embedding_mismatch):
        insert(case, wide, passage("a", 1))
    with pytest.raises(StoreError, match="finite"):
        insert(case, endless, passage("a", 1))
    with raises(StoreError.embedding_mismatch):
        case.run(case.store.search_summaries(case.name, axes(1, 5)[0], 3))
    assert case.run(case.store.sources(case.name)) == []


def test_summaries_survive_closing_and_opening_again(case: Case) -> None:
    case.create()
    insert(case, summaries("a"), passage("a", 1))
    case.run(case.store.close())

    async def reopened() -> tuple[Any, ...]:
        store = MilvusStore(case.store.uri, timeout_s=30)
        try:
            hits = await store.search_summaries(case.name, axes(1)[0], 5)
            await store.delete_source(case.name, "a")
            return hits, await store.search_summaries(case.name, axes(1)[0], 5)
        finally:
            await store.close()

    hits, after = case.run(reopened())
    assert [hit.passage.text for hit in hits] == ["summary of a"]
    assert after == []


@pytest.mark.parametrize("part", ["passages", "summaries"])
def test_a_write_that_was_cut_off_leaves_no_summary_of_what_was_before(
    case: Case, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """DL-03: the source is reported as incomplete, and the next ingestion writes it again."""
    case.create()
    insert(case, summaries("a", text="old"), passage("a", 1, meta={"content_hash": "whole"}))
    client = case.client()
    honest = client.upsert

    def dies(collection_name: str, *args: Any, **kwargs: Any) -> Any:
        if collection_name == case.name if part == "passages" else collection_name.endswith(f"summaries_{case.name}"):
            raise OSError(28, "No space left on device")
        return honest(collection_name, *args, **kwargs)

    monkeypatch.setattr(client, "upsert", dies)
    with pytest.raises(StoreError):
        insert(case, summaries("a", text="new"), passage("a", 1, "other", meta={"content_hash": "newer"}))
    monkeypatch.undo()
    assert found(case) == []
    assert [(item.content_hash, item.summaries) for item in case.run(case.store.sources(case.name))] == [("", 0)]


def test_a_collection_of_another_program_has_no_summaries(case: Case) -> None:
    """DL-03"""
    case.create()
    name = f"{case.name}_theirs"
    case.client().create_collection(name, dimension=DIM)
    case.client().insert(name, [{"id": 1, "vector": axes(1)[0].tolist(), "content": "words"}])
    assert found(case, name=name) == []
    assert case.run(case.store.describe(name)).summaries == 0
