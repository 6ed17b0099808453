"""The workers of a real Ray cluster keep the contract of ``Executor`` (TM-15)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plugins.cluster.executor import ClusterExecutor, Place
from tests.executing.performers import Ledger
from tests.executing.test_executors import *  # noqa: F403
from tests.executing.test_executors import AT_ONCE, Make, one_after_the_other
from tests.plugins.cluster.conftest import following
from tests.support.ray_cluster import Cluster


@pytest.fixture  # type: ignore[no-redef]
def make(ray_here: Cluster, ledger: Ledger) -> Iterator[Make]:
    place = Place(ray_here.address, workers=AT_ONCE)
    yield from one_after_the_other(lambda: ClusterExecutor(place, following(ledger)))
