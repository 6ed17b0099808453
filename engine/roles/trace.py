"""The trace to which a role reports what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.model.values import ModelCall, PassageId, Verdict

if TYPE_CHECKING:
    pass


Vector = NDArray[np.float32]


class Trace(Protocol):
    """Takes what a role reports while it works; every method returns at once."""

    def calling(self) -> None:
        """A chat model is being asked; ``call`` follows when that has ended, however it ended."""

    def call(self, call: ModelCall) -> None:
        """One model invocation ended; node, round and start are filled in by the receiver where left at defaults."""

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        """A passage was judged; passages may be reported in any order."""

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None:
        """A screener judged a passage, no matter whether its verdict stands."""

    def token(self, text: str) -> None:
        """A piece of the answer arrived."""

    def restart(self) -> None:
        """The pieces so far are no longer the answer: another one follows."""

    def now_ms(self) -> float:
        """Milliseconds since the run began, for ``ModelCall.start_ms``."""

    def time_left_s(self) -> float:
        """Seconds that the step may still take; bounds every model call."""


class SilentTrace:
    """A trace that hears nothing and never runs out of time; for direct use of a role."""

    def calling(self) -> None: ...

    def call(self, call: ModelCall) -> None: ...

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None: ...

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None: ...

    def token(self, text: str) -> None: ...

    def restart(self) -> None: ...

    def now_ms(self) -> float:
        return 0.0

    def time_left_s(self) -> float:
        return float("inf")


SILENT: Trace = SilentTrace()
