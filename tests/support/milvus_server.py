"""A real Milvus 2.3.5 for the contract suite, run from an environment of its own (``tests/milvus.lock``).

``WORKBENCH_TEST_MILVUS_URI`` names a server that is there already. Otherwise ``WORKBENCH_TEST_MILVUS_PYTHON`` (default
``.venv-milvus/bin/python``, which ``make test`` prepares) is an interpreter that has the package ``milvus``: the server
then gets a folder and ports of its own, takes 10-20 s to start, and ends with the test session.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.server_process import server_process

URI_VARIABLE = "WORKBENCH_TEST_MILVUS_URI"
PYTHON_VARIABLE = "WORKBENCH_TEST_MILVUS_PYTHON"
DEFAULT_PYTHON = ".venv-milvus/bin/python"

_FIXED_PORTS = (2379, 2380)
"""Ports of the etcd inside the server: every other one moves out of the way, so one machine runs one server."""

_SETTINGS = {
    "ROOTCOORD_DMLCHANNELNUM": "2",
    "PROXY_TIMETICKINTERVAL": "50",
    "QUERYCOORD_CHECKINTERVAL": "50",
    "QUERYCOORD_CHECKSEGMENTINTERVAL": "50",
    "QUERYCOORD_CHECKCHANNELINTERVAL": "50",
    "QUERYCOORD_DISTPULLINTERVAL": "50",
}
"""Each of its usual 16 channels would have a tick of its own; with the usual intervals, a strong read waits 200 ms and
loading a collection takes seconds. With ticks every 20 ms, one that has nothing to do takes half as much processor time
again."""

_SERVE = """
import sys
from milvus import MilvusServer, MilvusServerConfig
server = MilvusServer(MilvusServerConfig(data_dir=sys.argv[1]))
server.start()
print(server.listen_port, flush=True)
sys.stdin.read()
server.stop()
"""


def interpreter() -> Path | None:
    """The Python that can run the server, or None on a machine that has none."""
    found = Path(os.environ.get(PYTHON_VARIABLE) or Path(__file__).parents[2] / DEFAULT_PYTHON)
    return found if sys.platform == "linux" and found.exists() else None


def missing() -> str:
    """Why no server can be tested against here; empty where one can."""
    if os.environ.get(URI_VARIABLE):
        return ""
    if interpreter() is None:
        return f"no Milvus server: set {URI_VARIABLE}, or make {DEFAULT_PYTHON} from tests/milvus.lock"
    taken = [str(port) for port in _FIXED_PORTS if _taken(port)]
    if taken:
        return f"no Milvus server: port {', '.join(taken)} is taken, and the server's etcd cannot use another"
    return ""


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The address of a server, started in ``folder`` unless the environment names one."""
    given = os.environ.get(URI_VARIABLE)
    if given:
        yield given
        return
    python = interpreter()
    assert python is not None, missing()
    command = [str(python), "-c", _SERVE, str(folder / "milvus")]
    with server_process("Milvus", command, folder, stop_s=30, env=_SETTINGS) as port:
        yield f"http://127.0.0.1:{port}"
