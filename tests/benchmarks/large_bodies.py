"""Bodies of 25 MB that mean harm: how long each waits for its refusal, and how soon others are answered meanwhile."""

from __future__ import annotations

import base64
import http.client
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.benchmarks.harness import Bench, Row
from tests.browser.server import started_app

_REFUSED = 400
_PROBES_EVERY_S = 0.01
_ROUTE = "/api/runs"


def _bodies(size: int) -> Mapping[str, bytes]:
    """By what they are full of; the last is a file under a name that no request has."""
    many = size // 14
    return {
        "unknown names": b"{" + b",".join(b'"k%08d":1' % place for place in range(many)) + b"}",
        "rows": b'{"question":"q","attachments":[{"name":"t","rows":[' + b"[1,2,3,4,5,6]," * many + b"[]]}]}",
        "config": b'{"question":"q","config":{"models":[' + b'"aaaaaaaaaaa",' * many + b"1]}}",
        "depth": b'{"question":' + b"[" * size,
        "escapes": b'{"question":"' + b"\\u4e00" * (size // 6) + b'"}',
        "quotes": b'{"question":"' + b'\\"' * (size // 2) + b'"}',
        "digits": b'{"question":' + b"9" * size + b"}",
        "spaces": b" " * size,
        "noise": os.urandom(size),
        "file": b'{"question":"q","files":"' + base64.b64encode(os.urandom(size * 3 // 4)) + b'"}',
    }


def large_bodies(bench: Bench) -> Iterator[Row]:
    """Each body to a running app, one after the other, while ``/api/health`` is asked a hundred times a second."""
    with started_app(bench.folder / "data") as app:
        app.wait_until_served()
        app.wait_until_ready()
        # What a first question imports would meet the quiet moment.
        app.post("/api/self-corrective-rag", {"query": "What is diabetes?"})
        address = urlsplit(app.url).netloc
        with _probing(address) as probes:
            time.sleep(bench.sizes.repeats * 0.2)
            quiet = probes()
        yield Row("health, quiet: p95", "ms", (_p95(quiet),))
        for name, body in _bodies(bench.sizes.body).items():
            waited: list[float] = []
            with _probing(address) as probes:
                while len(waited) < bench.sizes.starts or len(probes()) < 4 * bench.sizes.repeats:
                    began = time.perf_counter()
                    status = _posted(address, body)
                    waited.append(time.perf_counter() - began)
                    assert status >= _REFUSED, (name, status)
                met = probes()
            yield Row(f"{name}: refused", "s", tuple(waited), "< 2 s")
            yield Row(f"{name}: health, p95", "ms", (_p95(met),), "< 100 ms", f"slowest {max(met):.0f} ms")


def _posted(address: str, body: bytes) -> int:
    connection = http.client.HTTPConnection(address, timeout=300)
    try:
        connection.request("POST", _ROUTE, body, {"content-type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()


@contextmanager
def _probing(address: str) -> Iterator[Callable[[], Sequence[float]]]:
    """Ask for the health again and again in a thread; gives what tells the milliseconds of every answer so far."""
    taken: list[float] = []
    over = threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection(address, timeout=300)
        while not over.wait(_PROBES_EVERY_S):
            began = time.perf_counter()
            connection.request("GET", "/api/health")
            connection.getresponse().read()
            taken.append((time.perf_counter() - began) * 1000.0)
        connection.close()

    thread = threading.Thread(target=ask, name="probe")
    thread.start()
    try:
        yield lambda: tuple(taken)
    finally:
        over.set()
        thread.join()


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]
