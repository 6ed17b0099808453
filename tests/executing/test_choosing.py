"""Which jobs go to a cluster, and what is refused with what to do (TM-15)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from engine.errors import ClusterNeedsServers, ClusterPackageMissing, InvalidSettings
from engine.executing import choosing
from engine.executing.choosing import WORTH_A_CLUSTER, place_for
from engine.executing.cluster import Place
from engine.executing.engines import plain_settings
from engine.settings import Settings

SERVERS = {"milvus_uri": "http://milvus.test:19530", "database_url": "postgresql://w:secret@db.test/w"}


def settings(tmp_path: Path, **given: object) -> Settings:
    return Settings.load(data_dir=tmp_path, **given)


def test_without_an_address_and_for_a_small_job_threads_do_it(tmp_path: Path) -> None:
    assert place_for(settings(tmp_path), 1_000_000, 2) is None
    # Not even looked at: a small job needs no servers.
    assert place_for(settings(tmp_path, ray_address="auto"), WORTH_A_CLUSTER - 1, 2) is None


def test_a_large_job_goes_to_the_cluster_that_is_named(tmp_path: Path) -> None:
    named = settings(tmp_path, ray_address="ray://head.test:10001", ray_workers=7, **SERVERS)
    assert place_for(named, WORTH_A_CLUSTER, 2) == Place("ray://head.test:10001", 7, 2)


def test_a_cluster_without_servers_is_refused_by_the_names_of_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ClusterNeedsServers, match="WORKBENCH_MILVUS_URI, WORKBENCH_DATABASE_URL"):
        place_for(settings(tmp_path, ray_address="local"), WORTH_A_CLUSTER, 2)
    with pytest.raises(ClusterNeedsServers, match="not set: WORKBENCH_DATABASE_URL") as refused:
        place_for(settings(tmp_path, ray_address="local", milvus_uri=SERVERS["milvus_uri"]), WORTH_A_CLUSTER, 2)
    assert "empty WORKBENCH_RAY_ADDRESS" in refused.value.remedy


def test_a_cluster_without_its_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "find_spec", lambda name: None)
    with pytest.raises(ClusterPackageMissing, match="pip install ray"):
        place_for(settings(tmp_path, ray_address="auto", **SERVERS), WORTH_A_CLUSTER, 2)


@pytest.mark.parametrize("address", ["auto", "local", "ray://head.test:10001", "10.0.0.1:6379", ""])
def test_addresses_that_can_be(tmp_path: Path, address: str) -> None:
    assert settings(tmp_path, ray_address=f" {address} ").ray_address == address


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
