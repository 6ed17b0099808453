"""Functions called in processes of their own, which are kept for the next call and end when nothing needs them.

A file may crash a parser written in C, fill the memory or keep it busy for ever; here that hurts nothing else.
``multiprocessing`` and what builds on it guarantee less: what comes back is unpickled and could run code in the app,
and a new process imports the app's main module again.

The process is ``python -m engine.model.subprocesses MODULE:FUNCTION …`` and both sides exchange frames: lengths, JSON
and bytes.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import IO, Any

from engine.errors import SourceError, rows
from engine.model.ending import killed
from engine.version import ROOT

MOST_CALLS = 200
"""Calls that one process takes, so that what a library leaks does not add up."""
MOST_REPLY = 2_000_000_000
_LENGTHS = struct.Struct(">QQ")
_XML_NO_MEMORY = 2
"""libxml2's XML_ERR_NO_MEMORY."""


def write_frame(stream: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    text = json.dumps(head, ensure_ascii=True).encode()
    stream.write(_LENGTHS.pack(len(text), len(body)))
    stream.write(text)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next head and body; None where the other side has ended."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_size, body_size = _LENGTHS.unpack(lengths)
    if head_size + body_size > MOST_REPLY:
        return None
    head, body = stream.read(head_size), stream.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        return None
    return json.loads(head), body


def spawned(module: str, *arguments: str, stderr: int, **variables: str) -> subprocess.Popen[bytes]:
    """Start one of our own modules, which reads and writes its standard streams, with further variables."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen(  # noqa: S603 - one of our own modules
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        # The folder that the app was started in may hold files named as modules are: they are not imported.
        env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", **variables},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


class Subprocess:
    """One process, taking one call at a time."""

    def __init__(self, function: str, most_memory: int, kept_memory: int) -> None:
        """As for :class:`Subprocesses`; raises ``OSError`` where no process can be started."""
        self.calls = 0
        self.grown = False
        """A call made it larger than is worth keeping."""
        limits = (str(most_memory), str(kept_memory))
        # One thread of linear algebra, which nothing here needs: each more would take a part of the memory allowed.
        self._process = spawned(__name__, function, *limits, stderr=subprocess.DEVNULL, OPENBLAS_NUM_THREADS="1")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, name: str, data: bytes, seconds: float, **arguments: Any) -> Any:
        """As :meth:`Subprocesses.call`; afterwards the process may have ended (``alive``)."""
        self.calls += 1
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        value = error = None
        try:
            # The process ends itself a little later, in case this one is gone by then.
            write_frame(stdin, {"arguments": {"name": name, **arguments}, "seconds": seconds + 5}, data)
            if (frame := read_frame(stdout)) is not None:
                head, _ = frame
                self.grown = bool(head["grown"])
                value, error = head.get("value"), _unpacked(head["error"]) if "error" in head else None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass  # it ended while it was called, or data made it reply what it never replies
        finally:
            timer.cancel()
        if error is not None:
            raise error
        if value is None:
            self.close()
            raise (
                SourceError.timed_out(name=name, seconds=seconds)
                if late.is_set()
                else SourceError.too_demanding(name=name)
            )
        return value

    def end(self) -> None:
        """Kill the process, as a crash would."""
        killed(self._process)

    def close(self) -> None:
        self.end()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Subprocesses:
    """A few processes for all threads; each call takes one or waits for one. They end with this process."""

    def __init__(self, function: str, *, most: int, most_memory: int, kept_memory: int, idle_s: float) -> None:
        """``function``: ``module:function``, called with ``name``, ``data`` and the arguments of a call, and returning
        what JSON holds, but not None.

        ``most_memory``: bytes of address space, where the system has such a limit; ``kept_memory``: a call that made a
        process hold more bytes is its last; ``idle_s``: after so long without a call, processes end.
        """
        self._start = partial(Subprocess, function, most_memory, kept_memory)
        self._free = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle: list[Subprocess] = []
        self._idle_s = idle_s
        self._timer: threading.Timer | None = None
        atexit.register(self.close)

    def call(self, name: str, data: bytes, seconds: float, **arguments: Any) -> Any:
        """Return the function's result; blocks, and waits for a process before ``seconds`` begin.

        Raises the function's ``SourceError``; ``SourceError.timed_out`` after ``seconds``, even where code in C holds
        the process; ``SourceError.too_demanding`` where it broke down, ``SourceError.unreadable`` where none can be
        started.
        """
        with self._free:
            process = self._take(name)
            try:
                return process.call(name, data, seconds, **arguments)
            finally:
                self._give_back(process)

    def idle(self) -> tuple[Subprocess, ...]:
        """Processes that wait for a call."""
        with self._lock:
            return tuple(self._idle)

    def close(self) -> None:
        """End the processes that do nothing now; the next call starts one again."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._cancel_timer()
        for process in idle:
            process.close()

    def _take(self, name: str) -> Subprocess:
        with self._lock:
            self._cancel_timer()
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.close()
        try:
            return self._start()
        except OSError as error:
            raise SourceError.unreadable(name=name, why=error.strerror or type(error).__name__) from error

    def _give_back(self, process: Subprocess) -> None:
        if process.calls >= MOST_CALLS or process.grown or not process.alive:
            process.close()
            return
        with self._lock:
            self._idle.append(process)
            self._cancel_timer()
            self._timer = threading.Timer(self._idle_s, self.close)
            self._timer.daemon = True
            self._timer.start()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def reply_of(function: Callable[..., Any], name: str, data: bytes, **arguments: Any) -> dict[str, Any]:
    """Return a function's result, or the error that a file deserves, as JSON."""
    try:
        return {"value": function(name=name, data=data, **arguments)}
    except SourceError as error:
        # The XML parser tells of full memory as of a mistake in the file.
        full = getattr(error.__cause__, "code", None) == _XML_NO_MEMORY
        return {"error": _packed(SourceError.too_demanding(name=name) if full else error)}
    except (MemoryError, RecursionError):
        return {"error": _packed(SourceError.too_demanding(name=name))}
    except Exception as error:
        return {"error": _packed(SourceError.unreadable(name=name, why=f"{type(error).__name__}: {str(error)[:150]}"))}


def _packed(error: SourceError) -> dict[str, Any]:
    return {"code": error.code, "fact": error.fact, "remedy": error.remedy, "params": error.params}


def _unpacked(head: dict[str, Any]) -> SourceError:
    row = next((row for row in rows(SourceError) if row.code == head["code"]), SourceError.unreadable)
    return row.restored(head["fact"], head["remedy"], head["params"])


def serve(function: str, most_memory: int, kept_memory: int) -> None:
    """Answer calls until the input ends; one that takes longer than its time ends the process."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # A library that prints must not write into the replies.
    os.dup2(2, 1)
    # Ctrl-C is for the app, which lets this process know by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(most_memory)
    module, _, named = function.partition(":")
    called = getattr(import_module(module), named)
    while (frame := read_frame(requests)) is not None:
        head, data = frame
        # Works even where a parser in C never comes back to Python.
        faulthandler.dump_traceback_later(head["seconds"], exit=True, file=sys.stderr)
        reply = reply_of(called, data=data, **head["arguments"])
        faulthandler.cancel_dump_traceback_later()
        try:
            write_frame(replies, {**reply, "grown": _peak_memory() > kept_memory})
        except OSError:
            return


def _peak_memory() -> int:
    """Most bytes of memory that this process has held; 0 where the system does not say.

    Linux counts what a large app held before it began this process into ``ru_maxrss`` too, but not into ``VmHWM``.
    """
    with contextlib.suppress(OSError, ValueError), open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


def _limit_memory(most: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
