"""Looking after collections through the engine: names, aliases, descriptions, search, map, models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.drafting.values import Draft, draft_id
from engine.engine import Engine
from engine.errors import EngineClosed, InvalidConfig, InvalidQuestion, ModelError, StoreError, UnknownCollection
from engine.knowledge.ingest import IngestItem
from engine.knowledge.rates import note_rate
from engine.library.values import JobStatus
from engine.model.config import RoleModel, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import SAMPLE_COLLECTION, Memory, PassageId
from engine.running.library import Library
from engine.settings import Settings
from tests.support.errors import raises
from tests.support.ollama_stand_in import OllamaStandIn

TABLES = IngestItem("tables.md", data=b"# Tables\n\nA truth table with n variables has 2^n rows.\n")
CATS = IngestItem("cats.md", data="# 猫\n\n猫每天睡十六个小时，爱吃鱼。\n".encode())
PORT_OF_NOBODY = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings.load(data_dir=tmp_path_factory.mktemp("library"), ollama_url=PORT_OF_NOBODY)
    with Engine.open(settings) as engine:
        yield engine


@pytest.fixture
def engine(shared: Engine) -> Iterator[Engine]:
    """The engine with no collection but the samples afterwards."""
    yield shared
    for info in shared.collections():
        if info.name != SAMPLE_COLLECTION and info.embedding_model != "unknown":
            shared.library.drop(info.name)


def test_a_collection_that_a_job_writes_into_is_neither_renamed_nor_deleted(engine: Engine) -> None:
    engine.library.create("notes", "hashing")
    engine.library.set_alias("diary", "notes")
    writing = JobStatus("1", "ingest", "diary", "embedding", "2026-01-01T00:00:00+00:00", files=1)
    jobs = [writing]
    library = Library(engine._loop, engine.resources, lambda: jobs, engine._evaluations)
    with raises(StoreError.collection_busy):
        library.drop("notes")
    with raises(StoreError.collection_busy):
        library.rename("notes", "papers")
    jobs[:] = [replace(writing, state="stopped")]
    assert library.rename("notes", "papers").name == "papers"


def test_drafts_and_fits_follow_their_collection_and_go_with_it(engine: Engine) -> None:
    """EV-06: nothing waits to be looked through, and no fit is offered, for a collection that is gone."""
    engine.library.create("notes", "hashing")
    for question in ("What is a chain?", "What is a link?"):
        draft = Draft(
            draft_id("notes", question), "notes", question, "definition", "en", (PassageId("a.md#1"),), "a.md"
        )
        engine._evaluations.drafts.add([draft])
    engine.drafting.refuse(draft.id)
    fit = engine.grader_fits.keep(GraderFit("coefficients", "builtin", "notes", {"coefficients": [0.0]}, judgements=40))
    engine.library.rename("notes", "papers", keep_old=False)
    assert engine.drafting.list("notes") == () and engine.grader_fits.of("notes") == ()
    assert {item.draft.collection for item in engine.drafting.list("papers")} == {"papers"}
    moved = replace(fit, collection="papers")
    assert engine.grader_fits.of("papers") == (moved,)
    assert engine.grader_fits.used_by(RoleModel(moved.model, fit=moved.id), "papers") == moved
    engine.library.drop("papers")
    assert [(item.draft.id, item.state) for item in engine.drafting.list("papers")] == [(draft.id, "refused")]
    assert engine.grader_fits.of("papers") == ()


def test_an_empty_collection_is_made_with_the_model_that_was_chosen(engine: Engine) -> None:
    """SC-02: model, dimension and prefixes are recorded with the collection."""
    info = engine.library.create("notes", "hashing", " My notes \n")
    assert (info.passages, info.description, info.dim) == (0, "My notes", 384)
    assert info.embedding_model.startswith("hashing")
    assert engine.library.create("more").embedding_model == engine.describe(SAMPLE_COLLECTION).embedding_model
    assert info in engine.collections()
    engine.ingest([TABLES], "notes")
    assert [item.passage.source for item in engine.library.search("notes", "truth table")] == ["tables.md"]


def test_the_dimension_of_a_model_of_ollama_is_learnt_with_the_first_collection(tmp_path: Path) -> None:
    """SC-02."""
    with OllamaStandIn(["nomic-embed-text"]) as ollama:
        settings = Settings.load(data_dir=tmp_path, ollama_url=ollama.url)
        with Engine.open(settings) as engine:
            info = engine.library.create("served", "ollama:nomic-embed-text", query_prefix="q: ")
            models = engine.library.embedding_models()
    assert (info.dim, info.query_prefix, info.passage_prefix) == (768, "q: ", "search_document: ")
    assert [item.model for item in models] == ["builtin", "ollama:nomic-embed-text:latest", "hashing"]
    assert all(item.available for item in models)
    assert models[0].dim == 384


def test_a_model_is_proposed_with_the_pace_of_this_machine_once_it_was_timed(engine: Engine) -> None:
    def proposed() -> dict[str, tuple[float | None, bool]]:
        return {item.model: (item.tokens_per_s, item.measured) for item in engine.library.embedding_models()}

    usual = proposed()
    assert not any(measured for _, measured in usual.values())
    assert all(pace for pace, _ in usual.values())
    note_rate(engine.settings.data_dir, engine.describe(SAMPLE_COLLECTION).embedding_model, 5000, 10)
    assert proposed() == {**usual, "builtin": (500.0, True)}


def test_what_cannot_be_made_is_refused_and_leaves_nothing(engine: Engine) -> None:
    engine.library.create("notes", "hashing")
    engine.library.set_alias("mine", "notes")
    for error, name, model, description in (
        (StoreError.collection_exists, "notes", "", ""),
        (StoreError.alias_taken, "mine", "", ""),
        (StoreError.collection_exists, SAMPLE_COLLECTION, "", ""),
        (StoreError.invalid_collection_name, "no such name", "", ""),
        (ModelError.unknown_embedding, "other", "openai:text-embedding-3-small", ""),
        (InvalidConfig, "other", "", "x" * 2001),
    ):
        with raises(error):
            engine.library.create(name, model, description)
    assert sorted(info.name for info in engine.collections()) == ["notes", SAMPLE_COLLECTION]


def test_a_renamed_collection_is_found_under_both_names_and_its_memories_follow(engine: Engine) -> None:
    engine.ingest([TABLES], "notes")
    memory = engine.resources.knowledge.memory()
    kept = Memory("m1", "How many rows?", "2^n", "notes", "run", "2026-01-01T00:00:00+00:00", True)
    engine._loop.call(memory.keep(kept))
    info = engine.library.rename("notes", "papers")
    assert (info.name, info.aliases) == ("papers", ("notes",))
    assert engine.describe("notes") == engine.describe("papers")
    assert [item.collection for item in engine.memories()] == ["papers"]
    found = engine._loop.call(memory.recall("How many rows?", "papers", 3))
    assert [(item.id, item.passed) for item in found] == [("m1", True)]
    engine.forget_every_memory()


def test_the_old_name_can_be_given_up_with_a_renaming(engine: Engine) -> None:
    engine.library.create("notes", "hashing")
    assert engine.library.rename("notes", "papers", keep_old=False).aliases == ()
    with pytest.raises(UnknownCollection):
        engine.describe("notes")


def test_a_run_asked_for_by_an_alias_says_which_collection_it_searched(engine: Engine) -> None:
    engine.ingest([TABLES], "notes")
    engine.library.set_alias("current", "notes")
    record = engine.run("How many rows has a truth table?", RunConfig(collection="current", max_rewrites=0))
    assert record.error is None
    assert record.config.collection == "current"
    assert (record.manifest["collection"], record.manifest["collection_alias"]) == ("notes", "current")
    assert record.rounds[0].candidates[0].passage.source == "tables.md"
    engine.ingest([CATS], "current")
    assert engine.describe("notes").sources == 2


def test_an_alias_can_be_moved_and_removed(engine: Engine) -> None:
    engine.library.create("first", "hashing")
    engine.library.create("second", "hashing")
    assert engine.library.set_alias("current", "first").aliases == ("current",)
    assert engine.library.set_alias("current", "second").name == "second"
    assert engine.describe("first").aliases == ()
    with raises(StoreError.collection_exists):
        engine.library.set_alias("first", "second")
    engine.library.drop_alias("current")
    with raises(StoreError.unknown_alias):
        engine.library.drop_alias("current")


def test_a_description_is_kept_with_the_collection(engine: Engine) -> None:
    engine.library.create("notes", "hashing")
    assert engine.library.set_description("notes", " 我的笔记 ").description == "我的笔记"
    assert engine.library.set_description(SAMPLE_COLLECTION, "x").description == "x"
    engine.library.set_description(SAMPLE_COLLECTION, "")
    with pytest.raises(InvalidConfig):
        engine.library.set_description("notes", "x" * 2001)


def test_the_samples_keep_their_name_and_stay(engine: Engine) -> None:
    for call in (
        lambda: engine.library.drop(SAMPLE_COLLECTION),
        lambda: engine.library.rename(SAMPLE_COLLECTION, "mine"),
    ):
        with raises(StoreError.samples_stay):
            call()
    assert engine.library.set_alias("demo", SAMPLE_COLLECTION).aliases == ("demo",)
    with raises(StoreError.samples_stay):
        engine.library.drop("demo")
    engine.library.drop_alias("demo")


def test_a_deleted_collection_is_gone_and_only_by_its_own_name(engine: Engine) -> None:
    engine.ingest([TABLES], "notes")
    engine.library.set_alias("mine", "notes")
    with raises(StoreError.alias_taken):
        engine.library.drop("mine")
    engine.library.drop("notes")
    for name in ("notes", "mine"):
        with pytest.raises(UnknownCollection):
            engine.describe(name)
        with pytest.raises(UnknownCollection):
            engine.library.drop(name)


def test_a_collection_of_another_program_is_read_and_not_changed(engine: Engine) -> None:
    store = engine.resources.knowledge._at(engine.settings.store_uri)
    assert store._session is not None
    client = store._session.db.client
    client.create_collection("theirs", dimension=4)
    rows = [{"id": n, "vector": [1.0, 0.1 * n, 0, 0], "content": f"words {n}"} for n in range(5)]
    client.insert("theirs", rows)
    try:
        for call in (
            lambda: engine.library.rename("theirs", "mine"),
            lambda: engine.library.drop("theirs"),
            lambda: engine.library.set_alias("mine", "theirs"),
            lambda: engine.library.set_description("theirs", "x"),
        ):
            with raises(StoreError.foreign_collection):
                call()
        drawn = engine.library.passage_map("theirs")
        assert (len(drawn.points), drawn.total) == (5, 5)
        with raises(StoreError.model_not_recorded):
            engine.library.search("theirs", "words")
        with raises(StoreError.model_not_recorded):
            engine.library.passage_map("theirs", "words")
        assert engine.describe("theirs").aliases == ()
    finally:
        client.drop_collection("theirs")


def test_a_search_tells_similarities_and_ranks_as_a_run_does(engine: Engine) -> None:
    """SC-09: the same number as in a run."""
    question = "What is a truth table?"
    found = engine.library.search(SAMPLE_COLLECTION, question, 5)
    record = engine.run(question, RunConfig(top_k=5, probe_k=5, max_rewrites=0))
    in_run = [(item.passage.id, item.passage.similarity) for item in record.rounds[0].candidates]
    assert [(item.passage.id, item.similarity) for item in found] == in_run
    assert all(item.passage.meta["content_hash"] for item in found)
    fused = engine.library.search(SAMPLE_COLLECTION, question, 5, "fused")
    assert fused[0].vector_rank is not None
    assert fused[0].text_rank is not None
    by_words = engine.library.search(SAMPLE_COLLECTION, question, 5, "full_text")
    assert [item.text_rank for item in by_words] == [1, 2, 3, 4, 5]
    assert all(item.text_score for item in by_words)


def test_a_search_for_nothing_or_for_too_much_is_refused(engine: Engine) -> None:
    for query in ("", " \n", "x" * (engine.settings.max_question_chars + 1)):
        with pytest.raises(InvalidQuestion):
            engine.library.search(SAMPLE_COLLECTION, query)
    with pytest.raises(UnknownCollection):
        engine.library.search("nowhere", "x")
    assert len(engine.library.search(SAMPLE_COLLECTION, "\ud800 truth table", 10_000)) == 100


def test_the_map_holds_the_question_and_its_nearest_passages_whatever_the_sample(engine: Engine) -> None:
    question = "What is a truth table?"
    nearest = [item.passage.id for item in engine.library.search(SAMPLE_COLLECTION, question, 10, "vector")]
    drawn = engine.library.passage_map(SAMPLE_COLLECTION, question, most=30)
    assert (len(drawn.points), drawn.total) == (30, engine.describe(SAMPLE_COLLECTION).passages)
    assert list(drawn.hits) == nearest
    assert drawn.query is not None
    assert drawn == engine.library.passage_map(SAMPLE_COLLECTION, question, most=30)
    assert engine.library.passage_map(SAMPLE_COLLECTION, most=30).query is None


def test_a_small_collection_needs_no_advice(engine: Engine) -> None:
    assert engine.library.advice(SAMPLE_COLLECTION) is None


def test_a_closed_engine_takes_no_more_work(tmp_path: Path) -> None:
    engine = Engine.open(Settings.load(data_dir=tmp_path, ollama_url=PORT_OF_NOBODY))
    engine.close()
    with pytest.raises(EngineClosed):
        engine.library.search(SAMPLE_COLLECTION, "x")
