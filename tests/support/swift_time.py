"""Runs whose time passes only where all of it waits: what hangs ends at once, and a busy machine changes nothing."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Instead of waiting for the next timer, moves the time there; threads and open connections are waited for."""

    now = 0.0
    in_threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or self.in_threads:
            return super().select(0 if timeout == 0 else None)
        # The one file that is always there is the loop's own wake-up; what a server says comes in real time.
        connected = len(self.get_map()) > 1
        ready = super().select(timeout if connected else 0)
        if not ready:
            self.now += max(timeout, 0.0)
        return ready


class SwiftLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own, at 0 when it is made."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._jumping.in_threads += 1
        future.add_done_callback(self._back)
        return future

    def _back(self, _: object) -> None:
        self._jumping.in_threads -= 1


def run_swiftly(work: Callable[[Callable[[], float]], Coroutine[Any, Any, T]]) -> T:
    """What the work returns, which is given the clock that it goes by."""
    with asyncio.Runner(loop_factory=SwiftLoop) as runner:
        return runner.run(work(runner.get_loop().time))
