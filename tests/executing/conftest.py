"""The Milvus server that workers of a cluster share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support import milvus_server


@pytest.fixture(scope="module")
def milvus_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    reason = milvus_server.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with milvus_server.running(tmp_path_factory.mktemp("milvus")) as address:
        yield address
