"""How many calls at once a server does well, and how long one may take: learned, never slept for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from engine.llm.adaptive_concurrency import LONGEST_S, LearningLane, Patience


@dataclass
class Server:
    """Works at ``parallel`` calls at the speed of one; time is a number that the test moves on."""

    parallel: int
    now_s: float = 0.0
    most: int = 0
    under_way: list[tuple[float, asyncio.Future[None]]] = field(default_factory=list)

    async def call(self, lane: LearningLane) -> None:
        async with lane.turn():
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.under_way.append((self.now_s, done))
            self.most = max(self.most, len(self.under_way))
            await done

    async def work(self, calls: int, lane: LearningLane) -> None:
        tasks = [asyncio.create_task(self.call(lane)) for _ in range(calls)]
        while not all(task.done() for task in tasks):
            for _ in range(calls + 2):
                await asyncio.sleep(0)
            # All that are under way end together, later the fewer of them can be worked at side by side.
            batch, self.under_way = self.under_way, []
            self.now_s += max(1.0, len(batch) / self.parallel)
            for _, done in batch:
                done.set_result(None)
        await asyncio.gather(*tasks)


@pytest.mark.parametrize(("parallel", "expected"), [(1, 1), (2, 2), (4, 4), (16, 8)])
def test_as_many_at_once_as_make_it_quicker(parallel: int, expected: int) -> None:
    """M4: four at once on one processor only wait for each other."""

    async def learn() -> tuple[LearningLane, Server]:
        server = Server(parallel)
        lane = LearningLane(8, now=lambda: server.now_s)
        await server.work(60, lane)
        return lane, server

    lane, server = asyncio.run(learn())
    assert lane.settled and lane.width == expected
    assert server.most <= 2 * expected


@pytest.mark.parametrize("given", [False, True], ids=["before it is given", "as it is given"])
def test_a_place_that_is_given_up_goes_to_the_next(given: bool) -> None:
    async def leave() -> list[bool]:
        lane = LearningLane(4)
        async with lane.turn():
            waiting = [asyncio.create_task(_enter(lane)) for _ in range(3)]
            await asyncio.sleep(0)
            if not given:
                waiting[0].cancel()
        waiting[0].cancel()
        await asyncio.wait(waiting, timeout=60)
        return [task.done() and not task.cancelled() for task in waiting]

    assert asyncio.run(leave()) == [False, True, True]


async def _enter(lane: LearningLane) -> None:
    async with lane.turn():
        await asyncio.sleep(0)


def test_a_slow_model_gets_more_time_unless_a_limit_was_set() -> None:
    patience = Patience()
    assert patience.limit_s(60, by_hand=False) == 180, "the first call may load the model"
    patience.note(2)
    assert patience.limit_s(60, by_hand=False) == 60
    patience.note(50)
    assert patience.limit_s(60, by_hand=False) == 150
    patience.note(10_000)
    assert patience.limit_s(60, by_hand=False) == LONGEST_S
    assert patience.limit_s(60, by_hand=True) == 60
