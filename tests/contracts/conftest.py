"""The stores that the suites of the ``PassageStore`` contract run against."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.knowledge.milvus_store import MilvusStore
from tests.contracts.stores import Case, clean_up
from tests.support import milvus_server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Package-wide and no wider: that it looks so often costs a third of a core for as long as it runs."""
    reason = milvus_server.missing()
    if reason:
        # Where everything must run, a suite that is left out is a failure.
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with milvus_server.running(tmp_path_factory.mktemp("milvus")) as address:
        yield address


@pytest.fixture(params=["lite", pytest.param("server", marks=pytest.mark.milvus_server)])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    uri = str(tmp_path / "knowledge.db") if request.param == "lite" else request.getfixturevalue("server")
    name = f"t_{uuid.uuid4().hex[:12]}"
    with asyncio.Runner() as runner:
        store = MilvusStore(uri, timeout_s=30)
        try:
            runner.run(store.open())
            yield Case(store, name, runner.run)
        finally:
            runner.run(store.close())
            if request.param == "server":
                clean_up(uri, name)
