"""What can be checked of other systems on this one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine import version
from tests.installed.platforms import SYSTEMS
from tests.support.wheel import ROOT


def test_a_question_is_answered_where_nothing_is_that_only_posix_systems_have(tmp_path: Path) -> None:
    """PK-05: and each module of engine and components is imported there."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.installed.on_windows", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    modules, answer = done.stdout.splitlines()[-2:]
    assert int(modules) > 400
    assert "[1]" in answer


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, "/home/a/.local/share/rag-workbench"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/rag-workbench"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "/home/a/Library/Application Support/rag-workbench"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/rag-workbench"),
    ],
)
def test_each_system_has_its_own_place_for_data(
    system: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PK-02."""
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/a", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", system)
    assert version._home_folder() == Path(expected)


def test_the_lock_is_resolved_for_every_system_that_the_documentation_names() -> None:
    """PK-05: by ``python -m tests.installed.platforms``, which `make test` runs before the tests."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(BIN)/python -m tests.installed.platforms" in makefile
    assert re.search(r"--jobs style contracts [\w ]*\bplatforms\b", makefile)
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert all(f"| {system} |" in page for system in SYSTEMS)
