"""The contract of ``PassageStore`` where passages are searched by words: BM25, or a plain word that there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.builtin.full_text import SEGMENTING
from engine.errors import FullTextMissing, StoreError
from engine.knowledge import milvus_session, milvus_words
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, StoredPassage, Summaries, Within
from tests.contracts.stores import DIM, Case, axes, passage
from tests.support.errors import raises

TEXTS = (
    "糖尿病患者的血糖控制要看 HbA1c。",
    "Dogs run, and a dog that runs is happy.",
    "The cat sleeps beside the dog.",
    "图的邻接矩阵记下哪些顶点相邻。",
    "Give 5mg, or 1,000 units at 7.5 %.",
)


@pytest.fixture
def worded(tmp_path: Path) -> Iterator[Case]:
    """The embedded store, which has full text."""
    with asyncio.Runner() as runner:
        store = MilvusStore(str(tmp_path / "knowledge.db"), timeout_s=30)
        try:
            yield Case(store, "words", runner.run)
        finally:
            runner.run(store.close())


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Until it is called, collections are made as versions without full text made them."""
    with_full_text = milvus_words._LITE
    monkeypatch.setattr(milvus_words, "_LITE", (99, 0))
    return lambda: monkeypatch.setattr(milvus_words, "_LITE", with_full_text)


def found(case: Case, text: str, limit: int = 10, within: Within | None = None) -> list[str]:
    hits = case.run(case.store.search_text(case.name, text, axes(1)[0], limit, within or Within()))
    return [str(hit.passage.id) for hit in hits]


def filled(case: Case, *texts: str) -> None:
    case.create()
    case.insert(*(passage("a.md", place, text) for place, text in enumerate(texts or TEXTS, start=1)))


def reopened(case: Case) -> Case:
    case.run(case.store.close())
    return replace(case, store=MilvusStore(case.store.uri, timeout_s=30))


def test_a_store_finds_passages_by_words_or_says_that_it_cannot(case: Case) -> None:
    filled(case)
    info = case.run(case.store.describe(case.name))
    if info.full_text:
        assert info.segmenting == SEGMENTING
        assert found(case, "邻接矩阵是什么") == ["a.md#4"]
        return
    assert "://" in case.store.uri  # a server before 2.5: the embedded store has it
    assert info.segmenting == ""
    for call in (
        case.store.search_text(case.name, "矩阵", axes(1)[0], 3),
        case.store.add_full_text(case.name),
    ):
        with pytest.raises(FullTextMissing, match="cannot search by words") as refused:
            case.run(call)
        assert "vectors" in refused.value.remedy
    assert case.run(case.store.search(case.name, axes(5)[3], 1))[0].passage.id == "a.md#4"


def test_hits_by_words_come_best_first_with_scores_from_0_and_their_exact_cosine(worded: Case) -> None:
    """SC-02: a hit found only by full text gets its cosine computed."""
    worded.create()
    random = np.random.default_rng(3)
    vectors = random.normal(size=(5, DIM)).astype(np.float32)
    worded.insert(*(passage("a.md", n + 1, text) for n, text in enumerate(TEXTS)), vectors=vectors)
    query = random.normal(size=DIM).astype(np.float32)
    hits = worded.run(worded.store.search_text(worded.name, "a happy dog", query, 10))
    assert [hit.passage.id for hit in hits] == ["a.md#2", "a.md#3"]
    scores = [hit.text_score or 0.0 for hit in hits]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0
    expected = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    assert [hit.cosine for hit in hits] == pytest.approx([expected[1], expected[2]], abs=1e-5)
    assert hits[0].passage == passage("a.md", 2, TEXTS[1])
    assert all(hit.text_score is None for hit in worded.run(worded.store.search(worded.name, query, 3)))


def test_words_are_found_in_either_language_whatever_their_width_case_or_ending(worded: Case) -> None:
    filled(worded)
    queries = {
        "糖尿病": 1,
        "ＨｂＡ１ｃ": 1,
        "hba1c 指标": 1,
        "顶点": 4,
        "running DOGS": 2,
        "5 mg": 5,
        "1000 units": 5,
        "7.5": 5,
        '"; drop id != "" or cats': 3,
    }
    assert {query: found(worded, query)[:1] for query in queries} == {
        query: [f"a.md#{n}"] for query, n in queries.items()
    }


def test_words_of_every_script_are_found(worded: Case) -> None:
    filled(
        worded,
        "糖尿病的症狀有多飲和多尿，是常見的慢性病。",
        "奶酪的原料是水牛奶。",
        "東京タワーのデータベースを作る。",
        "서울에서 비가 온다.",
        "ระบบรองรับภาษาไทย",
        "यह हिन्दी में लिखा है।",
        "上皮组织覆盖体表，是什么样的？",
    )
    queries = {
        "症状": 1,
        "症狀": 1,
        "牛": 2,
        "牛是什么的原料": 2,
        "東京タワー": 3,
        "データベース": 3,
        "서울": 4,
        "오늘 서울은": 4,
        "รองรับ": 5,
        "รองรับภาษาอะไร": 5,
        "हिन्दी": 6,
        "皮组织": 7,
    }
    assert {query: found(worded, query)[:1] for query in queries} == {
        query: [f"a.md#{n}"] for query, n in queries.items()
    }


