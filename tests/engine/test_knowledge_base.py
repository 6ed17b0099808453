"""Which embedder and which anchors a collection gets: SC-02, SC-09."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import RunConfig
from engine.engine import Engine
from engine.errors import UnknownProvider
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.ingest import IngestItem
from engine.roles import CollectionInfo
from engine.settings import Settings
from tests.support.ollama_stand_in import OllamaStandIn

MODEL = "ollama:nomic-embed-text"
NOTE = IngestItem(name="note.md", data=b"# Tables\n\nA truth table with n variables has 2^n rows.\n")
ANCHOR_CALLS = 13
"""200 anchors, sixteen a call."""


@pytest.fixture
def ollama() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["nomic-embed-text"]) as server:
        yield server


def test_a_setting_that_names_no_embedding_model_is_refused_and_not_replaced(tmp_path: Path) -> None:
    """A name without its provider must not quietly build a collection with the built-in model."""
    knowledge = KnowledgeBase(Settings.load(data_dir=tmp_path, embedding_model="nomic-embed-text"))
    with pytest.raises(UnknownProvider) as caught:
        knowledge.embedder()
    assert "ollama:MODEL" in caught.value.remedy


def test_a_collection_without_prefixes_is_not_searched_with_those_of_new_collections(tmp_path: Path) -> None:
    """SC-02: prefixes belong to the collection."""
    knowledge = KnowledgeBase(Settings.load(data_dir=tmp_path, embedding_model=MODEL))
    bare = CollectionInfo("bare", MODEL, 768, "", "", "2026-01-01T00:00:00+00:00")
    assert knowledge.embedder().query_prefix == "search_query: "
    assert knowledge.embedder(bare).query_prefix == ""


def test_anchors_are_embedded_once_for_all_runs_and_beside_the_ingestion(tmp_path: Path, ollama: OllamaStandIn) -> None:
    """SC-09, SC-13: the first questions do not pay for them out of their budgets, nor each for its own."""
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url=ollama.url, embedding_model=MODEL)) as engine:
        engine.ingest([NOTE], "mine")
        config = RunConfig(collection="mine", max_rewrites=0)
        for run_id in [engine.start("How many rows?", config) for _ in range(3)]:
            engine.wait(run_id)
        asked = [len(request.body["input"]) for request in ollama.requests_to("embed")]
    assert sum(1 for texts in asked if texts > 1) == ANCHOR_CALLS
