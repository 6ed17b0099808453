"""Where sign-in is asked for and the plug-in that does it is not here, the app does not start open (TM-10)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.team.people.test_real_app import AUTH

ROOT = Path(__file__).resolve().parents[4]
_START = """
import runpy
import sys
from tests.plugins.without import remove

remove({item for item in sys.argv[2:]})
runpy.run_path(sys.argv[1])
"""
_PATIENCE_S = 600


def started(folder: Path, *removed: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """What becomes of ``app.py`` in a folder of its own, without some plug-ins."""
    command = [sys.executable, "-c", _START, str(ROOT / "app.py"), *removed]
    own = {"WORKBENCH_DATA_DIR": str(folder / "data"), "WORKBENCH_OLLAMA_URL": "http://127.0.0.1:1"}
    env = {**os.environ, "PYTHONPATH": str(ROOT), **own, **settings}
    return subprocess.run(
        command, cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=_PATIENCE_S
    )


@pytest.fixture
def with_sign_in(tmp_path: Path) -> Path:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(AUTH.format(port=8501))
    return tmp_path


def test_without_the_plug_in_it_names_it_and_opens_nothing(with_sign_in: Path) -> None:
    done = started(with_sign_in, "team")
    assert done.returncode != 0
    assert "`[auth]`, and the plug-in `team`, which signs people in, is not here" in done.stderr
    assert not (with_sign_in / "data").exists()


def test_without_it_a_variable_of_it_ends_the_start(tmp_path: Path) -> None:
    done = started(tmp_path, "team", WORKBENCH_ADMINS="boss@example.org")
    assert done.returncode != 0
    assert "There is no setting named WORKBENCH_ADMINS" in done.stderr
    assert not (tmp_path / "data").exists()
