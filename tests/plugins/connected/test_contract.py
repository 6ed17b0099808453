"""Collections that other programs made answer questions and are not written to, embedded and on a server."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.common.i18n import words_for
from components.runs.report import report_html
from engine.api import middleware
from engine.engine import Engine
from engine.errors import StoreError, UnknownCollection
from engine.knowledge.ingest import IngestItem
from engine.knowledge.milvus_connection import connect, disconnect
from engine.model.config import RunConfig
from engine.model.values import PassageId
from engine.settings import Settings
from plugins.connected.connections import Connections, collections_of
from plugins.connected.errors import UNKNOWN_DATABASE
from plugins.connected.values import Connection, Place, RemoteCollection
from tests.support.errors import raises
from tests.support.foreign_milvus import (
    MODEL,
    QUESTION,
    SENTENCES,
    Elsewhere,
    empty,
    everything,
    fill,
    vectors,
)

TOKEN = "reader:Secret-7"
KINDS = ("wiki", "notes", "loose")
TEA = SENTENCES[0]


@pytest.fixture(scope="module", params=["lite", pytest.param("server", marks=pytest.mark.milvus_server)])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    """One place for all tests, and at their end it is as it was."""
    prefix = f"t_{uuid.uuid4().hex[:8]}_"
    there = Elsewhere(str(tmp_path_factory.mktemp("theirs") / "theirs.db"), prefix)
    if request.param == "server":
        there = Elsewhere(request.getfixturevalue("milvus_here"), prefix, "elsewhere")
        client = connect(there.uri, "", 30)
        if there.database not in client.list_databases():
            client.create_database(there.database)
        disconnect(client, there.uri)
    fill(there)
    before = everything(there)
    yield there
    assert everything(there) == before
    if request.param == "server":
        empty(there)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path / "data", ollama_url="http://127.0.0.1:1", embedding_model="hashing")
    with Engine.open(settings) as opened:
        opened.wait_until_ready()
        yield opened


def address(place: Elsewhere) -> Place:
    """With a token: this server takes any, and the folder none."""
    return Place(place.uri, TOKEN, place.database)


def proposed(engine: Engine, place: Elsewhere, kind: str) -> Connection:
    found = Connections.of(engine).inspect(address(place), place.named(kind))
    assert found.proposed is not None, found
    return Connection(kind, address(place), found.name, found.proposed, 0, "", "hashing")


def connected(engine: Engine, place: Elsewhere, *kinds: str) -> None:
    for kind in kinds:
        Connections.of(engine).connect(proposed(engine, place, kind))


def test_what_a_place_holds_is_reported_with_fields_widths_metrics_and_samples(
    engine: Engine, place: Elsewhere
) -> None:
    """SC-02: the dimension is detected and models are proposed by it."""
    listed = {item.name: item for item in Connections.of(engine).look(address(place))}
    assert {place.named(kind) for kind in KINDS} <= set(listed)
    found = {kind: Connections.of(engine).inspect(address(place), place.named(kind)) for kind in KINDS}
    assert {kind: item.passages for kind, item in found.items()} == dict.fromkeys(KINDS, len(SENTENCES))
    assert {kind: asdict(item.proposed) for kind, item in found.items() if item.proposed} == {
        "wiki": names("pk", "chunk_text", "embedding", 'metadata["source"]'),
        "notes": names("note_id", "content", "vec", "file_name", "title"),
        "loose": names("id", "doc", "vector", "file"),
    }
    assert {kind: shape(item) for kind, item in found.items()} == {
        "wiki": (MODEL.dim, "L2"),
        "notes": (MODEL.dim, "IP"),
        "loose": (MODEL.dim, "COSINE"),
    }
    samples = {item.name: item.sample for item in found["wiki"].fields}
    assert samples["chunk_text"] in SENTENCES
    assert [item.model for item in found["loose"].models if item.available] == ["builtin", "hashing"]


def names(key: str, text: str, vector: str, source: str = "", title: str = "") -> dict[str, str]:
    return {"id": key, "text": text, "vector": vector, "source": source, "title": title, "section": ""}


def shape(item: RemoteCollection) -> tuple[int, str]:
    return next((field.dim, field.metric) for field in item.fields if field.type == "FLOAT_VECTOR")


def test_a_whole_run_of_the_loop_answers_and_nothing_there_changes(engine: Engine, place: Elsewhere) -> None:
    """SC-01, SC-02: by engine, what-if, branch and API; the place is then the same to the last row."""
    before = everything(place)
    connected(engine, place, *KINDS)
    for kind in KINDS:
        record = engine.run(QUESTION, RunConfig(collection=kind, top_k=3))
        assert record.outcome == "answered", (kind, record.error)
        assert record.rounds[0].candidates[0].passage.text == TEA
        assert record.manifest["embedding_model"] == MODEL.model_id
        assert "degrees" in record.answer and record.citations
        assert engine.what_if(record, replace(record.config, top_k=2)).to_dict()
        branch = engine.fork(record, replace(record.config, top_k=1))
        assert engine.wait(branch, 60) and engine.record(branch).outcome == "answered"
        Connections.of(engine).try_out(proposed(engine, place, kind))
        Connections.of(engine).probe(proposed(engine, place, kind), [QUESTION])
        engine.sources(kind)
    app = Starlette(middleware=middleware(lambda: engine, engine.settings))
    with TestClient(app, base_url="http://127.0.0.1:8501") as client:
        reply = client.post("/api/runs", json={"question": QUESTION, "config": {"collection": "wiki"}})
        assert (reply.status_code, reply.json()["outcome"]) == (200, "answered")
        seed = client.post(
            "/api/self-corrective-rag", json={"query": QUESTION, "milvusConfig": {"collectionName": "notes"}}
        )
        assert seed.json()["success"], seed.text
        listed = client.get("/api/collections").text
    assert '"wiki"' in listed and TOKEN not in listed
    Connections.of(engine).disconnect("loose")
    engine.close()
    assert everything(place) == before


def test_similarities_are_cosines_and_the_order_is_theirs_whatever_the_metric(engine: Engine, place: Elsewhere) -> None:
    """SC-09: one meaning for every metric; a store that lists long vectors first is put right."""
    connected(engine, place, *KINDS)
    query = vectors([QUESTION])[0]
    expected = sorted((vectors() @ query).tolist(), reverse=True)
    for kind in KINDS:
        record = engine.run(QUESTION, RunConfig(collection=kind, top_k=8, max_rewrites=0))
        found = [item.passage.raw_score for item in record.rounds[0].candidates]
        assert found == pytest.approx(expected, abs=1e-4), kind


def test_the_right_model_is_distinguished_from_a_wrong_one_of_the_same_width(engine: Engine, place: Elsewhere) -> None:
    """SC-02"""
    for kind in KINDS:
        right = Connections.of(engine).try_out(proposed(engine, place, kind))
        assert (right.likeness, right.asked, right.first) == ("same", len(SENTENCES), len(SENTENCES)), kind
        assert right.mean_cosine == pytest.approx(1.0, abs=1e-3)
    wrong = Connections.of(engine).try_out(replace(proposed(engine, place, "wiki"), embedding_model="builtin"))
    assert wrong.likeness == "other"
    assert wrong.mean_cosine < 0.3


def test_test_questions_find_sensible_passages_or_say_that_they_do_not(engine: Engine, place: Elsewhere) -> None:
    near, far = Connections.of(engine).probe(proposed(engine, place, "wiki"), [QUESTION, "zzz qqq"])
    assert near.sensible and near.found[0].passage.text == TEA
    assert near.found[0].similarity > far.found[0].similarity
    assert not far.sensible


def test_sources_and_passages_can_be_read_and_nothing_can_be_written(engine: Engine, place: Elsewhere) -> None:
    connected(engine, place, *KINDS)
    assert {item.source: item.passages for item in engine.sources("wiki")} == {
        "page0.md": 3,
        "page1.md": 3,
        "page2.md": 2,
    }
    assert [item.text for item in engine.passages("loose", "f1")] == list(SENTENCES[1::2])
    assert [item.text for item in engine.passages("notes", "all.txt")] == list(SENTENCES[::-1])
    assert engine.passages("notes", 'x" or 1 == 1') == []
    for write in (
        lambda: engine.ingest([IngestItem("new.md", data=b"# New")], "wiki"),
        lambda: engine.delete_source("wiki", "page0.md"),
        lambda: engine.set_query_prefix("wiki", "q: "),
    ):
        with raises(StoreError.foreign_collection):
            write()
    info = engine.describe("wiki")
    assert (info.read_only, info.remote_name, info.address) == (True, place.named("wiki"), place.uri)
    assert (info.passages, info.metric, info.full_text) == (len(SENTENCES), "L2", False)


def test_rows_are_found_by_ids_whatever_is_in_them(engine: Engine, place: Elsewhere) -> None:
    connected(engine, place, "notes")
    store = collections_of(engine.resources).store("notes")
    wanted = [PassageId("n'\"3"), PassageId('" or 1 == 1'), PassageId("n'\"0")]
    found = engine._loop.call(store.get("notes", wanted))
    assert [item.text for item in found] == [SENTENCES[3], SENTENCES[0]]
    units = engine._loop.call(store.vectors("notes", wanted))
    assert {name: float(np.linalg.norm(vector)) for name, vector in units.items()} == pytest.approx(
        {"n'\"3": 1.0, "n'\"0": 1.0}, abs=1e-5
    )


def test_a_connection_outlives_the_engine_and_its_name_is_its_own(
    engine: Engine, place: Elsewhere, tmp_path: Path
) -> None:
    connected(engine, place, "wiki")
    for taken in ("wiki", "samples"):
        with raises(StoreError.collection_exists):
            Connections.of(engine).connect(replace(proposed(engine, place, "loose"), name=taken))
    assert [item.name for item in engine.collections()] == ["samples", "wiki"]
    engine.close()
    with Engine.open(engine.settings) as again:
        again.wait_until_ready()
        assert again.run(QUESTION, RunConfig(collection="wiki")).outcome == "answered"
        Connections.of(again).disconnect("wiki")
        with pytest.raises(UnknownCollection):
            again.describe("wiki")
        with pytest.raises(UnknownCollection):
            Connections.of(again).disconnect("wiki")
        assert Connections.of(again).all() == ()


def test_a_token_is_in_no_record_manifest_report_list_or_error(engine: Engine, place: Elsewhere) -> None:
    connected(engine, place, "wiki")
    record = engine.run(QUESTION, RunConfig(collection="wiki"))
    texts = [
        json.dumps(record.to_dict()),
        report_html(record, engine.graph(), words_for("en")),
        repr(Connections.of(engine).all()) + repr(Connections.of(engine).states()),
        repr(engine.collections()),
        str([asdict(item.place) for item in Connections.of(engine).all()]),
    ]
    with raises(UNKNOWN_DATABASE) as caught:
        Connections.of(engine).look(Place(place.uri, TOKEN, "no_such_database"))
    texts.append(f"{caught.value}{caught.value.params}")
    assert [text for text in texts if "Secret" in text] == []


def test_a_kept_token_is_used_again_without_any_page_having_it(engine: Engine, place: Elsewhere) -> None:
    connected(engine, place, "wiki")
    (shown,) = Connections.of(engine).all()
    assert shown.place.token == ""
    assert Connections.of(engine).try_out(shown).likeness == "same"
    kept = collections_of(engine.resources).known_token(shown).place.token
    assert kept == ("" if place.uri.endswith(".db") else TOKEN)


@pytest.mark.milvus_server
def test_on_a_server_a_collection_that_is_not_loaded_is_listed_unread_and_loaded_when_it_is_used(
    engine: Engine, milvus_here: str
) -> None:
    there = Elsewhere(milvus_here, f"t_{uuid.uuid4().hex[:8]}_")
    fill(there)
    try:
        client = connect(milvus_here, "", 30)
        client.release_collection(there.named("wiki"))
        listed = {item.name: item for item in Connections.of(engine).look(Place(milvus_here))}
        assert not listed[there.named("wiki")].loaded and listed[there.named("loose")].loaded
        connected(engine, there, "wiki")
        client.release_collection(there.named("wiki"))
        # Its owner released it while it was connected: the next run loads it again.
        assert engine.run(QUESTION, RunConfig(collection="wiki")).outcome == "answered"
        disconnect(client, milvus_here)
    finally:
        empty(there)
