"""Putting documents into a collection: duplicates, replacements, bad files, progress and cancellation."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import (
    InvalidConfig,
    ModelError,
    ModelGarbled,
    ModelInterrupted,
    ModelRefused,
    SourceError,
    SourceUnsupported,
    StoreError,
)
from engine.knowledge.ingest import EMBED_BATCH, IngestItem, Progress, ingest, items_of, read_document
from engine.knowledge.journal import Journal
from engine.knowledge.load import load_bytes
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.preview import preview
from engine.model.values import CONTEXTS, NEW_CONTEXT, Account, PassageContext, SourceNote
from engine.roles import NO_ACCOUNTS, NO_SUMMARIES, StoredPassage, Summaries, Vector
from tests.support.errors import raises

Run = Callable[[Coroutine[Any, Any, Any]], Any]


class LengthEmbedder:
    """Unit vectors that depend on the text alone; can wait for a signal, so that a test can cancel in the middle."""

    query_prefix = "q: "
    passage_prefix = "p: "

    def __init__(self, model_id: str = "test:length", dim: int = 4) -> None:
        self.model_id = model_id
        self.dim = dim
        self.batches: list[int] = []
        self.block_at = -1
        self.blocked = asyncio.Event()

    async def embed_query(self, text: str) -> Vector:
        row: Vector = (await self.embed_passages([text]))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        if len(self.batches) == self.block_at:
            self.blocked.set()
            await asyncio.Event().wait()
        self.batches.append(len(texts))
        rows = np.ones((len(texts), self.dim), dtype=np.float32)
        rows[:, 0] = [len(text) for text in texts]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


class ReadingEmbedder(LengthEmbedder):
    """Notes the passages and summaries that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        row: Vector = (await super().embed_passages([text]))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.texts += texts
        return await super().embed_passages(texts)


@pytest.fixture
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture
def store(tmp_path: Path, run: Run) -> Iterator[MilvusStore]:
    opened = MilvusStore(str(tmp_path / "store" / "knowledge.db"))
    yield opened
    run(opened.close())


def sections(count: int, word: str = "text") -> bytes:
    return ("# T\n\n" + "".join(f"## S{n}\n{word} {n}\n\n" for n in range(count))).encode()


def test_a_first_ingestion_makes_the_collection_with_the_models_identity(store: MilvusStore, run: Run) -> None:
    """SC-02: model, dimension and prefixes are recorded."""
    report = run(ingest(store, LengthEmbedder(), "notes", [IngestItem("a.md", data=sections(3))]))
    assert (report.added, report.passages, report.failed) == (("a.md",), 3, ())
    info = run(store.describe("notes"))
    assert (info.embedding_model, info.dim, info.query_prefix, info.passage_prefix) == ("test:length", 4, "q: ", "p: ")
    assert (info.passages, info.sources) == (3, 1)
    assert [item.text for item in run(store.passages("notes", "a.md"))] == ["text 0", "text 1", "text 2"]
    assert info.created_at.endswith("+00:00")


def test_the_same_content_is_skipped_under_any_name_also_within_one_batch(store: MilvusStore, run: Run) -> None:
    embedder = LengthEmbedder()
    items = [IngestItem("a.md", data=sections(2)), IngestItem("copy.md", data=sections(2).replace(b"\n", b"\r\n"))]
    report = run(ingest(store, embedder, "notes", items))
    assert (report.added, report.skipped_duplicates) == (("a.md",), (("copy.md", "a.md"),))
    again = run(ingest(store, embedder, "notes", [*items, IngestItem("b.md", data=sections(1))]))
    assert again.skipped_duplicates == (("a.md", "a.md"), ("copy.md", "a.md"))
    assert again.added == ("b.md",)
    # Two passages with the summary of their source, then one passage, which is its own.
    assert embedder.batches == [3, 1]
    assert again.to_dict()["skipped"] == [{"name": "a.md", "same_as": "a.md"}, {"name": "copy.md", "same_as": "a.md"}]


