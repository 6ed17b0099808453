"""Connections that replicas share: tokens are encrypted, and each replica needs the key: TM-06."""

from __future__ import annotations

import base64
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from engine.cli.main import main
from engine.database.databases import Databases
from engine.database.tables import CONNECTIONS, SECRET_CHECKS
from engine.engine import Engine
from engine.errors import InvalidSettings, UnknownCollection
from engine.settings import Settings
from plugins.connected.connections import Connections
from plugins.connected.errors import ConnectionsDamaged, SecretKeyUnfit
from plugins.connected.file import ConnectionFile
from plugins.connected.sealing import KEY_FILE
from plugins.connected.stored_connections import KeptConnections, kept_connections
from tests.plugins.connected.test_kept_connections import OPEN, TOKEN, WIKI
from tests.support.gates import until

FIRST, SECOND = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 255))
Machine = Callable[..., KeptConnections]


@pytest.fixture
def machine(postgres_url: str, tmp_path: Path) -> Iterator[Machine]:
    """The connections of a replica with a data folder and a key of its own, on one database."""
    made: list[Databases] = []

    def replica(name: str = "a", key: str = "") -> KeptConnections:
        settings = Settings(data_dir=tmp_path / name, database_url=SecretStr(postgres_url), secret_key=SecretStr(key))
        made.append(Databases.of(settings))
        return kept_connections(settings, made[-1])

    yield replica
    for databases in made:
        databases.close()


def stored(url: str) -> str:
    """All that the database knows of connections and keys."""
    with (
        closing(Databases.of(Settings(database_url=SecretStr(url)))) as databases,
        databases.runs.reading() as connection,
    ):
        return "".join(f"{connection.execute(select(table)).all()}" for table in (CONNECTIONS, SECRET_CHECKS))


def test_on_postgres_no_token_is_readable_in_the_database(machine: Machine, postgres_url: str) -> None:
    machine().write([WIKI])
    assert "milvus:19530" in stored(postgres_url)
    assert TOKEN not in stored(postgres_url) and "Secret" not in stored(postgres_url)


def test_on_postgres_a_key_is_made_for_the_first_token_and_its_owner_alone_can_read_it(
    machine: Machine, tmp_path: Path
) -> None:
    here, key = machine(), tmp_path / "a" / KEY_FILE
    here.write([OPEN])
    assert not key.exists()
    here.write([OPEN, WIKI])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [item.name for item in key.parent.iterdir()] == [KEY_FILE]
    assert machine().read()[0]["wiki"] == WIKI


@pytest.mark.parametrize("key", ["", SECOND], ids=["no key", "another key"])
def test_on_postgres_a_replica_without_the_key_says_which_one_it_needs(
    machine: Machine, postgres_url: str, tmp_path: Path, key: str
) -> None:
    machine("a").write([WIKI])
    other, before = machine("b", key), stored(postgres_url)
    found, fault = other.read()
    assert found == {} and isinstance(fault, SecretKeyUnfit) and "WORKBENCH_SECRET_KEY" in fault.remedy
    with pytest.raises(SecretKeyUnfit):
        other.write([replace(WIKI, name="mine")])
    assert stored(postgres_url) == before
    assert not (tmp_path / "b" / KEY_FILE).exists()
    made = (tmp_path / "a" / KEY_FILE).read_text()
    assert machine("b", made).read() == ({"wiki": WIKI}, None)


def test_on_postgres_a_new_key_in_front_takes_over_from_the_old_one(machine: Machine) -> None:
    machine(key=FIRST).write([WIKI, OPEN])
    assert machine(key=f"{SECOND},{FIRST}").read()[0]["wiki"] == WIKI
    assert machine(key=SECOND).read()[0]["wiki"] == WIKI
    assert isinstance(machine(key=FIRST).read()[1], SecretKeyUnfit)


def test_a_key_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"WORKBENCH_SECRET_KEY.*openssl") as refused:
        Settings.load(data_dir=tmp_path, secret_key="my password")
    assert "my password" not in str(refused.value)


def test_on_postgres_replicas_that_change_different_connections_keep_both(machine: Machine) -> None:
    here, there = machine("a", FIRST), machine("b", FIRST)
    here.write([WIKI])
    there.write([OPEN])
    assert here.read() == there.read() == ({"wiki": WIKI, "百科": OPEN}, None)
    here.write([WIKI])
    assert there.read() == ({"wiki": WIKI}, None)


def test_on_postgres_a_row_that_cannot_be_read_leaves_the_others(machine: Machine, postgres_url: str) -> None:
    here = machine(key=FIRST)
    here.write([WIKI, OPEN])
    with (
        closing(Databases.of(Settings(database_url=SecretStr(postgres_url)))) as databases,
        databases.runs.writing() as connection,
    ):
        connection.execute(update(CONNECTIONS).where(CONNECTIONS.c.name == "百科").values(data="{}"))
    found, fault = here.read()
    assert found == {"wiki": WIKI} and isinstance(fault, ConnectionsDamaged)
    here.write([WIKI, OPEN])
    assert here.read() == ({"wiki": WIKI, "百科": OPEN}, None)


def test_on_postgres_an_engine_sees_what_another_replica_connects_and_forgets(
    machine: Machine, postgres_url: str, tmp_path: Path
) -> None:
    there = machine("b", FIRST)
    url, key = SecretStr(postgres_url), SecretStr(FIRST)
    with Engine.open(Settings(data_dir=tmp_path / "a", database_url=url, secret_key=key)) as engine:
        engine.wait_until_ready()
        assert [item.name for item in engine.collections()] == ["samples"]
        unreachable = replace(OPEN, place=replace(OPEN.place, address=str(tmp_path / "absent.db"), token=TOKEN))
        there.write([unreachable])
        until(lambda: [item.name for item in Connections.of(engine).all()] == ["百科"])
        assert [item.name for item in engine.collections()] == ["samples", "百科"]
        there.write([])
        until(lambda: len(engine.collections()) == 1)
        with pytest.raises(UnknownCollection):
            Connections.of(engine).disconnect("百科")


def test_on_postgres_the_command_that_moves_data_takes_connections_along(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "a"))
    monkeypatch.setenv("WORKBENCH_SECRET_KEY", FIRST)
    file = ConnectionFile(tmp_path / "a" / "connections.json")
    file.write([WIKI, OPEN])
    for _ in range(2):
        assert main(["move-data", "--to", postgres_url]) == 0
    assert TOKEN not in stored(postgres_url)
    assert "connections" in capsys.readouterr().out
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "b"))
    assert main(["move-data", "--from", postgres_url]) == 0
    assert ConnectionFile(tmp_path / "b" / "connections.json").read() == ({"wiki": WIKI, "百科": OPEN}, None)
    ConnectionFile(tmp_path / "b" / "connections.json").write([WIKI, replace(OPEN, name="mine")])
    assert main(["move-data", "--from", postgres_url]) == 1
    assert "connections" in capsys.readouterr().err
