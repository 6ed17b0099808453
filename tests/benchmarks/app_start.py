"""From starting the app in an empty data folder to its first answer."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Row
from tests.browser.server import started_app

_QUESTION = "What fasting glucose level means diabetes today?"


def app_ready(bench: Bench) -> Iterator[Row]:
    """``python -m engine serve`` until pages are served, until the samples are open, and the first answers after."""
    served, ready, first, second = [], [], [], []
    for turn in range(bench.sizes.starts):
        began = time.perf_counter()
        with started_app(bench.folder / f"start-{turn}") as app:
            app.wait_until_served()
            served.append(time.perf_counter() - began)
            app.wait_until_ready()
            ready.append(time.perf_counter() - began)
            for taken in (first, second):
                began = time.perf_counter()
                answer = app.post("/api/self-corrective-rag", {"query": _QUESTION})
                taken.append(time.perf_counter() - began)
                assert answer["success"] and answer["citations"], answer
    yield Row("app: pages served", "s", tuple(served), note="fresh data folder")
    yield Row("app: ready", "s", tuple(ready), "< 3 s", "sample knowledge base open")
    yield Row("app: first answer", "s", tuple(first), "< 2 s", "after ready")
    yield Row("app: second answer", "s", tuple(second))
