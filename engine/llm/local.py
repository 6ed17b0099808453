"""Models in GGUF files, run by llama.cpp: each file in a process of its own, started by the first call that needs it.

A process is one more server that speaks OpenAI's protocol, on this machine alone and behind a key that nothing else
has. It ends after a while without calls, and with the app. One that dies fails the calls it was given; the next call
starts another, unless several have died within a minute.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import subprocess
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from pydantic import SecretStr

from engine.errors import ModelError, ModelInterrupted
from engine.llm.connection import PerLoop
from engine.llm.gguf import model_in
from engine.model.config import RoleModel
from engine.model.ending import killed
from engine.model.subprocesses import spawned
from engine.model.system import LocalKind, LocalModel
from engine.model.values import Fault
from engine.settings import Settings

FOLDER = "models"
"""Folder of the data folder in which files are found by their names."""
PACKAGES = "xllamacpp langchain-openai"
SLOTS = 2
"""Replies that a chat model writes at the same time, each with the whole context that was asked for."""
TEXT_TOKENS = 2048
"""Longest text that is embedded or scored, where the model takes so much: one is read in one piece."""
MOST_WAITING = 64
IDLE_S = 600.0
_OVERHEAD = 200_000_000
"""Bytes that a process takes in addition to weights and context, about."""
_DEATHS, _WITHIN_S = 3, 60.0
_LEAST_START_S, _BYTES_A_SECOND = 60.0, 20_000_000
"""A start takes a minute at most, and a second more for each 20 MB: a slow disk that others read from too."""
_ENDING_S = 5.0
_NAME = re.compile(r"[\w][\w .+()-]*\.gguf", re.IGNORECASE)
_MB = 1_000_000
_SAID = re.compile(r"^[\d.]+ [EW] ")
"""What llama.cpp puts before its messages of errors and warnings."""


@dataclass(frozen=True, slots=True)
class Server:
    """A process that answers."""

    address: str
    """With ``/v1``."""
    key: str
    model: LocalModel


def local_models(settings: Settings) -> tuple[LocalModel, ...]:
    """Every file that is here, by name, with the memory of its process; those that cannot be used have a fault."""
    return tuple(_seen(path, settings) for path in _paths(settings).values())


def installed() -> bool:
    """Return whether the packages are here that run a file."""
    return all(find_spec(name.replace("-", "_")) for name in PACKAGES.split())


def digest_of(model: str, settings: Settings) -> str:
    """The SHA-256 of a model's file, a second for each 500 MB the first time; empty where the file is not here."""
    path = _paths(settings).get(model.partition(":")[2])
    if path is None:
        return ""
    with suppress(OSError):
        return f"sha256:{sha256_of(path, *_version(path))}"
    return ""


