"""One database of a server for each team: what one has, the others neither see nor find."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.milvus_connection import connect
from engine.knowledge.milvus_store import MilvusStore
from engine.roles import CollectionInfo
from tests.contracts.stores import DIM, axes, clean_up, passage
from tests.support.errors import raises

INFO = CollectionInfo("", "model:a", DIM, "", "", "2026-01-01")


@pytest.fixture
def team(milvus_here: str) -> Iterator[str]:
    """A name that no database of the server has yet; the database is removed afterwards."""
    name = f"team_{uuid.uuid4().hex[:10]}"
    yield name
    client = connect(milvus_here, "", 30, "")
    if name in client.list_databases():
        within = connect(milvus_here, "", 30, name)
        for found in within.list_collections():
            within.drop_collection(found)
        client.drop_database(name)
    clean_up(milvus_here, name)


def test_on_a_server_teams_have_collections_of_the_same_name_apart(milvus_here: str, team: str) -> None:
    """The default database, which earlier versions used, is one of them and stays as it was."""

    async def work() -> None:
        ours, default = MilvusStore(milvus_here, timeout_s=30, database=team), MilvusStore(milvus_here, timeout_s=30)
        try:
            for store, text in ((default, "of everybody"), (ours, "of the team")):
                await store.create(replace(INFO, name=team))
                await store.insert(team, [passage("a.md", 1, text)], axes(1))
            for store, text in ((default, "of everybody"), (ours, "of the team")):
                hits = await store.search(team, axes(1)[0], 5)
                assert [hit.passage.text for hit in hits] == [text]
            await default.drop(team)
            assert [info.name for info in await ours.collections()] == [team]
            with pytest.raises(UnknownCollection):
                await default.describe(team)
        finally:
            await ours.close()
            await default.close()

    asyncio.run(work())


def test_on_a_server_a_missing_database_is_made_once_by_all_who_open_it(milvus_here: str, team: str) -> None:
    async def work() -> None:
        stores = [MilvusStore(milvus_here, timeout_s=30, database=team) for _ in range(4)]
        try:
            await asyncio.gather(*(store.open() for store in stores))
            assert [await store.collections() for store in stores] == [[]] * 4
        finally:
            await asyncio.gather(*(store.close() for store in stores))

    asyncio.run(work())
    client = connect(milvus_here, "", 30, "")
    assert client.list_databases().count(team) == 1
    client.close()


def test_on_a_server_a_database_that_cannot_be_made_is_named(milvus_here: str) -> None:
    impossible = "team-with-a-dash"

    async def work() -> None:
        store = MilvusStore(milvus_here, timeout_s=30, database=impossible)
        try:
            await store.open()
        finally:
            await store.close()

    with raises(StoreError.database_missing) as raised:
        asyncio.run(work())
    assert raised.value.params == {"address": milvus_here, "database": impossible}