def test_other_content_under_a_known_name_replaces_it_wholly(store: MilvusStore, run: Run) -> None:
    embedder = LengthEmbedder()
    run(ingest(store, embedder, "notes", [IngestItem("a.md", data=sections(5, "old"))]))
    report = run(ingest(store, embedder, "notes", [IngestItem("a.md", data=sections(2, "new"))]))
    assert (report.added, report.replaced) == ((), ("a.md",))
    assert [item.text for item in run(store.passages("notes", "a.md"))] == ["new 0", "new 1"]
    assert run(store.describe("notes")).passages == 2
    back = run(ingest(store, embedder, "notes", [IngestItem("a.md", data=sections(5, "old"))]))
    assert back.replaced == ("a.md",)


TORN = b'{"a": "one"}\n{"b": "two"\n{"c": "three"}\n'
LINE = SourceNote("lines_unreadable", {"count": "1", "lines": "2"})


def test_what_was_read_and_left_out_is_kept_with_each_source_and_said(store: MilvusStore, run: Run) -> None:
    """BE-02"""
    items = [IngestItem("a.md", data=sections(1)), IngestItem("b.jsonl", data=TORN, hidden=True)]
    report = run(ingest(store, LengthEmbedder(), "notes", items))
    assert report.notes == (("b.jsonl", LINE),)
    assert report.to_dict()["notes"] == [
        {"name": "b.jsonl", "code": "lines_unreadable", "params": {"count": "1", "lines": "2"}}
    ]
    found = {item.source: item.account for item in run(store.sources("notes"))}
    for item in items:
        assert item.data is not None
        assert found[item.name] == load_bytes(item.name, item.data, hidden=item.hidden).account
    assert found["b.jsonl"] is not None and (found["b.jsonl"].notes, found["b.jsonl"].hidden) == ((LINE,), True)


def test_a_source_from_before_gets_its_account_when_its_file_comes_again(store: MilvusStore, run: Run) -> None:
    items = [
        IngestItem("a.jsonl", data=TORN),
        IngestItem("b.md", data=sections(1)),
        IngestItem("b2.md", data=sections(1)),
    ]
    embedder = LengthEmbedder()
    run(ingest(store, embedder, "notes", items))
    passages = run(store.passages("notes", "a.jsonl"))
    run(store.insert("notes", passages, np.eye(len(passages), 4, dtype=np.float32)))
    batches = len(embedder.batches)

    def accounts() -> dict[str, Account | None]:
        return {item.source: item.account for item in run(store.sources("notes"))}

    assert accounts()["a.jsonl"] is None
    report = run(ingest(store, embedder, "notes", items[:1]))
    assert report.skipped_duplicates == (("a.jsonl", "a.jsonl"),)
    assert accounts()["a.jsonl"] == load_bytes("a.jsonl", TORN).account
    # Nothing was embedded for it but summaries, which were lost with the former writing.
    assert len(embedder.batches) <= batches + 1
    revised = run(store.describe("notes"))
    run(ingest(store, embedder, "notes", items))
    assert run(store.describe("notes")) == revised


def test_a_name_given_twice_counts_with_its_later_content_and_the_earlier_one_is_named(
    store: MilvusStore, run: Run
) -> None:
    items = [IngestItem("a.md", data=b"first"), IngestItem("a.md", data=b"second"), IngestItem("b.md", data=b"first")]
    same = [IngestItem("c.md", data=b"third"), IngestItem("c.md", data=b"third")]
    report = run(ingest(store, LengthEmbedder(), "notes", [*items, *same]))
    assert report.added == ("a.md", "b.md", "c.md")
    assert [(name, fault.fact) for name, fault in report.failed] == [
        ("a.md", "'a.md' comes again later in this batch, with other content; the later file went in.")
    ]
    looked = preview([*items, *same], [])
    assert [item.name for item in looked.sources] == ["a.md", "b.md", "c.md"]
    assert [name for name, _ in looked.failed] == ["a.md"]
    assert [item.text for item in run(store.passages("notes", "a.md"))] == ["second"]