def test_a_text_without_words_or_with_unknown_ones_finds_nothing(worded: Case) -> None:
    filled(worded)
    assert [found(worded, query) for query in ("", "   \n", "？！…", "zebra", "斑马")] == [[]] * 5


def test_a_search_by_words_keeps_to_kinds_and_sections(worded: Case) -> None:
    worded.create()
    worded.insert(
        passage("a.md", 1, "a dog", section="One"),
        passage("a.md", 2, "a dog", section="Two"),
        passage("b.md", 1, "a dog", section="One", meta={"kind": "temporal"}),
    )
    assert set(found(worded, "dog")) == {"a.md#1", "a.md#2", "b.md#1"}
    assert found(worded, "dog", within=Within(kinds=("temporal",))) == ["b.md#1"]
    assert found(worded, "dog", within=Within(sections=(("a.md", "Two"),))) == ["a.md#2"]
    assert found(worded, "dog", within=Within(kinds=("graph",))) == []
    assert len(found(worded, "dog", limit=2)) == 2 and found(worded, "dog", limit=0) == []


def test_words_keep_in_step_with_what_is_replaced_and_deleted(worded: Case) -> None:
    filled(worded)
    assert found(worded, "cat") == ["a.md#3"]
    worded.insert(passage("a.md", 3, "Only birds sing."), passage("b.md", 1, "A cat too."))
    assert found(worded, "cat") == ["b.md#1"]
    assert found(worded, "bird") == ["a.md#3"]
    worded.run(worded.store.delete_source(worded.name, "b.md"))
    assert found(worded, "cat") == []


def test_passages_added_later_are_not_drowned_by_those_of_an_older_and_larger_file(worded: Case) -> None:
    """Milvus Lite counts words for each of its files apart, so that the same match is worth less in a small one."""
    older = [f"The common engine number {n} has a valve and a piston." for n in range(60)]
    newer = ["The tuba has a valve.", "A drum has no valve.", "Strings are bowed."]
    case = worded
    case.create()
    vectors = np.ones((60, DIM), dtype=np.float32)
    case.insert(*(passage("old.md", n + 1, text) for n, text in enumerate(older)), vectors=vectors)
    case = reopened(case)
    try:
        case.insert(*(passage("new.md", n + 1, text) for n, text in enumerate(newer)))
        hits = case.run(case.store.search_text(case.name, "the valve of a tuba", axes(1)[0], 3))
        assert hits[0].passage.id == "new.md#1"
        # Worth what it would be worth in one file with all the others.
        assert hits[0].text_score > 2 * hits[1].text_score
    finally:
        case.run(case.store.close())


def test_a_small_file_is_found_even_where_a_large_one_offers_more_hits_than_are_looked_at(worded: Case) -> None:
    older = ["brass valve" if n % 4 == 0 else f"engine {n}" for n in range(600)]
    worded.create()
    vectors = np.ones((600, DIM), dtype=np.float32)
    worded.insert(*(passage("old.md", n + 1, text) for n, text in enumerate(older)), vectors=vectors)
    case = reopened(worded)
    try:
        newer = ("A tuba is heavy.", "Drums are loud.", "Strings are bowed.")
        case.insert(*(passage("new.md", n + 1, text) for n, text in enumerate(newer)))
        assert found(case, "the brass valve of a tuba", limit=3)[0] == "new.md#1"
    finally:
        case.run(case.store.close())


def test_the_longest_text_that_a_passage_may_have_can_be_searched_by_words(worded: Case) -> None:
    text = "邻接矩阵" * 5000
    filled(worded, text, "dog")
    assert found(worded, "矩阵") == ["a.md#1"]


def test_a_search_by_words_refuses_a_vector_of_another_width(worded: Case) -> None:
    filled(worded)
    with raises(StoreError.embedding_mismatch):
        worded.run(worded.store.search_text(worded.name, "dog", axes(1, 5)[0], 3))


def test_a_collection_of_another_program_has_no_full_text(worded: Case) -> None:
    worded.create()
    worded.client().create_collection("theirs", dimension=4)
    worded.client().insert("theirs", [{"id": 1, "vector": [1.0, 0, 0, 0], "content": "a dog"}])
    with pytest.raises(FullTextMissing, match="'theirs' was made without full text"):
        worded.run(worded.store.search_text("theirs", "dog", axes(1, 4)[0], 3))


