"""An event loop in a thread of its own, to which any other thread hands its work."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from engine.errors import EngineClosed, RunError

_T = TypeVar("_T")
_P = ParamSpec("_P")
_log = logging.getLogger(__name__)
CALL_S = 2400.0
"""No call takes so long: the longest that one may wait for is another index of a large collection, half an hour."""


class LoopThread:
    """Runs from the moment it is made until :meth:`close`; every method is safe from any other thread."""

    def __init__(self, name: str) -> None:
        self._guard = threading.Lock()
        self._refuses = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """True if the thread has ended and its loop is gone."""
        return self._loop.is_closed() and not self._thread.is_alive()

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Begin ``work`` on the loop; raises ``EngineClosed`` after :meth:`refuse`."""
        with self._guard:
            if not self._refuses:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise EngineClosed()

    def call(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of ``work``; raises as :meth:`submit` and ``work`` do, and ``RunError.waited_too_long``."""
        what, future = str(getattr(work, "__qualname__", work)), self.submit(work)
        wait((future,), CALL_S)
        if not future.done():
            future.cancel()
            raise RunError.waited_too_long(what=what, seconds=CALL_S)
        return future.result()

    def soon(self, callback: Callable[..., object], *args: object) -> None:
        """Call something on the loop; raises ``RuntimeError`` once it is closed."""
        self._loop.call_soon_threadsafe(callback, *args)

    def start_task(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """A task of the loop; only to be called on it."""
        return self._loop.create_task(work)

    def refuse(self) -> None:
        """Take no more work; what is running continues."""
        with self._guard:
            self._refuses = True

    def close(self, last: Callable[[], Coroutine[Any, Any, None]], timeout_s: float) -> None:
        """Cancel what is running, then run ``last``, then end the thread; a failure of ``last`` is logged."""
        self.refuse()
        try:
            asyncio.run_coroutine_threadsafe(_wind_up(last), self._loop).result(timeout_s)
        except Exception:
            _log.exception("the knowledge base could not be closed in order")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout_s)
        if not self._thread.is_alive():
            self._loop.close()


class HasLoop(Protocol):
    """Object that works on a loop other threads wait for."""

    _loop: LoopThread


_Owner = TypeVar("_Owner", bound=HasLoop)


def on_loop(
    work: Callable[Concatenate[_Owner, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[_Owner, _P], _T]:
    """Run a coroutine method on the loop of its object, and block a caller from another thread."""

    @wraps(work)
    def waited_for(owner: _Owner, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return owner._loop.call(work(owner, *args, **kwargs))

    return waited_for


async def _wind_up(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """End what is running, e.g. an ingestion, before the store is closed under it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last()
