"""What tests of the core need of it (``tests/support/brought.py``)."""

from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Benchmark, Row


def scale(bench: Bench) -> Iterator[Row]:
    from tests.plugins.scale.index_benchmark import scale as measured

    return measured(bench)


def teams(bench: Bench) -> Iterator[Row]:
    from tests.plugins.scale.shared_server import teams as measured

    return measured(bench)


def loading(bench: Bench) -> Iterator[Row]:
    from tests.plugins.scale.shared_server import loading as measured

    return measured(bench)


BENCHMARKS = {
    "scale": Benchmark("scale", "a collection of a server with every index; `--sizes`", scale, slow=True),
    "teams": Benchmark("teams", "a server shared by databases or a partition key", teams, slow=True),
    "loading": Benchmark("loading", "passages with vectors put into a server", loading, slow=True),
}
