"""A host without an engine around it: the knowledge base is opened only by those tests that need it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from engine.model.loop_thread import LoopThread
from engine.model.values import Fault
from engine.running.ingestions import Ingestions
from engine.running.resources import Resources
from engine.settings import Settings
from engine.system.host import Host

T = TypeVar("T")
NOWHERE = "http://127.0.0.1:1"
_PATIENCE_S = 60.0


@contextmanager
def hosting(folder: Path, *, faults: Sequence[Fault] = (), **settings: Any) -> Iterator[Host]:
    """Settings that name no Ollama look where no one answers, and not at one that this machine may have."""
    loaded = Settings.load(**{"data_dir": folder, "call_timeout_s": 10.0, **settings})
    if "ollama_url" not in settings:
        # Not as an override, which would say that this Ollama is wanted.
        loaded = loaded.model_copy()
        object.__setattr__(loaded, "ollama_url", NOWHERE)
    loop = LoopThread("test-host")
    resources = Resources(loaded)
    ingestions = Ingestions(loop, resources)
    host = Host(loop, resources, ingestions, lambda: faults)
    try:
        yield host
    finally:
        ingestions.close()
        loop.close(resources.close, 10.0)


def until(read: Callable[[], T], holds: Callable[[T], bool]) -> T:
    """What was read first that holds; raises ``TimeoutError`` where nothing does for long."""
    pause, waited = threading.Event(), 0.0
    while not holds(found := read()):
        pause.wait(0.01)
        waited += 0.01
        if waited > _PATIENCE_S:
            raise TimeoutError(f"last seen: {found}")
    return found
