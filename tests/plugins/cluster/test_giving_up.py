"""A real cluster that finishes nothing is waited for up to a limit, which is said meanwhile (BE-06)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.executing import Block
from plugins.cluster import executor as module
from plugins.cluster.errors import ClusterError
from plugins.cluster.executor import BLOCK_S, PATIENCE_S, ClusterExecutor, Place
from tests.executing.performers import Ledger
from tests.plugins.cluster.conftest import following
from tests.support import ray_cluster

ENDLESS = [Block(f"g{place}", {"gate": "never"}) for place in range(2)]


@pytest.fixture
def executor(ray_here: ray_cluster.Cluster, ledger: Ledger) -> Iterator[ClusterExecutor]:
    """Two workers, one on each node."""
    made = ClusterExecutor(Place(ray_here.address, workers=2), following(ledger))
    yield made
    made.close()


def both_wait(seen: Ledger) -> bool:
    """Whether two workers are in the middle of a block."""
    return len(set(seen.under_way().values())) == 2


def test_on_ray_workers_whose_blocks_never_end_are_given_up_with_what_to_do(
    executor: ClusterExecutor, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float | None] = []

    def shorten() -> None:
        left.append(executor.gives_up_s)
        monkeypatch.setattr(module, "_QUIET_S", 0.0)
        left.append(executor.gives_up_s)
        executor._place = replace(executor._place, block_s=0.0)

    ledger.when(both_wait, shorten)
    with pytest.raises(ClusterError, match="finished nothing") as ended:
        list(executor.perform(ENDLESS))
    assert ended.value.remedy.endswith("then resume the job.")
    assert left[0] is None or left[0] > PATIENCE_S, "said only after a while"
    assert left[1] is not None and 0 < left[1] < BLOCK_S
    assert ledger.under_way() == {}, "what was under way is stopped"


def test_on_ray_a_cluster_that_is_back_without_workers_is_given_up(
    executor: ClusterExecutor, ray_here: ray_cluster.Cluster, ledger: Ledger
) -> None:
    bare: list[ray_cluster.Node] = []

    def restart() -> None:
        first.append(executor._driver)
        for node in ray_here.nodes:
            node.kill()
        bare.append(ray_here.start_head(processors=0))
        ledger.when(back, shorten)

    def back(_: Ledger) -> bool:
        """Whether the cluster answers again, and has no worker."""
        driver = executor._driver
        return executor.workers == 0 and driver is not None and driver is not first[0] and driver.joined

    def shorten() -> None:
        executor._place = replace(executor._place, patience_s=0.0)

    first: list[object] = []
    ledger.when(both_wait, restart)
    try:
        with pytest.raises(ClusterError, match="no room for a worker"):
            list(executor.perform(ENDLESS))
    finally:
        for node in bare:
            node.kill()
            ray_here.nodes.remove(node)
        ray_here.restart()
