"""Prepare the Milvus test server's own environment: ``python -m tests.support.prepare_milvus FOLDER``.

Where its wheel does not exist (it is for Linux on x86-64), this says so and the server's tests are left out,
unless ``WORKBENCH_TEST_ALL`` asks for all of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

_LOCK = Path(__file__).resolve().parents[1] / "milvus.lock"


def main(folder: Path) -> int:
    stamp = folder / ".installed"
    if stamp.exists() and stamp.stat().st_mtime >= _LOCK.stat().st_mtime:
        return 0
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*install, "--require-hashes", "-r", str(_LOCK)], check=False)
    if done.returncode == 0:
        stamp.touch()
        return 0
    print("The Milvus test server cannot be installed on this machine; its tests are left out.", file=sys.stderr)
    return 1 if os.environ.get("WORKBENCH_TEST_ALL") else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
