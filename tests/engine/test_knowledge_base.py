"""Which embedder and which anchors a collection gets: SC-02, SC-09."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import InvalidConfig, StoreError
from engine.knowledge import base
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.ingest import IngestItem
from engine.model.config import RunConfig
from engine.model.values import SAMPLE_COLLECTION
from engine.roles import CollectionInfo
from engine.settings import Settings
from tests.support.errors import raises
from tests.support.gates import PATIENCE_S
from tests.support.ollama_stand_in import OllamaStandIn

MODEL = "ollama:nomic-embed-text"
NOTE = IngestItem(name="note.md", data=b"# Tables\n\nA truth table with n variables has 2^n rows.\n")
ANCHOR_CALLS = 13
"""200 anchors, sixteen a call."""


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["nomic-embed-text"]) as server:
        yield server


@pytest.fixture(scope="module")
def engine(ollama: OllamaStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("prefixes")
    with Engine.open(Settings.load(data_dir=folder, ollama_url=ollama.url, embedding_model=MODEL)) as opened:
        yield opened


def test_a_collection_without_prefixes_is_not_searched_with_those_of_new_collections(tmp_path: Path) -> None:
    """SC-02: prefixes belong to the collection."""
    knowledge = KnowledgeBase(Settings.load(data_dir=tmp_path, embedding_model=MODEL))
    bare = CollectionInfo("bare", MODEL, 768, "", "", "2026-01-01T00:00:00+00:00")
    assert knowledge.embedders.new().query_prefix == "search_query: "
    assert knowledge.embedders.of(bare).query_prefix == ""


def test_anchors_are_embedded_once_for_all_runs_and_during_the_ingestion(tmp_path: Path) -> None:
    """SC-09, SC-13: the first questions do not pay for them out of their budgets, nor each for its own."""
    with (
        OllamaStandIn(["nomic-embed-text"]) as ollama,
        Engine.open(Settings.load(data_dir=tmp_path, ollama_url=ollama.url, embedding_model=MODEL)) as engine,
    ):
        engine.ingest([NOTE], "mine")
        config = RunConfig(collection="mine", max_rewrites=0)
        for run_id in [engine.start("How many rows?", config) for _ in range(3)]:
            engine.wait(run_id)
        asked = [len(request.body["input"]) for request in ollama.requests_to("embed")]
    assert sum(1 for texts in asked if texts > 1) == ANCHOR_CALLS


def test_token_and_database_belong_to_the_server_of_the_settings_and_to_no_other(tmp_path: Path) -> None:
    ours, other = "http://127.0.0.1:19530", "http://127.0.0.1:19531"
    settings = Settings.load(
        data_dir=tmp_path,
        milvus_uri=ours,
        milvus_addresses=(other,),
        milvus_token="root:secret",
        milvus_database="team_a",
    )
    knowledge = KnowledgeBase(settings)
    assert [knowledge._at(place)._token for place in (ours, other)] == ["root:secret", ""]
    assert [knowledge._at(place).database for place in (ours, other)] == ["team_a", ""]
    assert knowledge.memory()._database == "team_a"


def test_a_store_that_a_server_failed_to_open_is_opened_without_another_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica without visitors takes part once its server is there."""
    monkeypatch.setattr(base, "_FIRST_RETRY_S", 0.01)
    faults = [StoreError.unreachable(address="127.0.0.1:1")] * 2

    async def seen() -> None:
        knowledge = KnowledgeBase(Settings.load(data_dir=tmp_path, milvus_uri="http://127.0.0.1:1"))
        there = asyncio.Event()

        async def opened() -> None:
            if faults:
                raise faults.pop()
            there.set()

        monkeypatch.setattr(knowledge, "_open", opened)
        with raises(StoreError.unreachable):
            await knowledge.ready()
        await asyncio.wait_for(there.wait(), PATIENCE_S)
        await knowledge.ready()
        assert knowledge.last_error is None
        await knowledge.close()

    asyncio.run(seen())


def test_a_collection_of_another_program_says_that_its_model_is_not_known(tmp_path: Path) -> None:
    theirs = CollectionInfo("theirs", "unknown", 4, "", "", "")
    with raises(StoreError.model_not_recorded, match="'theirs' was made by another program") as caught:
        KnowledgeBase(Settings.load(data_dir=tmp_path)).embedders.of(theirs)
    assert caught.value.code != StoreError.embedding_mismatch.code
    assert "new collection" in caught.value.remedy


