"""The app as its users start it, in a process of its own: for browser tests, pictures and start-up benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
LOG_NAME = "app.log"
_START_S = 300.0
_STOP_S = 60.0
_LOOK_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True)
class App:
    """A started process of the app; it may not answer yet."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def wait_until_served(self) -> None:
        """Until pages are served; raises ``RuntimeError`` with the end of the log where that fails."""
        self._wait(lambda: self._get("/_stcore/health") == b"ok")

    def wait_until_ready(self) -> None:
        """Until the knowledge base is open too."""
        self._wait(lambda: self.get("/api/health")["ready"])

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer of the API; ``HTTPError`` where it is an error."""
        content = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, {"content-type": "application/json"})
        return json.loads(_opened(request, timeout_s=_START_S))

    def get(self, path: str) -> Any:
        """The JSON answer of the API."""
        return json.loads(self._get(path))

    @property
    def token(self) -> str:
        """What lets command lines on this machine in where people sign in; empty elsewhere, and before the start."""
        try:
            return str(json.loads((self.log.parent / "app.json").read_text(encoding="utf-8")).get("token", ""))
        except FileNotFoundError:
            return ""

    def cpu_s(self) -> float:
        """Seconds of processor that the process has used, on Linux: unlike waiting, hardly a matter of other load."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _get(self, path: str) -> bytes:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        return _opened(urllib.request.Request(self.url + path, headers=headers), timeout_s=_STOP_S)

    def _wait(self, answered: Callable[[], Any]) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            try:
                if answered():
                    return
            except OSError:  # no one listens yet
                pass
            if self._ended():
                break
        raise RuntimeError(f"the app did not start: {self._health()}; the end of its log:\n{_tail(self.log)}")

    def _health(self) -> str:
        try:
            return self._get("/api/health").decode()
        except OSError as error:
            return f"{error}"

    def _ended(self) -> bool:
        # The pause between two looks: it ends at once where the process does.
        try:
            self.process.wait(_LOOK_AGAIN_S)
        except subprocess.TimeoutExpired:
            return False
        return True


@contextmanager
def started_app(data_dir: Path, env: Mapping[str, str] | None = None) -> Iterator[App]:
    """``python -m engine serve`` on a free port with this data folder; ``env`` adds variables.

    Variables of the caller's own workbench are left out. What the app prints is in ``data_dir/app.log``.
    """
    own = {"WORKBENCH_DATA_DIR": str(data_dir), **(env or {})}
    with started_process([sys.executable, "-m", "engine", "serve"], data_dir, own) as app:
        yield app


@contextmanager
def started_process(
    command: Sequence[str],
    folder: Path,
    env: Mapping[str, str] | None = None,
    *,
    cwd: Path = ROOT,
    alone: bool = False,
) -> Iterator[App]:
    """Any Streamlit app on a free port, ended by its handle when the block ends; its log is ``folder/app.log``.

    ``alone``: it gets the variables of ``env`` and none of this process's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = str(free_port())
    others = {} if alone else os.environ
    inherited = {name: value for name, value in others.items() if not name.startswith(("WORKBENCH_", "STREAMLIT_"))}
    where = {"WORKBENCH_HOST": "127.0.0.1", "WORKBENCH_PORT": port, "STREAMLIT_SERVER_PORT": port}
    log = folder / LOG_NAME
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env={**inherited, **where, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield App(f"http://127.0.0.1:{port}", process, log)
        finally:
            _end(process)


def _opened(request: urllib.request.Request, timeout_s: float) -> bytes:
    # Loopback only: a proxy of the machine must not be asked.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=timeout_s) as response:
        content: bytes = response.read()
    return content


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_STOP_S)


def _tail(log: Path, characters: int = 3000) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-characters:]
