"""The core does its work without any plug-in, and without each of them (BE-05)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.plugins import _folders

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(_folders())
REMOVED = [*NAMES, "all"]
_PATIENCE_S = 600


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each of what was removed."""
    folder = tmp_path_factory.mktemp("without")
    command = [sys.executable, "-m", "tests.plugins.without", str(folder), *REMOVED]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=_PATIENCE_S)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.mark.parametrize("removed", REMOVED)
def test_the_core_answers_and_serves_without(removed: str, tried: Path) -> None:
    fault = tried / removed / "fault.txt"
    assert not fault.exists(), fault.read_text(encoding="utf-8")[-4000:]
    there = json.loads((tried / removed / "there.json").read_text(encoding="utf-8"))
    assert there == [name for name in NAMES if removed != "all" and name != removed]
