"""The site of the documentation, built as ``make docs`` builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs import README


def build(folder: Path) -> Path:
    """Build it into a folder; raises ``AssertionError`` with every warning where a link or a page is missing."""
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        check=False,
        cwd=README.parent,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return folder
