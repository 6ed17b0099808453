"""What tests of the core need of it (``tests/support/brought.py``)."""

from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Benchmark, Row


def telemetry(bench: Bench) -> Iterator[Row]:
    from tests.plugins.telemetry.benchmark import telemetry as measured

    return measured(bench)


BENCHMARKS = {"telemetry": Benchmark("telemetry", "runs that are sent as spans", telemetry)}
WAITS = {("plugins/telemetry/sending.py", "get"): "a thread that rests until there is work, and ends with a word"}
MISSING = {"telemetry": ("opentelemetry", "WORKBENCH_OTLP_ENDPOINT", "http://127.0.0.1:1")}
"""A package without which nothing starts where this setting asks for it."""
