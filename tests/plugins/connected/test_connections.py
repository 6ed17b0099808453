"""Connections to places that do not answer, are locked, damaged or our own, none of which may stop the app."""

from __future__ import annotations

import asyncio
import fcntl
import importlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api import create_api
from engine.builtin.embedder import HashingEmbedder
from engine.cli.main import main
from engine.engine import Engine
from engine.errors import FullTextMissing, StoreError
from engine.knowledge.milvus_connection import connect, disconnect
from engine.knowledge.milvus_store import MilvusStore
from engine.library.values import FieldMap
from engine.model.config import RunConfig
from engine.model.values import PassageContext, PassageId
from engine.roles import CollectionInfo, StoredPassage
from engine.settings import Settings
from plugins.connected.client import translated_errors
from plugins.connected.connections import Connections
from plugins.connected.errors import LOCKED, NO_ADDRESS, OTHER_VECTORS, TOKEN_REFUSED, UNKNOWN_DATABASE, UNREACHABLE
from plugins.connected.file import ConnectionFile
from plugins.connected.store import ForeignStore
from plugins.connected.values import Connection, Place
from tests.support.errors import Expected, raises
from tests.support.foreign_milvus import QUESTION, SENTENCES, Elsewhere, fill, make_wiki, vectors
from tests.support.ollama_stand_in import OllamaStandIn, embed

TOKEN = "reader:Secret-7"
_PATIENCE_S = 60.0


def opened(tmp_path: Path, **settings: str) -> Engine:
    named = {"ollama_url": "http://127.0.0.1:1", **settings}
    engine = Engine.open(Settings.load(data_dir=tmp_path / "data", **named))
    engine.wait_until_ready()
    return engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with opened(tmp_path, embedding_model="hashing") as made:
        yield made


@pytest.fixture
def theirs(tmp_path: Path) -> Elsewhere:
    place = Elsewhere(str(tmp_path / "theirs.db"), "")
    fill(place)
    return place


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never says anything."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of this machine would answer for places that do not."""
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def keep(tmp_path: Path, *places: str) -> None:
    """Connections of an earlier start."""
    fields = FieldMap("pk", "chunk_text", "embedding")
    made = [
        Connection(f"wiki{n}", Place(address, TOKEN), "wiki", fields, 384, "L2", HashingEmbedder().model_id, "", "")
        for n, address in enumerate(places)
    ]
    ConnectionFile(tmp_path / "data" / "connections.json").write(made)


def test_places_that_do_not_answer_are_listed_as_such_and_hold_nobody_up(tmp_path: Path, silent: str) -> None:
    keep(tmp_path, silent, "http://127.0.0.1:9", str(tmp_path / "absent.db"))
    with opened(tmp_path) as engine:
        first = engine.collections()
        again = engine.collections()
        assert [item.name for item in first] == [item.name for item in again] == ["samples", "wiki0", "wiki1", "wiki2"]
        faults = {item.name: item.fault for item in again if item.fault}
        assert faults["wiki1"].code == UNREACHABLE.code
        assert faults["wiki2"].code == NO_ADDRESS.code
        record = engine.run(QUESTION, RunConfig(collection="wiki1"))
        assert (record.outcome, record.reason) == ("failed", UNREACHABLE.code)
        assert engine.run("How many rows does a truth table with five variables need?").outcome == "answered"
        texts = f"{record.error}{faults}{Connections.of(engine).states()}"
        assert "Secret" not in texts
        Connections.of(engine).disconnect("wiki0")


def test_a_damaged_file_of_connections_is_said_and_does_not_keep_the_app_from_starting(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "connections.json").write_text('{"format": 1, "connec')
    with opened(tmp_path) as engine:
        fault = Connections.of(engine).fault
        assert fault is not None and fault.code == "WB228"
        assert [item.name for item in engine.collections()] == ["samples"]


def test_a_folder_that_another_program_has_open_is_reported_as_locked(engine: Engine, theirs: Elsewhere) -> None:
    with (Path(theirs.uri) / "LOCK").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with raises(LOCKED, match=r"theirs\.db"):
            Connections.of(engine).look(Place(theirs.uri))
    assert len(Connections.of(engine).look(Place(theirs.uri))) == 3


def test_looking_at_a_folder_leaves_it_to_its_own_program(engine: Engine, theirs: Elsewhere) -> None:
    Connections.of(engine).inspect(Place(theirs.uri), "wiki")
    assert free(theirs.uri)


def test_what_is_no_folder_of_a_store_is_neither_opened_nor_made(engine: Engine, tmp_path: Path) -> None:
    absent, single = tmp_path / "absent.db", tmp_path / "single.db"
    single.write_bytes(b"SQLite format 3\x00")
    for path, words in ((absent, "no Milvus Lite folder"), (single, "keeps a folder")):
        with raises(NO_ADDRESS, match=words):
            Connections.of(engine).look(Place(str(path)))
    assert not absent.exists()


