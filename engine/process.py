"""The one engine of this process, and the note that tells command lines where a running app is."""

from __future__ import annotations

import atexit
import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.engine import Engine
from engine.settings import Settings

_NOTE = "app.json"
_PROBE_TIMEOUT_S = 2.0
_guard = threading.Lock()
_engine: Engine | None = None


def get_engine() -> Engine:
    """The process's engine, opened on first use; Milvus Lite allows only one."""
    global _engine  # noqa: PLW0603 - a process-wide singleton is the point
    with _guard:
        if _engine is None:
            _engine = Engine.open(Settings.load())
            atexit.register(_engine.close)
        return _engine


@contextmanager
def serving() -> Iterator[None]:
    """While the app serves: keep a note of its address in the data folder, and close the engine at the end."""
    settings = get_engine().settings
    note = settings.data_dir / _NOTE
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104 - only compared with
    port = os.environ.get("STREAMLIT_SERVER_PORT", str(settings.port))
    note.write_text(json.dumps({"url": f"http://{host}:{port}", "pid": os.getpid()}), encoding="utf-8")
    try:
        yield
    finally:
        note.unlink(missing_ok=True)
        get_engine().close()


@dataclass(frozen=True, slots=True)
class RunningApp:
    """A workbench that another process serves on this machine, reached through its HTTP API."""

    url: str

    @classmethod
    def find(cls, data_dir: Path) -> RunningApp | None:
        """The app that has this data folder open, if it answers."""
        try:
            url = json.loads((data_dir / _NOTE).read_text(encoding="utf-8"))["url"]
            app = cls(str(url))
            app.get("/api/health", timeout_s=_PROBE_TIMEOUT_S)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return app

    def get(self, path: str, timeout_s: float | None = None) -> Any:
        return self._send(urllib.request.Request(self.url + path), timeout_s)  # noqa: S310 - our own address

    def post(self, path: str, body: Any) -> Any:
        """The JSON answer, also where it is an error of the workbench; ``OSError`` where nobody answers."""
        request = urllib.request.Request(  # noqa: S310 - our own address
            self.url + path, data=json.dumps(body).encode(), headers={"content-type": "application/json"}
        )
        return self._send(request, None)

    @staticmethod
    def _send(request: urllib.request.Request, timeout_s: float | None) -> Any:
        # Loopback only: a proxy from the environment must not see it.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout_s) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            return json.loads(error.read())