def test_a_bad_file_stops_none_of_the_others(store: MilvusStore, run: Run, tmp_path: Path) -> None:
    items = [
        IngestItem("empty.md", data=b""),
        IngestItem("a.md", data=sections(1)),
        IngestItem("photo.md", data=b"\x89PNG\r\n"),
        IngestItem("gone.md", path=tmp_path / "gone.md"),
        IngestItem("nothing.md"),
        IngestItem("长" * 400 + ".md", data=b"words"),
        IngestItem("broken\udcff.md", data=b"words"),
        IngestItem("b.md", data=sections(2)),
    ]
    report = run(ingest(store, LengthEmbedder(), "notes", items))
    assert report.added == ("a.md", "b.md")
    assert [(name, error.code) for name, error in report.failed] == [
        ("empty.md", "WB303"),
        ("photo.md", "WB306"),
        ("gone.md", "WB301"),
        ("nothing.md", "WB301"),
        ("长" * 400 + ".md", "WB308"),
        ("broken\udcff.md", "WB308"),
    ]
    assert all(fault["remedy"] for fault in report.to_dict()["failed"])
    assert run(store.describe("notes")).sources == 2


class FailingEmbedder(LengthEmbedder):
    """Fails at batches with a text that holds ``at``, as Ollama where a model makes NaN of a text."""

    def __init__(self, at: str, failure: ModelError | None) -> None:
        super().__init__()
        self.at = at
        self.failure = failure

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        rows = await super().embed_passages(texts)
        failing = [self.at in text for text in texts]
        if self.failure is not None and any(failing):
            raise self.failure
        rows[failing] = np.nan
        return rows


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (
            ModelRefused(model="test:length", status=500, message="unsupported value: NaN"),
            "says: unsupported value: NaN.",
        ),
        (
            ModelInterrupted.mid_reply(model="test:length"),
            "no usable vector for the text that begins with 'T > S20 text 20'.",
        ),
        (ModelGarbled(model="test:length"), "no usable vector for the text that begins with 'T > S20 text 20'."),
        (None, "no usable vector for the text that begins with 'T > S20 text 20'."),
    ],
    ids=["refused", "interrupted", "garbled", "NaN"],
)
def test_a_text_that_the_model_cannot_embed_costs_its_own_source_alone(
    store: MilvusStore, run: Run, tmp_path: Path, failure: ModelError | None, reason: str
) -> None:
    """And an ingestion that begins with the journal of that one does not ask for it again."""
    items = [IngestItem(f"{name}.md", data=sections(40 + n)) for n, name in enumerate("ac")]
    items.insert(1, IngestItem("b.md", data=sections(40).replace(b"text 20", b"text 20 odd")))
    embedder, journal = FailingEmbedder("text 20 odd", failure), Journal(tmp_path / "journal.db")
    report = run(ingest(store, embedder, "notes", items, journal=journal))
    assert (report.added, report.passages) == (("a.md", "c.md"), 81)
    assert [(name, fault.code) for name, fault in report.failed] == [("b.md", "WB425")]
    assert reason.replace("text 20'", "text 20 odd'") in report.failed[0][1].fact
    assert embedder.batches.count(1) > 1, "halved down to one text"
    asked = len(embedder.batches)
    assert run(ingest(store, embedder, "notes", items, journal=journal)).failed == report.failed
    assert len(embedder.batches) == asked
    journal.close()


def test_a_model_that_fails_at_every_text_stops_the_ingestion(store: MilvusStore, run: Run) -> None:
    embedder = FailingEmbedder("", ModelRefused(model="test:length", status=500, message="no GPU"))
    with pytest.raises(ModelRefused, match="no GPU"):
        run(ingest(store, embedder, "notes", [IngestItem("a.md", data=sections(40))]))


def test_headings_of_any_script_and_length_go_in_with_their_source(store: MilvusStore, run: Run) -> None:
    text = "# Title\n" + "".join(f"{'#' * level} {'𠀀' * 199}\n" for level in range(2, 7)) + "words\n\n## End\n\nlast"
    assert run(ingest(store, LengthEmbedder(), "notes", [IngestItem("deep.md", data=text.encode())])).failed == ()
    deepest, end = run(store.passages("notes", "deep.md"))
    assert deepest.section.endswith("𠀀" * 199)
    assert end.section == "End"


