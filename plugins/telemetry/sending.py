"""Finished runs on their way to what receives spans: in a thread of their own, that no run waits for."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Self

from engine.errors import PeopleUnusable, UnknownRun, WorkbenchError
from engine.model.events import Event, RunFinished
from engine.model.noted_faults import NotedFaults
from engine.model.values import Fault, RunId, RunRecord
from engine.people import WORKBENCH, acting_as
from engine.people.authorization import authorized, internal, needs
from engine.plugins import Part
from engine.settings import Settings
from engine.system.masking import Redactor, masked_addresses
from plugins.telemetry.errors import TelemetryError, TelemetryUnreachable
from plugins.telemetry.settings import TelemetrySettings

if TYPE_CHECKING:
    from engine.engine import Engine
    from plugins.telemetry.posting import Receiver

MOST_WAITING = 10_000
"""Runs that may wait: only their ids do, their records are where records are."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_CLOSING_S = 5.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TelemetryState:
    """State of sending in this process since its start."""

    address: str
    """Without user name and password."""
    content: bool
    limited_content: bool
    sent: int
    waiting: int
    dropped: int
    """Runs that were refused, or that found no place to wait."""
    fault: Fault | None = None
    """What is wrong at the moment."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Origin of what is sent."""

    record: Callable[[RunId], RunRecord]
    """The record of a run that has ended, or is just ending; raises ``UnknownRun``."""
    limited: Callable[[RunRecord], bool]
    """Whether the collection of a run is limited to groups; raises ``PeopleUnusable``."""


def require_packages() -> None:
    """Raise ``TelemetryError`` where what sends spans is not installed."""
    try:
        import_module("plugins.telemetry.posting")
    except ImportError:
        raise TelemetryError.cannot_send() from None


@authorized
class Telemetry(Part):
    """Sends each run of this process once, after its end; safe from any thread.

    Where nothing answers, runs wait and it is tried again, ever more seldom; what is refused is counted and left.
    """

    def __init__(self, settings: Settings, sources: Sources, faults: NotedFaults, receiver: Receiver) -> None:
        self._wanted = settings.of(TelemetrySettings)
        self._sources = sources
        self._faults = faults
        self._receiver = receiver
        self._clean = Redactor(settings)
        self._queue: queue.Queue[RunId | None] = queue.Queue()
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._sent = self._dropped = self._waiting = 0
        self._fault: WorkbenchError | None = None
        self._thread = threading.Thread(target=self._work, name="telemetry", daemon=True)
        self._thread.start()

    @classmethod
    @internal
    def for_engine(cls, engine: Engine, faults: NotedFaults) -> Self:
        """Return the sender of an engine's runs to the address of its settings.

        Raises ``TelemetryError`` where the packages that it needs are not installed.
        """
        require_packages()
        from plugins.telemetry.posting import Receiver

        def limited(record: RunRecord) -> bool:
            # By its name then, or by the one it was asked by.
            return any(map(engine.limits.groups_of, (record.collection, record.config.collection)))

        def ended(run_id: RunId) -> RunRecord:
            engine.wait(run_id)
            return engine.record(run_id)

        return cls(engine.settings, Sources(ended, limited), faults, Receiver.of(engine.settings))

    @internal
    def note(self, run_id: RunId, event: Event) -> None:
        """Take one event of a run of this process; the last one lets the run be sent."""
        if not isinstance(event, RunFinished):
            return
        with self._guard:
            if self._waiting < MOST_WAITING and not self._closing.is_set():
                self._waiting += 1
                self._queue.put(run_id)
                return
            self._dropped += 1
        if not self._closing.is_set():
            self._tell(TelemetryError.too_many(address=self._receiver.shown, waiting=MOST_WAITING))

    @needs("viewer")
    def state(self) -> TelemetryState:
        """Return the state of sending."""
        settings = self._wanted
        with self._guard:
            return TelemetryState(
                address=masked_addresses(self._receiver.shown),
                content=settings.otlp_content,
                limited_content=settings.otlp_content and settings.otlp_limited_content,
                sent=self._sent,
                waiting=self._waiting,
                dropped=self._dropped,
                fault=Fault.of(self._fault) if self._fault else None,
            )

    @internal
    def close(self) -> None:
        """Send what waits, each run once more at most; what takes longer than five seconds is left."""
        with self._guard:
            self._closing.set()
            self._queue.put(None)
        self._thread.join(_CLOSING_S)
        with self._guard:
            left = self._waiting
        if left:
            _log.warning("runs that were not sent as spans: %s; `export-traces` sends them later", left)

    # -- the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        with acting_as(WORKBENCH):
            while (run_id := self._queue.get()) is not None:
                sent = self._deliver(run_id)
                if sent is None:
                    break
                with self._guard:
                    self._waiting -= 1
                    self._sent += sent
                    self._dropped += not sent
        self._receiver.close()

    def _deliver(self, run_id: RunId) -> bool | None:
        """Return whether a run was taken; None where nothing answers and this process is about to end."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                self._send(run_id)
            except TelemetryUnreachable as fault:
                self._tell(fault)
                if self._closing.wait(pause_s):
                    return None
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            except UnknownRun:
                return False
            except TelemetryError as fault:
                self._tell(fault)
                return False
            except Exception as failure:
                _log.exception("run %s was not sent as spans", run_id)
                self._tell(
                    failure if isinstance(failure, WorkbenchError) else WorkbenchError(kind=type(failure).__name__)
                )
                return False
            else:
                self._tell(None)
                return True

    def _send(self, run_id: RunId) -> None:
        # Imported where it is wanted: it comes with an extra.
        from plugins.telemetry.trace import trace_of

        record = self._sources.record(run_id)
        self._receiver.send(trace_of(record, content=self._wants_content(record), clean=self._clean))

    def _wants_content(self, record: RunRecord) -> bool:
        if not self._wanted.otlp_content or self._wanted.otlp_limited_content:
            return self._wanted.otlp_content
        try:
            return not self._sources.limited(record)
        except PeopleUnusable:
            return False

    def _tell(self, fault: WorkbenchError | None) -> None:
        """Note a fault where it begins, and its end where another or none takes its place."""
        with self._guard:
            former, self._fault = self._fault, fault
        if former is not None and fault is not None and (former.code, former.fact) == (fault.code, fault.fact):
            return
        if former is not None:
            self._faults.over(former)
        if fault is not None:
            self._faults.note(fault)
