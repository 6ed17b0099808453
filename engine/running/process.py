"""The one engine of this process, and the note that tells command lines where a running app is."""

from __future__ import annotations

import atexit
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from engine.engine import Engine
from engine.running.running_app import NOTE
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

    For whoever brings an engine to the pages, a test above all; the one that was there before is not closed.
    """
    global _engine  # noqa: PLW0603 - a process-wide singleton is the point
    with _guard:
        _engine = engine


@contextmanager
def serving(port: int) -> Iterator[None]:
    """While the app serves: keep a note of its address in the data folder, and close the engine at the end."""
    engine = get_engine()
    settings = engine.settings
    note = settings.data_dir / NOTE
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104 - only compared with
    # Where a disk is full, command lines do not find the app; it answers all the same.
    with suppress(OSError):
        note.write_text(json.dumps({"url": f"http://{host}:{port}", "instance": engine.instance}), encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        engine.close()
