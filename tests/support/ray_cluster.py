"""A real Ray of several processes on this machine for the tests: a head, further nodes, and the end of any of them.

Each node is what ``ray start --block`` makes, in a session of its own: its processes end with it. A token of its own
keeps everybody else out, and nothing of it is left behind.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tests.support.ports import free_port

_START_S = 60.0
_END_S = 30.0
_STORE_BYTES = 80_000_000
_LEFT_OUT = ("--disable-usage-stats", "--include-log-monitor=false")
"""What no test needs of a node."""
_BOUND = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()
"""Where the tests are killed, what they started ends too."""
_ROOT = Path(__file__).resolve().parents[2]


def missing() -> str:
    """Why no cluster can be tested against here; empty where one can."""
    return "" if find_spec("ray") is not None else "no Ray: install the extra cluster"


@dataclass(slots=True)
class Node:
    """One raylet with its workers, and at the head what the others report to."""

    process: subprocess.Popen[bytes]
    log: Path

    def children(self, name: str) -> list[int]:
        """Processes of this node with so much in their command line, the newest last."""
        return [pid for pid, group, line in _processes() if group == self.process.pid and name in line]

    def kill(self) -> None:
        """End all of it at once, as a machine that loses its power; one that has ended stays so."""
        for pid, session, _ in _processes():
            if session == self.process.pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait(_END_S)


@dataclass(slots=True)
class Cluster:
    """A head and further nodes; ``environment`` is what whoever joins it needs."""

    folder: Path
    port: int
    environment: Mapping[str, str]
    nodes: list[Node] = field(default_factory=list)
    _starter: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1))
    """Its one thread starts all nodes: they are bound to the thread that did, and a test may have others."""

    @property
    def address(self) -> str:
        return f"{_own_address()}:{self.port}"

    def start_head(self, processors: int = 1) -> Node:
        """Start the head, again where it was killed."""
        return self._start(processors, "--head", f"--port={self.port}", "--include-dashboard=false")

    def add_node(self, processors: int = 1) -> Node:
        return self._start(processors, f"--address={self.address}")

    def replace(self, place: int, processors: int = 1) -> None:
        """Start a node, which need not live any more, again."""
        self.nodes[place].kill()
        node = self.start_head(processors) if place == 0 else self.add_node(processors)
        self.nodes.remove(node)
        self.nodes[place] = node

    def complete(self) -> None:
        """Start again what was killed."""
        for place, node in enumerate(self.nodes):
            if node.process.poll() is not None:
                self.replace(place)

    def restart(self) -> None:
        """Kill the head in the middle of it all, and bring every node up again at the same address."""
        for node in self.nodes:
            node.kill()
        for place in range(len(self.nodes)):
            self.replace(place)

    def end(self) -> None:
        for node in reversed(self.nodes):
            node.kill()
        self.nodes.clear()
        self._starter.shutdown()

    def _start(self, processors: int, *options: str) -> Node:
        return self._starter.submit(self._started, processors, *options).result()

    def _started(self, processors: int, *options: str) -> Node:
        log = self.folder / f"node-{len(self.nodes)}-{secrets.token_hex(3)}.log"
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options, "--block", *_LEFT_OUT]
        limits = [f"--num-cpus={processors}", f"--object-store-memory={_STORE_BYTES}"]
        where = [f"--temp-dir={self.folder / 's'}", "--no-monitor"] if "--head" in options else []
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*_BOUND, *command, *limits, *where],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                env={**os.environ, **self.environment},
                cwd=_ROOT,
            )
        node = Node(process, log)
        self.nodes.append(node)
        _wait_for(node, "Ray runtime started.")
        return node


@contextmanager
def running(processors: int = 1, nodes: int = 0) -> Iterator[Cluster]:
    """A head and so many further nodes, each with so many processors."""
    # A short path: it begins the names of sockets, which have at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="wb-ray-"))
    environment = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "PYTHONPATH": str(_ROOT),
        # Not behind everything else that this machine does, as workers are by default.
        "RAY_worker_niceness": "0",
        # A node that is gone is noticed within seconds, not half a minute.
        "RAY_health_check_period_ms": "500",
        "RAY_health_check_failure_threshold": "4",
    }
    cluster = Cluster(folder, free_port(), environment)
    try:
        cluster.start_head(processors)
        for _ in range(nodes):
            cluster.add_node(processors)
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(node: Node, words: str) -> None:
    for _ in range(int(_START_S * 20)):
        if words in node.log.read_text(errors="replace"):
            return
        try:
            node.process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        break
    raise RuntimeError(f"Ray did not start: {node.log.read_text(errors='replace')[-3000:]}")


def _processes() -> list[tuple[int, int, str]]:
    """Number, session and command line of every process."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append((int(folder.name), os.getsid(int(folder.name)), line))
    return sorted(found)


def _own_address() -> str:
    """The address that Ray takes for this machine's: it has none of its own for loopback."""
    from ray.util import get_node_ip_address

    return str(get_node_ip_address())  # type: ignore[no-untyped-call]
