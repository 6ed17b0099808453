"""Client configuration for this workbench, in the form that most of them read (``mcpServers``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from engine.version import INSTALLED, ROOT, installed_from

_NAME = "workbench"
_UVX = frozenset({"archive-v0", "environments-v2"})
"""Folders of environments that uvx makes for one start, and removes again."""


def over_http(address: str, *, signing_in: bool) -> str:
    """Of a client that calls the running app."""
    headers = {"headers": {"Authorization": "Bearer TOKEN"}} if signing_in else {}
    return _written({"type": "http", "url": address, **headers})


def by_command(data_dir: Path) -> str:
    """Of a client that starts the program itself, on the same data folder, from any folder."""
    environment = {"WORKBENCH_DATA_DIR": str(data_dir.resolve())}
    if INSTALLED and _UVX & {*Path(sys.prefix).parts}:
        origin = installed_from().strip('"')
        started = {"command": "uvx", "args": ["--from", f"{origin}[mcp]", "rag-workbench", "mcp"]}
        return _written({**started, "env": environment})
    if not INSTALLED:
        environment = {"PYTHONPATH": str(ROOT), **environment}
    return _written({"command": sys.executable, "args": ["-m", "rag_workbench", "mcp"], "env": environment})


def _written(entry: dict[str, Any]) -> str:
    return json.dumps({"mcpServers": {_NAME: entry}}, ensure_ascii=False)
