"""What dies or hangs in a job on a real Ray cluster: nothing finished is lost, nothing counts twice (TM-15)."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.distributed import Block, Performed, Recipe
from engine.plugins import plugins
from engine.version import ROOT
from plugins.cluster import executor as module
from plugins.cluster.driver import _look
from plugins.cluster.errors import FULL, STUCK, UNREACHABLE, WORKER_UNUSABLE
from plugins.cluster.executor import BLOCK_S, PATIENCE_S, ClusterExecutor, Place
from tests.distributed.performers import Ledger
from tests.support import ray_cluster
from tests.support.errors import raises

FREE, GATED = 6, 12
ENDLESS = [Block(f"g{place}", {"gate": "never"}) for place in range(2)]


@pytest.fixture
def executor(make: Callable[[], ClusterExecutor]) -> ClusterExecutor:
    """Two workers, one on each node."""
    return make()


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
    return len(seen.kept) == FREE and both_wait(seen)


def both_wait(seen: Ledger) -> bool:
    """Whether two workers are in the middle of a block."""
    return len(set(seen.under_way().values())) == 2


def counted(done: list[Performed], ledger: Ledger) -> tuple[Counter[str], set[object], Counter[str]]:
    """How often each block was performed, their faults, and how often each was kept."""
    return Counter(item.key for item in done), {item.fault for item in done}, Counter(list(ledger.kept))


def once() -> tuple[Counter[str], set[object], Counter[str]]:
    names = Counter(block.key for block in job())
    return names, {None}, names


def test_on_ray_a_worker_is_killed_in_the_middle(executor: ClusterExecutor, ledger: Ledger) -> None:
    def kill() -> None:
        os.kill(next(iter(ledger.under_way().values())), signal.SIGKILL)
        ledger.when(lambda seen: len(seen.workers()) == 3, lambda: ledger.open("after"))

    ledger.when(in_full, kill)
    assert counted(list(executor.perform(job())), ledger) == once()
    assert len(ledger.workers()) == 3, "another worker took its place"


def test_on_ray_a_block_that_kills_its_workers_is_given_up_and_no_other(
    executor: ClusterExecutor, ledger: Ledger
) -> None:
    given = [Block(f"b{place}", {"value": place, "dies": place == 3}) for place in range(10)]
    done = list(executor.perform(given))
    assert {item.key: item.fault.code for item in done if item.fault is not None} == {"b3": "WB955"}
    assert sorted(ledger.kept) == sorted(block.key for block in given if block.key != "b3")
    assert ledger.begun.count("b3") == 3
    assert [item.key for item in done if item.lost] == ["b3"]


def test_on_ray_workers_run_the_program_that_is_sent_along_with_its_plug_ins(executor: ClusterExecutor) -> None:
    (worker,) = executor.perform([Block("b", {"program": True})])
    assert worker.value["plugins"] == [plugin.name for plugin in plugins()]
    assert worker.value["root"] != str(ROOT)


def test_on_ray_the_driver_is_killed_in_the_middle(executor: ClusterExecutor, ledger: Ledger) -> None:
    def kill() -> None:
        assert executor._driver is not None
        executor._driver.process.kill()

    in_the_middle(ledger, kill)
    assert counted(list(executor.perform(job())), ledger) == once()


def test_on_ray_workers_whose_blocks_never_end_are_given_up_with_what_to_do(
    executor: ClusterExecutor, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BE-06"""
    left: list[float | None] = []

    def shorten() -> None:
        left.append(executor.gives_up_s)
        monkeypatch.setattr(module, "_QUIET_S", 0.0)
        left.append(executor.gives_up_s)
        executor._place = replace(executor._place, block_s=0.0)

    ledger.when(both_wait, shorten)
    with raises(STUCK, match="finished nothing") as ended:
        list(executor.perform(ENDLESS))
    assert ended.value.remedy.endswith("then resume the job.")
    assert left[0] is None or left[0] > PATIENCE_S, "said only after a while"
    assert left[1] is not None and 0 < left[1] < BLOCK_S
    assert ledger.under_way() == {}, "what was under way is stopped"


def test_on_ray_workers_that_cannot_begin_end_the_job_with_why(ray_here: ray_cluster.Cluster) -> None:
    broken = ClusterExecutor(Place(ray_here.address, workers=1), Recipe("tests.distributed.performers:absent"))
    with raises(WORKER_UNUSABLE, match="absent"):
        list(broken.perform([Block("b")]))
    broken.close()


def test_on_ray_a_node_is_killed_in_the_middle(
    executor: ClusterExecutor, ray_here: ray_cluster.Cluster, ledger: Ledger
) -> None:
    in_the_middle(ledger, ray_here.nodes[1].kill)
    assert counted(list(executor.perform(job())), ledger) == once()


def test_on_ray_a_job_continues_once_a_killed_cluster_has_room_again_and_is_given_up_while_it_has_none(
    executor: ClusterExecutor, ray_here: ray_cluster.Cluster, ledger: Ledger
) -> None:
    """BE-06"""

    def fall() -> None:
        drivers.append(executor._driver)
        for node in ray_here.nodes:
            node.kill()
        ledger.when(refused, restart)

    def refused(_: Ledger) -> bool:
        """Whether a driver has found no cluster, and another one looks for it."""
        if executor._driver not in (None, *drivers):
            drivers.append(executor._driver)
        return len(drivers) > 2

    def restart() -> None:
        ray_here.replace(0, processors=0)
        ledger.when(back, room)

    def back(_: Ledger) -> bool:
        """Whether the cluster answers again, and has no worker."""
        driver = executor._driver
        return executor.workers == 0 and driver is not None and driver.joined

    def room() -> None:
        ray_here.replace(1)
        ledger.open("after")

    def shorten() -> None:
        ray_here.nodes[1].kill()
        executor._place = replace(executor._place, patience_s=0.0)

    drivers: list[object] = []
    ledger.when(in_full, fall)
    assert counted(list(executor.perform(job())), ledger) == once()
    ledger.when(both_wait, shorten)
    try:
        with raises(FULL, match="no room for a worker"):
            list(executor.perform(ENDLESS))
    finally:
        # Its head has room for no worker: the next test that needs one starts it again.
        ray_here.nodes[0].kill()


def test_a_cluster_that_is_not_there_is_refused() -> None:
    absent = ClusterExecutor(Place("ray://127.0.0.1:9", workers=1), Recipe("nothing:here"))
    with raises(UNREACHABLE, match=r"ray://127\.0\.0\.1:9"):
        list(absent.perform([Block("b")]))
    absent.close()
    with pytest.raises(OSError, match="refused"):
        _look("127.0.0.1:9")
