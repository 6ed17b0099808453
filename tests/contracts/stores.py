"""What the suites of the ``PassageStore`` contract share: one store under test, and passages to put into it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.knowledge.milvus_connection import connect
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, StoredPassage, Vector

DIM = 8


@dataclass(frozen=True, slots=True)
class Case:
    """One store under test, a collection name that no one else uses, and a loop to run calls on."""

    store: MilvusStore
    name: str
    run: Callable[[Coroutine[Any, Any, Any]], Any]

    def create(self, name: str = "", dim: int = DIM) -> str:
        name = name or self.name
        info = CollectionInfo(name, "model:a", dim, "query: ", "passage: ", "2026-01-02T03:04:05+00:00")
        self.run(self.store.create(info))
        return name

    def insert(self, *passages: StoredPassage, vectors: Vector | None = None) -> None:
        vectors = axes(len(passages)) if vectors is None else vectors
        self.run(self.store.insert(self.name, list(passages), vectors))

    def client(self) -> Any:
        """The client underneath, to do what another program would do."""
        session = self.store._session
        assert session is not None
        return session.db.client


def clean_up(uri: str, name: str) -> None:
    """Drop every collection of a server that a case made."""
    client = connect(uri, "", 30)
    for found in client.list_collections():
        if found.startswith(name):
            client.drop_collection(found)
    client.close()


def axes(count: int, dim: int = DIM) -> Vector:
    """Unit vectors that are all at right angles to each other."""
    return np.eye(count, dim, dtype=np.float32)


def passage(source: str, ordinal: int, text: str = "", **more: Any) -> StoredPassage:
    return StoredPassage(PassageId(f"{source}#{ordinal}"), source, text or f"text {ordinal}", ordinal=ordinal, **more)
