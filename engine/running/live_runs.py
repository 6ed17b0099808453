"""The runs of this process: those in progress, and the last ones that ended."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from engine.errors import EngineClosed, RecordError, TooManyRuns, UnknownCollection, UnknownRun
from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished
from engine.model.loop_thread import LoopThread
from engine.model.values import Attachment, Chat, Fault, RunId
from engine.people import current_user
from engine.people.readable import may_read
from engine.replay.fork import Branch
from engine.running.execution import RoleSource, execute
from engine.running.runs import LiveRun

KEPT_IN_MEMORY = 50
"""Runs that stay here, finished ones included; older ones are read from their records."""


class LiveRuns:
    """Begins runs on a loop and finds them by id; safe from any thread."""

    def __init__(
        self, loop: LoopThread, resources: RoleSource, on_event: Callable[[RunId, Event], None], most_active: int
    ) -> None:
        self._loop = loop
        self._resources = resources
        self._on_event = on_event
        self._most_active = most_active
        self._runs: OrderedDict[RunId, LiveRun] = OrderedDict()
        self._guard = threading.Lock()
        self._closed = False

    def begin(
        self,
        question: str,
        config: RunConfig,
        branch: Branch | None = None,
        *,
        run_id: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        trial: bool = False,
        chat: Chat | None = None,
    ) -> RunId:
        """Start a run, or continue from ``branch``, which is a trial.

        Raises ``TooManyRuns``, ``EngineClosed``, and ``UnknownCollection`` for one that is kept from who acts.
        """
        if not current_user().may_read(config.collection):
            raise UnknownCollection(name=config.collection)
        with self._guard:
            if self._closed:
                raise EngineClosed()
            if self._active() >= self._most_active:
                raise TooManyRuns(limit=self._most_active)
            run = LiveRun(RunId(run_id or uuid.uuid4().hex), self._on_event)
            fork = branch.fork if branch else None
            run.begin(question, config, fork, attachments, trial=trial or branch is not None, chat=chat)
            self._runs[run.id] = run
            self._forget_oldest()
            self._loop.soon(self._launch, run, question, config, branch)
        return run.id

    def find(self, run_id: str) -> LiveRun | None:
        """A run of this process; None where it was never here, left memory, or is kept from the current user."""
        with self._guard:
            run = self._runs.get(RunId(run_id))
        return run if run is not None and may_read(run.record) else None

    def named(self, run_id: str) -> LiveRun:
        """:meth:`find`; raises ``UnknownRun``."""
        run = self.find(run_id)
        if run is None:
            raise UnknownRun(run=run_id)
        return run

    def active(self) -> int:
        """Count the active ones."""
        with self._guard:
            return self._active()

    def wait_idle(self, timeout_s: float) -> bool:
        """Block until no run is in progress; False where ``timeout_s`` passed first."""
        end = time.monotonic() + timeout_s
        while True:
            with self._guard:
                active = [run for run in self._runs.values() if run.active]
            if not active:
                return True
            if not all(run.wait(max(0.0, end - time.monotonic())) for run in active):
                return False

    def stop(self, run: LiveRun) -> None:
        """Cancel a run within one step."""
        # A closed engine has stopped its runs already, and its loop takes no more calls.
        with suppress(RuntimeError):
            self._loop.soon(run.stop)

    def cancel(self, run_id: str) -> bool:
        """:meth:`stop` by the id of a run; False where it had ended, or is not here."""
        run = self.find(run_id)
        if run is None or not run.active:
            return False
        self.stop(run)
        return True

    def require_over(self, run_id: str) -> None:
        """Check that a run is over; raises ``RecordError.run_active`` where it is running."""
        run = self.find(run_id)
        if run is not None and run.active:
            raise RecordError.run_active(run=run_id)

    def forget(self, run_id: str) -> None:
        """Let a run go, with what would still be added to it; where it is not here nothing happens."""
        with self._guard:
            run = self._runs.pop(RunId(run_id), None)
        if run is not None:
            run.seal()
            self.stop(run)

    def close(self, timeout_s: float) -> None:
        """Begin no more, cancel those in progress, and wait for each at most ``timeout_s``."""
        with self._guard:
            self._closed = True
            runs = list(self._runs.values())
        for run in runs:
            self.stop(run)
        for run in runs:
            run.wait(timeout_s)

    def _launch(self, run: LiveRun, question: str, config: RunConfig, branch: Branch | None) -> None:
        """Begin a run's task on the loop, and see to it that the run ends when the task does."""
        run.task = self._loop.start_task(execute(run, question, config, self._resources, branch))
        run.task.add_done_callback(partial(_ended, run))

    def _active(self) -> int:
        return sum(run.active for run in self._runs.values())

    def _forget_oldest(self) -> None:
        # One that is still given reasons must be found by who deletes it or asks whether they come.
        finished = [run_id for run_id, run in self._runs.items() if not (run.active or run.amending)]
        for run_id in finished[: max(0, len(self._runs) - KEPT_IN_MEMORY)]:
            del self._runs[run_id]


def _ended(run: LiveRun, task: asyncio.Task[None]) -> None:
    """A task that was cancelled before its first step had no chance to say how its run ended."""
    if task.cancelled():
        run.emit(RunFinished(outcome="cancelled", reason="cancelled"))
    elif (failure := task.exception()) is not None:
        run.emit(RunFinished(outcome="failed", reason="WB000", error=Fault.of(failure)))
