"""A workbench that another process serves on this machine, found by the note it keeps in the data folder."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTE = "app.json"
_PROBE_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class RunningApp:
    """Reached through its HTTP API, on loopback."""

    url: str

    @classmethod
    def find(cls, data_dir: Path) -> RunningApp | None:
        """The app that has this data folder open, if it answers."""
        try:
            note = json.loads((data_dir / NOTE).read_text(encoding="utf-8"))
            app = cls(str(note["url"]))
            if app.get("/api/health", timeout_s=_PROBE_TIMEOUT_S)["instance"] != note["instance"]:
                # Left by an app that was killed; another one has its port now.
                return None
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
