"""Time in a record: it was part of the run, and no replay can turn it back."""

from __future__ import annotations

from collections.abc import Callable

from engine.flow import workflow
from engine.model.decide import kept_passages
from engine.model.values import Decision, NodeExecution, Rewrite, RunRecord


class RecordedClock:
    """The time, and what it cut short, by round."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._imported = record.origin is not None
        self._flow = workflow(record.workflow).flow
        self._decisions: dict[int, Decision] = {i.round: i for i in record.decisions if i.node == self._flow.gate}
        self._rewrites: dict[int, Rewrite] = {}
        for item in record.rewrites:
            self._rewrites.setdefault(item.round, item)

    def decision(self, index: int) -> Decision | None:
        return self._decisions.get(index)

    def decision_of_visit(self, node: str, visit: int) -> Decision | None:
        """Return a node's decision at its visit of that number, counted from 1."""
        found = [item for item in self._record.decisions if item.node == node]
        return found[visit - 1] if 0 < visit <= len(found) else None

    def rewrite_before(self, index: int) -> Rewrite | None:
        """The rewrite that made the query of a round."""
        return self._rewrites.get(index - 1)

    def over(self, index: int) -> bool:
        """Return whether the deadline decided the round."""
        decision = self._decisions.get(index)
        return decision is not None and decision.reason == "deadline"

    def unreached(self, index: int) -> bool:
        """Return whether the round was decided without its grader."""
        decision = self._decisions.get(index)
        return decision is not None and decision.reason == "grader_unavailable"

    def elapsed_s(self, index: int) -> float:
        """Time at a decision that the deadline made; else 0, a moment before any budget."""
        return self._decisions[index].comparisons[-1].value if self.over(index) else 0.0

    def ended_s(self, index: int) -> float:
        """Return when the round and all before it were searched and judged; 0 for times of another program."""
        if self._imported:
            return 0.0
        return self._end_s(lambda item: item.round <= index and item.node in self._flow.judging)

    def answered_s(self) -> float:
        """Return when the last answer was written."""
        writing = self._flow.of_kind("answer")
        return self._end_s(lambda item: item.node in writing)

    def cut_short(self, index: int) -> bool:
        """Return whether the deadline decided the round, or left a search or a verdict out of it."""
        return self.over(index) or self.left_out(index)

    def visit_ended_s(self, node: str, visit: int) -> float:
        """Return the end of a node's visit, counted from 1; 0 if it never happened."""
        return self._end_s(lambda item: item.node == node and item.visit == visit)

    def _end_s(self, wanted: Callable[[NodeExecution], bool]) -> float:
        ends = (item.start_ms + (item.duration_ms or 0.0) for item in self._record.nodes if wanted(item))
        return max(ends, default=0.0) / 1000.0

    def left_out(self, index: int) -> bool:
        """Return whether the round lacks its search or a verdict for want of time, no matter what it was decided by.

        What another program left ungraded says nothing of a time that it had no more.
        """
        if self._imported:
            return False
        recorded = self._record.rounds[index]
        if not recorded.searched:
            before = self.rewrite_before(index)
            return not (before and (before.repeated or before.failed))
        if index not in self._decisions or self.unreached(index):
            return False
        return any(passage.id not in recorded.verdicts for passage in kept_passages(recorded, self._record.config))
