"""The file of connections: private, written whole, and never in the way of a start."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from engine.errors import ConnectionsDamaged
from engine.knowledge.foreign_file import ConnectionFile
from engine.library.values import Connection, FieldMap, Place

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "connections.json"


def test_what_was_written_is_read_again_and_only_the_owner_can_read_it(path: Path) -> None:
    ConnectionFile(path).write([WIKI])
    assert ConnectionFile(path).read() == ({"wiki": WIKI}, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [item.name for item in path.parent.iterdir()] == ["connections.json"]


def test_without_a_file_there_are_no_connections_and_nothing_is_wrong(path: Path) -> None:
    assert ConnectionFile(path).read() == ({}, None)
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        b'{"format": 1, "connections": [{"token": "root:Secret-7"',
        b"\xff\xfe\x00",
        b"[]",
        b'{"format": 9}',
        b"",
        b"[" * 99_999,
    ],
    ids=["torn", "no utf-8", "a list", "other format", "empty", "deep"],
)
def test_a_damaged_file_is_kept_aside_and_said_without_what_is_in_it(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    found, fault = ConnectionFile(path).read()
    assert found == {}
    assert isinstance(fault, ConnectionsDamaged)
    assert "Secret" not in f"{fault}{fault.params}"
    assert Path(fault.params["path"]).read_bytes() == content
    assert ConnectionFile(path).read() == ({}, None)


def test_one_bad_entry_does_not_take_the_sound_ones_with_it(path: Path) -> None:
    ConnectionFile(path).write([WIKI])
    kept = json.loads(path.read_text())
    kept["connections"].insert(0, {"name": "broken", "token": TOKEN})
    path.write_text(json.dumps(kept))
    found, fault = ConnectionFile(path).read()
    assert found == {"wiki": WIKI}
    assert fault is not None and Path(fault.params["path"]).exists()
    assert ConnectionFile(path).read() == ({"wiki": WIKI}, None)


def test_a_disk_that_does_not_let_it_be_written_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(ConnectionsDamaged, match="could not be written"):
        ConnectionFile(tmp_path / "data" / "connections.json").write([WIKI])


def test_a_token_is_in_no_text_of_a_connection() -> None:
    assert "Secret" not in f"{WIKI!r}{WIKI.place!r}"
