"""The rows of long-term memory in a Milvus store, in blocking calls; exceptions of the client pass untranslated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from engine.knowledge.milvus_database import Database, data_types
from engine.knowledge.milvus_filter import equals
from engine.knowledge.milvus_reader import cosine
from engine.knowledge.milvus_schema import RESERVED_PREFIX
from engine.model.values import Memory
from engine.roles import Vector

PASSED_PREFIX = f"{RESERVED_PREFIX}memory_"
FAILED = f"{RESERVED_PREFIX}failed_answers"
"""Apart from everything that is ever searched."""

_TEXT_LIMITS: Mapping[str, int] = {"id": 512, "collection": 255, "question": 65_535, "answer": 65_535}
"""Bytes of UTF-8 that each text field holds; 65 535 is the most that Milvus allows."""
_OUTPUT = [*_TEXT_LIMITS, "info"]
_NO_MEANING: tuple[float, ...] = (1.0, 0.0)
"""A collection must have vectors; those of failed answers are never compared."""
_EVERY = 'id != ""'


class MemoryRows:
    """An open connection; ``model`` names the embedder whose vectors are searched. Calls come from one thread."""

    def __init__(self, uri: str, token: str, timeout_s: float, model: str, database: str = "") -> None:
        self._passed = PASSED_PREFIX + model.replace("-", "_")
        self._db = Database.of_ours(uri, token, timeout_s, database)

    def close(self) -> None:
        self._db.close()

    def nearest(self, vector: Vector, collection: str, limit: int) -> list[tuple[Memory, float]]:
        """Passed memories of a collection with the cosine of their question to ``vector``, best first."""
        if not self._db.there(self._passed):
            return []
        where = equals("collection", collection)
        output = [*_OUTPUT, "vector"]
        found = self._db.search(self._passed, "vector", vector.tolist(), where, limit=limit, output=output)
        # Computed here: what a store calls the distance differs between versions.
        hits = [(_memory(item["entity"], passed=True), cosine(vector, item["entity"]["vector"])) for item in found]
        return sorted(hits, key=lambda hit: -hit[1])

    def put_passed(self, memory: Memory, vector: Vector) -> None:
        """Keep a memory to be recalled; what was kept under its id before is replaced."""
        self._put(self._passed, memory, vector.tolist())
        self._delete([memory.id], keep_in=self._passed)

    def put_failed(self, memory: Memory) -> None:
        """Keep a memory where nothing is searched; what was kept under its id before is replaced."""
        self._put(FAILED, memory, list(_NO_MEANING))
        self._delete([memory.id], keep_in=FAILED)

    def everything(self) -> list[Memory]:
        """All memories, whichever embedder they were kept with, newest first."""
        found = {item.id: item for name in self._names() for item in self._in(name)}
        return sorted(found.values(), key=lambda item: (item.kept_at, item.id), reverse=True)

    def delete(self, memory_id: str) -> bool:
        """Return whether there was one."""
        return self._delete([memory_id]) > 0

    def delete_all(self) -> int:
        """Delete all; return their number."""
        ids = [item.id for item in self.everything()]
        self._delete(ids)
        return len(ids)

    def rename_collection(self, collection: str, new_name: str) -> int:
        """Rename a collection in its memories and return their number; repeating it is safe."""
        moved = 0
        for name in self._names():
            rows = self._db.rows(name, equals("collection", collection), [*_OUTPUT, "vector"])
            self._db.upsert(name, [{**row, "collection": new_name} for row in rows])
            moved += len(rows)
        return moved

    def _names(self) -> list[str]:
        return [name for name in sorted(self._db.names()) if name == FAILED or name.startswith(PASSED_PREFIX)]

    def _in(self, name: str) -> list[Memory]:
        return [_memory(row, passed=name != FAILED) for row in self._db.rows(name, _EVERY, _OUTPUT)]

    def _delete(self, ids: Sequence[str], keep_in: str = "") -> int:
        deleted = 0
        for name in self._names():
            present = [] if name == keep_in else [row["id"] for row in self._db.rows_with(name, "id", ids, ["id"])]
            if present:
                self._db.delete(name, "id", present)
                deleted += len(present)
        return deleted

    def _put(self, name: str, memory: Memory, vector: list[float]) -> None:
        if not self._db.there(name):
            self._create(name, len(vector))
        row = {field: _fitting(getattr(memory, field), limit) for field, limit in _TEXT_LIMITS.items()}
        info = {
            "run_id": memory.run_id,
            "kept_at": memory.kept_at,
            "sources": [_fitting(source, 2_000) for source in memory.sources],
            "fingerprint": memory.fingerprint,
            "claim": _fitting(memory.claim, 8_000),
            "claim_by": memory.claim_by,
            "from_web": memory.from_web,
            "citations": [
                {**asdict(item), "source": _fitting(item.source, 2_000), "section": _fitting(item.section, 2_000)}
                for item in memory.citations
            ],
        }
        self._db.upsert(name, [{**row, "info": info, "vector": vector}])

    def _create(self, name: str, dim: int) -> None:
        types = data_types()
        schema = self._db.schema()
        for field, limit in _TEXT_LIMITS.items():
            schema.add_field(field, types.VARCHAR, max_length=limit, is_primary=field == "id")
        schema.add_field("info", types.JSON)
        schema.add_field("vector", types.FLOAT_VECTOR, dim=dim)
        self._db.make(name, schema)


def _memory(row: Mapping[str, Any], *, passed: bool) -> Memory:
    # Memories of earlier versions lack the newer fields, which have defaults.
    return _adapter().validate_python({**row, **row["info"], "passed": passed})


@cache
def _adapter() -> TypeAdapter[Memory]:
    return TypeAdapter(Memory)


def _fitting(text: str, limit: int) -> str:
    """The text as the store can hold it: at most ``limit`` bytes, and no half of a surrogate pair."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit:
        return content.decode()
    return content[: limit - len("…".encode())].decode("utf-8", "ignore") + "…"
