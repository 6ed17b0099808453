"""An environment of its own for a server of the tests, from a lock with hashes."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path


def prepared(name: str, folder: Path, lock: Path) -> int:
    """Install what ``lock`` lists into ``folder``, unless it is there; 0, or 1 where all tests must run and it fails.

    Elsewhere a failure is said, and the server's tests are left out.
    """
    stamp = folder / ".installed"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return 0
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder)
    uv = Path(sys.executable).parent / "uv"
    install = [str(uv), "pip", "install", "--quiet", "--python", str(python), "--require-hashes", "-r", str(lock)]
    if subprocess.run(install, check=False).returncode == 0:
        stamp.touch()
        return 0
    print(f"{name} cannot be installed on this machine; its tests are left out.", file=sys.stderr)
    return 1 if os.environ.get("WORKBENCH_TEST_ALL") else 0
