"""Runs that other processes make with the same database: followed as their events are stored, and cancelled there."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from engine.database.signals import Signals
from engine.errors import UnknownRun, WorkbenchError
from engine.model.ending import joined
from engine.model.values import RunId
from engine.people import WORKBENCH, acting_as, current_user
from engine.people.readable import may_read
from engine.records.store import RunStore
from engine.running.run_log import RunLog

_log = logging.getLogger(__name__)

LOOK_S = 1.0
"""Pause between looks where no signal comes: a process that dies sends none, and SQLite has no signals."""
_KEPT_S = 30.0
"""How long a run is looked at after someone asked for it last."""


class FollowedRun(RunLog):
    """A run of another process, as far as it is stored."""

    def __init__(self, run_id: RunId) -> None:
        super().__init__(run_id)
        self.asked_at = time.monotonic()

    def look(self, store: RunStore) -> None:
        """Add what was stored since; raises ``RecordError``."""
        with self._changed:
            last = self._events[-1].seq if self._events else 0
        fresh = store.events(self.id, last)
        with self._changed:
            for event in fresh:
                if not self._events or event.seq > self._events[-1].seq:
                    self._take(event)
        if fresh:
            self._wake()

    def under_way(self) -> tuple[float, int]:
        # By the clocks of two machines; its calls are known at their end alone.
        began = datetime.fromisoformat(self.record.started_at)
        return max(0.0, (datetime.now(began.tzinfo) - began).total_seconds() * 1000.0), 0

    @property
    def followed(self) -> bool:
        """True if anyone still waits for it or has asked for it lately."""
        with self._changed:
            return bool(self._listeners or self._waiting) or time.monotonic() - self.asked_at < _KEPT_S


class FollowedRuns:
    """Follows runs of other processes while someone looks at them; safe from any thread."""

    def __init__(self, store: RunStore, signals: Signals, cancel_here: Callable[[str], object]) -> None:
        """``cancel_here`` stops a run of this process, where it is one."""
        self._store = store
        self._signals = signals
        self._cancel_here = cancel_here
        self._runs: dict[RunId, FollowedRun] = {}
        self._due: set[RunId] = set()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        signals.listen(self._heard)

    def find(self, run_id: str) -> FollowedRun | None:
        """A run that is followed already; None for any other, and for one that is kept from the current user."""
        with self._changed:
            run = self._runs.get(RunId(run_id))
            if run is None or not may_read(run.record):
                return None
            run.asked_at = time.monotonic()
            return run

    def follow(self, run_id: str) -> FollowedRun | None:
        """Follow a run in progress in another process; None where it is over.

        Raises ``UnknownRun`` and ``RecordError``.
        """
        if (known := self.find(run_id)) is not None:
            return known
        if not self._store.goes_on(run_id):
            if not current_user().reads_all and not may_read(self._store.load(run_id)):
                raise UnknownRun(run=run_id)
            return None
        run = FollowedRun(RunId(run_id))
        run.look(self._store)
        if not may_read(run.record):
            raise UnknownRun(run=run_id)
        with self._changed:
            if self._closed:
                return None
            known = self._runs.setdefault(run.id, run)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="followed-runs", daemon=True)
                self._thread.start()
        return known

    def cancel(self, run_id: str) -> bool:
        """Ask the process of a run to stop it; False where it is over, or where nothing carries the request."""
        run = self.follow(run_id)
        return run is not None and self._signals.send(f"cancel {run.id}")

    def close(self) -> None:
        """Follow nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            joined(self._thread)

    def _heard(self, signal: str) -> None:
        kind, _, run_id = signal.partition(" ")
        if kind == "cancel":
            # The other replica has checked the current user's rights.
            with acting_as(WORKBENCH):
                self._cancel_here(run_id)
        elif kind == "run":
            with self._changed:
                if run_id in self._runs:
                    self._due.add(RunId(run_id))
                    self._changed.notify_all()

    def _work(self) -> None:
        looked = time.monotonic()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or bool(self._due), LOOK_S)
                if self._closed:
                    return
                all_due = time.monotonic() - looked >= LOOK_S
                due = [run for run in self._runs.values() if all_due or run.id in self._due]
                self._due.clear()
            if all_due:
                looked = time.monotonic()
            for run in due:
                self._look(run)

    def _look(self, run: FollowedRun) -> None:
        try:
            run.look(self._store)
        except WorkbenchError as error:
            # It is looked at again soon: the database may be back by then.
            _log.warning("run %s cannot be followed: %s", run.id, error)
        if not run.active or not run.followed:
            with self._changed:
                self._runs.pop(run.id, None)