def test_a_run_on_a_collection_of_another_program_fails_with_that_reason(tmp_path: Path) -> None:
    with Engine.open(Settings.load(data_dir=tmp_path)) as engine:
        engine.wait_until_ready()
        knowledge = engine.resources.knowledge
        session = knowledge._at(engine.settings.store_uri)._session
        assert session is not None
        session.db.client.create_collection("theirs", dimension=4)
        record = engine.run("How many rows?", RunConfig(collection="theirs"))
        with raises(StoreError.model_not_recorded):
            engine.ingest([NOTE], "theirs")
        with raises(StoreError.foreign_collection):
            engine.set_query_prefix("theirs", "q: ")
    assert (record.outcome, record.reason) == ("failed", StoreError.model_not_recorded.code)


def test_prefixes_of_a_new_collection_are_those_asked_for(engine: Engine, ollama: OllamaStandIn) -> None:
    """SC-02: recorded with the collection, shown and editable."""
    engine.ingest([NOTE], "asked", query_prefix="frage: ", passage_prefix="text: ")
    info = engine.describe("asked")
    assert (info.query_prefix, info.passage_prefix) == ("frage: ", "text: ")
    assert any(text.startswith("text: ") and "\nA truth table" in text for text in embedded(ollama))
    engine.ingest(
        [IngestItem("more.md", data=b"More words.")], "asked", query_prefix="frage: ", passage_prefix="text: "
    )
    assert "text: more\nMore words." in embedded(ollama)
    engine.run("How many rows?", RunConfig(collection="asked", max_rewrites=0))
    assert "frage: How many rows?" in embedded(ollama)


def test_the_prefix_of_queries_can_be_changed_later_and_that_of_passages_cannot(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    """SC-02"""
    engine.ingest([NOTE], "changed")
    assert engine.set_query_prefix("changed", "q: ").query_prefix == engine.describe("changed").query_prefix == "q: "
    record = engine.run("How many rows?", RunConfig(collection="changed", max_rewrites=0))
    assert "q: How many rows?" in embedded(ollama)
    assert record.manifest["query_prefix"] == "q: "
    with pytest.raises(InvalidConfig, match="'search_document: ' as its passage_prefix") as caught:
        engine.ingest([NOTE], "changed", passage_prefix="text: ")
    assert caught.value.field == "passage_prefix"


@pytest.mark.parametrize("prefix", ["x" * 501, "half \ud83d pair"], ids=["too long", "half a pair"])
def test_a_prefix_that_cannot_be_kept_is_refused(prefix: str, engine: Engine) -> None:
    with pytest.raises(InvalidConfig, match="passage_prefix must be"):
        engine.ingest([NOTE], "refused", passage_prefix=prefix)
    engine.ingest([NOTE], "kept")
    with pytest.raises(InvalidConfig, match="query_prefix must be"):
        engine.set_query_prefix("kept", prefix)


def test_a_model_with_fixed_prefixes_takes_no_others(tmp_path: Path) -> None:
    with Engine.open(Settings.load(data_dir=tmp_path, embedding_model="hashing")) as engine:
        with pytest.raises(InvalidConfig, match="has '' as its") as caught:
            engine.ingest([NOTE], "mine", query_prefix="q: ")
        assert caught.value.field == "query_prefix"
        with pytest.raises(InvalidConfig, match="has '' as its") as caught:
            engine.ingest([NOTE], "mine", passage_prefix="p: ")
        assert caught.value.field == "passage_prefix"
        engine.ingest([NOTE], "mine", query_prefix="", passage_prefix="")
        with pytest.raises(InvalidConfig, match="query_prefix"):
            engine.set_query_prefix("mine", "q: ")
        samples = engine.describe(SAMPLE_COLLECTION)
        assert engine.set_query_prefix(SAMPLE_COLLECTION, samples.query_prefix) == samples


def embedded(ollama: OllamaStandIn) -> list[str]:
    """Every text that the model was asked to embed so far."""
    return [text for request in ollama.requests_to("embed") for text in request.body["input"]]
