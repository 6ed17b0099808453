"""The end of threads and processes, which nothing waits for without a limit."""

from __future__ import annotations

import logging
import subprocess
import threading

ENDING_S = 60.0
"""Longer than anything takes that a thread may be in the middle of when it is asked to end."""
KILLED_S = 10.0

_log = logging.getLogger(__name__)


def joined(thread: threading.Thread, limit_s: float = ENDING_S) -> bool:
    """Wait for a thread that was asked to end; one that takes longer is left, which is logged."""
    thread.join(limit_s)
    if thread.is_alive():
        _log.warning("thread %s did not end within %.0f s and is left", thread.name, limit_s)
    return not thread.is_alive()


def killed(process: subprocess.Popen[bytes]) -> None:
    """End a process at once; one that the system does not let go is left, which is logged."""
    process.kill()
    try:
        process.wait(KILLED_S)
    except subprocess.TimeoutExpired:
        _log.warning("process %s did not end within %.0f s of being killed", process.pid, KILLED_S)
