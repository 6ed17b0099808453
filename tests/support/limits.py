"""What ends a test that would wait for ever.

``pytest-timeout`` fails a test at its limit, with the stacks of all threads in its report; where that cannot be done,
pytest's ``faulthandler_timeout`` ends the process a minute later (the limits stand in ``pyproject.toml``). This module
adds what they leave out: a thread of a test that fails, and a thread that keeps the process from ending.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

END_S = 60.0
"""How long threads that tests left behind may keep the process from ending."""
_SIGNAL: signal.Signals | None = getattr(signal, "SIGUSR1", None)
"""Windows has none: there a test whose thread failed ends at its limit."""
_failed: list[str] = []


def pytest_configure() -> None:
    if _SIGNAL is not None:
        signal.signal(_SIGNAL, _fail_now)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fail a test as soon as one of its threads fails: the gate that this thread would have opened stays shut."""
    noted, main = threading.excepthook, threading.main_thread().ident
    _failed.clear()

    def note(args: Any) -> None:
        noted(args)
        if _SIGNAL is not None and main is not None and not issubclass(args.exc_type, SystemExit):
            name = args.thread.name if args.thread is not None else "unknown"
            _failed.append(f"Thread {name} failed:\n" + "".join(traceback.format_exception(args.exc_value)))
            signal.pthread_kill(main, _SIGNAL)

    threading.excepthook = note
    try:
        return (yield)
    finally:
        threading.excepthook = noted
        _failed.clear()


def pytest_unconfigure() -> None:
    """Print all stacks and end the process where a thread that is no daemon would be waited for without end."""
    faulthandler.dump_traceback_later(END_S, exit=True, file=sys.__stderr__ or sys.stderr)


def _fail_now(*_: object) -> None:
    if _failed:
        pytest.fail(_failed[0], pytrace=False)
