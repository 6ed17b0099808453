"""Starting the app: the one command that must not wait for the imports of the others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from engine.data_folder import require_writable
from engine.settings import Settings

UPLOADS_TAKEN = 4
"""Times the largest file that can be used: up to this the pages take an upload, to report it as too large."""

_ROOT = Path(__file__).resolve().parent.parent


def serve() -> int:  # noqa: RET503 - the other way out does not return
    """Become the app, pages and HTTP API, on the host and port of the settings; returns where that is not possible.

    Raises ``InvalidSettings`` and ``DataFolderUnwritable``.
    """
    settings = Settings.load()
    require_writable(settings.data_dir)
    address = {"STREAMLIT_SERVER_ADDRESS": settings.host, "STREAMLIT_SERVER_PORT": str(settings.port)}
    command = [sys.executable, "-m", "streamlit", "run", str(_ROOT / "app.py")]
    environment = {**os.environ, **address}
    print(f"Self-Corrective RAG Workbench: http://{settings.host}:{settings.port}", flush=True)
    os.chdir(_ROOT)
    if os.name == "nt":
        return subprocess.call(command, env=environment)  # noqa: S603 - our own command
    os.execve(sys.executable, command, environment)  # noqa: S606 - our own command, and no way back
