"""A collection re-embedded with another model: whole sources, resumed, switched to, whoever made the first one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import InvalidConfig, StoreError, TextTooLong, UnknownCollection
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.progress import Progress
from engine.knowledge.reembed import reembed
from engine.knowledge.summarise import summaries_of
from engine.model.values import SAMPLE_COLLECTION, Account, PassageId, SourceNote
from engine.roles import NO_SUMMARIES, UNKNOWN_MODEL, CollectionInfo, Embedder, SourceInfo, StoredPassage, Vector
from tests.contracts.stores import Case, axes, passage
from tests.support.errors import raises

PART = Account({"pages": 2}, (SourceNote("pages_without_text", {"count": "1", "pages": "3"}),))

Run = Callable[[Any], Any]


class CountingEmbedder:
    """Vectors that tell how long a text is; counts what it is given, and cannot read what is too long for it."""

    model_id = "model:b"
    dim = 4
    query_prefix = "q: "
    passage_prefix = "p: "

    def __init__(self, unreadable: str = "") -> None:
        self.texts: list[str] = []
        self.unreadable = unreadable

    async def embed_query(self, text: str) -> Vector:
        (vector,) = await self.embed_passages([text])
        return np.asarray(vector)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        await asyncio.sleep(0)
        if self.unreadable and self.unreadable in texts:
            raise TextTooLong(model=self.model_id, tokens=9)
        self.texts += texts
        rows = np.asarray([[len(text), 1, 2, 3] for text in texts], dtype=np.float32).reshape(len(texts), 4)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


class OneStore:
    """A knowledge base of one store and one model."""

    def __init__(self, store: MilvusStore, embedder: Embedder) -> None:
        self.store = store
        self.embedder = embedder

    async def describe(self, collection: str) -> CollectionInfo:
        return await self.store.describe(collection)

    async def sources(self, collection: str) -> list[SourceInfo]:
        return await self.store.sources(collection)

    async def passages(self, collection: str, source: str) -> list[StoredPassage]:
        return await self.store.passages(collection, source)

    async def ids(self, collection: str) -> list[PassageId]:
        return await self.store.ids(collection)

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        return await self.store.get(collection, ids)

    async def embedder_into(self, collection: str, embedding_model: str = "") -> Embedder:
        return self.embedder

    async def own_store(self) -> MilvusStore:
        return self.store


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    """A collection of three sources, the second of forty passages."""
    with asyncio.Runner() as runner:
        store = MilvusStore(str(tmp_path / "knowledge.db"), timeout_s=30)
        case = Case(store, "docs", runner.run)
        case.create()
        for source, count in (("a.md", 2), ("b.md", 40), ("c.md", 1)):
            meta = {"content_hash": f"hash {source}", "added_at": "2026-01-01", "language": "en", "kind": "graph"}
            rows = [
                passage(source, n + 1, f"{source} text {n}", section=f"S {n}", title="T", meta=meta)
                for n in range(count)
            ]
            accounts = {"a.md": PART} if source == "a.md" else {}
            runner.run(store.insert("docs", rows, axes(count), NO_SUMMARIES, accounts))
        yield case
        runner.run(store.close())


def test_a_collection_from_before_moves_to_another_form_of_context_with_the_same_model(case: Case) -> None:
    """BE-04: its passages stay as they are, the headings go into what is embedded and searched by words."""
    embedder = CountingEmbedder()
    knowledge = OneStore(case.store, embedder)
    case.run(reembed(knowledge, "docs", "first", "model:b"))
    assert case.run(case.store.describe("first")).context == "none"
    before = list(embedder.texts)
    case.run(reembed(knowledge, "first", "copy", "model:b", switch=True, context="path"))
    after = embedder.texts[len(before) :]
    assert "a.md text 0" in before and "T > S 0\na.md text 0" in after
    info = case.run(case.store.describe("first"))
    assert (info.context, info.embedding_model) == ("path", "model:b")
    assert case.run(case.store.describe("first_before")).context == "none"
    assert case.run(case.store.search_text("first", "S 1", case.run(embedder.embed_query("S")), 5))
    assert [item for item, _ in _everything(case, "first")] == [item for item, _ in _everything(case, "docs")]
    embedder.texts.clear()
    done = case.run(reembed(knowledge, "first", "copy", "model:b", switch=True, context="path"))
    assert (done.passages, embedder.texts) == (0, [])
    with raises(InvalidConfig.other_context):
        case.run(reembed(knowledge, "docs", "first", "model:b", context="none"))


def _everything(case: Case, collection: str) -> list[tuple[StoredPassage, list[float]]]:
    ids = case.run(case.store.ids(collection))
    return [(item, vector.tolist()) for item, vector in case.run(case.store.page(collection, ids))]


def test_passages_stay_as_they_are_and_get_other_vectors(case: Case) -> None:
    """SC-02: model, dimension and prefixes are those of the new model."""
    embedder = CountingEmbedder()
    seen: list[Progress] = []
    case.run(case.store.set_description("docs", "mine"))
    report = case.run(reembed(OneStore(case.store, embedder), "docs", "copy", "model:b", seen.append))
    assert (report.added, report.passages, report.failed) == (("a.md", "b.md", "c.md"), 43, ())
    old, new = case.run(case.store.describe("docs")), case.run(case.store.describe("copy"))
    assert (new.embedding_model, new.dim, new.query_prefix, new.passage_prefix) == ("model:b", 4, "q: ", "p: ")
    assert (new.passages, new.fingerprint, new.kinds, new.description) == (43, old.fingerprint, old.kinds, "mine")
    assert [item for item, _ in _everything(case, "copy")] == [item for item, _ in _everything(case, "docs")]
    kept = [(item.source, item.content_hash, item.added_at) for item in case.run(case.store.sources("copy"))]
    assert kept == [(item.source, item.content_hash, item.added_at) for item in case.run(case.store.sources("docs"))]
    assert [item.account for item in case.run(case.store.sources("copy"))] == [PART, None, None]
    case.run(case.store.record_accounts("docs", {"b.md": PART}))
    case.run(reembed(OneStore(case.store, embedder), "docs", "copy", "model:b"))
    assert [item.account for item in case.run(case.store.sources("copy"))] == [PART, PART, None]
    passages = case.run(case.store.passages("docs", "b.md"))
    assert new.summaries >= len(summaries_of(passages)) > 0
    assert [item.done for item in seen] == sorted(item.done for item in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].files_done) == (43, 43, 3)


def test_what_was_cut_off_is_resumed_by_source_and_ends_the_same(case: Case) -> None:
    whole = CountingEmbedder()
    case.run(reembed(OneStore(case.store, whole), "docs", "undisturbed", "model:b"))

    class Stop(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done > 20:
            raise Stop

    with pytest.raises(Stop):
        case.run(reembed(OneStore(case.store, CountingEmbedder()), "docs", "copy", "model:b", stop))
    assert [item.source for item in case.run(case.store.sources("copy"))] == ["a.md"]
    again = CountingEmbedder()
    report = case.run(reembed(OneStore(case.store, again), "docs", "copy", "model:b"))
    assert report.added == ("a.md", "b.md", "c.md")
    assert not [text for text in again.texts if text.startswith("a.md")]
    assert _everything(case, "copy") == _everything(case, "undisturbed")
    done = CountingEmbedder()
    case.run(reembed(OneStore(case.store, done), "docs", "copy", "model:b"))
    assert done.texts == []


def test_a_source_that_has_changed_since_is_embedded_again(case: Case) -> None:
    knowledge = OneStore(case.store, CountingEmbedder())
    case.run(reembed(knowledge, "docs", "copy", "model:b"))
    case.run(case.store.delete_source("docs", "b.md"))
    changed = passage("b.md", 1, "changed", meta={"content_hash": "hash of the change"})
    case.run(case.store.insert("docs", [changed], axes(1)))
    case.run(reembed(knowledge, "docs", "copy", "model:b"))
    assert [item.text for item in case.run(case.store.passages("copy", "b.md"))] == ["changed"]


def test_half_a_source_never_passes_for_the_whole_file(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file can be ingested into the copy afterwards, and is not skipped as known."""
    honest = case.client().upsert

    def dies(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "docs":
            raise OSError(5, "gone")
        return honest(name, *args, **kwargs)

    monkeypatch.setattr(case.client(), "upsert", dies)
    with pytest.raises(StoreError):
        case.run(case.store.insert("docs", [passage("c.md", 2, "more", meta={"content_hash": "hash c.md"})], axes(1)))
    monkeypatch.undo()
    assert case.run(case.store.sources("docs"))[2].content_hash == ""
    case.run(reembed(OneStore(case.store, CountingEmbedder()), "docs", "copy", "model:b"))
    copied = case.run(case.store.sources("copy"))[2]
    assert (copied.source, copied.passages) == ("c.md", 1)
    assert copied.content_hash not in ("", "hash c.md")


def test_the_copy_can_take_the_name_and_calling_again_changes_nothing(case: Case) -> None:
    case.run(case.store.set_alias("current", "docs"))
    case.create("docs_before")
    knowledge = OneStore(case.store, CountingEmbedder())
    case.run(reembed(knowledge, "current", "copy", "model:b", switch=True))
    info = case.run(case.store.describe("docs"))
    assert (info.embedding_model, info.passages, info.aliases) == ("model:b", 43, ("current",))
    assert case.run(case.store.describe("docs_before_2")).embedding_model == "model:a"
    # A process that died between the switch and noting it would call again.
    again = CountingEmbedder()
    report = case.run(reembed(OneStore(case.store, again), "docs", "copy", "model:b", switch=True))
    assert (report.passages, again.texts) == (0, [])
    with pytest.raises(UnknownCollection):
        case.run(case.store.describe("copy"))
    assert case.run(case.store.describe("docs")) == info


def test_a_source_that_the_new_model_cannot_read_is_named_and_keeps_the_old_collection_in_its_place(case: Case) -> None:
    knowledge = OneStore(case.store, CountingEmbedder(unreadable="c.md text 0"))
    with raises(StoreError.nothing_to_switch):
        case.run(reembed(knowledge, "docs", "copy", "model:b", switch=True))
    assert case.run(case.store.describe("docs")).embedding_model == "model:a"
    report = case.run(reembed(knowledge, "docs", "copy", "model:b"))
    assert [(name, fault.code) for name, fault in report.failed] == [("c.md", TextTooLong.code)]
    assert report.added == ("a.md", "b.md")


def test_a_collection_of_another_program_is_embedded_from_all_its_rows(case: Case) -> None:
    client = case.client()
    client.create_collection("theirs", dimension=4)
    rows = [{"id": n, "vector": [1.0, 0, 0, 0], "content": f"words {n}", "file": f"f{n % 3}.txt"} for n in range(1200)]
    for start in range(0, len(rows), 400):
        client.insert("theirs", rows[start : start + 400])
    knowledge = OneStore(case.store, CountingEmbedder())
    report = case.run(reembed(knowledge, "theirs", "copy", "model:b"))
    assert (report.added, report.passages) == (("f0.txt", "f1.txt", "f2.txt"), 1200)
    assert [item.passages for item in case.run(case.store.sources("copy"))] == [400, 400, 400]
    assert set(case.run(case.store.ids("copy"))) == {str(n) for n in range(1200)}
    (first,) = case.run(case.store.get("copy", [PassageId("7")]))
    assert (first.text, first.source) == ("words 7", "f1.txt")
    again = CountingEmbedder()
    case.run(reembed(OneStore(case.store, again), "theirs", "copy", "model:b"))
    assert again.texts == []
    with raises(StoreError.foreign_collection):
        case.run(reembed(knowledge, "theirs", "other", "model:b", switch=True))
    assert case.run(case.store.describe("theirs")).embedding_model == UNKNOWN_MODEL


def test_what_cannot_be_done_is_said_before_anything_is_embedded(case: Case) -> None:
    embedder = CountingEmbedder()
    knowledge = OneStore(case.store, embedder)
    case.run(case.store.set_alias("current", "docs"))
    case.create("other")
    samples = CollectionInfo(SAMPLE_COLLECTION, "model:a", 8, "", "", "")
    case.run(case.store.create(samples))
    for error, collection, target, switch in (
        (StoreError.collection_exists, "docs", "docs", False),
        (StoreError.collection_exists, "docs", "current", False),
        (StoreError.embedding_mismatch, "docs", "other", False),
        (UnknownCollection, "nowhere", "copy", False),
        (StoreError.samples_stay, SAMPLE_COLLECTION, "copy", True),
    ):
        with raises(error):
            case.run(reembed(knowledge, collection, target, "model:b", switch=switch))
    assert embedder.texts == []
    assert case.run(case.store.describe("docs")) == replace(case.run(case.store.describe("current")), name="docs")
