"""Downloads of models, which the page System starts and may stop, each on the engine's loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from dataclasses import replace

from engine.errors import HostError
from engine.host.health import Resources
from engine.llm.pull import checked_name, pull
from engine.model.host import PullStatus, TaskState
from engine.model.loop_thread import LoopThread
from engine.model.values import Fault

_CLOSING_S = 3.0


class _Download:
    """A download on the loop and its latest status; safe from any thread.

    What is told after the end is not heard: a stop stands no matter what the work still says.
    """

    def __init__(self, loop: LoopThread, status: PullStatus) -> None:
        self._loop = loop
        self._guard = threading.Lock()
        self._status = status
        self._future: Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def status(self) -> PullStatus:
        with self._guard:
            return self._status

    @property
    def over(self) -> bool:
        return self.status.state != "running"

    def start(self, work: Callable[[_Download], Coroutine[None, None, None]]) -> _Download:
        """Begin the work; its exceptions become the fault of the status."""
        self._future = self._loop.submit(self._run(work))
        return self

    def tell(self, change: Callable[[PullStatus], PullStatus]) -> None:
        with self._guard:
            if self._status.state == "running":
                self._status = change(self._status)

    def stop(self) -> None:
        """End it now, without waiting for what it still has to close; does nothing to one that is over."""
        if not self.over:
            self._end("stopped")
            self._loop.soon(self._cancel)

    def wait(self, timeout_s: float) -> None:
        """Block until the work has let go of all it held, or ``timeout_s`` passed."""
        if self._future is not None:
            wait((self._future,), timeout_s)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self, work: Callable[[_Download], Coroutine[None, None, None]]) -> None:
        self._task = asyncio.current_task()
        if self.over:
            return
        try:
            await work(self)
        except asyncio.CancelledError:
            self._end("stopped")
            raise
        except Exception as error:
            self._end("failed", Fault.of(error))
        else:
            self._end("done")

    def _end(self, state: TaskState, fault: Fault | None = None) -> None:
        self.tell(lambda status: replace(status, state=state, fault=fault))


class Pulls:
    """Downloads of this process, newest first; one at a time for each model."""

    def __init__(self, loop: LoopThread, resources: Resources, on_done: Callable[[], None]) -> None:
        self._loop = loop
        self._resources = resources
        self._on_done = on_done
        self._guard = threading.Lock()
        self._pulls: dict[str, _Download] = {}

    def start(self, name: str) -> None:
        """Start the task; raises ``HostError`` for a name that is none, or where it is running already."""
        name = checked_name(name)
        with self._guard:
            known = self._pulls.pop(name, None)
            if known is not None and not known.over:
                self._pulls[name] = known
                raise HostError.busy(subject=name)
            self._pulls[name] = _Download(self._loop, PullStatus(name, "running", "")).start(self._pull)

    def stop(self, name: str) -> None:
        with self._guard:
            known = self._pulls.get(checked_name(name))
        if known is not None:
            known.stop()

    def all(self) -> tuple[PullStatus, ...]:
        with self._guard:
            return tuple(item.status for item in reversed(self._pulls.values()))

    def close(self) -> None:
        with self._guard:
            ongoing = tuple(self._pulls.values())
        for item in ongoing:
            item.stop()
        for item in ongoing:
            item.wait(_CLOSING_S)

    async def _pull(self, ongoing: _Download) -> None:
        await pull(ongoing.status.name, self._resources.settings, lambda status: ongoing.tell(lambda _: status))
        # Pickers ask for what Ollama has: the new model must be among it.
        await self._resources.ollama(fresh=True)
        self._on_done()
        ongoing.tell(lambda status: replace(status, done=status.total, remaining_s=0.0))