@pytest.mark.parametrize("context", ["none", "path"])
def test_a_collection_of_another_workbench_brings_its_model_prefixes_and_form_of_context(
    engine: Engine, tmp_path: Path, context: PassageContext
) -> None:
    """SC-02: what its catalogue recorded is read and not guessed."""
    embedder = HashingEmbedder()
    made = [
        StoredPassage(PassageId(f"a#{n}"), "a", text, "How it is kept", "Tea", n) for n, text in enumerate(SENTENCES)
    ]

    async def make() -> None:
        store = MilvusStore(str(tmp_path / "other.db"))
        built = "2026-01-01T00:00:00+00:00"
        await store.create(CollectionInfo("lab", embedder.model_id, embedder.dim, "", "", built, context=context))
        await store.insert("lab", made, await embedder.embed_passages([item.searched(context) for item in made]))
        await store.close()

    asyncio.run(make())
    (found,) = Connections.of(engine).look(Place(str(tmp_path / "other.db")))
    assert (found.own, found.query_prefix, found.passage_prefix) == (True, "", "")
    assert [(item.model, item.why) for item in found.models] == [(embedder.model_id, "recorded")]
    assert found.proposed is not None
    place = Place(str(tmp_path / "other.db"))
    connection = Connection("lab2", place, "lab", found.proposed, 0, "", found.models[0].model)
    tried = Connections.of(engine).try_out(connection)
    assert tried.likeness == "same" and tried.mean_cosine == pytest.approx(1.0, abs=1e-3)
    info = Connections.of(engine).connect(connection)
    assert (info.sources, info.passages, info.kinds) == (1, len(SENTENCES), ("vector",))
    assert [item.source for item in engine.sources("lab2")] == ["a"]
    record = engine.run(QUESTION, RunConfig(collection="lab2"))
    assert (record.outcome, record.manifest["context"]) == ("answered", context)


def test_collections_of_others_in_the_own_store_are_found_under_an_empty_address(engine: Engine) -> None:
    uri = engine.settings.store_uri
    client = connect(uri, "", 10)
    make_wiki(client, "guest")
    disconnect(client, uri)
    (found,) = Connections.of(engine).look(Place(""))
    assert (found.name, found.own) == ("guest", False)
    inspected = Connections.of(engine).inspect(Place(uri), "guest")
    assert inspected.proposed is not None
    Connections.of(engine).connect(Connection("wiki", Place(uri), "guest", inspected.proposed, 0, "", "hashing"))
    assert Connections.of(engine).all()[0].place == Place("")
    assert engine.run(QUESTION, RunConfig(collection="wiki")).outcome == "answered"


def test_a_model_of_another_width_is_a_mismatch_that_names_both(tmp_path: Path, theirs: Elsewhere) -> None:
    """SC-02"""
    with OllamaStandIn(["nomic-embed-text"]) as ollama, opened(tmp_path, ollama_url=ollama.url) as engine:
        found = Connections.of(engine).inspect(Place(theirs.uri), "wiki")
        assert found.proposed is not None
        connection = Connection("w", Place(theirs.uri), "wiki", found.proposed, 0, "", "ollama:nomic-embed-text")
        with raises(StoreError.embedding_mismatch, match=r"384 dimensions.*nomic-embed-text \(768 dimensions\)"):
            Connections.of(engine).connect(connection)
        assert Connections.of(engine).all() == ()


def test_models_of_ollama_are_proposed_by_width_and_the_prefixes_that_were_used_are_found(tmp_path: Path) -> None:
    """SC-02: prefixes belong to the vectors too."""
    client = connect(str(tmp_path / "bare.db"), "", 10)
    client.create_collection("bare", dimension=384, metric_type="COSINE")
    rows = [{"id": n, "vector": embed(f"my own: {text}", 384), "text": text} for n, text in enumerate(SENTENCES)]
    client.insert("bare", rows)
    disconnect(client, str(tmp_path / "bare.db"))
    place = Place(str(tmp_path / "bare.db"))
    with OllamaStandIn(["all-minilm"]) as ollama, opened(tmp_path, ollama_url=ollama.url) as engine:
        found = Connections.of(engine).inspect(place, "bare")
        assert found.proposed is not None
        assert [(item.model, item.why) for item in found.models][:2] == [
            ("builtin", "dimension"),
            ("ollama:all-minilm:latest", "installed"),
        ]
        connection = Connection("bare", place, "bare", found.proposed, 0, "", "ollama:all-minilm", "", "title of it: ")
        tried = Connections.of(engine).try_out(connection)
        assert tried.better is not None
        assert (tried.better.query_prefix, tried.better.passage_prefix) == ("", "")
        assert tried.better.mean_cosine > tried.mean_cosine
        given = Connection("bare", place, "bare", found.proposed, 0, "", "ollama:all-minilm", "", "my own: ")
        exact = Connections.of(engine).try_out(given)
        assert (exact.likeness, exact.better) == ("same", None)
        info = Connections.of(engine).connect(given)
        assert (info.query_prefix, info.passage_prefix) == ("", "my own: ")


