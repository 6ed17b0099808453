"""A cluster that does nothing is waited for up to one limit, which is said meanwhile (BE-06)."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import pytest

from engine.errors import ClusterLost
from engine.executing import cluster
from engine.executing.blocks import Block, Recipe
from engine.executing.cluster import ClusterExecutor, Place
from engine.executing.driver_process import Heard


class IdleDriver:
    """Says several times a second how many workers it has, and that is all that comes of them."""

    workers = 0
    pid = 1

    def __init__(self, *_: Any) -> None:
        self._ended = threading.Event()

    def start(self, inbox: SimpleQueue[Heard]) -> None:
        def beat() -> None:
            while not self._ended.wait(0.01):
                inbox.put(Heard(self, {"is": "room", "blocks": self.workers, "workers": self.workers}))  # type: ignore[arg-type]

        threading.Thread(target=beat, daemon=True).start()

    def give(self, block: Block) -> None:
        """Never done."""

    def stop(self) -> None:
        """Nothing ends by it."""

    def end(self) -> None:
        self._ended.set()


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> type[IdleDriver]:
    monkeypatch.setattr(cluster, "DriverProcess", IdleDriver)
    monkeypatch.setattr(cluster, "_STOPPING_S", 0.1)
    return IdleDriver


@pytest.mark.parametrize(
    ("workers", "limits", "said"),
    [(0, {"patience_s": 0.3}, "no room for a worker"), (2, {"block_s": 0.3}, "finished nothing")],
)
def test_a_cluster_that_does_nothing_is_given_up_with_what_to_do(
    idle: type[IdleDriver], monkeypatch: pytest.MonkeyPatch, workers: int, limits: dict[str, float], said: str
) -> None:
    monkeypatch.setattr(IdleDriver, "workers", workers)
    executor = ClusterExecutor(Place("head:1", **limits), Recipe("nothing:here"))  # type: ignore[arg-type]
    with pytest.raises(ClusterLost, match=said) as ended:
        list(executor.perform([Block("b")]))
    assert ended.value.remedy.endswith("then resume the job.")
    executor.close()


def test_the_time_that_is_left_is_said_while_a_cluster_is_waited_for(
    idle: type[IdleDriver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_QUIET_S", 0.05)
    executor = ClusterExecutor(Place("head:1"), Recipe("nothing:here"))
    left: list[float] = []

    def stop_when_said() -> None:
        pause = threading.Event()
        while executor.gives_up_s is None:
            pause.wait(0.01)
        left.append(executor.gives_up_s)
        executor.stop()

    watcher = threading.Thread(target=stop_when_said)
    watcher.start()
    assert list(executor.perform([Block("b")])) == []
    watcher.join(60)
    assert 0 < left[0] < cluster.PATIENCE_S
    executor.close()
