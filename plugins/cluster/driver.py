"""The process that speaks to a Ray cluster for one job: ``python -m plugins.cluster.driver``.

It stands apart because Ray ends the process of a driver whose cluster is gone, and keeps threads and handlers of its
own in it. It reads its task from its input and writes the result to its output, in the frames of
``engine.model.subprocesses``; when its input ends, so does the job.

To it: ``start`` (address, workers, at_once, recipe, folder of this job), ``block`` (key, work and data), ``stop``,
``end``.
From it: ``ready`` (workers), at least every second or the cluster is gone, ``done`` (key,
value, fault, lost and data), ``dropped`` (key) and ``fault``, after which nothing more comes.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from engine.distributed import Block, fault_plain
from engine.errors import WorkbenchError
from engine.model.subprocesses import read_frame, write_frame
from engine.model.values import Fault
from engine.version import ROOT
from plugins.cluster.errors import PACKAGE_MISSING, UNREACHABLE
from plugins.cluster.pool import Pool, Tell

LOCAL = "local"
"""The address of a cluster on this machine alone, which lives as long as its job."""
BEAT_S = 1.0
"""How often the driver looks after the cluster, and says that it is there."""
_CLOSING_S = 5.0
_STORE_BYTES = 100_000_000
"""Memory for values under way between the processes of a local cluster; Ray would take 30 % of the machine's."""
_ANSWER_S = 5.0


def main() -> int:
    """Do one job."""
    frames = sys.stdin.buffer
    # What Ray prints must not get between the frames.
    telling = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(head: Mapping[str, Any], body: bytes) -> None:
        with suppress(OSError, ValueError):
            write_frame(telling, dict(head), body)

    frame = read_frame(frames)
    if frame is None:
        return 0
    start, _ = frame
    try:
        ray = join(start["address"], int(start["workers"]), Path(start["folder"]))
    except WorkbenchError as error:
        tell({"is": "fault", "fault": fault_plain(Fault.of(error))}, b"")
        return 1
    try:
        asyncio.run(_work(ray, start, frames, tell))
    finally:
        with suppress(Exception):
            ray.shutdown()
    return 0


def join(address: str, workers: int, folder: Path) -> Any:
    """Become a driver of a cluster, or begin one on this machine; raises ``UNREACHABLE``."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address == LOCAL:
        # Only who knows the token gets in; Ray would leave one in the home folder.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
    except ImportError:
        raise PACKAGE_MISSING() from None
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        own = {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "_temp_dir": str(folder)}
        options |= {**own, "num_cpus": workers or os.cpu_count(), "object_store_memory": _STORE_BYTES}
    else:
        options |= {"address": address, "runtime_env": {"working_dir": str(_program(folder))}}
    try:
        _look(address)
        ray.init(**options)
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise UNREACHABLE(address=address, why=f"{type(error).__name__}: {lines[0]}") from error
    return ray


def _program(folder: Path) -> Path:
    """The program itself, which is sent along so that all run the same; the nodes need our packages alone."""
    copy = folder / "program"
    for part in ("engine", "plugins"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _look(address: str) -> None:
    """Raise ``OSError`` where nothing listens at an address that names host and port."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()


async def _work(ray: Any, start: Mapping[str, Any], frames: IO[bytes], tell: Tell) -> None:
    pool, ended, loop = Pool(ray, start, tell), asyncio.Event(), asyncio.get_running_loop()

    def listen() -> None:
        while (frame := read_frame(frames)) is not None:
            head, data = frame
            if head["do"] == "block":
                loop.call_soon_threadsafe(pool.take, Block(head["key"], head["work"], data))
            elif head["do"] == "stop":
                loop.call_soon_threadsafe(pool.stop)
            else:
                break
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=listen, name="frames", daemon=True).start()
    while not ended.is_set():
        # On a thread, and with no limit: a cluster that is gone does not answer, and then this process is silent.
        resources = await asyncio.to_thread(ray.cluster_resources)
        pool.grow(float(resources.get("CPU", 0.0)))
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), BEAT_S)
    pool.close(_CLOSING_S)


if __name__ == "__main__":
    sys.exit(main())
