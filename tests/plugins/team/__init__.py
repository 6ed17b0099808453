"""What tests of the core need of it (``tests/support/brought.py``)."""

from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Benchmark, Row


def team(bench: Bench) -> Iterator[Row]:
    from tests.plugins.team.benchmark import team as measured

    return measured(bench)


BENCHMARKS = {
    "team": Benchmark("team", "a batch while parts of a team's installation are killed", team, slow=True),
}
SETTINGS = {"metrics": True}
PATHS = {"/metrics": {"get"}}
WAITS = {("plugins/team/turns.py", "result"): "asked only once it is done"}
MISSING = {"team": ("psycopg", "WORKBENCH_DATABASE_URL", "postgresql://127.0.0.1:1/x")}
"""A package without which nothing starts where this setting asks for it."""