@pytest.mark.parametrize("other", [LengthEmbedder("test:other"), LengthEmbedder(dim=8)], ids=["model", "dimension"])
def test_another_model_is_a_mismatch_that_names_both(store: MilvusStore, run: Run, other: LengthEmbedder) -> None:
    """SC-02."""
    run(ingest(store, LengthEmbedder(), "notes", [IngestItem("a.md", data=b"words")]))
    with raises(StoreError.embedding_mismatch, match=rf"test:length \(4 dimensions\).*{other.model_id} \({other.dim}"):
        run(ingest(store, other, "notes", [IngestItem("b.md", data=b"other words")]))
    assert other.batches == []


def test_progress_counts_passages_and_gives_rate_and_remaining_time(store: MilvusStore, run: Run) -> None:
    seen: list[Progress] = []
    items = [IngestItem("a.md", data=sections(EMBED_BATCH + 4)), IngestItem("b.md", data=sections(3))]
    run(ingest(store, LengthEmbedder(), "notes", items, seen.append))
    reading, later = seen[:2], seen[2:]
    assert [(item.state, item.source, item.files_done) for item in reading] == [
        ("reading", "a.md", 0),
        ("reading", "b.md", 1),
    ]
    assert [(item.state, item.done, item.source) for item in later] == [
        ("embedding", 0, "a.md"),
        ("embedding", EMBED_BATCH, "a.md"),
        ("embedding", EMBED_BATCH + 4, "a.md"),
        ("writing", EMBED_BATCH + 4, "a.md"),
        ("writing", EMBED_BATCH + 4, "a.md"),
        ("embedding", EMBED_BATCH + 4, "b.md"),
        ("embedding", EMBED_BATCH + 7, "b.md"),
        ("writing", EMBED_BATCH + 7, "b.md"),
        ("writing", EMBED_BATCH + 7, "b.md"),
    ]
    assert {(item.total, item.files) for item in later} == {(EMBED_BATCH + 7, 2)}
    assert [item.files_done for item in later] == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert later[0].remaining_s is None
    assert all(item.per_second > 0 and item.remaining_s is not None for item in later[1:])
    assert later[-1].remaining_s == 0
    assert later[-1].report.added == ("a.md", "b.md")


def test_a_cancel_between_batches_leaves_whole_sources_only(store: MilvusStore, run: Run) -> None:
    async def cancelled() -> None:
        embedder = LengthEmbedder()
        embedder.block_at = 2
        items = [IngestItem("a.md", data=sections(2)), IngestItem("b.md", data=sections(EMBED_BATCH + 3))]
        task = asyncio.create_task(ingest(store, embedder, "notes", items))
        await embedder.blocked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancelled())
    assert [(item.source, item.passages) for item in run(store.sources("notes"))] == [("a.md", 2)]
    assert run(store.passages("notes", "b.md")) == []
    report = run(ingest(store, LengthEmbedder(), "notes", [IngestItem("b.md", data=sections(EMBED_BATCH + 3))]))
    assert report.added == ("b.md",)


