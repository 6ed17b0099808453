"""Blocks done by the workers of a Ray cluster, with the same result as by threads of this process."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from queue import Empty, SimpleQueue
from typing import Any

from engine.distributed import Block, Performed, Recipe, fault_of, fault_plain
from engine.errors import WorkbenchError
from engine.errors.recorded import row_of
from engine.model.ending import killed
from engine.model.subprocesses import read_frame, write_frame
from engine.model.values import Fault
from engine.version import ROOT
from plugins.cluster.errors import FAILED, FULL, GONE, STUCK, UNREACHABLE

_log = logging.getLogger(__name__)
AHEAD = 1
"""Blocks for each worker that wait in the driver, so that none waits for the next; not at the worker, where one that
takes long would hold up the one behind it."""
PATIENCE_S = 180.0
"""How long a cluster may be away, or have no room for a worker, before a job ends with what it has."""
BLOCK_S = 1800.0
"""How long workers that are there may finish nothing: a question or a file has limits far below that."""
_QUIET_S = 20.0
"""A cluster without workers is said to be waited for after so long, and workers after three times that."""
_AGAIN_S = 2.0
"""Pause before a cluster that was lost is looked for again."""
_STOPPING_S = 20.0
"""How long workers get to end what they are doing."""
_JOINING_S = 60.0
"""How long a cluster may take to let a driver in; Ray itself would try for minutes."""
_SILENT_S = 20.0
"""A driver says every second that it is there; where it has not for so long, the cluster is gone or it hangs."""
_ENDING_S = 15.0
_Heard = tuple["_Driver | None", Mapping[str, Any], bytes]
"""What a driver says, or this process where there is none."""


@dataclass(frozen=True, slots=True)
class Place:
    """Cluster to use, and how much of it."""

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
        self._inbox: SimpleQueue[_Heard] = SimpleQueue()
        self._driver: _Driver | None = None
        self._under_way: dict[str, Block] = {}
        self._workers = 0
        self._worked = False
        """Whether any worker was ever ready."""
        self._well_at = self._ended_at = time.monotonic()
        self._stopping = threading.Event()
        self._stop_by = 0.0

    @property
    def at_once(self) -> int:
        return self._workers * (self._place.at_once + AHEAD)

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def gives_up_s(self) -> float | None:
        """Seconds until a cluster that finishes nothing is given up; None while it works."""
        away_s, silent_s = self._waited()
        if away_s < _QUIET_S and silent_s < 3 * _QUIET_S:
            return None
        left_s = self._place.block_s - silent_s
        return max(0.0, left_s if away_s < _QUIET_S else min(left_s, self._place.patience_s - away_s))

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
                    fault = fault_of(head["fault"])
                    yield Performed(head["key"], head.get("value"), data, fault, lost=head.get("lost", False))
                    # Only now is there room for another: a slow reader of results is not flooded with them.
                    self._under_way.pop(head["key"], None)
                self._take_in(head)
                self._look_at_limits()
        finally:
            if self._under_way:
                self.stop()
                self._end_driver()

    def stop(self) -> None:
        self._stopping.set()
        self._inbox.put((None, {"is": "stopping"}, b""))

    def close(self) -> None:
        self.stop()
        self._end_driver()

    def _fill(self, source: Iterator[Block]) -> None:
        """Give out as many blocks as there is room for; the first one finds out how much that is."""
        while len(self._under_way) < max(self.at_once, 1) and not self._stopping.is_set():
            block = next(source, None)
            if block is None:
                return
            self._under_way[block.key] = block
            if self._driver is not None:
                self._driver.give(block)

    def _heard(self) -> tuple[Mapping[str, Any], bytes]:
        """Read the driver's next message; start it if needed."""
        if self._driver is None and not self._stopping.is_set():
            self._driver = _Driver(self._place, self._recipe, self._inbox)
            for block in self._under_way.values():
                self._driver.give(block)
        driver = self._driver
        if driver is None:
            return {"is": "gone"}, b""
        while True:
            try:
                speaker, head, data = self._inbox.get(timeout=_SILENT_S if driver.joined else _JOINING_S)
            except Empty:
                killed(driver.process)
                if driver.joined:
                    return {"is": "gone"}, b""
                late = UNREACHABLE(address=self._place.address, why=f"{_JOINING_S:.0f} s")
                return {"is": "fault", "fault": fault_plain(Fault.of(late))}, b""
            # One that was given up may still have something to say.
            if speaker is None or speaker is driver:
                driver.joined = driver.joined or speaker is driver
                return head, data

    def _take_in(self, head: Mapping[str, Any]) -> None:
        match head["is"]:
            case "ready":
                self._workers = int(head["workers"])
                if self._workers:
                    self._worked, self._well_at = True, time.monotonic()
            case "dropped":
                self._under_way.pop(head["key"], None)
            case "stopping":
                self._stop_by = time.monotonic() + _STOPPING_S
                if self._driver is not None:
                    self._driver.say({"do": "stop"})
                else:
                    self._under_way.clear()
            case "fault":
                error = error_of(head["fault"])
                # A head that is being started again refuses for a while.
                if not (self._worked and error.code == UNREACHABLE.code):
                    raise error
                self._lost()
            case "gone":
                self._lost()

    def _lost(self) -> None:
        """The driver is gone, and its workers with it: what they had under way is done by the next ones."""
        self._end_driver()
        if self._stopping.is_set():
            self._under_way.clear()
        else:
            _log.warning("the Ray cluster at %s was lost; looking for it again", self._place.address)
            self._stopping.wait(_AGAIN_S)

    def _look_at_limits(self) -> None:
        if self._stopping.is_set():
            if self._stop_by and time.monotonic() > self._stop_by:
                self._under_way.clear()
            return
        away_s, silent_s = self._waited()
        if away_s > self._place.patience_s:
            lost = GONE if self._driver is None else FULL
            raise lost(address=self._place.address, seconds=f"{away_s:.0f}")
        if silent_s > self._place.block_s:
            raise STUCK(address=self._place.address, seconds=f"{silent_s:.0f}")

    def _waited(self) -> tuple[float, float]:
        """Seconds since there last was a worker, and since a block last ended."""
        now = time.monotonic()
        return now - self._well_at, now - self._ended_at

    def _end_driver(self) -> None:
        driver, self._driver, self._workers = self._driver, None, 0
        if driver is not None:
            driver.end()


