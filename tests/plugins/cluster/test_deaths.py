"""What dies in the middle of a job on a real Ray cluster: nothing finished is lost, nothing counts twice (TM-15)."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from engine.executing import Block, Performed, Recipe
from engine.plugins import plugins
from engine.version import ROOT
from plugins.cluster.errors import ClusterError, ClusterUnreachable
from plugins.cluster.executor import ClusterExecutor, Place
from tests.executing.performers import Ledger
from tests.plugins.cluster.conftest import following
from tests.support import ray_cluster

FREE, GATED = 6, 12


@pytest.fixture
def executor(ray_here: ray_cluster.Cluster, ledger: Ledger) -> Iterator[ClusterExecutor]:
    """Two workers, one on each node."""
    made = ClusterExecutor(Place(ray_here.address, workers=2), following(ledger))
    yield made
    made.close()


def job() -> list[Block]:
    """Blocks that end by themselves, and then some that wait for what the test does."""
    gated = [Block(f"gated{place}", {"gate": "after", "value": place}) for place in range(GATED)]
    return [*(Block(f"free{place}", {"value": place}) for place in range(FREE)), *gated]


def in_the_middle(ledger: Ledger, happens: Callable[[], object]) -> None:
    """What happens once two workers wait at the gate, which is opened after it."""

    def then() -> None:
        happens()
        ledger.open("after")

    ledger.when(in_full, then)


def in_full(seen: Ledger) -> bool:
    """Whether two workers wait at the gate, with all before it done."""
    return len(seen.kept) == FREE and len(set(seen.under_way().values())) == 2


def assert_once(done: list[Performed], ledger: Ledger) -> None:
    names = [block.key for block in job()]
    assert Counter(item.key for item in done) == Counter(names)
    assert [item.fault for item in done] == [None] * len(names)
    assert sorted(ledger.kept) == sorted(names)


def test_on_ray_a_worker_is_killed_in_the_middle(executor: ClusterExecutor, ledger: Ledger) -> None:
    def kill() -> None:
        os.kill(next(iter(ledger.under_way().values())), signal.SIGKILL)
        ledger.when(lambda seen: len(seen.workers()) == 3, lambda: ledger.open("after"))

    ledger.when(in_full, kill)
    assert_once(list(executor.perform(job())), ledger)
    assert len(ledger.workers()) == 3, "another worker took its place"


def test_on_ray_a_node_is_killed_in_the_middle(
    executor: ClusterExecutor, ray_here: ray_cluster.Cluster, ledger: Ledger
) -> None:
    in_the_middle(ledger, ray_here.nodes[1].kill)
    try:
        assert_once(list(executor.perform(job())), ledger)
    finally:
        ray_here.replace(1)


def test_on_ray_the_head_is_killed_and_started_again_in_the_middle(
    executor: ClusterExecutor, ray_here: ray_cluster.Cluster, ledger: Ledger
) -> None:
    in_the_middle(ledger, ray_here.restart)
    assert_once(list(executor.perform(job())), ledger)


def test_on_ray_the_driver_is_killed_in_the_middle(executor: ClusterExecutor, ledger: Ledger) -> None:
    def kill() -> None:
        assert executor._driver is not None
        executor._driver.process.kill()

    in_the_middle(ledger, kill)
    assert_once(list(executor.perform(job())), ledger)


def test_on_ray_a_block_that_kills_its_workers_is_given_up_and_no_other(
    executor: ClusterExecutor, ledger: Ledger
) -> None:
    given = [Block(f"b{place}", {"value": place, "dies": place == 3}) for place in range(10)]
    done = list(executor.perform(given))
    assert {item.key: item.fault.code for item in done if item.fault is not None} == {"b3": "WB955"}
    assert sorted(ledger.kept) == sorted(block.key for block in given if block.key != "b3")
    assert ledger.begun.count("b3") == 3
    assert [item.key for item in done if item.lost] == ["b3"]


def test_on_ray_workers_run_the_program_that_is_sent_along_with_its_plug_ins(ray_here: ray_cluster.Cluster) -> None:
    executor = ClusterExecutor(Place(ray_here.address, workers=1), Recipe("tests.plugins.cluster.conftest:Program"))
    (told,) = executor.perform([Block("b")])
    assert told.value["plugins"] == [plugin.name for plugin in plugins()]
    assert told.value["root"] != str(ROOT)
    executor.close()


def test_on_ray_workers_that_cannot_begin_end_the_job_with_why(ray_here: ray_cluster.Cluster) -> None:
    broken = ClusterExecutor(Place(ray_here.address, workers=1), Recipe("tests.executing.performers:absent"))
    with pytest.raises(ClusterError, match="absent"):
        list(broken.perform([Block("b")]))
    broken.close()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_a_cluster_that_is_not_there_is_refused(ledger: Ledger, address: str) -> None:
    absent = ClusterExecutor(Place(address, workers=1), following(ledger))
    with pytest.raises(ClusterUnreachable, match=address):
        list(absent.perform([Block("b")]))
    absent.close()
