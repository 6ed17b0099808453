"""An engine of fakes behind the same routes and middleware as the app, and ways to call it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.api import middleware
from engine.builtin.embedder import HashingEmbedder
from engine.engine import Engine
from engine.errors import UnknownCollection
from engine.knowledge.ingest import IngestItem, IngestReport
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.values import Account, PassageContext
from engine.roles import CollectionInfo, Embedder, SourceInfo
from engine.running.resources import Resources
from engine.settings import Settings
from tests.support.fake_memory import FakeMemory
from tests.support.fakes import FakeGrader, FakeKnowledge, FakeResources
from tests.support.gates import PATIENCE_S

ADDRESS = "http://127.0.0.1:8501"
ALL = frozenset({"p1", "p2", "p3", "p4", "p5"})
SAMPLES = CollectionInfo("samples", "fake", 3, "", "", "2026-01-01T00:00:00+00:00", passages=5, sources=5)


@dataclass
class FakeCollections(FakeKnowledge):
    """A knowledge base with one collection, which remembers what it was given."""

    given: list[tuple[str, list[IngestItem]]] = field(default_factory=list)
    options: list[tuple[ChunkOptions, str]] = field(default_factory=list)
    held: tuple[str, ...] = ("long.md",)
    """Names of its sources."""
    account: Account | None = None
    """What was read of each."""
    gate: Callable[[], Any] | None = None
    remembered: FakeMemory = field(default_factory=FakeMemory)

    def memory(self) -> FakeMemory:
        return self.remembered

    async def collections(self) -> list[CollectionInfo]:
        return [SAMPLES]

    async def describe(self, collection: str) -> CollectionInfo:
        if collection != SAMPLES.name:
            raise UnknownCollection(name=collection)
        return SAMPLES

    async def sources(self, collection: str) -> list[SourceInfo]:
        await self.describe(collection)
        at = "2026-01-01T00:00:00+00:00"
        return [SourceInfo(name, "Tea", 1, "hash", at, account=self.account) for name in self.held]

    async def embedder_into(self, collection: str, *_: object, **__: object) -> Embedder:
        return HashingEmbedder()

    def context_model(self, context: PassageContext | None, model: str = "") -> str:
        return model if context == "written" else ""

    async def ingest(
        self,
        items: Sequence[IngestItem],
        collection: str,
        progress: object = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        *,
        chunks: ChunkOptions = DEFAULT_CHUNKS,
        embedding_model: str = "",
        **_: object,
    ) -> IngestReport:
        if self.gate is not None:
            await self.gate().wait()
        # Read now: what a job keeps of an upload is gone once it is done.
        self.given.append((collection, [replace(item, path=None, data=item.read()) for item in items]))
        self.options.append((chunks, embedding_model))
        names = tuple(item.name for item in items)
        return IngestReport(
            added=names, skipped_duplicates=(), replaced=(), failed=(), passages=len(names), seconds=0.0
        )


def relevant(**parts: Any) -> FakeResources:
    """Resources whose grader passes every passage, unless ``parts`` say otherwise."""
    return FakeResources(**{"grader": FakeGrader(relevant=ALL), "knowledge": FakeCollections(), **parts})


@contextlib.contextmanager
def engine_of(folder: Path, resources: FakeResources | None = None, **settings: Any) -> Iterator[Engine]:
    """An engine over fakes that keeps its records in ``folder``."""
    chosen = Settings(data_dir=folder, **settings)
    fakes = resources or relevant()
    fakes.settings = chosen
    with Engine(chosen, cast(Resources, fakes)) as engine:
        yield engine


def app_of(engine: Engine, **options: Any) -> Starlette:
    """What app.py serves, without the pages."""
    return Starlette(middleware=middleware(lambda: engine, engine.settings, **options))


@contextlib.contextmanager
def calling(
    folder: Path, resources: FakeResources | None = None, *, options: dict[str, Any] | None = None, **settings: Any
) -> Iterator[tuple[TestClient, Engine]]:
    """A client that calls the application in this process; faults of the server come back as its answers."""
    with engine_of(folder, resources, **settings) as engine:
        app = app_of(engine, **(options or {}))
        with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
            yield client, engine


@contextlib.contextmanager
def serving(app: Starlette) -> Iterator[int]:
    """The application on a real server in a thread; gives its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listening],), name="test-server")
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()
    assert not thread.is_alive()


def raw(method: str, path: str, body: bytes = b"", headers: Sequence[str] = ()) -> bytes:
    """A request as bytes for a socket; a body goes as JSON."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def received(connection: socket.socket, until: bytes) -> bytes:
    """Everything up to and including ``until``; fails where the connection closes first."""
    found = b""
    while until not in found:
        piece = connection.recv(65536)
        assert piece, found
        found += piece
    return found
