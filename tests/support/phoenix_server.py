"""A real Arize Phoenix for tests of telemetry and traces, run from an environment of its own (``tests/phoenix.lock``).

``WORKBENCH_TEST_PHOENIX_URL`` names a server that is there already; tests use projects of their own on it. Otherwise
``python -m tests.support.phoenix_server FOLDER`` installs one (``make test`` does; 625 MB, 4 s), and a server with data
and ports of its own starts with the first test that needs it (14 s, later 7 s, nearly all of it imports) and ends with
the tests.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.support.own_environment import prepared
from tests.support.server_process import server_process

T = TypeVar("T")
URL_VARIABLE = "WORKBENCH_TEST_PHOENIX_URL"
FOLDER = Path(__file__).resolve().parents[2] / ".venv-phoenix"

_LOCK = Path(__file__).resolve().parents[1] / "phoenix.lock"
_ANSWER_S = 60.0

_SERVE = """
import gc, os, signal, sys, threading, time, urllib.request
# Its imports make many objects that stay: looking for garbage among them takes a sixth of the start.
gc.disable()
to_tests = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
port = os.environ["PHOENIX_PORT"]
here = urllib.request.build_opener(urllib.request.ProxyHandler({}))

def tell_and_wait():
    while True:
        try:
            here.open(f"http://127.0.0.1:{port}/healthz", timeout=60).close()
            break
        except OSError:
            time.sleep(0.1)
    gc.freeze()
    gc.enable()
    print(port, file=to_tests, flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=tell_and_wait, daemon=True).start()
from phoenix.server.main import main
sys.argv = ["phoenix", "serve"]
main()
"""


@dataclass(frozen=True, slots=True)
class Phoenix:
    """A server that answers at ``url``; traces are sent to ``url`` + ``/v1/traces``."""

    url: str

    def get(self, path: str, **query: Any) -> Any:
        """What its REST API answers to GET ``/v1/`` + ``path``; a 404 is None."""
        with self._client() as client:
            answer = client.get(f"/v1/{path}", params=query)
        return None if answer.status_code == 404 else answer.raise_for_status().json()

    def post(self, path: str, body: Any) -> Any:
        """What its REST API answers to POST ``/v1/`` + ``path``."""
        with self._client() as client:
            return client.post(f"/v1/{path}", json=body).raise_for_status().json()

    def graphql(self, query: str, **variables: Any) -> Any:
        """What its pages are given for a query of theirs."""
        with self._client() as client:
            answer = client.post("/graphql", json={"query": query, "variables": variables}).raise_for_status().json()
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def spans(self, project: str, *, at_least: int = 1) -> list[Mapping[str, Any]]:
        """All spans of a project as its API gives them, once there are so many: it stores them in its own time."""

        def read() -> list[Mapping[str, Any]]:
            found: list[Mapping[str, Any]] = (self.get(f"projects/{project}/spans", limit=1000) or {}).get("data", [])
            return found

        return self.until(read, lambda found: len(found) >= at_least)

    def until(self, read: Callable[[], T], holds: Callable[[T], bool]) -> T:
        """What was read first that holds; annotations of spans that it has not stored yet it takes up seconds later."""
        for _ in range(int(_ANSWER_S * 5)):
            if holds(found := read()):
                return found
            time.sleep(0.2)
        raise AssertionError(f"last seen in Phoenix: {found}")

    def _client(self) -> httpx.Client:
        # Certificates, which take a while to load, are of no use on this machine's own loopback.
        return httpx.Client(base_url=self.url, trust_env=False, timeout=_ANSWER_S, verify=False)


def missing() -> str:
    """Why no server can be tested against here; empty where one can."""
    if os.environ.get(URL_VARIABLE) or (FOLDER / ".installed").exists():
        return ""
    return f"no Phoenix: set {URL_VARIABLE}, or run python -m tests.support.phoenix_server {FOLDER.name}"


@contextmanager
def running(folder: Path) -> Iterator[Phoenix]:
    """A server whose data and log are in ``folder``, unless the environment names one."""
    given = os.environ.get(URL_VARIABLE)
    if given:
        yield Phoenix(given.rstrip("/"))
        return
    port, grpc_port = _free_ports()
    settings = {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(grpc_port),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
        "PHOENIX_ENABLE_MCP_SERVER": "false",
    }
    command = [str(FOLDER / "bin" / "python"), "-c", _SERVE]
    with server_process("Phoenix", command, folder, stop_s=60, env=settings) as answered:
        yield Phoenix(f"http://127.0.0.1:{answered}")


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])


if __name__ == "__main__":
    sys.exit(prepared("Phoenix", Path(sys.argv[1]), _LOCK))
