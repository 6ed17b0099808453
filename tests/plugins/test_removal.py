"""The core does its work without any plug-in, and without each of them (BE-05)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.plugins import _folders

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(_folders())
_PATIENCE_S = 600


@pytest.mark.parametrize("removed", [*NAMES, "all"])
def test_the_core_answers_and_serves_without(removed: str, tmp_path: Path) -> None:
    gone = [] if removed == "all" else [removed]
    command = [sys.executable, "-m", "tests.plugins.without", str(tmp_path), *gone]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=_PATIENCE_S)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines()[-1] == str([name for name in NAMES if gone and name not in gone])
