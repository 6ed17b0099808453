"""What a collection adds up to is read once and not for every run, and is right after every change, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.knowledge import milvus_sums
from engine.knowledge.milvus_store import MilvusStore
from engine.roles import CollectionInfo
from tests.contracts.stores import Case, axes, passage


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every change had been made a while ago."""
    monkeypatch.setattr(milvus_sums, "_SETTLED_S", -60.0)


@pytest.fixture
def other(case: Case) -> Iterator[MilvusStore]:
    """Another process on the same server; an embedded store has none."""
    if case.store.uri.endswith(".db"):
        yield case.store
        return
    store = MilvusStore(case.store.uri, timeout_s=30)
    yield store
    case.run(store.close())


def counting(case: Case, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the collections whose sources are added up from now on."""
    session = case.store._session
    assert session is not None
    catalogue, read = session.catalogue, []
    honest, honest_all = catalogue.sources, catalogue.all_sources

    def one(name: str) -> Any:
        read.append(name)
        return honest(name)

    def every() -> Any:
        read.append("*")
        return honest_all()

    monkeypatch.setattr(catalogue, "sources", one)
    monkeypatch.setattr(catalogue, "all_sources", every)
    return read


def listed(case: Case) -> CollectionInfo:
    found: list[CollectionInfo] = case.run(case.store.collections())
    (info,) = [info for info in found if info.name == case.name]
    return info


def test_sources_are_added_up_once_until_they_change(
    case: Case, other: MilvusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.create()
    case.insert(passage("a.md", 1), passage("a.md", 2), passage("b.md", 1))
    before = case.run(case.store.describe(case.name))
    read = counting(case, monkeypatch)
    assert [case.run(case.store.describe(case.name)) for _ in range(3)] == [before] * 3
    assert listed(case) == before
    assert case.name not in read and "*" not in read
    case.run(other.insert(case.name, [passage("c.md", 1)], axes(1)))
    after = case.run(case.store.describe(case.name))
    assert (after.passages, after.sources) == (4, 3)
    assert after.fingerprint != before.fingerprint
    case.run(other.delete_source(case.name, "a.md"))
    assert (listed(case).passages, case.run(case.store.describe(case.name)).passages) == (2, 2)
    assert case.run(case.store.describe(case.name)).fingerprint != after.fingerprint


def test_a_collection_made_again_begins_at_nothing(case: Case, other: MilvusStore) -> None:
    case.create()
    case.insert(passage("a.md", 1))
    assert case.run(case.store.describe(case.name)).passages == 1
    case.run(other.drop(case.name))
    case.run(other.create(CollectionInfo(case.name, "model:a", 8, "", "", "2026-01-01")))
    assert (listed(case).passages, case.run(case.store.describe(case.name)).passages) == (0, 0)


def test_what_an_earlier_version_wrote_is_added_up_every_time(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes no revision, so nothing says whether its sources have changed."""
    case.create()
    case.insert(passage("a.md", 1))
    client = case.client()
    client.delete("workbench_catalog", filter=f'kind == "revision" and collection == "{case.name}"')
    read = counting(case, monkeypatch)
    assert [case.run(case.store.describe(case.name)).passages for _ in range(2)] == [1, 1]
    assert read.count(case.name) == 2


def test_what_has_just_changed_is_not_kept_on_a_server(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may answer with what is some seconds old."""
    monkeypatch.setattr(milvus_sums, "_SETTLED_S", 3600.0)
    case.create()
    case.insert(passage("a.md", 1))
    case.run(case.store.describe(case.name))
    read = counting(case, monkeypatch)
    case.run(case.store.describe(case.name))
    assert (case.name in read) == ("://" in case.store.uri)
