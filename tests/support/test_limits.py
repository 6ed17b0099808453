"""No test can wait for ever: what outlives its limit fails and shows where every thread was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WAITS = """
import threading

def test_waits():
    gate = threading.Event()
    threading.Thread(target=gate.wait, name="the one behind", daemon=True).start()
    gate.wait()

def test_after(): pass
"""
FAILING_THREAD = """
import threading

def test_waits():
    gate = threading.Event()
    def opens():
        raise OSError("the head did not start")
    threading.Thread(target=opens, name="opener").start()
    gate.wait()

def test_after(): pass
"""
LEFT_BEHIND = """
import threading

def test_leaves_a_thread():
    threading.Thread(target=threading.Event().wait, name="left").start()
"""


def outcome(folder: Path, test: str, *options: str) -> tuple[int, str]:
    """Run a file of tests in a process of its own, with the settings and the plug-in of this suite."""
    file = folder / "test_one.py"
    file.write_text(test)
    (folder / "conftest.py").write_text(
        "from tests.support import limits\nfrom tests.support.limits import *\nlimits.END_S = 2\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    run = subprocess.run(
        [*command, *options, str(file)], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    return run.returncode, run.stdout + run.stderr


def test_a_test_that_outlives_its_limit_fails_with_the_stacks_of_all_threads_and_the_next_one_runs(
    tmp_path: Path,
) -> None:
    code, said = outcome(tmp_path, WAITS, "-o", "timeout=2")
    assert code == 1
    assert "Timeout" in said and "Stack of the one behind" in said
    assert "1 failed, 1 passed" in said


def test_a_test_fails_at_once_where_one_of_its_threads_does(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, FAILING_THREAD)
    assert code == 1
    assert "Thread opener failed" in said and "the head did not start" in said
    assert "1 failed, 1 passed" in said


def test_a_thread_left_behind_cannot_keep_the_process_from_ending(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, LEFT_BEHIND)
    assert code == 1
    assert "1 passed" in said and "Timeout (" in said and "most recent call first" in said
