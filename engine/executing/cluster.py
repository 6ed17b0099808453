"""Blocks done by the workers of a Ray cluster, with the same result as by threads of this process."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from engine.errors import ClusterError, ClusterLost, ClusterUnreachable, WorkbenchError
from engine.errors.recorded import row_of
from engine.executing.blocks import Block, Performed, Recipe, fault_of
from engine.executing.driver_process import DriverProcess, Heard

_log = logging.getLogger(__name__)
PATIENCE_S = 180.0
"""How long a cluster may be away, or have no room for a worker, before a job ends with what it has."""
BLOCK_S = 1800.0
"""How long nothing may come of workers that are there: the calls of a block have limits far below that."""
_QUIET_S = 20.0
"""A cluster that does nothing for so long is said to be waited for."""
_AGAIN_S = 2.0
"""Pause before a cluster that was lost is looked for again."""
_STOPPING_S = 20.0
"""How long workers get to end what they are doing."""
_SILENT_S = 60.0
"""A driver says every second that it is there; one that has said nothing for so long is given up."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which cluster, and how much of it."""

    address: str
    """``auto``, ``ray://host:port`` or ``local``."""
    workers: int = 0
    """Processes; 0: one for each processor that the cluster has, and gets."""
    at_once: int = 1
    """Blocks that one process does at the same time."""
    patience_s: float = PATIENCE_S
    block_s: float = BLOCK_S


class ClusterExecutor:
    """Begins its driver, a process apart, with the first block, and again where that or the cluster is lost."""

    def __init__(self, place: Place, recipe: Recipe) -> None:
        self._place = place
        self._recipe = recipe
        self._inbox: SimpleQueue[Heard] = SimpleQueue()
        self._driver: DriverProcess | None = None
        self._under_way: dict[str, Block] = {}
        self._room = 0
        self._workers = 0
        self._worked = False
        """Whether any worker was ever ready."""
        self._well_at = self._ended_at = time.monotonic()
        self._stopping = threading.Event()
        self._stop_by = 0.0

    @property
    def at_once(self) -> int:
        return self._room

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def gives_up_s(self) -> float | None:
        """Seconds until a cluster that does nothing is given up; None while it works."""
        if self._away_s > _QUIET_S:
            return max(0.0, self._place.patience_s - self._away_s)
        return max(0.0, self._place.block_s - self._silent_s) if self._silent_s > self._place.block_s / 2 else None

    @property
    def driver_pid(self) -> int | None:
        """Number of the driver's process, where there is one."""
        return self._driver.pid if self._driver is not None else None

    def perform(self, blocks: Iterable[Block]) -> Iterator[Performed]:
        source = iter(blocks)
        self._well_at = self._ended_at = time.monotonic()
        try:
            while True:
                self._fill(source)
                if not self._under_way:
                    return
                head, data = self._heard()
                if head["is"] == "done" and head["key"] in self._under_way:
                    self._ended_at = time.monotonic()
                    yield Performed(head["key"], head.get("value"), data, fault_of(head.get("fault")))
                    # Only now is there room for another: whoever takes results slowly is not flooded with them.
                    self._under_way.pop(head["key"], None)
                self._take_in(head)
        finally:
            if self._under_way:
                self.stop()
                self._end_driver()

    def stop(self) -> None:
        self._stopping.set()
        self._inbox.put(Heard(None, {"is": "stopping"}))

    def close(self) -> None:
        self.stop()
        self._end_driver()

    # -- what the driver is told, and says ----------------------------------------------------------------------

    def _fill(self, source: Iterator[Block]) -> None:
        """Give out as many blocks as there is room for; the first one finds out how much that is."""
        while len(self._under_way) < max(self._room, 1) and not self._stopping.is_set():
            block = next(source, None)
            if block is None:
                return
            self._under_way[block.key] = block
            if self._driver is not None:
                self._driver.give(block)

    def _heard(self) -> tuple[Mapping[str, Any], bytes]:
        """What the driver says next, which is started where there is none."""
        if self._driver is None and not self._stopping.is_set():
            self._driver = DriverProcess(self._place.address, self._place.workers, self._place.at_once, self._recipe)
            self._driver.start(self._inbox)
            for block in self._under_way.values():
                self._driver.give(block)
        if self._driver is None:
            return {"is": "gone"}, b""
        while True:
            try:
                heard = self._inbox.get(timeout=_SILENT_S)
            except Empty:
                return {"is": "gone"}, b""
            # One that was given up may still have something to say.
            if heard.driver is None or heard.driver is self._driver:
                return heard.head, heard.data

    def _take_in(self, head: Mapping[str, Any]) -> None:
        match head["is"]:
            case "room":
                self._room, self._workers = int(head["blocks"]), int(head["workers"])
                self._note_workers()
            case "dropped":
                self._under_way.pop(head["key"], None)
            case "stopping":
                self._stop_by = time.monotonic() + _STOPPING_S
                if self._driver is not None:
                    self._driver.stop()
                else:
                    self._under_way.clear()
            case "fault":
                error = error_of(head["fault"])
                # A head that is being started again refuses for a while.
                if not (self._worked and isinstance(error, ClusterUnreachable)):
                    raise error
                self._lost()
            case "gone":
                self._lost()
        if self._stop_by and time.monotonic() > self._stop_by:
            self._under_way.clear()

    def _note_workers(self) -> None:
        if self._workers:
            self._worked = True
            self._well_at = time.monotonic()
        if self._stopping.is_set():
            return
        if self._away_s > self._place.patience_s:
            raise ClusterLost.full(address=self._place.address, seconds=f"{self._away_s:.0f}")
        if self._silent_s > self._place.block_s:
            raise ClusterLost.stuck(address=self._place.address, seconds=f"{self._silent_s:.0f}")

    def _lost(self) -> None:
        """The driver is gone, and its workers with it: what they had under way is done by the next ones."""
        self._end_driver()
        if self._stopping.is_set():
            self._under_way.clear()
            return
        if self._away_s > self._place.patience_s:
            raise ClusterLost.gone(address=self._place.address, seconds=f"{self._away_s:.0f}")
        _log.warning("the Ray cluster at %s was lost; looking for it again", self._place.address)
        self._stopping.wait(_AGAIN_S)

    @property
    def _away_s(self) -> float:
        return time.monotonic() - self._well_at

    @property
    def _silent_s(self) -> float:
        return time.monotonic() - self._ended_at

    def _end_driver(self) -> None:
        driver, self._driver, self._room, self._workers = self._driver, None, 0, 0
        if driver is not None:
            driver.end()


def error_of(plain: Mapping[str, Any]) -> WorkbenchError:
    """A fault of another process as the error that it was."""
    kind = row_of(plain["code"]) or ClusterError
    return kind.restored(plain["fact"], plain["remedy"], plain["params"])