class _Driver:
    """One driver of one job; its end is heard as ``gone``."""

    def __init__(self, place: Place, recipe: Recipe, inbox: SimpleQueue[_Heard]) -> None:
        self.joined = False
        """Whether it has said anything."""
        self._folder = tempfile.mkdtemp(prefix="ray-")
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "plugins.cluster.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ray lets workers import from here; and what is pressed in a terminal is for the app alone.
            cwd=ROOT,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        for name, work in (("heard", lambda: self._listen(inbox)), ("log", self._log)):
            threading.Thread(target=work, name=f"cluster-{name}", daemon=True).start()
        job = {"address": place.address, "workers": place.workers, "at_once": place.at_once, "recipe": asdict(recipe)}
        self.say({"do": "start", "folder": self._folder, **job})

    def give(self, block: Block) -> None:
        self.say({"do": "block", "key": block.key, "work": dict(block.work)}, block.data)

    def say(self, head: dict[str, Any], data: bytes = b"") -> None:
        assert self.process.stdin is not None
        # Where it has ended, that is heard.
        with suppress(OSError, ValueError):
            write_frame(self.process.stdin, head, data)

    def end(self) -> None:
        """Let the workers go and wait for its end; one that takes too long is killed."""
        self.say({"do": "end"})
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            killed(self.process)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self, inbox: SimpleQueue[_Heard]) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            while (frame := read_frame(stdout)) is not None:
                inbox.put((self, *frame))
        inbox.put((self, {"is": "gone"}, b""))

    def _log(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stderr:
            for line in stderr:
                _log.debug("ray: %s", line.decode(errors="replace").rstrip())


def error_of(plain: Mapping[str, Any]) -> WorkbenchError:
    """A fault of another process as the error that it was."""
    kind = row_of(plain["code"]) or FAILED
    return kind.restored(plain["fact"], plain["remedy"], plain["params"])
