"""A trace for verdicts that are no judgement of a round's passages."""

from __future__ import annotations

from engine.model.values import ModelCall, PassageId, Verdict
from engine.roles import SilentTrace, Trace


class Heard(SilentTrace):
    """Passes on calls, keeps verdicts, and tells the record of them only where they are those of the run's grader.

    What another reranker says of a passage is a score, and must not pass for a judgement; what is said of a memory is
    none of a passage.
    """

    def __init__(self, trace: Trace, *, tell: bool) -> None:
        self._trace = trace
        self._tell = tell
        self.verdicts: dict[PassageId, Verdict] = {}

    def calling(self) -> None:
        self._trace.calling()

    def call(self, call: ModelCall) -> None:
        self._trace.call(call)

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.verdicts[passage_id] = verdict
        if self._tell:
            self._trace.verdict(passage_id, verdict)

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None:
        if self._tell:
            self._trace.screened(passage_id, verdict)

    def now_ms(self) -> float:
        return self._trace.now_ms()

    def time_left_s(self) -> float:
        return self._trace.time_left_s()
