"""The memory of a recorded run: it recalls what the run recalled, and the grader says of it what it said."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.values import Memory, RunRecord, Verdict
from engine.replay.course import Unrecorded
from engine.replay.replay import Replay
from engine.roles import Trace
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import MOST_RECALLED, of_this_question


class RecordedMemory:
    """Recalls what the run recalled."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    async def recall(self, question: str, collection: str, limit: int) -> list[Memory]:
        replay, recall = self._replay, self._replay.record.recall
        routing = replay.evidence.prices.routing
        if recall is None or replay.record.route is None:
            raise Unrecorded("unrecorded", routing)
        if not dual_options(replay.record.config).memory:
            raise Unrecorded("memory", routing)
        if own_memories(replay.record) and replay.driver.run.trial and not self._known(recall.memories):
            # Where the own one took a place among the nearest, another one would have come up.
            raise Unrecorded("memory", routing)
        return [] if recall.failed else list(recall.memories)

    def _known(self, memories: Sequence[Memory]) -> bool:
        return len(memories) < MOST_RECALLED and self._replay.config.models.router.built_in

    async def keep(self, memory: Memory) -> None:
        """A replay remembers nothing."""

    async def list(self) -> list[Memory]:
        return []

    async def forget(self, memory_id: str) -> bool:
        return False


class RecordedRecallGrader:
    """Says of memories what the grader said; in a run of an older version, which did not ask, they answered."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    async def grade(self, question: str, memories: Sequence[Memory], trace: Trace) -> list[Verdict]:
        replay, recall = self._replay, self._replay.record.recall
        if recall is None or recall.verdicts is None:
            return [Verdict(relevant=True, confidence=1.0, reason="")] * len(memories)
        known, prices = recall.verdicts, replay.evidence.prices
        missing = [item.id for item in memories if item.id not in known]
        if missing and replay.evidence.same("grader") and set(missing) <= set(recall.refused):
            # The recorded grader came to nothing.
            raise TimeoutError
        if missing or not replay.evidence.same("grader"):
            raise Unrecorded("memory", prices.grading * len(memories) + prices.routing)
        replay.driver.course.cost += prices.grading * len(memories)
        return [known[item.id] for item in memories]


def own_memories(record: RunRecord) -> tuple[Memory, ...]:
    """Memories that answered the run and that its own question had left."""
    if record.recall is None:
        return ()
    return tuple(item for item in record.recall.holding if of_this_question(item, record.question))
