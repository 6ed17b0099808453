"""The stores of one real server, for all tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

import pytest

from plugins.neo4j.store import Neo4jGraphs
from tests.plugins.neo4j import server


@pytest.fixture(scope="session")
def neo4j_graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Neo4jGraphs]]:
    """Makes the store of a space, empty to begin with; left out where no server can run, unless everything must."""
    reason = server.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with server.running(tmp_path_factory.mktemp("neo4j")) as uri:
        parts = urlsplit(uri)
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        yield lambda space: Neo4jGraphs(address, user, password, space=space)
