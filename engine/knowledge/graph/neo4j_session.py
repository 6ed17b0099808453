"""Transactions on a Neo4j server, and what its driver says as errors of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import neo4j
from neo4j import exceptions as said

from engine.errors import (
    EngineClosed,
    GraphDatabaseMissing,
    GraphRefused,
    GraphStoreError,
    GraphUnreachable,
)

Transaction = neo4j.AsyncManagedTransaction
_Given = ParamSpec("_Given")
_Done = TypeVar("_Done")

_CONNECT_S = 5.0
_RETRY_S = 5.0
"""How long a transaction that met another is tried again; the driver's own half a minute is more than a run has."""
_LONGEST_SAID = 300

# Every label begins with the name of this program: the database may hold what belongs to others.
_SCHEMA = (
    "CREATE CONSTRAINT workbench_graph IF NOT EXISTS FOR (g:WorkbenchGraph) REQUIRE (g.space, g.collection) IS UNIQUE",
    "CREATE CONSTRAINT workbench_entity IF NOT EXISTS FOR (e:WorkbenchEntity) REQUIRE (e.graph, e.id) IS UNIQUE",
    "CREATE CONSTRAINT workbench_passage IF NOT EXISTS FOR (p:WorkbenchPassage) REQUIRE (p.graph, p.id) IS UNIQUE",
    "CREATE CONSTRAINT workbench_community IF NOT EXISTS FOR (c:WorkbenchCommunity) REQUIRE (c.graph, c.id) IS UNIQUE",
    "CREATE INDEX workbench_entities IF NOT EXISTS FOR (e:WorkbenchEntity) ON (e.graph)",
    "CREATE INDEX workbench_passages IF NOT EXISTS FOR (p:WorkbenchPassage) ON (p.graph)",
    "CREATE INDEX workbench_tellings IF NOT EXISTS FOR ()-[t:WORKBENCH_TELLS]-() ON (t.graph, t.key)",
)

UNREACHABLE: tuple[type[Exception], ...] = (
    said.ServiceUnavailable,
    said.SessionExpired,
    said.ConnectionPoolError,
    said.DatabaseUnavailable,
    said.NotALeader,
    said.ForbiddenOnReadOnlyDatabase,
    OSError,
)
REFUSED: tuple[type[Exception], ...] = (said.AuthError, said.Forbidden, said.AuthConfigurationError)
ANSWERED: tuple[type[Exception], ...] = (said.Neo4jError, said.DriverError, ValueError)
"""Whatever else a server or its driver says; ``ValueError`` is how the driver refuses an address."""
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"


class Neo4jSession:
    """The driver of one server, made by the first call and bound to the event loop of that call."""

    def __init__(self, uri: str, user: str, password: str, database: str = "") -> None:
        self.address = uri
        self._auth = (user, password) if password else None
        self._database = database
        self._driver: neo4j.AsyncDriver | None = None
        self._closed = False
        self._prepared = False
        self._preparing = asyncio.Lock()

    async def read(
        self,
        work: Callable[Concatenate[Transaction, _Given], Awaitable[_Done]],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Done:
        """Do all of ``work`` on one moment of the database; raises ``GraphStoreError``."""
        async with self._session() as session:
            return await session.execute_read(work, *args, **kwargs)

    async def write(
        self,
        work: Callable[Concatenate[Transaction, _Given], Awaitable[_Done]],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Done:
        """Do all of ``work`` or nothing, from the start again where it met another; raises ``GraphStoreError``."""
        await self._prepare()
        async with self._session() as session:
            return await session.execute_write(work, *args, **kwargs)

    async def version(self) -> str:
        """Version and edition of the server."""

        async def ask(tx: Transaction) -> str:
            query = "CALL dbms.components() YIELD versions, edition RETURN versions[0] + ' ' + edition AS told LIMIT 1"
            (row,) = await rows(tx, query)
            return str(row["told"])

        return await self.read(ask)

    async def close(self) -> None:
        self._closed = True
        if self._driver is not None:
            await self._driver.close()
            self._driver = None

    async def _prepare(self) -> None:
        """Make constraints and indexes, once; what is there already is left as it is."""
        async with self._preparing:
            if self._prepared:
                return
            async with self._session() as session:
                for statement in _SCHEMA:
                    await (await session.run(statement)).consume()
                await (await session.run("CALL db.awaitIndexes(60)")).consume()
            self._prepared = True

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[neo4j.AsyncSession]:
        if self._closed:
            raise EngineClosed.now()
        try:
            self._driver = self._driver or self._connect()
            async with self._driver.session(database=self._database or None) as session:
                yield session
        except (*UNREACHABLE, *REFUSED, *ANSWERED) as error:
            raise self.fault(error) from None

    def _connect(self) -> neo4j.AsyncDriver:
        return neo4j.AsyncGraphDatabase.driver(
            self.address,
            auth=self._auth,
            connection_timeout=_CONNECT_S,
            connection_acquisition_timeout=2 * _CONNECT_S,
            max_transaction_retry_time=_RETRY_S,
            # Labels that no node has yet are no news, and the first question of a fresh database would be full of them.
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )

    def fault(self, error: Exception) -> GraphStoreError:
        """What the driver raised, as an error of ours."""
        if isinstance(error, said.Neo4jError) and error.code == _NO_DATABASE:
            return GraphDatabaseMissing.named(self._database, self.address)
        if isinstance(error, REFUSED):
            return GraphRefused.at(self.address)
        if isinstance(error, UNREACHABLE):
            return GraphUnreachable.at(self.address)
        told = " ".join(str(error).split())[:_LONGEST_SAID].rstrip(".")
        return GraphStoreError.answered(self.address, f"{told or type(error).__name__}.")


async def rows(tx: Transaction, query: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """What a query returns; whatever comes from outside is a parameter and never part of the query."""
    result = await tx.run(query, dict(params or {}))
    return await result.data()
