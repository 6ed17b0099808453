"""Which tests share a process, and the end of a server behind the last test that needs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

_SERVERS = ("neo4j_graphs", "phoenix", "postgres_server_here", "ray_cluster_here", "milvus_here")
"""Fixtures of servers that tests of several files share; while they wait, they use the processor too."""
_running: list[Callable[[], None]] = []


def scope_of(nodeid: str) -> str:
    """What stays in one process: the tests of a server that takes seconds to start, or else those of a file."""
    file, _, test = nodeid.partition("::")
    if file.startswith("tests/browser/"):
        return "browser"
    if file.startswith("tests/plugins/team/sign_in/"):
        return "sign_in"
    for folder, scope in (("neo4j", "neo4j"), ("cluster", "ray"), ("team/postgres", "postgres")):
        if file.startswith(f"tests/plugins/{folder}/") and not test.startswith("test_on_a_server"):
            return scope
    parameters = test.partition("[")[2].rstrip("]").split("-")
    for name in ("phoenix", "postgres"):
        if test.startswith((f"test_on_{name}", f"test_a_{name}")) or name in parameters:
            return name
    return "milvus_server" if test.startswith("test_on_a_server") or "server" in parameters else file


def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    if fixturedef.argname in _SERVERS:
        _running.append(partial(fixturedef.finish, request))  # type: ignore[arg-type]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End servers behind the last test of their scope: the tests of other files would run next to them.

    One process alone runs files in order, and comes back to a server.
    """
    yield
    shared = "PYTEST_XDIST_WORKER" in os.environ
    while shared and _running and (nextitem is None or scope_of(nextitem.nodeid) != scope_of(item.nodeid)):
        _running.pop()()
