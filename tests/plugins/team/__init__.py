"""What tests of the core need of it (``tests/support/brought.py``)."""

from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Benchmark, Row


def team(bench: Bench) -> Iterator[Row]:
    from tests.plugins.team.benchmark import team as measured

    return measured(bench)


def people(bench: Bench) -> Iterator[Row]:
    from tests.plugins.team.people_benchmark import people as measured

    return measured(bench)


SETTINGS = {"metrics": True}
PATHS = {
    "/me": {"get"},
    "/tokens": {"get", "post"},
    "/tokens/{token_id}": {"delete"},
    "/audit": {"get"},
    "/audit.csv": {"get"},
    "/collections/{name}/groups": {"get", "put"},
    "/metrics": {"get"},
}
BODIES = {
    "PUT /collections/{name}/groups": {"groups": ["clinic"]},
    "POST /tokens": {"name": "another"},
}
BENCHMARKS = {
    "people": Benchmark("people", "what it costs to ask who acts", people),
    "team": Benchmark("team", "a batch while parts of a team's installation are killed", team, slow=True),
}
WAITS = {("plugins/team/turns.py", "result"): "asked only once it is done"}
MISSING = {"team": ("psycopg", "WORKBENCH_DATABASE_URL", "postgresql://127.0.0.1:1/x")}
"""A package without which nothing starts where this setting asks for it."""
