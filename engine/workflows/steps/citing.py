"""The trace of an answer's writer: what it streams goes through the citations first (SC-07, GH-07)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.flow.context import NodeTrace
from engine.model.values import ModelCall, PassageId, Verdict
from engine.retrieval.citations import StreamedCitations

CitationsT = TypeVar("CitationsT", bound=StreamedCitations)


@dataclass(frozen=True, slots=True)
class Citing(Generic[CitationsT]):
    """A :class:`engine.roles.Trace` that passes on markers with their sentence, and none that points nowhere."""

    trace: NodeTrace
    citations: CitationsT

    def complete(self, text: str | None = None) -> CitationsT:
        """The citations of the answer as it was written; ``text`` is all of it, None where the writing broke off."""
        if text is not None and text != self.citations.raw:
            # A recorded answer is returned and not streamed again.
            self.citations.restart()
            self.citations.feed(text)
            self.citations.finish()
        elif rest := self.citations.finish():
            self.trace.token(rest)
        return self.citations

    def token(self, text: str) -> None:
        if ready := self.citations.feed(text):
            self.trace.token(ready)

    def restart(self) -> None:
        self.citations.restart()
        self.trace.restart()

    def calling(self) -> None:
        self.trace.calling()

    def call(self, call: ModelCall) -> None:
        self.trace.call(call)

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.trace.verdict(passage_id, verdict)

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.trace.screened(passage_id, verdict)

    def now_ms(self) -> float:
        return self.trace.now_ms()

    def time_left_s(self) -> float:
        return self.trace.time_left_s()
