"""The process that speaks to a Ray cluster for one job: ``python -m engine.executing.driver``.

It stands apart because Ray ends the process of a driver whose cluster is gone, and keeps threads and handlers of its
own in it. It is told what to do on its input and tells what came of it on its output, in the frames of
``engine.model.subprocesses``; when its input ends, so does the job.

To it: ``start`` (address, workers, at_once, recipe, and a folder for what Ray writes where the cluster is this
process's own), ``block`` (key, work and data), ``stop``, ``end``.
From it: ``room`` (blocks that the workers take, workers), ``done`` (key, value, fault and data), ``dropped`` (key) and
``fault``, after which nothing more comes.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from queue import Empty
from typing import IO, Any

from engine.errors import ClusterPackageMissing, ClusterUnreachable, WorkbenchError
from engine.executing.blocks import Block, fault_plain
from engine.executing.pool import Pool, Tell
from engine.model.subprocesses import read_frame, write_frame
from engine.model.values import Fault
from engine.version import ROOT

LOCAL = "local"
"""The address of a cluster on this machine alone, which lives as long as its job."""
BEAT_S = 1.0
"""How often the driver says that it is there, and looks after the cluster."""
_CLOSING_S = 5.0
_STORE_BYTES = 100_000_000
"""Memory for values under way between the processes of a local cluster; Ray would take 30 % of the machine's."""
JOINING_S = 60.0
"""How long a cluster may take to let a driver in; Ray itself would try for minutes."""
_ANSWER_S = 5.0
LOST_AFTER_S = 10.0
"""A head that has not answered for so long is taken for gone."""
LOST = 3
"""The exit code where the cluster is gone."""


def main() -> int:
    """Do one job."""
    told = sys.stdin.buffer
    # What Ray prints must not get between the frames.
    telling = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    guard = threading.Lock()

    def tell(head: Mapping[str, Any], body: bytes) -> None:
        with guard, suppress(OSError, ValueError):
            write_frame(telling, dict(head), body)

    frame = read_frame(told)
    if frame is None:
        return 0
    start, _ = frame

    def refuse(error: WorkbenchError) -> None:
        tell({"is": "fault", "fault": fault_plain(Fault.of(error))}, b"")

    def give_up() -> None:
        refuse(ClusterUnreachable(address=start["address"], why=f"{JOINING_S:.0f} s"))
        os._exit(LOST)

    late = threading.Timer(JOINING_S, give_up)
    late.daemon = True
    late.start()
    try:
        ray = join(start["address"], int(start["workers"]), start["folder"])
    except WorkbenchError as error:
        refuse(error)
        return 1
    finally:
        late.cancel()
    try:
        return _work(ray, start, told, tell)
    finally:
        with suppress(Exception):
            ray.shutdown()


def join(address: str, workers: int, folder: str) -> Any:
    """Become a driver of a cluster, or begin one on this machine; raises ``ClusterUnreachable``."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address == LOCAL:
        # Only who knows the token gets in; Ray would leave one in the home folder.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
    except ImportError:
        raise ClusterPackageMissing(package="ray") from None
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        own = {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "_temp_dir": folder}
        options |= {**own, "num_cpus": workers or os.cpu_count(), "object_store_memory": _STORE_BYTES}
    else:
        # The nodes need our packages; the program itself is sent along, so that all run the same.
        options |= {"address": address, "runtime_env": {"py_modules": [str(ROOT / "engine")]}}
    try:
        _look(address)
        ray.init(**options)
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise ClusterUnreachable(address=address, why=f"{type(error).__name__}: {lines[0]}") from error
    return ray


def _look(address: str) -> None:
    """Raise ``OSError`` where nothing listens at an address that names host and port."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()


def _work(ray: Any, start: Mapping[str, Any], told: IO[bytes], tell: Tell) -> int:
    pool = Pool(ray, start, tell)
    ended = threading.Event()

    def listen() -> None:
        while (frame := read_frame(told)) is not None:
            head, data = frame
            if head["do"] == "block":
                pool.inbox.put(partial(pool.take, Block(head["key"], head["work"], data)))
            elif head["do"] == "stop":
                pool.inbox.put(pool.stop)
            else:
                break
        ended.set()
        pool.inbox.put(lambda: None)

    threading.Thread(target=listen, name="told", daemon=True).start()
    watch = Watch(ray)
    while not ended.is_set():
        pool.grow(watch.processors)
        tell({"is": "room", "blocks": pool.room, "workers": pool.ready}, b"")
        _until_beat(pool, ended, tell)
    pool.close(_CLOSING_S)
    return 0


def _until_beat(pool: Pool, ended: threading.Event, tell: Tell) -> None:
    """Do what comes in until it is time to look after the cluster again."""
    room, beat = pool.room, time.monotonic() + BEAT_S
    while (left_s := beat - time.monotonic()) > 0 and not ended.is_set():
        with suppress(Empty):
            pool.inbox.get(timeout=left_s)()
        if pool.room != room:
            room = pool.room
            tell({"is": "room", "blocks": room, "workers": pool.ready}, b"")


class Watch:
    """What processors the cluster has; ends this process where the cluster does not answer any more.

    Ray does so itself after a minute. Until then its calls wait, those that give out work too, so that both the asking
    and the ending have threads of their own.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._answered_at = time.monotonic()
        self.processors = 0.0
        for work in (self._ask, self._guard):
            threading.Thread(target=work, name="watch", daemon=True).start()

    def _ask(self) -> None:
        while True:
            try:
                self.processors = float(self._ray.cluster_resources().get("CPU", 0.0))
            except Exception:
                # A head that was started again does not know this driver.
                os._exit(LOST)
            self._answered_at = time.monotonic()
            time.sleep(BEAT_S)

    def _guard(self) -> None:
        while time.monotonic() - self._answered_at < LOST_AFTER_S:
            time.sleep(BEAT_S)
        os._exit(LOST)


if __name__ == "__main__":
    sys.exit(main())
