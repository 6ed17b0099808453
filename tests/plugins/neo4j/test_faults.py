"""What the Neo4j driver says means something of ours, at once and with a remedy (GH-03)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator

import pytest
from neo4j import exceptions as said

from engine.errors import GraphStoreError
from engine.errors.base import BoundMessage
from plugins.neo4j.errors import DATABASE_MISSING, FAILED, SERVER_REFUSES, SERVER_UNREACHABLE
from plugins.neo4j.session import ANSWERED, REFUSED, UNREACHABLE, Neo4jSession
from plugins.neo4j.store import Neo4jGraphs
from tests.support.errors import raises
from tests.support.graphs import reading

Spaces = Callable[[str], Neo4jGraphs]
ADDRESS = "bolt://127.0.0.1:7687"


def kinds(root: type[Exception]) -> Iterator[type[Exception]]:
    yield root
    for child in root.__subclasses__():
        yield from kinds(child)


@pytest.fixture
def session() -> Neo4jSession:
    return Neo4jSession(ADDRESS, "neo4j", "secret", "docs")


@pytest.mark.parametrize("kind", [*kinds(said.Neo4jError), *kinds(said.DriverError)], ids=lambda kind: kind.__name__)
def test_every_exception_of_the_driver_is_translated(kind: type[Exception], session: Neo4jSession) -> None:
    assert issubclass(kind, (*UNREACHABLE, *REFUSED, *ANSWERED))
    error = session.fault(kind.__new__(kind))
    assert error.remedy.endswith(".") and error.fact.endswith(".")
    assert "secret" not in str(error)
    assert (error.code == SERVER_REFUSES.code) == issubclass(kind, REFUSED)
    assert (error.code == SERVER_UNREACHABLE.code) == issubclass(kind, UNREACHABLE)


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        ("Neo.ClientError.Security.AuthenticationRateLimit", SERVER_REFUSES),
        ("Neo.ClientError.Security.Unauthorized", SERVER_REFUSES),
        ("Neo.ClientError.Database.DatabaseNotFound", DATABASE_MISSING),
        ("Neo.ClientError.Statement.SyntaxError", FAILED),
    ],
)
def test_codes_of_the_server_have_errors_of_their_own(
    code: str, ours: BoundMessage[GraphStoreError], session: Neo4jSession
) -> None:
    error = session.fault(said.Neo4jError._hydrate_neo4j(code=code, message="It said so"))
    assert error.code == ours.code


def test_a_server_that_is_not_there_is_reported_at_once_and_without_retries(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        store = Neo4jGraphs(f"bolt://127.0.0.1:{taken.getsockname()[1]}", "neo4j", "secret")

        async def ask() -> None:
            try:
                for work in (store.describe("docs"), store.begin("docs", "builtin"), store.look()):
                    with raises(SERVER_UNREACHABLE):
                        await work
            finally:
                await store.close()

        asyncio.run(ask())
    assert not [record for record in caplog.records if "retried" in record.message]


def test_a_neo4j_is_reported_with_its_version_and_shared_by_writers_and_spaces(
    neo4j_graphs: Spaces,
) -> None:
    async def whole() -> None:
        one, two, elsewhere = neo4j_graphs("t_shared"), neo4j_graphs("t_shared"), neo4j_graphs("t_elsewhere")
        try:
            await one.begin("docs", "builtin")
            await two.begin("docs", "builtin")
            adding = [
                store.add("docs", [reading(f"{name} {number}", f"Shared -X-> {name} {number}")])
                for number in range(8)
                for name, store in (("one", one), ("two", two))
            ]
            await asyncio.gather(*adding)
            (shared,) = await one.named("docs", ["shared"])
            assert (shared.degree, len(shared.passages)) == (16, 16)
            place = await one.look()
            assert (place.graphs, place.size) == (1, None)
            assert place.version[0].isdigit()
            assert await elsewhere.describe("docs") is None
        finally:
            await one.drop("docs")
            for store in (one, two, elsewhere):
                await store.close()

    asyncio.run(whole())


def test_a_neo4j_tells_a_wrong_password_from_a_database_that_is_not_there(
    neo4j_graphs: Spaces,
) -> None:
    right = neo4j_graphs("t_refused")._server
    wrong = Neo4jGraphs(right.address, "neo4j", "wrong password")
    nowhere = Neo4jSession(right.address, *(right._auth or ("", "")), "nosuchdatabase")

    async def ask() -> None:
        with raises(SERVER_REFUSES):
            await wrong.look()
        with raises(DATABASE_MISSING):
            await nowhere.version()
        await wrong.close()
        await nowhere.close()

    asyncio.run(ask())
