"""A team installation on this machine: two replicas, PostgreSQL, a Milvus server, and a proxy in front."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser.server import ROOT, App, started_app
from tests.support.ports import free_port
from tests.support.postgres_server import Server

CADDYFILE = ROOT / "docs" / "team" / "Caddyfile"


@dataclass(frozen=True, slots=True)
class Team:
    """The address of the proxy, and the replicas behind it."""

    url: str
    replicas: tuple[App, App]


@pytest.fixture(scope="module")
def team(postgres_server_here: Server, milvus_here: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """Two replicas as ``docs/team.md`` starts them, behind its Caddyfile."""
    if shutil.which("caddy") is None:
        reason = "no Caddy on this machine: install the package caddy"
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    folder = tmp_path_factory.mktemp("team")
    port = free_port()
    with ExitStack() as stack:
        env = {
            "WORKBENCH_DATABASE_URL": stack.enter_context(postgres_server_here.database()),
            "WORKBENCH_MILVUS_URI": milvus_here,
            "WORKBENCH_MILVUS_DATABASE": "team",
            "WORKBENCH_ALLOWED_ORIGINS": f"http://127.0.0.1:{port}",
            "WORKBENCH_DRAIN_S": "30",
            "WORKBENCH_SECRET_KEY": base64.b64encode(os.urandom(32)).decode(),
        }
        replicas = tuple(stack.enter_context(started_app(folder / name, env)) for name in ("one", "two"))
        for replica in replicas:
            replica.wait_until_served()
            replica.wait_until_ready()
        stack.enter_context(_proxy(port, [replica.url.removeprefix("http://") for replica in replicas], folder))
        yield Team(f"http://127.0.0.1:{port}", (replicas[0], replicas[1]))


@contextmanager
def _proxy(port: int, replicas: list[str], folder: Path) -> Iterator[None]:
    env = {**os.environ, "WORKBENCH_SITE": f":{port}", "WORKBENCH_REPLICAS": " ".join(replicas), "HOME": str(folder)}
    command = ["caddy", "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        _wait_until_it_answers(f"http://127.0.0.1:{port}/api/ready", process, folder / "caddy.log")
        yield
    finally:
        process.terminate()
        process.wait(60)


def _wait_until_it_answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(400):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            pass
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        break
    raise RuntimeError(f"the proxy does not answer: {log.read_text(errors='replace')[-2000:]}")
