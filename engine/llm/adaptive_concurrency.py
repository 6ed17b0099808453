"""Concurrency and timeout of a model's server, learned from the calls themselves."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

_WORTH = 1.15
"""Growth of calls a second from which more at once are worth it; below it they only wait for each other."""
_MEASURED = 2
"""Calls at one width that are compared."""
_PATIENCE = 3.0
"""How often its longest call so far a model may take; for the first, which may load it, the usual limit so often."""
_REMEMBERED = 8
LONGEST_S = 600.0


@dataclass(slots=True)
class _Call:
    peak: int
    """Most calls that were under way while it was."""


class LearningLane:
    """A queue that begins with one call at a time and lets more in while that makes the whole quicker.

    The first call is left out of account: it may load the model. Twice as many are let in as long as calls a second
    grow; where they do not, as with one model on one processor, it goes back and stays. Belongs to one event loop.
    """

    def __init__(self, most: int, now: Callable[[], float] = time.perf_counter) -> None:
        self.width = 1
        self.settled = most == 1
        self._most = most
        self._now = now
        self._under_way: list[_Call] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._warm = False
        self._former = 0.0
        """Calls a second at the width before."""
        self._spent: list[float] = []

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place, hold it, and give it on."""
        while len(self._under_way) >= self.width:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except BaseException:
                # Who was given a place and does not take it must not lose it for the others.
                self._wake()
                raise
        call, width, began = _Call(0), self.width, self._now()
        self._under_way.append(call)
        for other in self._under_way:
            other.peak = max(other.peak, len(self._under_way))
        try:
            yield
            self._learn(call, width, self._now() - began)
        finally:
            self._under_way.remove(call)
            self._wake()

    def _learn(self, call: _Call, width: int, spent_s: float) -> None:
        if not self._warm:
            self._warm = True
        elif not self.settled and width == self.width == call.peak:
            self._spent.append(spent_s)
            if len(self._spent) >= _MEASURED:
                self._compare()

    def _compare(self) -> None:
        rate = self.width * len(self._spent) / max(sum(self._spent), 1e-9)
        self._spent = []
        if rate < self._former * _WORTH:
            self.width, self.settled = max(1, self.width // 2), True
        elif self.width == self._most:
            self.settled = True
        else:
            self._former, self.width = rate, min(self._most, self.width * 2)

    def _wake(self) -> None:
        free = self.width - len(self._under_way)
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1


class Patience:
    """Time limit of calls to one model; a limit set by hand is kept exactly."""

    def __init__(self) -> None:
        self._longest: deque[float] = deque(maxlen=_REMEMBERED)

    def limit_s(self, usual_s: float, *, by_hand: bool) -> float:
        if by_hand:
            return usual_s
        slowest = max(self._longest, default=usual_s)
        return max(usual_s, min(LONGEST_S, _PATIENCE * slowest))

    def note(self, spent_s: float) -> None:
        """A call came to its end after so long."""
        self._longest.append(spent_s)
