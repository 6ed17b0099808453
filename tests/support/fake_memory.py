"""A long-term memory in a dictionary, for tests of workflows, pages and API without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.errors import WorkbenchError
from engine.model.values import Memory

Memories = list[Memory]


@dataclass
class FakeMemory:
    """A ``LongTermMemory`` whose similarity is the share of words that two questions have in common."""

    kept: dict[str, Memory] = field(default_factory=dict)
    error: WorkbenchError | None = None
    """Raised by every call while it is set."""
    asked: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, memories: Sequence[Memory]) -> FakeMemory:
        return cls({memory.id: memory for memory in memories})

    async def recall(self, question: str, collection: str, limit: int) -> Memories:
        self._fail()
        self.asked.append((question, collection))
        found = [
            replace(memory, similarity=_overlap(question, memory.question))
            for memory in self.kept.values()
            if memory.passed and memory.collection == collection
        ]
        return sorted(found, key=lambda memory: -memory.similarity)[: max(0, limit)]

    async def keep(self, memory: Memory) -> None:
        self._fail()
        self.kept[memory.id] = replace(memory, similarity=0.0)

    async def list(self) -> Memories:
        self._fail()
        return sorted(self.kept.values(), key=lambda memory: (memory.kept_at, memory.id), reverse=True)

    async def forget(self, memory_id: str) -> bool:
        self._fail()
        return self.kept.pop(memory_id, None) is not None

    async def forget_all(self) -> int:
        self._fail()
        count = len(self.kept)
        self.kept.clear()
        return count

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


def _overlap(first: str, second: str) -> float:
    left, right = set(first.casefold().split()), set(second.casefold().split())
    return len(left & right) / len(left | right) if left | right else 0.0
