"""The workers of one job on a Ray cluster: made, given blocks, and replaced when they die.

Ray's own ``ActorPool`` gives an actor one block at a time, keeps the actors it has, and does not say which block an
error is of: here each place for a worker is a task that awaits its actor's answers, in the loop of the driver.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from engine.distributed import Block, fault_plain
from engine.model.values import Fault
from engine.version import __version__
from plugins.cluster.errors import WORKER_LOST, WORKER_UNUSABLE
from plugins.cluster.worker import Worker

MOST_DEATHS = 3
"""Workers that may die over a block. From the second on it is done alone, so that no other block is taken for it."""
MOST_STILLBORN = 5
"""Workers that may die one after the other before they can say a word."""
Tell = Callable[[Mapping[str, Any], bytes], None]
"""Sends a message to the process whose job it is."""


@dataclass(order=True, slots=True)
class _Given:
    place: int
    """Those given first are done first, also by the next worker where theirs died."""
    block: Block = field(compare=False)
    deaths: int = field(default=0, compare=False)
    ref: Any = field(default=None, compare=False)
    """What Ray will answer to it."""


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    in_hand: list[_Given] = field(default_factory=list)


class Pool:
    """Keeps as many actors as the cluster has room for, up to what is wanted."""

    def __init__(self, ray: Any, start: Mapping[str, Any], tell: Tell) -> None:
        """``start`` is the message that begins a job; see ``plugins.cluster.driver``."""
        self._ray = ray
        self._recipe: Mapping[str, Any] = start["recipe"]
        self._wanted = int(start["workers"])
        self._at_once = int(start["at_once"])
        self._tell = tell
        self._places: list[asyncio.Task[None]] = []
        self._ready: list[_Actor] = []
        self._waiting: asyncio.PriorityQueue[_Given] = asyncio.PriorityQueue()
        self._numbers = count()
        self._stopped = False

    def grow(self, processors: float) -> None:
        """Have actors for the processors that there are, and say how many work."""
        for place in self._places:
            if place.done():
                place.result()
        wanted = self._wanted or int(processors)
        # Where more are wanted than there are processors, several share one.
        share = 1.0 / max(1, math.ceil(wanted / max(processors, 1.0)))
        self._places += [asyncio.create_task(self._keep_one(share)) for _ in range(wanted - len(self._places))]
        self._say_ready()

    def take(self, block: Block) -> None:
        """Have a block done as soon as a worker has room for it."""
        self._waiting.put_nowait(_Given(next(self._numbers), block))

    def stop(self) -> None:
        """Give out nothing more, say what was not started, and let the workers end what they have."""
        self._stopped = True
        while not self._waiting.empty():
            self._lost(self._waiting.get_nowait())
        for actor in self._ready:
            actor.handle.stop.options(concurrency_group="control").remote()

    def close(self, patience_s: float) -> None:
        """Stop what is under way and let the performers go, for so long each, and then the processes."""
        in_hand = [given.ref for actor in self._ready for given in actor.in_hand]
        if in_hand:
            self.stop()
        self._wait(in_hand, patience_s)
        closing = [actor.handle.close.options(concurrency_group="control").remote() for actor in self._ready]
        self._wait(closing, patience_s)
        for actor in self._ready:
            self._ray.kill(actor.handle)

    def _wait(self, refs: Sequence[Any], patience_s: float) -> None:
        if refs:
            self._ray.wait(refs, num_returns=len(refs), timeout=patience_s)

    def _say_ready(self) -> None:
        self._tell({"is": "ready", "workers": len(self._ready)}, b"")

    async def _keep_one(self, share: float) -> None:
        """Have blocks done by one worker, and by another one when it has died."""
        stillborn = 0
        while not self._stopped:
            actor = _Actor(self._made(share))
            try:
                fault = await actor.handle.hello.options(concurrency_group="control").remote()
            except Exception as error:
                stillborn += 1
                if stillborn < MOST_STILLBORN:
                    continue
                why = str(error).strip().splitlines()[-1]
                fault = fault_plain(Fault.of(WORKER_UNUSABLE(why=why)))
            if fault is not None:
                self._tell({"is": "fault", "fault": fault}, b"")
                return
            stillborn = 0
            self._ready.append(actor)
            self._say_ready()
            try:
                await self._serve(actor)
            except* self._ray.exceptions.RayActorError:
                self._ready.remove(actor)
                self._say_ready()
            # Where it only was out of reach, it must do nothing more.
            self._ray.kill(actor.handle)
            for given in actor.in_hand:
                given.deaths += 1
                self._lost(given)

    def _made(self, share: float) -> Any:
        make = self._ray.remote(
            num_cpus=share,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=self._at_once,
            concurrency_groups={"control": 1},
            scheduling_strategy="SPREAD",
        )(Worker)
        return make.remote(self._recipe["factory"], dict(self._recipe["arguments"]), __version__)

    async def _serve(self, actor: _Actor) -> None:
        """Give a worker as many blocks as it does at once, until it dies."""
        room = asyncio.Semaphore(self._at_once)
        async with asyncio.TaskGroup() as under_way:
            while True:
                await room.acquire()
                given = await self._waiting.get()
                actor.in_hand.append(given)
                alone = given.deaths > 1
                for _ in range(self._at_once - 1 if alone else 0):
                    await room.acquire()
                given.ref = actor.handle.perform.remote(given.block.key, dict(given.block.work), given.block.data)
                under_way.create_task(self._ended(actor, given, room, self._at_once if alone else 1))

    async def _ended(self, actor: _Actor, given: _Given, room: asyncio.Semaphore, places: int) -> None:
        value, data = None, b""
        try:
            value, data, fault = await given.ref
        except self._ray.exceptions.RayActorError:
            raise
        except Exception as error:
            # The result cannot be sent, or was lost on its way.
            fault = fault_plain(Fault.of(error))
        actor.in_hand.remove(given)
        self._tell({"is": "done", "key": given.block.key, "value": value, "fault": fault}, data)
        for _ in range(places):
            room.release()

    def _lost(self, given: _Given) -> None:
        """Have a block that no worker has any more done by another one, unless that was tried too often."""
        if self._stopped:
            self._tell({"is": "dropped", "key": given.block.key}, b"")
        elif given.deaths >= MOST_DEATHS:
            fault = fault_plain(Fault.of(WORKER_LOST(times=given.deaths)))
            self._tell({"is": "done", "key": given.block.key, "fault": fault, "lost": True}, b"")
        else:
            self._waiting.put_nowait(given)
