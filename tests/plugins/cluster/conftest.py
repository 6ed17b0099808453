"""One real cluster for most tests of this folder, and two workers that they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.distributed import Block, Recipe
from engine.plugins import plugins
from engine.version import ROOT
from plugins.cluster.executor import ClusterExecutor, Place
from tests.distributed import performers
from tests.distributed.performers import Ledger
from tests.support import ray_cluster

WORKERS = 2


@pytest.fixture(scope="session")
def ray_cluster_here() -> Iterator[ray_cluster.Cluster]:
    """A real cluster of a head and a further node; the test is left out where none can run, unless everything must."""
    reason = ray_cluster.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with ray_cluster.running(nodes=1) as cluster:
        yield cluster


@pytest.fixture
def ray_here(ray_cluster_here: ray_cluster.Cluster, monkeypatch: pytest.MonkeyPatch) -> ray_cluster.Cluster:
    """The cluster with all its nodes, which drivers that a test starts are let into."""
    for name, value in ray_cluster_here.environment.items():
        monkeypatch.setenv(name, value)
    ray_cluster_here.complete()
    return ray_cluster_here


@pytest.fixture(scope="session")
def _ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return Ledger(tmp_path_factory.mktemp("ledger") / "ledger.db")


@pytest.fixture
def ledger(_ledger: Ledger) -> Ledger:
    """Without what earlier tests left in it."""
    for table in ("begun", "under_way", "kept", "open"):
        _ledger.do(f"DELETE FROM {table}")
    return _ledger


@pytest.fixture(scope="session")
def _executors(ray_cluster_here: ray_cluster.Cluster, _ledger: Ledger) -> Iterator[Callable[[], ClusterExecutor]]:
    """The same executor until it is stopped, since a driver and its workers take seconds to start."""
    made: list[ClusterExecutor] = []
    recipe = Recipe("tests.plugins.cluster.conftest:Following", {"path": str(_ledger.path)})

    def running() -> ClusterExecutor:
        if not made or made[-1]._stopping.is_set():
            for former in made:
                former.close()
            made.append(ClusterExecutor(Place(ray_cluster_here.address, WORKERS), recipe))
        return made[-1]

    yield running
    for executor in made:
        executor.close()


@pytest.fixture
def make(
    _executors: Callable[[], ClusterExecutor], ray_here: ray_cluster.Cluster, ledger: Ledger
) -> Callable[[], ClusterExecutor]:
    """Gives the executor of two workers, which write to the ledger of the test."""
    return _executors


class Following(performers.Following):
    """Tells what the program of its process is, too."""

    def perform(self, block: Block) -> tuple[Any, bytes]:
        if block.work.get("program"):
            return {"root": str(ROOT), "plugins": [plugin.name for plugin in plugins()]}, b""
        return super().perform(block)
