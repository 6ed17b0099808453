"""The way of searching over HTTP: part of a run's configuration, refused by name where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import FullTextMissing
from tests.api.served import FakeCollections, calling
from tests.support.fakes import FakeResources


@pytest.mark.parametrize("method", ["vector", "full_text", "fused"])
def test_a_run_can_be_asked_to_search_in_one_way(tmp_path: Path, method: str) -> None:
    with calling(tmp_path) as (client, engine):
        body = client.post("/api/runs", json={"question": "first", "config": {"search": method}}).json()
        assert body["config"]["search"] == method
        assert engine.record(body["id"]).config.search == method


def test_another_way_of_searching_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, _):
        response = client.post("/api/runs", json={"question": "first", "config": {"search": "sesame"}})
    assert response.status_code == 422
    assert response.json()["field"] == "search"
    assert "fused" in str(response.json()) and "sesame" not in str(response.json())


def test_a_collection_without_full_text_is_a_conflict_with_what_to_do(tmp_path: Path) -> None:
    """SC-11: the request is well formed; the collection is not ready for it."""
    fakes = FakeResources(error=FullTextMissing.of(collection="samples"), knowledge=FakeCollections())
    with calling(tmp_path, fakes) as (client, _):
        response = client.post("/api/runs", json={"question": "first", "config": {"search": "fused"}})
    assert response.status_code == 409
    assert (response.json()["code"], response.json()["success"]) == ("WB217", False)
    assert "page Knowledge" in response.json()["remedy"]
