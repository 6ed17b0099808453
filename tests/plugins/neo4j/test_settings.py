"""The settings choose where graphs are kept (GH-03)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from components.common.i18n import words_for
from engine.errors import InvalidSettings
from engine.knowledge.graph.graph_home import graph_home
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.plugins import Plugin
from engine.settings import Settings
from pages.parts.system.health import part_facts
from plugins.neo4j.errors import DRIVER_MISSING
from plugins.neo4j.settings import Neo4jSettings
from plugins.neo4j.store import Neo4jGraphs
from tests.system.hosting import hosting

ADDRESS = "bolt://127.0.0.1:7687"


def test_the_settings_choose_the_store(tmp_path: Path) -> None:
    assert isinstance(graph_home(Settings.load(data_dir=tmp_path)).open(), SqliteGraphs)
    assert isinstance(graph_home(Settings.load(data_dir=tmp_path, neo4j_uri=ADDRESS)).open(), Neo4jGraphs)


def test_without_the_driver_its_command_stands_where_the_graphs_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Plugin, "missing", property(lambda _: "pip install neo4j"))
    with hosting(tmp_path, neo4j_uri=ADDRESS) as host:
        (found,) = [item for item in host.health() if item.part == "graphs"]
    assert (found.health, found.detail["address"]) == ("down", ADDRESS)
    assert found.fault is not None and "neo4j" in found.fault.remedy
    assert found.fault.code == DRIVER_MISSING.code


def test_user_and_password_in_the_address_are_kept_apart(tmp_path: Path) -> None:
    address = "neo4j+s://reader:pass%2Fword@graphs.example:7687/"
    own = Settings.load(data_dir=tmp_path, neo4j_uri=address).of(Neo4jSettings)
    assert own.neo4j_uri == "neo4j+s://graphs.example:7687"
    assert (own.neo4j_user, own.neo4j_password.get_secret_value()) == ("reader", "pass/word")
    given = {"neo4j_uri": "bolt://a:b@h", "neo4j_user": "c", "neo4j_password": "d"}
    set_apart = Settings.load(data_dir=tmp_path, **given).of(Neo4jSettings)
    assert (set_apart.neo4j_uri, set_apart.neo4j_user) == ("bolt://h", "c")
    assert set_apart.neo4j_password.get_secret_value() == "d"


@pytest.mark.parametrize("address", ["http://127.0.0.1:7474", "bolt://", "127.0.0.1:7687", "bolt://h:x", "bolt://h/db"])
def test_an_address_that_is_none_of_a_neo4j_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="WORKBENCH_NEO4J_URI"):
        Settings.load(data_dir=tmp_path, neo4j_uri=address)


def test_a_neo4j_that_is_not_there_is_down_and_its_password_is_not_shown(tmp_path: Path) -> None:
    with hosting(tmp_path, neo4j_uri="bolt://me:geheim@127.0.0.1:1") as host:
        (found,) = [item for item in host.health() if item.part == "graphs"]
    assert (found.health, found.detail) == ("down", {"kind": "neo4j", "address": "bolt://127.0.0.1:1"})
    assert found.fault is not None and found.fault.code == "WB231"
    assert "geheim" not in str(found)
    assert part_facts(found, words_for("zh"))[0] == "Neo4j"
    there = replace(found, health="ok", detail={**found.detail, "version": "5.26.0 community", "graphs": "2"})
    assert part_facts(there, words_for("en"))[0] == "Neo4j 5.26.0 community"
