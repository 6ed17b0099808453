"""What tests of the core need of it (``tests/support/brought.py``)."""

from collections.abc import Iterator

from tests.benchmarks.harness import Bench, Benchmark, Row


def team(bench: Bench) -> Iterator[Row]:
    from tests.plugins.team.benchmark import team as measured

    return measured(bench)


def people(bench: Bench) -> Iterator[Row]:
    from tests.plugins.team.people_benchmark import people as measured

    return measured(bench)


_OWNERS = ("engine.", "plugins.team.")


def routes_table() -> str:
    """Every route of the core and of this plug-in with the role that it needs."""
    from tests.docs.figures import table
    from tests.support.requests import routes_of, whole_api

    routes = routes_of(whole_api(), owners=_OWNERS)
    return table(("route", "role"), [(f"`{name}`", routes[name]) for name in sorted(routes, key=_by_path)])


def _by_path(route: str) -> list[str]:
    return route.split()[::-1]


def log_table() -> str:
    """Every line of the log of changes with the role that the change needs, for the core and this plug-in."""
    # With it all that declares operations is imported.
    import plugins.team.people_panel  # noqa: F401
    from engine.people.authorization import OPERATIONS
    from tests.docs.figures import table

    rows = [
        (operation.log, f"`{kind.__name__}.{name}`", operation.least)
        for kind, operations in OPERATIONS.items()
        if kind.__module__.startswith(_OWNERS)
        for name, operation in operations.items()
        if operation is not None and operation.log
    ]
    return table(("change", "operation", "role"), sorted(rows))


TABLES = {"team.routes": routes_table, "team.log": log_table}
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
