"""The one engine of this process, and the note that tells command lines where a running app is."""

from __future__ import annotations

import atexit
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType

from engine.engine import Engine
from engine.people import signing_in
from engine.running.running_app import KEY, NOTE
from engine.settings import Settings

_guard = threading.Lock()
_engine: Engine | None = None


def get_engine() -> Engine:
    """The process's engine, opened on first use; Milvus Lite allows only one."""
    global _engine  # noqa: PLW0603 - a process-wide singleton is the point
    with _guard:
        if _engine is None:
            _engine = Engine.open(Settings.load())
            atexit.register(_engine.close)
        return _engine


def use_engine(engine: Engine | None) -> None:
    """Make ``engine`` the one of this process; None leaves the next caller to open its own.

    For code that brings an engine to the pages, above all a test; the one that was there before is not closed.
    """
    global _engine  # noqa: PLW0603 - a process-wide singleton is the point
    with _guard:
        _engine = engine


def _write_note(note: Path, said: dict[str, str], token: str) -> None:
    """Write down where the app is, and where people sign in what lets command lines in, for its own user alone."""
    note.unlink(missing_ok=True)
    secret = {"token": token} if signing_in() else {}
    with open(note, "x", encoding="utf-8", opener=partial(os.open, mode=0o600 if secret else 0o666)) as file:
        json.dump({**said, **secret}, file)


def _write_key(key: Path, secret: str) -> None:
    """Write down by what commands of a plug-in are let in, for its own user alone."""
    key.unlink(missing_ok=True)
    with open(key, "x", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
        file.write(secret)


@contextmanager
def serving(port: int) -> Iterator[None]:
    """While the app serves: keep a note of its address in the data folder, and close the engine at the end."""
    engine = get_engine()
    settings = engine.settings
    note, key = settings.data_dir / NOTE, settings.data_dir / KEY
    # Where a disk is full, command lines do not find the app; it answers all the same.
    with suppress(OSError):
        _write_key(key, engine.local_token)
        _write_note(note, {"url": settings.reached_at(port), "instance": engine.instance}, engine.local_token)
    try:
        with _drained_before_the_end(engine, settings.drain_s):
            yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
            key.unlink(missing_ok=True)
        engine.close()


@contextmanager
def _drained_before_the_end(engine: Engine, most_s: float) -> Iterator[None]:
    """Let the runs of this process end before a request to terminate reaches the web server, which would cut them."""
    if not most_s or threading.current_thread() is not threading.main_thread():
        yield
        return
    served = signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: FrameType | None) -> None:
        def wait() -> None:
            engine.drain(most_s)
            if callable(served):
                served(number, frame)

        threading.Thread(target=wait, name="drain", daemon=True).start()

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, served)
