"""What sending a run as spans adds to it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from engine.samples.demos import demo_record
from plugins.telemetry.otlp import encoded
from plugins.telemetry.trace import trace_of
from tests.benchmarks.engine_runs import EVERY_PASSAGE, STRAIGHT, engine_of
from tests.benchmarks.harness import Bench, Row, in_turn, ratio
from tests.plugins.telemetry.otlp_receiver import OtlpReceiver


def telemetry(bench: Bench) -> Iterator[Row]:
    """Whole runs that are sent as spans with content, in turn with runs that are not, and the work of one of them."""
    with (
        OtlpReceiver() as receiver,
        engine_of(bench.folder / "sending", EVERY_PASSAGE, otlp_endpoint=receiver.url, otlp_content=True) as sending,
        engine_of(bench.folder / "silent", EVERY_PASSAGE) as silent,
    ):
        on_ms, off_ms = in_turn(
            lambda: sending.run("What is it?", STRAIGHT),
            lambda: silent.run("What is it?", STRAIGHT),
            repeats=bench.sizes.repeats,
            warm_ups=2,
        )
    yield ratio("run with instant roles, sent as spans / not sent", on_ms, off_ms)
    record = demo_record("demo-forced-en")
    made = []
    for _ in range(bench.sizes.repeats):
        began = time.perf_counter()
        encoded([trace_of(record, content=True)], "p")
        made.append((time.perf_counter() - began) * 1000.0)
    yield Row("spans of a run of 4 rounds, made and encoded", "ms", tuple(made), note="in the background")
