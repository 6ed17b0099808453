"""What the page System starts and may stop: downloads and a self-test, each on the engine's loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import Any, Generic, Protocol, Self, TypeVar

from engine.builtin.grader import BuiltinGrader
from engine.errors import HostBusy, HostError
from engine.host.self_test import CASES, run_self_test
from engine.host.values import PullStatus, SelfTest, SelfTesting, TaskState
from engine.llm.pull import checked_name, pull
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.loop_thread import LoopThread
from engine.model.values import Fault, Passage
from engine.people import acting
from engine.roles import Grader
from engine.running.resources import Resources

_CLOSING_S = 3.0


class _Status(Protocol):
    """A frozen status that says whether it is over."""

    @property
    def state(self) -> TaskState: ...

    @property
    def fault(self) -> Fault | None: ...


S = TypeVar("S", bound=_Status)


class Ongoing(Generic[S]):
    """One piece of work on the loop and its latest status; safe from any thread.

    What is told after the end is not heard: a stop stands no matter what the work still says.
    """

    def __init__(self, loop: LoopThread, status: S) -> None:
        self._loop = loop
        self._guard = threading.Lock()
        self._status = status
        self._future: Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self.error: BaseException | None = None
        """What the work failed with."""

    @property
    def status(self) -> S:
        with self._guard:
            return self._status

    @property
    def over(self) -> bool:
        return self.status.state != "running"

    def start(self, work: Callable[[Self], Coroutine[Any, Any, None]]) -> Self:
        """Begin the work; its exceptions become the fault of the status."""
        self._future = self._loop.submit(self._run(work))
        return self

    def tell(self, change: Callable[[S], S]) -> None:
        with self._guard:
            if self._status.state == "running":
                self._status = change(self._status)

    def stop(self) -> None:
        """End it now, without waiting for what it still has to close; does nothing to one that is over."""
        if not self.over:
            self._end("stopped")
            self._loop.soon(self._cancel)

    def wait(self, timeout_s: float | None = None) -> None:
        """Block until the work has let go of all it held, or ``timeout_s`` passed."""
        if self._future is not None:
            wait((self._future,), timeout_s)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self, work: Callable[[Self], Coroutine[Any, Any, None]]) -> None:
        self._task = asyncio.current_task()
        if self.over:
            return
        try:
            await work(self)
        except asyncio.CancelledError:
            self._end("stopped")
            raise
        except Exception as error:
            self.error = error
            self._end("failed", Fault.of(error))
        else:
            self._end("done")

    def _end(self, state: TaskState, fault: Fault | None = None) -> None:
        self.tell(lambda status: replace(status, state=state, fault=fault))  # type: ignore[type-var]


class Pulls:
    """Downloads of this process, newest first; one at a time for each model."""

    def __init__(self, loop: LoopThread, resources: Resources, on_done: Callable[[], None]) -> None:
        self._loop = loop
        self._resources = resources
        self._on_done = on_done
        self._guard = threading.Lock()
        self._pulls: dict[str, Ongoing[PullStatus]] = {}

    def start(self, name: str) -> None:
        """Start the task; raises ``InvalidModelName``, and ``HostBusy`` where it is running already."""
        name = checked_name(name)
        with self._guard:
            known = self._pulls.pop(name, None)
            if known is not None and not known.over:
                self._pulls[name] = known
                raise HostBusy(subject=name)
            ongoing = Ongoing(self._loop, PullStatus(name, "running", ""))
            self._pulls[name] = ongoing.start(self._pull)

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

    async def _pull(self, ongoing: Ongoing[PullStatus]) -> None:
        await pull(ongoing.status.name, self._resources.settings, lambda status: ongoing.tell(lambda _: status))
        # Pickers ask for what Ollama has: the new model must be among it.
        await self._resources.ollama(fresh=True)
        self._on_done()
        ongoing.tell(lambda status: replace(status, done=status.total, remaining_s=0.0))


class _OneAtATime(Generic[S]):
    """Work of which there is one at a time; its last status stays until the next."""

    def __init__(self, loop: LoopThread, resources: Resources) -> None:
        self._loop = loop
        self._resources = resources
        self._guard = threading.Lock()
        self._current: Ongoing[S] | None = None

    @property
    def status(self) -> S | None:
        return self._current.status if self._current is not None else None

    def _begin(
        self, status: S, work: Callable[[Ongoing[S]], Coroutine[Any, Any, None]], subject: Callable[[S], str]
    ) -> Ongoing[S]:
        """Begin the work; raises ``HostBusy`` with the subject of what is running."""
        with self._guard:
            if self._current is not None and not self._current.over:
                raise HostBusy(subject=subject(self._current.status))
            self._current = Ongoing(self._loop, status).start(work)
            return self._current

    def stop(self) -> None:
        if self._current is not None:
            self._current.stop()

    def close(self) -> None:
        if self._current is not None:
            self._current.stop()
            self._current.wait(_CLOSING_S)


class SelfTests(_OneAtATime[SelfTesting]):
    """One self-test at a time."""

    def start(self, collection: str, grader: str) -> Ongoing[SelfTesting]:
        """Start the task; raises ``InvalidConfig`` for what is no grader, ``HostBusy`` while another is running."""
        model = RoleModel(grader)
        testing = SelfTesting(collection, model.model, "running", total=CASES)
        person = acting()
        return self._begin(
            testing, self._test, lambda now: now.collection if person.may_read(now.collection) else now.grader
        )

    def run(self, collection: str, grader: str) -> SelfTest:
        """Wait for the end; raises what kept it from being done."""
        ongoing = self.start(collection, grader)
        ongoing.wait()
        if ongoing.error is not None:
            raise ongoing.error
        if ongoing.status.result is None:
            raise HostError.stopped()
        return ongoing.status.result

    async def _test(self, ongoing: Ongoing[SelfTesting]) -> None:
        grader = RoleModel(ongoing.status.grader)
        retriever = await self._resources.knowledge.retriever(ongoing.status.collection)
        judge: Grader = BuiltinGrader(_given)
        if not grader.built_in:
            judge = await self._resources.fresh_grader(RunConfig(models=RoleModels(grader=grader)))

        def count(done: int) -> None:
            ongoing.tell(lambda status: replace(status, done=done))

        result = await run_self_test(retriever, judge, grader.model, count)
        ongoing.tell(lambda status: replace(status, result=result))


async def _given(question: str, passages: Sequence[Passage]) -> list[float]:
    """The passages of a self-test are in no store; their similarity was computed with them."""
    return [passage.similarity for passage in passages]
