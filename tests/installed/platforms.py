"""``python -m tests.installed.platforms``: the lock, resolved to wheels alone for every system that the docs name.

Asked of the package index, as an installation is; ``make test`` runs it where it prepares the servers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = {
    "Windows x86-64": ("x86_64-pc-windows-msvc", ""),
    "macOS 14 arm64": ("aarch64-apple-darwin", "14.0"),
    "macOS 15 x86-64": ("x86_64-apple-darwin", "15.0"),
    "Linux x86-64": ("x86_64-unknown-linux-gnu", ""),
    "Linux arm64": ("aarch64-unknown-linux-gnu", ""),
}
PYTHONS = ("3.11", "3.14")
_UNSOLVED = "No solution found"


def main() -> int:
    """1 where a package has no wheel for a system, or, where all tests must run, where the index cannot be asked."""
    with ThreadPoolExecutor(2) as pool:
        wrong = [line for line in pool.map(lambda pair: _problem(*pair), product(SYSTEMS, PYTHONS)) if line]
    for line in wrong:
        print(line, file=sys.stderr)
    unsolved = any(_UNSOLVED in line for line in wrong)
    return 1 if unsolved or (wrong and os.environ.get("WORKBENCH_TEST_ALL")) else 0


def _problem(system: str, python: str) -> str:
    platform, least = SYSTEMS[system]
    command = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--dry-run", "--only-binary", ":all:"]
    command += ["--python-platform", platform, "--python-version", python, "--require-hashes"]
    with tempfile.TemporaryDirectory() as nothing:
        done = subprocess.run(
            [*command, "--target", nothing, "-r", str(ROOT / "requirements.lock")],
            env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": least},
            capture_output=True,
            text=True,
            check=False,
        )
    return f"{system}, Python {python}: {done.stderr[-1500:]}" if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
