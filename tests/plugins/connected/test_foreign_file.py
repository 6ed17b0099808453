"""The file of connections: private, written whole, and never in the way of a start."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from plugins.connected.errors import ConnectionsDamaged
from plugins.connected.file import ConnectionFile
from tests.plugins.connected.test_kept_connections import TOKEN, WIKI


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "connections.json"


def test_only_its_owner_can_read_the_file(path: Path) -> None:
    ConnectionFile(path).write([WIKI])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [item.name for item in path.parent.iterdir()] == ["connections.json"]


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
