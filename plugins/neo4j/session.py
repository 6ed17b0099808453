"""Transactions on a Neo4j server, and what its driver says as errors of our own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import neo4j
from neo4j import exceptions as said

from engine.errors import EngineClosed, GraphStoreError
from plugins.neo4j.errors import DATABASE_MISSING, FAILED, SERVER_REFUSES, SERVER_UNREACHABLE

Transaction = neo4j.AsyncTransaction
_Given = ParamSpec("_Given")
_Done = TypeVar("_Done")

_CONNECT_S = 2.5
_IDLE_S = 30.0
"""A connection that was not used for longer is tried out first: the server may have been started again."""
_PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Before a transaction that met another is tried again. The driver's own retries are not used: they take seconds to say
that a server is down, in every round of a run."""
_EXPIRED_TRIES = 3
"""How often a connection that a former server left behind is replaced."""
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
ANSWERED: tuple[type[Exception], ...] = (said.Neo4jError, said.DriverError)
"""Anything else that a server or its driver says."""
_REFUSED_CODES = "Neo.ClientError.Security."
"""Also for too many attempts with a wrong password, which the driver has no class for."""
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
        return await self._transact(neo4j.READ_ACCESS, lambda tx: work(tx, *args, **kwargs))

    async def write(
        self,
        work: Callable[Concatenate[Transaction, _Given], Awaitable[_Done]],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Done:
        """Do all of ``work`` or nothing, from the start again where it met another; raises ``GraphStoreError``."""
        await self._prepare()
        return await self._transact(neo4j.WRITE_ACCESS, lambda tx: work(tx, *args, **kwargs))

    async def version(self) -> str:
        """Version and edition of the server."""

        async def ask(tx: Transaction) -> str:
            query = "CALL dbms.components() YIELD versions, edition RETURN versions[0] + ' ' + edition AS name LIMIT 1"
            (row,) = await rows(tx, query)
            return str(row["name"])

        return await self.read(ask)

    async def close(self) -> None:
        self._closed = True
        if self._driver is not None:
            await self._driver.close()
            self._driver = None

    async def _transact(self, access: str, work: Callable[[Transaction], Awaitable[_Done]]) -> _Done:
        with self._translated_errors():
            for attempt, pause in enumerate(_PAUSES_S, 1):
                try:
                    return await self._once(access, work)
                except (said.TransientError, said.SessionExpired) as error:
                    # Expired is a connection that an earlier server left behind; the next attempt makes a new one.
                    expired = isinstance(error, said.SessionExpired) and attempt > _EXPIRED_TRIES
                    if expired or isinstance(error, said.DatabaseUnavailable):
                        raise
                    # Uneven, or two transactions that met once would meet again.
                    await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            return await self._once(access, work)

    async def _once(self, access: str, work: Callable[[Transaction], Awaitable[_Done]]) -> _Done:
        async with self._session(access) as session, await session.begin_transaction() as tx:
            done = await work(tx)
            await tx.commit()
            return done

    async def _prepare(self) -> None:
        """Make constraints and indexes, once; what is there already is left as it is."""
        async with self._preparing:
            if self._prepared:
                return
            with self._translated_errors():
                await self._make_schema()
            self._prepared = True

    async def _make_schema(self) -> None:
        """Statement by statement, each one again where another writer makes the same at the same time."""
        for pause in _PAUSES_S:
            try:
                return await self._all_of_schema()
            except said.TransientError as error:
                if isinstance(error, said.DatabaseUnavailable):
                    raise
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
        return await self._all_of_schema()

    async def _all_of_schema(self) -> None:
        async with self._session(neo4j.WRITE_ACCESS) as session:
            for statement in (*_SCHEMA, "CALL db.awaitIndexes(60)"):
                await (await session.run(statement)).consume()

    def _session(self, access: str) -> neo4j.AsyncSession:
        if self._closed:
            raise EngineClosed()
        self._driver = self._driver or self._connect()
        return self._driver.session(database=self._database or None, default_access_mode=access)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (*UNREACHABLE, *REFUSED, *ANSWERED) as error:
            raise self.fault(error) from None

    def _connect(self) -> neo4j.AsyncDriver:
        return neo4j.AsyncGraphDatabase.driver(
            self.address,
            auth=self._auth,
            connection_timeout=_CONNECT_S,
            connection_acquisition_timeout=2 * _CONNECT_S,
            liveness_check_timeout=_IDLE_S,
            # Labels that no node has yet are no news, and the first question of a fresh database would be full of them.
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )

    def fault(self, error: Exception) -> GraphStoreError:
        """Turn an exception of the driver into an error of ours."""
        # What the driver raises of itself has the class of a server's error, and no code.
        code: str = getattr(error, "code", None) or ""
        if code == _NO_DATABASE:
            return DATABASE_MISSING(database=self._database, address=self.address)
        if code.startswith(_REFUSED_CODES) or isinstance(error, REFUSED):
            return SERVER_REFUSES(address=self.address)
        if isinstance(error, UNREACHABLE):
            return SERVER_UNREACHABLE(address=self.address)
        message = " ".join(str(error).split())[:_LONGEST_SAID].rstrip(".")
        return FAILED(address=self.address, why=f"{message or type(error).__name__}.")


async def rows(tx: Transaction, query: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return a query's rows; outside values are parameters and never part of the query."""
    result = await tx.run(query, dict(params or {}))
    return await result.data()
