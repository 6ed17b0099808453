"""What every place for connections does: the file of a machine, and the table that replicas share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from engine.database.databases import Databases
from engine.library.values import FieldMap
from engine.settings import Settings
from plugins.connected.errors import ConnectionsDamaged
from plugins.connected.stored_connections import KeptConnections, kept_connections
from plugins.connected.values import Connection, Place

TOKEN = "root:Secret-7"
WIKI = Connection(
    name="wiki",
    place=Place("http://milvus:19530", TOKEN, "docs"),
    collection="their_wiki",
    fields=FieldMap("pk", "chunk_text", "embedding", 'metadata["source"]'),
    dim=768,
    metric="IP",
    embedding_model="ollama:nomic-embed-text",
    query_prefix="search_query: ",
    passage_prefix=None,
    connected_at="2026-01-02T03:04:05+00:00",
)
AWAY = replace(WIKI, place=replace(WIKI.place, address="http://127.0.0.1:9"))
OPEN = replace(WIKI, name="百科", place=Place("/data/theirs.db"), query_prefix="检索：", passage_prefix="")
Opened = Callable[[], KeptConnections]


@pytest.fixture(params=["file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens the same place as another process would."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    settings = Settings(data_dir=tmp_path / "data", database_url=SecretStr(url))
    made: list[Databases] = []

    def another() -> KeptConnections:
        made.append(Databases.of(settings))
        return kept_connections(settings, made[-1])

    yield another
    for databases in made:
        databases.close()


def test_without_any_there_are_none_and_nothing_is_wrong(opened: Opened, tmp_path: Path) -> None:
    assert opened().read() == ({}, None)
    assert not (tmp_path / "data").exists()


def test_what_was_written_is_read_again_by_every_process(opened: Opened) -> None:
    here, there = opened(), opened()
    here.write([WIKI, OPEN])
    both = ({"wiki": WIKI, "百科": OPEN}, None)
    assert here.read() == there.read() == opened().read() == both


def test_what_is_left_out_is_forgotten_and_what_differs_is_replaced(opened: Opened) -> None:
    here = opened()
    here.write([WIKI, OPEN])
    here.read()
    changed = replace(WIKI, collection="other", place=replace(WIKI.place, token="root:Secret-8"))
    here.write([changed])
    assert here.read() == opened().read() == ({"wiki": changed}, None)
    here.write([])
    assert here.read() == opened().read() == ({}, None)


def test_what_cannot_be_written_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    away = "postgresql://me:secret@127.0.0.1:9/none"
    for url in ("", away):
        settings = Settings(data_dir=tmp_path / "data", database_url=SecretStr(url))
        kept = kept_connections(settings, Databases.of(settings))
        with pytest.raises(ConnectionsDamaged) as refused:
            kept.write([WIKI])
        assert "ecret" not in f"{refused.value}"


def test_a_token_is_in_no_text_of_a_connection() -> None:
    assert "Secret" not in f"{WIKI!r}{WIKI.place!r}"