def free(folder: str) -> bool:
    """Whether another program could open the folder, which a second open file stands for."""
    with (Path(folder) / "LOCK").open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_a_folder_is_given_back_to_its_own_program_after_a_while_and_opened_again_when_asked(
    theirs: Elsewhere,
) -> None:
    query = vectors([QUESTION])[0]

    async def ask() -> None:
        store = ForeignStore(
            Connection("w", Place(theirs.uri), "wiki", FieldMap("pk", "chunk_text", "embedding"), 384, "L2", "hashing"),
            Place(theirs.uri),
            idle_s=0.01,
        )
        try:
            for _ in range(2):
                (hit,) = await store.search("w", query, 1)
                assert hit.passage.text == SENTENCES[0]
                async with asyncio.timeout(_PATIENCE_S):
                    while not await asyncio.to_thread(free, theirs.uri):
                        continue
        finally:
            await store.close()

    asyncio.run(ask())


def test_every_loop_and_the_command_line_ask_a_connected_collection(
    tmp_path: Path, theirs: Elsewhere, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(tmp_path) as engine:
        found = Connections.of(engine).inspect(Place(theirs.uri), "wiki")
        assert found.proposed is not None
        Connections.of(engine).connect(Connection("wiki", Place(theirs.uri), "wiki", found.proposed, 0, "", "hashing"))
        for workflow in ("quality_loop", "dual_loop", "answer_evaluation"):
            record = engine.run(QUESTION, RunConfig(workflow=workflow, collection="wiki"))
            assert record.error is None and "eighty" in record.answer, (workflow, record.error)
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WORKBENCH_OLLAMA_URL", "http://127.0.0.1:1")
    assert main(["ask", QUESTION, "--collection", "wiki"]) == 0
    assert "eighty" in capsys.readouterr().out


def test_searching_by_words_says_that_another_programs_collection_has_none(theirs: Elsewhere) -> None:
    query = vectors()[0]

    async def ask() -> None:
        store = ForeignStore(
            Connection("w", Place(theirs.uri), "wiki", FieldMap("pk", "chunk_text", "embedding"), 384, "L2", "hashing"),
            Place(theirs.uri),
        )
        try:
            await store.search_text("w", "tea", query, 3)
        finally:
            await store.close()

    with pytest.raises(FullTextMissing):
        asyncio.run(ask())


def test_a_collection_that_went_away_says_so_and_comes_back(engine: Engine, theirs: Elsewhere) -> None:
    found = Connections.of(engine).inspect(Place(theirs.uri), "wiki")
    assert found.proposed is not None
    Connections.of(engine).connect(Connection("w", Place(theirs.uri), "wiki", found.proposed, 0, "", "hashing"))
    client = connect(theirs.uri, "", 10)
    client.drop_collection("wiki")
    record = engine.run(QUESTION, RunConfig(collection="w"))
    assert (record.outcome, record.reason) == ("failed", OTHER_VECTORS.code)
    make_wiki(client, "wiki")
    disconnect(client, theirs.uri)
    assert engine.run(QUESTION, RunConfig(collection="w")).outcome == "answered"


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (2, "Fail connecting to server on milvus:19530", UNREACHABLE),
        (65535, f"auth check failure, please check username and password {TOKEN}", TOKEN_REFUSED),
        (800, "database not found[database=docs]", UNKNOWN_DATABASE),
        (1, "database 'docs' does not exist", UNKNOWN_DATABASE),
        (65535, f"something about {TOKEN} and Secret-7", OTHER_VECTORS),
    ],
)
def test_errors_of_a_place_name_it_and_never_the_token(code: int, message: str, expected: Expected) -> None:
    foreign = importlib.import_module("pymilvus").MilvusException(code=code, message=message)
    with (
        raises(expected) as caught,
        translated_errors(Place("http://milvus:19530", TOKEN, "docs"), "wiki"),
    ):
        raise foreign
    assert "Secret" not in f"{caught.value}{getattr(caught.value, 'params', '')}"


def test_no_route_of_the_api_makes_or_shows_a_connection(engine: Engine) -> None:
    """SC-11: a request must not make the server connect wherever it says."""
    described = create_api(lambda: engine).openapi()
    assert "/collections" in described["paths"]
    assert "connect" not in " ".join(described["paths"])
    assert "database" not in json.dumps(described)