def everything(case: Case) -> tuple[Any, ...]:
    """All that a collection holds, but for whether it has full text."""
    info: CollectionInfo = case.run(case.store.describe(case.name))
    ids = case.run(case.store.ids(case.name))
    vectors = case.run(case.store.vectors(case.name, ids))
    return (
        replace(info, full_text=False, segmenting=""),
        case.run(case.store.sources(case.name)),
        case.run(case.store.get(case.name, ids)),
        {key: value.tolist() for key, value in vectors.items()},
        [hit.passage for hit in case.run(case.store.search_summaries(case.name, axes(1)[0], 5))],
        case.run(case.store.describe("alias")).name,
    )


def of_an_earlier_version(case: Case) -> None:
    """A collection without full text, with all that one can have."""
    case.create()
    stored = [passage("a.md", n + 1, text, meta={"kind": "temporal"}) for n, text in enumerate(TEXTS)]
    summary = StoredPassage(PassageId("a.md#summary"), "a.md", "all of it")
    summaries = Summaries((summary,), axes(1))
    case.run(case.store.insert(case.name, stored, axes(5), summaries))
    case.run(case.store.set_alias("alias", case.name))


def test_full_text_is_added_to_an_earlier_collection_and_nothing_of_it_is_lost(
    worded: Case, earlier: Callable[[], None]
) -> None:
    of_an_earlier_version(worded)
    before = everything(worded)
    with pytest.raises(FullTextMissing, match="cannot search by words"):
        worded.run(worded.store.add_full_text(worded.name))
    earlier()
    case = reopened(worded)
    try:
        with pytest.raises(FullTextMissing, match="made without full text"):
            found(case, "dog")
        progress: list[tuple[int, int]] = []
        info = case.run(case.store.add_full_text("alias", lambda done, total: progress.append((done, total))))
        assert info.full_text and info.segmenting == SEGMENTING and info.name == case.name
        assert progress == [(5, 5)]
        assert everything(case) == before
        assert found(case, "cat") == ["a.md#3"]
        assert found(case, "cat", within=Within(kinds=("temporal",))) == ["a.md#3"]
        case.insert(passage("b.md", 1, "another cat"))
        assert set(found(case, "cat")) == {"a.md#3", "b.md#1"}
        # There is nothing to do a second time.
        assert case.run(case.store.add_full_text(case.name, lambda *_: pytest.fail("copied again"))).full_text
        assert not [name for name in case.client().list_collections() if "copy" in name or "old" in name]
    finally:
        case.run(case.store.close())


def test_words_cut_by_the_rules_of_another_version_are_still_found_and_can_be_brought_up_to_date(
    worded: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(worded)
    for module in (milvus_session, milvus_words):
        monkeypatch.setattr(module, "SEGMENTING", "words-99")
    monkeypatch.setattr("engine.knowledge.milvus_copying.SEGMENTING", "words-99")
    assert worded.run(worded.store.describe(worded.name)).segmenting == SEGMENTING
    assert found(worded, "cat") == ["a.md#3"]
    assert worded.run(worded.store.add_full_text(worded.name)).segmenting == "words-99"
    assert found(worded, "cat") == ["a.md#3"]


class Stopped(Exception):
    """What a job raises to stop a copy."""


def test_a_copy_that_is_stopped_leaves_the_collection_as_it_was(worded: Case, earlier: Callable[[], None]) -> None:
    def stop(done: int, total: int) -> None:
        raise Stopped(f"{done} of {total}")

    of_an_earlier_version(worded)
    before = everything(worded)
    names = set(worded.client().list_collections())
    earlier()
    case = reopened(worded)
    try:
        with pytest.raises(StoreError):
            case.run(case.store.add_full_text(case.name, stop))
        assert everything(case) == before
        assert set(case.client().list_collections()) == names
        assert case.run(case.store.add_full_text(case.name)).full_text
    finally:
        case.run(case.store.close())


class PowerCut(BaseException):
    """The process ends here."""


CHANGES = ("create_collection", "upsert", "rename_collection", "load_collection", "alter_alias", "drop_collection")


@pytest.mark.parametrize("cut", range(11))
def test_a_crash_at_any_step_of_adding_full_text_loses_nothing(
    worded: Case, earlier: Callable[[], None], monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    of_an_earlier_version(worded)
    before = everything(worded)
    earlier()
    case = reopened(worded)
    case.run(case.store.open())
    client = case.client()
    done: list[str] = []

    def dying(name: str) -> None:
        honest = getattr(client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(done) >= cut:
                raise PowerCut
            done.append(name)
            return honest(*args, **kwargs)

        monkeypatch.setattr(client, name, call)

    for name in CHANGES:
        dying(name)
    with pytest.raises(PowerCut):
        case.run(case.store.add_full_text(case.name))
    assert len(done) == cut
    monkeypatch.undo()
    case = reopened(case)
    try:
        case.run(case.store.open())
        assert everything(case) == before
        assert case.run(case.store.add_full_text(case.name)).full_text
        assert everything(case) == before
        assert found(case, "cat") == ["a.md#3"]
        assert not [name for name in case.client().list_collections() if "copy" in name or "old" in name]
    finally:
        case.run(case.store.close())
