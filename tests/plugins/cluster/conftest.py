"""One real cluster for all tests of this folder, and what its workers do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.executing import Block, Recipe
from engine.plugins import plugins
from engine.version import ROOT
from tests.executing.performers import Ledger
from tests.support import ray_cluster


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
    """The cluster, which drivers that a test starts are let into."""
    for name, value in ray_cluster_here.environment.items():
        monkeypatch.setenv(name, value)
    return ray_cluster_here


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


def following(ledger: Ledger) -> Recipe:
    """What makes the performer of tests in a worker."""
    return Recipe("tests.executing.performers:Following", {"path": str(ledger.path)})


class Program:
    """Tells what the program of its process is."""

    def perform(self, _: Block) -> tuple[Any, bytes]:
        return {"root": str(ROOT), "plugins": [plugin.name for plugin in plugins()]}, b""

    def stop(self) -> None: ...

    def close(self) -> None: ...