@lru_cache(maxsize=64)
def sha256_of(path: Path, _size: int, _changed: int) -> str:
    """The SHA-256 of a file, computed once as long as its size and time stay."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@asynccontextmanager
async def serving(model: str, settings: Settings, kind: LocalKind, context: int = 0) -> AsyncIterator[Server]:
    """A place among the calls of a model's process, which is started where there is none; ``context`` is in tokens.

    Raises ``ModelError`` where it cannot be started, or ends while it is used.
    """
    running = await asyncio.to_thread(_running_of, model, settings, kind)
    async with running.place():
        server = await asyncio.to_thread(running.started, context)
        try:
            yield server
        except ModelError as error:
            ended = await asyncio.to_thread(running.ended)
            if ended is None:
                raise
            raise ModelInterrupted.local_ended(model=model, why=ended) from error


@asynccontextmanager
async def chatting(model: str, settings: Settings, context: int) -> AsyncIterator[Settings]:
    """:func:`serving` a chat model, as the settings with which ``openai:`` reaches it."""
    async with serving(model, settings, "chat", context) as server:
        yield settings.model_copy(update={"openai_url": server.address, "openai_api_key": SecretStr(server.key)})


def stop(name: str, settings: Settings) -> None:
    """End the process of a file, if there is one."""
    for (folder, path), running in list(_all.items()):
        if folder == settings.data_dir and name in ("", path.name):
            running.stop()


def stop_all(settings: Settings) -> None:
    """End the process of each file."""
    stop("", settings)


def free_memory() -> int | None:
    """Bytes of memory that programs can be given now; None where the system does not say."""
    found: list[int] = []
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")))
    with suppress(OSError, ValueError):  # a container's own limit
        most = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        held = Path("/sys/fs/cgroup/memory.stat").read_text().splitlines()
        used -= sum(int(line.split()[1]) for line in held if line.startswith("inactive_file "))
        found.append(max(0, most - used))
    return min(found, default=None)


# -- files --------------------------------------------------------------------------------------------------------


def _paths(settings: Settings) -> dict[str, Path]:
    """The files by name; that of the setting stands before one of the folder with the same name."""
    folder = settings.data_dir / FOLDER
    with suppress(OSError):
        found = {path.name: path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_file()}
        return dict(sorted({**found, **_set(settings)}.items()))
    return _set(settings)


def _set(settings: Settings) -> dict[str, Path]:
    path = Path(settings.model_file).expanduser()
    return {path.name: path} if settings.model_file else {}


def _seen(path: Path, settings: Settings) -> LocalModel:
    try:
        found = model_in(path)
    except ModelError as error:
        size = path.stat().st_size if path.is_file() else 0
        return LocalModel(path.name, size, "", "", "", "", 0, 0, 0, fault=Fault.of(error))
    running = _all.get((settings.data_dir, path))
    needs = _needed(found, _tokens(found, RoleModel().num_ctx))
    return replace(found, needs=needs, loaded=running.memory() if running else None)


def _version(path: Path) -> tuple[int, int]:
    """Size and time of a file, by which it is known again; zeros where it is gone."""
    with suppress(OSError):
        seen = path.stat()
        return seen.st_size, seen.st_mtime_ns
    return 0, 0


def _tokens(model: LocalModel, context: int) -> int:
    """Tokens of context for all slots together, where each is to have so many."""
    most = model.context_length or context or TEXT_TOKENS
    return min(context, most) * SLOTS if model.kind == "chat" else min(TEXT_TOKENS, most)


def _needed(model: LocalModel, tokens: int) -> int:
    return model.size + tokens * model.token_bytes + _OVERHEAD


def checked(model: str, settings: Settings, kind: LocalKind) -> tuple[Path, LocalModel]:
    """The file of a model that can be run as one of this kind; raises ``ModelError`` that says what is missing."""
    if not installed():
        raise ModelError.provider_not_installed(model=model, package=PACKAGES)
    path = _paths(settings).get(model.partition(":")[2])
    if path is None:
        raise ModelError.local_file_missing(model=model, folder=str((settings.data_dir / FOLDER).absolute()))
    found = model_in(path)
    if found.kind != kind:
        raise ModelError.local_file_misplaced(model=model)
    return path, found


def _running_of(model: str, settings: Settings, kind: LocalKind) -> _Running:
    path, found = checked(model, settings, kind)
    version = _version(path)
    with _guard:
        former = _all.get((settings.data_dir, path))
        if former is not None and former.version == version:
            return former
        running = _all[settings.data_dir, path] = _Running(model, path, found, version)
    if former is not None:
        # What it would still say is of a file that is no longer there.
        former.stop()
    return running


# -- processes ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Process:
    child: subprocess.Popen[bytes]
    server: Server
    context: int
    said: deque[str]
    """The last lines that it wrote about what went wrong."""


@dataclass(slots=True)
class _Running:
    """The process of one file, if it has one; what is no coroutine blocks, and may be called from any thread."""

    name: str
    path: Path
    model: LocalModel
    version: tuple[int, int]
    idle_s: float = field(default_factory=lambda: IDLE_S)
    _process: _Process | None = None
    _deaths: deque[float] = field(default_factory=lambda: deque(maxlen=_DEATHS))
    _why: str = ""
    _starting: subprocess.Popen[bytes] | None = None
    _unwanted: subprocess.Popen[bytes] | None = None
    """The one that was ended while it was being started."""
    _calls: int = 0
    _waiting: int = 0
    _used_at: float = 0.0
    _timer: threading.Timer | None = None
    _guard: threading.RLock = field(default_factory=threading.RLock)
    _places: PerLoop[asyncio.Semaphore] = field(default_factory=PerLoop)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place among the calls that the process is given at the same time; the others wait here, so many at most."""
        if self._waiting >= MOST_WAITING:
            raise ModelError.local_busy(model=self.name, calls=self._waiting)
        slots = self._places.find() or self._places.keep(asyncio.Semaphore(SLOTS))
        self._waiting += 1
        try:
            await slots.acquire()
        finally:
            self._waiting -= 1
        self._calls += 1
        try:
            yield
        finally:
            slots.release()
            self._calls -= 1
            self._used_at = time.monotonic()
            if self._timer is None:
                self._rest_in(self.idle_s)

    def started(self, context: int) -> Server:
        """The process, with room for so many tokens of context a call, for a call that has its place."""
        with self._guard:
            self._note_death()
            tokens = _tokens(self.model, context)
            # One that others are using stays as it is: a prompt that does not fit it is refused.
            if self._process is not None and self._process.context < tokens and self._calls == 1:
                self.stop()
            if self._process is None:
                self._process = self._start(tokens)
            return self._process.server

    def ended(self) -> str | None:
        """Why the process ended, if it has: a connection that breaks off is seen a moment before."""
        with self._guard:
            if self._process is None:
                return self._why
            with suppress(subprocess.TimeoutExpired):
                self._process.child.wait(1.0)
            return self._note_death()

    def memory(self) -> int | None:
        """Bytes of memory that the process has; None without one, 0 where the system does not say."""
        process = self._process
        if process is None or process.child.poll() is not None:
            return None
        with suppress(OSError, ValueError, IndexError):
            pages = int(Path(f"/proc/{process.child.pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")
        return 0

    def stop(self) -> None:
        """End the process, if there is one, also while it is being started; calls that it has fail."""
        if (starting := self._starting) is not None:
            self._unwanted = starting
            starting.kill()
        with self._guard:
            process, self._process = self._process, None
            if process is None:
                return
            self._why = "it was ended."
            _close(process.child)

    def _rest_in(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._rest)
        self._timer.daemon = True
        self._timer.start()

    def _rest(self) -> None:
        """End the process after a while without calls; look again later where there were some."""
        with self._guard:
            left_s = self.idle_s - (time.monotonic() - self._used_at)
            if self._process is not None and (self._calls or left_s > 0):
                self._rest_in(left_s if left_s > 0 else self.idle_s)
                return
            self._timer = None
            self.stop()

    def _note_death(self) -> str | None:
        process = self._process
        if process is None or process.child.poll() is None:
            return None
        self._process = None
        self._deaths.append(time.monotonic())
        self._why = _reason(process.child, process.said)
        _close(process.child)
        return self._why

    def _start(self, tokens: int) -> _Process:
        if len(self._deaths) == _DEATHS and time.monotonic() - self._deaths[0] < _WITHIN_S:
            raise ModelError.local_resting(model=self.name, times=_DEATHS, why=self._why)
        needed, free = _needed(self.model, tokens), free_memory()
        if free is not None and needed > free:
            raise ModelError.local_memory(model=self.name, needed=needed // _MB, free=free // _MB)
        key = secrets.token_hex(16)
        wanted = {"path": str(self.path.absolute()), "kind": self.model.kind, "context": tokens, "key": key}
        said: deque[str] = deque(maxlen=5)
        self._starting = child = _spawned(said)
        limit_s = _LEAST_START_S + self.model.size / _BYTES_A_SECOND
        answer, late = _asked(child, {**wanted, "slots": SLOTS if self.model.kind == "chat" else 1}, limit_s)
        self._starting = None
        if child is self._unwanted:
            _close(child)
            raise ModelError.local_unloaded(model=self.name)
        if not answer:
            killed(child)
            self._deaths.append(time.monotonic())
            self._why = _reason(child, said)
            _close(child)
            if late:
                raise ModelError.local_slow(model=self.name, seconds=f"{limit_s:.0f}")
            raise ModelError.local_file_unusable(model=self.name, why=self._why)
        return _Process(child, Server(f"{json.loads(answer)['address']}/v1", key, self.model), tokens, said)


_guard = threading.Lock()
_all: dict[tuple[Path, Path], _Running] = {}
"""By data folder and file."""


def _spawned(said: deque[str]) -> subprocess.Popen[bytes]:
    # Imported here, so that a copy of the program by its imports has it where such a file is run.
    from engine.llm.local_child import main

    child = spawned(main.__module__, stderr=subprocess.PIPE)
    threading.Thread(target=_heard, args=(child, said), daemon=True, name="llama.cpp").start()
    return child


def _heard(child: subprocess.Popen[bytes], said: deque[str]) -> None:
    assert child.stderr is not None
    with suppress(OSError, ValueError), child.stderr:
        for line in child.stderr:
            if text := _SAID.sub("", line.decode(errors="replace").strip()):
                said.append(text)


def _asked(child: subprocess.Popen[bytes], wanted: dict[str, object], limit_s: float) -> tuple[bytes, bool]:
    """The line that a child answers with, empty where it ends first, and whether it was given up after the limit."""
    assert child.stdin is not None and child.stdout is not None
    late = threading.Event()

    def give_up() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(limit_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        child.stdin.write(json.dumps(wanted).encode() + b"\n")
        child.stdin.flush()
        return child.stdout.readline(), late.is_set()
    except OSError:
        return b"", late.is_set()
    finally:
        timer.cancel()


def _close(child: subprocess.Popen[bytes]) -> None:
    """End a child by closing its input, or by force where that takes long."""
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        child.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        killed(child)


def _reason(child: subprocess.Popen[bytes], said: deque[str]) -> str:
    """Why a child ended, as far as it said so: the first of its last lines about an error."""
    lines = [line for line in list(said) if not line.startswith(("Traceback", "File "))]
    code = child.poll()
    return f"{lines[0].rstrip('.')}." if lines else f"it ended with {code}."
