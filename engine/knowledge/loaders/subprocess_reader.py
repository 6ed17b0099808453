"""Reading documents in processes of their own, kept for the next file and ended when no one needs them."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from typing import Any

from engine.errors import SourceError, SourceTimedOut, SourceTooDemanding, SourceUnreadable
from engine.knowledge.loaders.contents import Contents
from engine.knowledge.loaders.frames import read_frame, unpacked, unpacked_error, write_frame
from engine.model.ending import killed
from engine.model.version import ROOT

TIME_LIMIT_S = 180.0
"""For one file; the longest PDF that is taken needs 40 s of one core."""
MOST_READERS = 2
IDLE_S = 30.0
"""After so long without a file, readers end: each holds some 60 MB."""
MOST_FILES = 200
"""Files that one reader reads, so that what a library leaks does not add up."""

WORKER = "engine.knowledge.loaders.worker"


class Reader:
    """One process, reading one file at a time."""

    def __init__(self, module: str = WORKER) -> None:
        """``module``: what the process runs; it calls :func:`engine.knowledge.loaders.worker.serve`."""
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        self.files = 0
        self.grown = False
        """A file made it larger than is worth keeping."""
        self._process = subprocess.Popen(  # noqa: S603 - one of our own modules
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # One thread of linear algebra, which nothing here needs: each more would take a part of the memory allowed.
            # The folder that the app was started in may hold files named as modules are: they are not imported.
            env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def read(self, suffix: str, name: str, data: bytes, seconds: float) -> Contents:
        """What the process finds; afterwards it may have ended (``alive``)."""
        self.files += 1
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        found: Contents | SourceError | None = None
        try:
            # The process ends itself a little later, in case this one is gone by then.
            write_frame(stdin, {"suffix": suffix, "name": name, "seconds": seconds + 5}, data)
            found = self._reply(read_frame(stdout))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass  # it ended while it was told what to read, or a file made it say what it never says
        finally:
            timer.cancel()
        if found is None:
            self.close()
            raise SourceTimedOut(name=name, seconds=seconds) if late.is_set() else SourceTooDemanding(name=name)
        if isinstance(found, SourceError):
            raise found
        return found

    def _reply(self, frame: tuple[dict[str, Any], bytes] | None) -> Contents | SourceError | None:
        """What the process says; None where it ended. Raises what anything else in the frame makes of itself."""
        if frame is None:
            return None
        head, _ = frame
        self.grown = bool(head["grown"])
        return unpacked_error(head["error"]) if "error" in head else unpacked(head["contents"])

    def end(self) -> None:
        """Kill the process, as a crash would."""
        killed(self._process)

    def close(self) -> None:
        self.end()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Readers:
    """A few reading processes for all threads; each call takes one or waits for one."""

    def __init__(self, most: int = MOST_READERS, idle_s: float = IDLE_S, module: str = WORKER) -> None:
        self._module = module
        self._free = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle: list[Reader] = []
        self._idle_s = idle_s
        self._timer: threading.Timer | None = None

    def read(self, suffix: str, name: str, data: bytes, seconds: float = TIME_LIMIT_S) -> Contents:
        """What a file holds; blocks.

        Raises its ``SourceError``: ``SourceTimedOut`` after ``seconds``, ``SourceTooDemanding`` where the process broke
        down, ``SourceUnreadable`` where none can be started.
        """
        with self._free:
            reader = self._take(name)
            try:
                return reader.read(suffix, name, data, seconds)
            finally:
                self._give_back(reader)

    def idle(self) -> tuple[Reader, ...]:
        """Processes that wait for a file."""
        with self._lock:
            return tuple(self._idle)

    def close(self) -> None:
        """End the processes that read nothing now; the next file starts one again."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for reader in idle:
            reader.close()

    def _take(self, name: str) -> Reader:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            while self._idle:
                reader = self._idle.pop()
                if reader.alive:
                    return reader
                reader.close()
        try:
            return Reader(self._module)
        except OSError as error:
            raise SourceUnreadable(name=name, why=error.strerror or type(error).__name__) from error

    def _give_back(self, reader: Reader) -> None:
        if reader.files >= MOST_FILES or reader.grown or not reader.alive:
            reader.close()
            return
        with self._lock:
            self._idle.append(reader)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._idle_s, self.close)
            self._timer.daemon = True
            self._timer.start()


READERS = Readers()
"""Of this process; other modules read through :func:`read_in_subprocess`."""
atexit.register(READERS.close)


def read_in_subprocess(suffix: str, name: str, data: bytes) -> Contents:
    return READERS.read(suffix, name, data)
