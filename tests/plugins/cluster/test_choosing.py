"""Which jobs go to a cluster, what is refused with what to do, and what a worker is given (TM-15)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from engine import plugins
from engine.distributed import Recipe
from engine.engine import Engine
from engine.errors import InvalidSettings
from engine.people import acting_as, current_user
from engine.plugins import executor_of
from engine.settings import Settings
from plugins.cluster.errors import NEEDS_SERVERS, PACKAGE_MISSING
from plugins.cluster.executor import ClusterExecutor, Place
from plugins.cluster.plugin import WORTH_A_CLUSTER
from plugins.cluster.settings import ClusterSettings
from plugins.cluster.worker_engine import acting_for, plain_person, plain_settings
from tests.api.served import engine_of
from tests.support.errors import raises
from tests.support.people import EDITOR, signing_in

SERVERS = {"milvus_uri": "http://milvus.test:19530", "database_url": "postgresql://w:secret@db.test/w"}


def settings(tmp_path: Path, **given: object) -> Settings:
    return Settings.load(data_dir=tmp_path, **given)


def place_for(settings: Settings, blocks: int, at_once: int) -> Place | None:
    executor = executor_of(settings, Recipe("nothing:here"), blocks, at_once)
    assert executor is None or isinstance(executor, ClusterExecutor)
    return None if executor is None else executor._place


def test_without_an_address_and_for_a_small_job_threads_do_it(tmp_path: Path) -> None:
    assert place_for(settings(tmp_path), 1_000_000, 2) is None
    # Not even looked at: a small job needs no servers.
    assert place_for(settings(tmp_path, ray_address="auto"), WORTH_A_CLUSTER - 1, 2) is None


def test_a_large_job_goes_to_the_cluster_that_is_named(tmp_path: Path) -> None:
    named = settings(tmp_path, ray_address="ray://head.test:10001", ray_workers=7, **SERVERS)
    assert place_for(named, WORTH_A_CLUSTER, 2) == Place("ray://head.test:10001", 7, 2)


def test_a_cluster_without_servers_is_refused_by_the_names_of_what_is_missing(tmp_path: Path) -> None:
    with raises(NEEDS_SERVERS, match="WORKBENCH_MILVUS_URI, WORKBENCH_DATABASE_URL"):
        place_for(settings(tmp_path, ray_address="local"), WORTH_A_CLUSTER, 2)
    with raises(NEEDS_SERVERS, match="not set: WORKBENCH_DATABASE_URL") as refused:
        place_for(settings(tmp_path, ray_address="local", milvus_uri=SERVERS["milvus_uri"]), WORTH_A_CLUSTER, 2)
    assert "empty WORKBENCH_RAY_ADDRESS" in refused.value.remedy


def test_a_cluster_without_its_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "find_spec", lambda name: None)
    with raises(PACKAGE_MISSING, match="pip install ray"):
        place_for(settings(tmp_path, ray_address="auto", **SERVERS), WORTH_A_CLUSTER, 2)


@pytest.mark.parametrize("address", ["auto", "local", "ray://head.test:10001", "10.0.0.1:6379", ""])
def test_addresses_that_can_be(tmp_path: Path, address: str) -> None:
    assert settings(tmp_path, ray_address=f" {address} ").of(ClusterSettings).ray_address == address


@pytest.mark.parametrize("address", ["yes", "http://head.test:10001", "ray://", "head.test"])
def test_addresses_that_cannot_be(tmp_path: Path, address: str) -> None:
    with pytest.raises(InvalidSettings, match="WORKBENCH_RAY_ADDRESS"):
        settings(tmp_path, ray_address=address)


def test_a_worker_gets_what_was_set_and_has_a_folder_of_its_own(tmp_path: Path) -> None:
    app = settings(
        tmp_path, ray_address="auto", openai_api_key=SecretStr("sk"), allowed_hosts="a.test,b.test", **SERVERS
    )
    plain = plain_settings(app)
    assert plain["openai_api_key"] == "sk" and plain["database_url"] == SERVERS["database_url"]
    assert "data_dir" not in plain and "ray_address" not in plain and "call_timeout_s" not in plain
    made = Settings(**plain)
    assert made.allowed_hosts == ("a.test", "b.test")
    assert "call_timeout_s" not in made.model_fields_set, "what nobody set is learned"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with engine_of(tmp_path) as opened:
        yield opened


def test_work_on_another_machine_is_done_for_whoever_began_it(engine: Engine) -> None:
    someone = replace(EDITOR, groups=frozenset({"clinic"}), hidden=frozenset({"ward"}))
    assert plain_person() is None
    with signing_in(engine):
        with acting_as(someone):
            sent_along = json.loads(json.dumps(plain_person()))
        with acting_for(sent_along):
            assert current_user() == someone
