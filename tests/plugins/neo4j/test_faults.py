"""What the Neo4j driver says means something of ours, at once and with a remedy (GH-03)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import exceptions as said

from engine.errors import GraphStoreError, InvalidSettings
from engine.knowledge.graph import opening
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.settings import Settings
from plugins.neo4j.errors import GraphDatabaseMissing, GraphDriverMissing, GraphRefused, GraphUnreachable
from plugins.neo4j.session import ANSWERED, REFUSED, UNREACHABLE, Neo4jSession
from plugins.neo4j.settings import Neo4jSettings
from plugins.neo4j.store import Neo4jGraphs
from tests.contracts.graph_stores import Neo4jSpaces
from tests.support.graphs import told

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
    assert isinstance(error, GraphRefused) == issubclass(kind, REFUSED)
    assert isinstance(error, GraphUnreachable) == issubclass(kind, UNREACHABLE)


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        ("Neo.ClientError.Security.AuthenticationRateLimit", GraphRefused),
        ("Neo.ClientError.Security.Unauthorized", GraphRefused),
        ("Neo.ClientError.Database.DatabaseNotFound", GraphDatabaseMissing),
        ("Neo.ClientError.Statement.SyntaxError", GraphStoreError),
    ],
)
def test_codes_of_the_server_have_errors_of_their_own(
    code: str, ours: type[GraphStoreError], session: Neo4jSession
) -> None:
    error = session.fault(said.Neo4jError._hydrate_neo4j(code=code, message="It said so"))
    assert type(error) is ours


def test_a_server_that_is_not_there_is_told_at_once_and_without_retries(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        store = Neo4jGraphs(f"bolt://127.0.0.1:{taken.getsockname()[1]}", "neo4j", "secret")

        async def ask() -> None:
            try:
                for work in (store.describe("docs"), store.begin("docs", "builtin"), store.look()):
                    with pytest.raises(GraphUnreachable):
                        await work
            finally:
                await store.close()

        asyncio.run(ask())
    assert not [record for record in caplog.records if "retried" in record.message]


def test_the_settings_choose_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(opening.graph_store(Settings.load(data_dir=tmp_path)), SqliteGraphs)
    served = Settings.load(data_dir=tmp_path, neo4j_uri=ADDRESS)
    assert isinstance(opening.graph_store(served), Neo4jGraphs)
    monkeypatch.setattr("plugins.neo4j.plugin.find_spec", lambda _: None)
    with pytest.raises(GraphDriverMissing):
        opening.graph_store(served)


def test_user_and_password_in_the_address_are_kept_apart(tmp_path: Path) -> None:
    settings = Settings.load(data_dir=tmp_path, neo4j_uri="neo4j+s://reader:pass%2Fword@graphs.example:7687/")
    chosen = settings.of(Neo4jSettings)
    assert chosen.neo4j_uri == "neo4j+s://graphs.example:7687"
    assert (chosen.neo4j_user, chosen.neo4j_password.get_secret_value()) == ("reader", "pass/word")
    set_apart = Settings.load(data_dir=tmp_path, neo4j_uri="bolt://a:b@h", neo4j_user="c", neo4j_password="d").of(
        Neo4jSettings
    )
    assert (set_apart.neo4j_uri, set_apart.neo4j_user) == ("bolt://h", "c")
    assert set_apart.neo4j_password.get_secret_value() == "d"


@pytest.mark.parametrize("address", ["http://127.0.0.1:7474", "bolt://", "127.0.0.1:7687", "bolt://h:x", "bolt://h/db"])
def test_an_address_that_is_none_of_a_neo4j_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="WORKBENCH_NEO4J_URI"):
        Settings.load(data_dir=tmp_path, neo4j_uri=address)


def test_a_neo4j_is_told_with_its_version_and_shared_by_writers_and_spaces(neo4j_graphs: Neo4jSpaces) -> None:
    async def whole() -> None:
        one, two, elsewhere = neo4j_graphs("t_shared"), neo4j_graphs("t_shared"), neo4j_graphs("t_elsewhere")
        try:
            await one.begin("docs", "builtin")
            await two.begin("docs", "builtin")
            adding = [
                store.add("docs", [told(f"{name} {number}", f"Shared -X-> {name} {number}")])
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


def test_a_neo4j_tells_a_wrong_password_from_a_database_that_is_not_there(neo4j_graphs: Neo4jSpaces) -> None:
    right = neo4j_graphs("t_refused")._server
    wrong = Neo4jGraphs(right.address, "neo4j", "wrong password")
    nowhere = Neo4jSession(right.address, *(right._auth or ("", "")), "nosuchdatabase")

    async def ask() -> None:
        with pytest.raises(GraphRefused):
            await wrong.look()
        with pytest.raises(GraphDatabaseMissing):
            await nowhere.version()
        await wrong.close()
        await nowhere.close()

    asyncio.run(ask())
