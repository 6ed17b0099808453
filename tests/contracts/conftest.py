"""The stores that the suites of the ``PassageStore`` contract run against."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.knowledge.milvus_store import MilvusStore
from tests.contracts.stores import Case, clean_up


@pytest.fixture(params=["lite", pytest.param("server", marks=pytest.mark.milvus_server)])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    uri = str(tmp_path / "knowledge.db") if request.param == "lite" else request.getfixturevalue("milvus_here")
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
