"""A knowledge base of passages in a dictionary with a real store of graphs, for tests of building and looking."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import UnknownCollection
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.knowledge.ingest import IngestReport
from engine.model.values import PassageId
from engine.roles import CollectionInfo, StoredPassage
from tests.api.served import FakeCollections

TEXTS = {
    "a": "Rain helps grass. Grass helps cows.",
    "b": "Cows helps milk.",
    "c": "Frost hurts grass.",
    "d": "Sun helps stars. Stars helps night.",
}


def stored(name: str, text: str) -> StoredPassage:
    return StoredPassage(PassageId(name), f"{name}.md", text)


@dataclass
class GraphCollections(FakeCollections):
    """One collection ``farm``, also called ``alias``, whose passages a test changes as it likes."""

    texts: dict[str, str] = field(default_factory=lambda: dict(TEXTS))
    folder: Path = Path()
    asked: list[str] = field(default_factory=list)
    """Ids that were fetched."""

    def __post_init__(self) -> None:
        self.graphs = SqliteGraphs(self.folder / "graphs.db")

    async def collections(self) -> list[CollectionInfo]:
        return [await self.describe("farm")]

    async def describe(self, collection: str) -> CollectionInfo:
        if collection not in ("farm", "alias"):
            raise UnknownCollection(name=collection)
        digest = hashlib.sha256(repr(sorted(self.texts.items())).encode()).hexdigest()[:16]
        count = len(self.texts)
        return CollectionInfo("farm", "fake", 3, "", "", "", passages=count, fingerprint=digest, aliases=("alias",))

    async def ids(self, collection: str) -> list[PassageId]:
        return [PassageId(name) for name in sorted(self.texts)]

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        self.asked += ids
        return [stored(name, self.texts[name]) for name in ids if name in self.texts]

    async def ingest(self, items, collection, *given, **options) -> IngestReport:  # type: ignore[no-untyped-def]
        report = await super().ingest(items, collection, *given, **options)
        self.texts |= {item.name: item.read().decode() for item in items}
        return report

    async def close(self) -> None:
        await self.graphs.close()