class SlowStore(MilvusStore):
    """Says when an insert begins and waits until it may continue."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.began = asyncio.Event()
        self.go_on = asyncio.Event()

    async def insert(
        self,
        collection: str,
        passages: Sequence[StoredPassage],
        vectors: Vector,
        summaries: Summaries = NO_SUMMARIES,
        accounts: Mapping[str, Account] = NO_ACCOUNTS,
    ) -> None:
        self.began.set()
        await self.go_on.wait()
        await super().insert(collection, passages, vectors, summaries, accounts)


def test_a_cancel_while_a_source_is_replaced_waits_until_it_is_whole(tmp_path: Path, run: Run) -> None:
    async def cancelled() -> list[StoredPassage]:
        store = SlowStore(str(tmp_path / "knowledge.db"))
        try:
            store.go_on.set()
            await ingest(store, LengthEmbedder(), "notes", [IngestItem("a.md", data=sections(4, "old"))])
            store.began.clear()
            store.go_on.clear()
            items = [IngestItem("a.md", data=sections(2, "new")), IngestItem("b.md", data=b"never")]
            task = asyncio.create_task(ingest(store, LengthEmbedder(), "notes", items))
            await store.began.wait()
            task.cancel()
            store.go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await store.passages("notes", "b.md") == []
            return await store.passages("notes", "a.md")
        finally:
            await store.close()

    assert [item.text for item in run(cancelled())] == ["new 0", "new 1"]


def test_a_source_whose_writing_was_cut_off_is_replaced_by_the_next_ingestion(
    store: MilvusStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = IngestItem("a.md", data=sections(2))
    run(store.open())
    session = store._session
    assert session is not None
    honest = session.db.client.upsert

    def dies(collection: str, *args: Any, **kwargs: Any) -> Any:
        if collection == "notes":
            raise OSError(28, "No space left on device")
        return honest(collection, *args, **kwargs)

    monkeypatch.setattr(session.db.client, "upsert", dies)
    with pytest.raises(Exception, match="is full"):
        run(ingest(store, LengthEmbedder(), "notes", [item]))
    monkeypatch.undo()
    report = run(ingest(store, LengthEmbedder(), "notes", [item]))
    assert report.replaced == ("a.md",)
    assert run(store.describe("notes")).passages == 2


def test_summaries_go_in_with_their_source_and_the_kind_of_its_front_matter(store: MilvusStore, run: Run) -> None:
    """DL-03, QL-03"""
    item = IngestItem("log.md", data=b"---\nkind: temporal\n---\n" + sections(2))
    run(ingest(store, LengthEmbedder(), "notes", [item, IngestItem("a.txt", data=b"words")]))
    assert [(info.source, info.kind, info.summaries) for info in run(store.sources("notes"))] == [
        ("a.txt", "vector", 1),
        ("log.md", "temporal", 3),
    ]
    hits = run(store.search_summaries("notes", np.ones(4, dtype=np.float32), 9))
    assert {(hit.passage.source, hit.passage.section, hit.passage.kind) for hit in hits} == {
        ("a.txt", "", "vector"),
        ("log.md", "", "temporal"),
        ("log.md", "S0", "temporal"),
        ("log.md", "S1", "temporal"),
    }
    assert [item.kind for item in run(store.passages("notes", "log.md"))] == ["temporal", "temporal"]


def test_a_source_met_again_gets_the_summaries_that_it_lacks_and_nothing_is_embedded_twice(
    store: MilvusStore, run: Run
) -> None:
    """DL-03: collections of earlier versions."""
    run(ingest(store, LengthEmbedder(), "notes", [IngestItem("a.md", data=sections(5)), IngestItem("b.md", data=b"b")]))
    run(store.insert("notes", run(store.passages("notes", "a.md")), np.eye(5, 4, dtype=np.float32)))
    before = run(store.describe("notes"))
    assert before.summaries == 1
    embedder = LengthEmbedder()
    again = [IngestItem("copy.md", data=sections(5)), IngestItem("b.md", data=b"b")]
    report = run(ingest(store, embedder, "notes", again))
    assert (report.skipped_duplicates, report.passages) == ((("copy.md", "a.md"), ("b.md", "b.md")), 0)
    assert embedder.batches == [1]
    assert run(store.describe("notes")) == replace(before, summaries=7)
    (nearest,) = run(store.search_summaries("notes", np.eye(4, dtype=np.float32)[2], 1))
    assert (nearest.passage.section, nearest.cosine) == ("S2", pytest.approx(1.0, abs=1e-3))


def test_a_folder_gives_its_files_by_relative_path_without_hidden_ones_and_outside_links(tmp_path: Path) -> None:
    folder, outside = tmp_path / "notes", tmp_path / "outside"
    for name in ("b.md", "sub/a.txt", "sub/deep/c.MARKDOWN", ".hidden.md", ".git/x.md", "photo.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("words")
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    (folder / "inner.md").symlink_to(folder / "b.md")
    items, failed = items_of([folder])
    assert [item.name for item in items] == ["b.md", "inner.md", "sub/a.txt", "sub/deep/c.MARKDOWN"]
    assert sorted((name, error.code) for name, error in failed) == [
        ("link.md", SourceError.link.code),
        ("linked", SourceError.link.code),
        ("notes", SourceError.link.code),
        ("notes", SourceError.link.code),
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_and_broken_links_in_a_folder_are_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "broken.md").symlink_to(tmp_path / "nothing.md")
    items, failed = items_of([tmp_path])
    assert items == []
    facts = {name: error.fact for name, error in failed}
    assert "a pipe, a socket or a device" in facts["pipe.txt"]
    assert "is a link that leads" in facts["broken.md"]


def test_documents_of_other_kinds_in_a_folder_are_reported(tmp_path: Path) -> None:
    for name in ("sub/old.DOC", "old.xls"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    items, failed = items_of([tmp_path])
    assert ([item.name for item in items], failed) == (["old.xls", "sub/old.DOC"], [])
    for item in items:
        with pytest.raises(SourceUnsupported, match="in the program that made it"):
            read_document(item)


def test_files_named_directly_are_items_and_missing_ones_are_reported(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"x")
    items, failed = items_of([tmp_path / "photo.png", tmp_path / "gone.md"])
    assert [item.name for item in items] == ["photo.png"]
    assert items[0].read() == b"x"
    assert [(name, error.code) for name, error in failed] == [(str(tmp_path / "gone.md"), SourceError.missing.code)]


@pytest.mark.parametrize(
    ("context", "embedded"),
    [
        ("none", ["text 0", "text 1", "T: S0; S1. text 0 text 1"]),
        ("path", ["T > S0\ntext 0", "T > S1\ntext 1", "T\nT: S0; S1. text 0 text 1"]),
    ],
)
def test_what_is_embedded_and_searched_by_words_follows_the_form_of_the_collection(
    store: MilvusStore, run: Run, context: PassageContext, embedded: list[str]
) -> None:
    """BE-04: the form is kept with the collection; its texts, ids and fingerprint are those of any other."""
    embedder = ReadingEmbedder()
    run(ingest(store, embedder, "notes", [IngestItem("a.md", data=sections(2))], context=context))
    assert embedder.texts == embedded
    found = run(store.passages("notes", "a.md"))
    assert [(item.title, item.section, item.text) for item in found] == [("T", "S0", "text 0"), ("T", "S1", "text 1")]
    by_heading = run(store.search_text("notes", "S1", run(embedder.embed_query("S1")), 5))
    assert [hit.passage.id for hit in by_heading] == ([] if context == "none" else ["a.md#2"])
    run(ingest(store, embedder, "notes", [IngestItem("b.md", data=sections(1, "more"))]))
    assert embedder.texts[-1] == ("more 0" if context == "none" else "T > S0\nmore 0")
    run(ingest(store, LengthEmbedder(), "plain", [IngestItem("a.md", data=sections(2))], context="none"))
    run(store.delete_source("notes", "b.md"))
    info, other = run(store.describe("notes")), run(store.describe("plain"))
    assert (info.context, info.fingerprint) == (context, other.fingerprint)


def test_a_collection_keeps_its_form_of_context_and_another_is_refused(store: MilvusStore, run: Run) -> None:
    run(ingest(store, LengthEmbedder(), "notes", [IngestItem("a.md", data=sections(1))], context="none"))
    with raises(InvalidConfig.other_context) as caught:
        run(ingest(store, LengthEmbedder(), "notes", [IngestItem("b.md", data=sections(2))], context="path"))
    assert caught.value.params["field"] == "context"
    run(ingest(store, LengthEmbedder(), "new", [IngestItem("a.md", data=sections(1))]))
    assert run(store.describe("new")).context == NEW_CONTEXT


def test_the_time_of_an_ingestion_counts_the_headings_that_are_embedded() -> None:
    items = [IngestItem("a.md", data=sections(40))]
    bare, with_paths = (preview(items, (), context=form, tokens_per_s=1.0).seconds for form in CONTEXTS[:2])
    assert bare is not None and with_paths is not None and with_paths > bare
