"""A trace that keeps what it receives, for tests of roles."""

from __future__ import annotations

from engine.model.values import ModelCall, PassageId, Verdict


class Listening:
    """An :class:`engine.roles.Trace` with a clock that moves one millisecond each time it is read."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self.verdicts: dict[PassageId, Verdict] = {}
        self.tokens: list[str] = []
        self._now_ms = 0.0
        self.screenings: dict[PassageId, Verdict] = {}

    def calling(self) -> None:
        """Counted by the calls that end."""

    def call(self, call: ModelCall) -> None:
        self.calls.append(call)

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.verdicts[passage_id] = verdict

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.screenings[passage_id] = verdict

    def token(self, text: str) -> None:
        self.tokens.append(text)

    def restart(self) -> None:
        self.tokens.clear()

    def now_ms(self) -> float:
        self._now_ms += 1.0
        return self._now_ms

    def time_left_s(self) -> float:
        return float("inf")
