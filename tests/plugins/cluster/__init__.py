"""What tests of the core need of it (``tests/support/brought.py``)."""

from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Benchmark, Row


def cluster(bench: Bench) -> Iterator[Row]:
    from tests.plugins.cluster.benchmark import cluster as measured

    return measured(bench)


BENCHMARKS = {
    "cluster": Benchmark("cluster", "a batch with a chat grader by 1 to 4 workers of Ray", cluster, slow=True),
}
WAITS = {
    ("plugins/cluster/pool.py", "acquire"): "until a block of this worker ends: the app gives up those that do not",
    ("plugins/cluster/pool.py", "get"): "rests until there is a block, and ends with its job",
    ("plugins/cluster/pool.py", "result"): "asked only once it is done",
}
