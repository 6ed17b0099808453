"""The workers of one job on a Ray cluster: made, given blocks, watched, and replaced when they die.

Only the driver (``engine.executing.driver``) uses it, from one thread; what happens comes to it as calls of its inbox.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from engine.errors import WorkerLost, WorkerUnusable
from engine.executing.blocks import Block, fault_plain
from engine.executing.worker import Worker
from engine.model.values import Fault
from engine.version import __version__

AHEAD = 1
"""Blocks for each worker that wait in the driver, so that none waits for the next; not at the worker, where one that
takes long would hold up the one behind it."""
MOST_DEATHS = 3
"""Workers that may die over a block. From the second on it is done alone, so that no other block is taken for it."""
MOST_STILLBORN = 5
"""Workers that may die one after the other before they can say a word."""
Tell = Callable[[Mapping[str, Any], bytes], None]
"""Sends a message to the process whose job it is."""


@dataclass(slots=True)
class _Given:
    block: Block
    deaths: int = 0


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    ready: bool = False
    given: dict[str, _Given] = field(default_factory=dict)
    refs: dict[str, Any] = field(default_factory=dict)
    """What Ray will answer to each of them."""


class Pool:
    """Keeps as many actors as the cluster has room for, up to what is wanted."""

    def __init__(self, ray: Any, start: Mapping[str, Any], tell: Tell) -> None:
        """``start`` is the message that begins a job; see ``engine.executing.driver``."""
        self.inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ray = ray
        self._recipe: Mapping[str, Any] = start["recipe"]
        self._wanted = int(start["workers"])
        self._at_once = int(start["at_once"])
        self._tell = tell
        self._actors: list[_Actor] = []
        self._waiting: deque[_Given] = deque()
        self._stillborn = 0
        self._processors = 0.0
        self._stopped = False

    @property
    def room(self) -> int:
        """Blocks that the workers take at the moment."""
        return sum(actor.ready for actor in self._actors) * (self._at_once + AHEAD)

    @property
    def ready(self) -> int:
        return sum(actor.ready for actor in self._actors)

    def grow(self, processors: float) -> None:
        """Make actors for the processors that there are."""
        self._processors = processors
        wanted = self._wanted or int(processors)
        # Where more are wanted than there are processors, several share one.
        share = 1.0 / max(1, math.ceil(wanted / max(processors, 1.0)))
        for _ in range(wanted - len(self._actors)):
            self._make(share)

    def take(self, block: Block) -> None:
        """Have a block done as soon as a worker has room for it."""
        self._waiting.append(_Given(block))
        self._assign()

    def stop(self) -> None:
        """Give out nothing more, say what was not begun, and let the workers end what they have."""
        self._stopped = True
        for given in self._waiting:
            self._tell({"is": "dropped", "key": given.block.key}, b"")
        self._waiting.clear()
        for actor in self._actors:
            actor.handle.stop.options(concurrency_group="control").remote()

    def close(self, patience_s: float) -> None:
        """Stop what is under way and let the performers go, for so long each, and then the processes."""
        if any(actor.given for actor in self._actors):
            self.stop()
            self._wait([ref for actor in self._actors for ref in actor.refs.values()], patience_s)
        ready = [actor for actor in self._actors if actor.ready]
        self._wait([actor.handle.close.options(concurrency_group="control").remote() for actor in ready], patience_s)
        for actor in self._actors:
            self._ray.kill(actor.handle)

    def _wait(self, refs: Sequence[Any], patience_s: float) -> None:
        if refs:
            self._ray.wait(list(refs), num_returns=len(refs), timeout=patience_s)

    # -- one worker ---------------------------------------------------------------------------------------------

    def _make(self, share: float) -> None:
        make = self._ray.remote(
            num_cpus=share,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=self._at_once,
            concurrency_groups={"control": 1},
            scheduling_strategy="SPREAD",
        )(Worker)
        actor = _Actor(make.remote(self._recipe["factory"], dict(self._recipe["arguments"]), __version__))
        self._actors.append(actor)
        hello = actor.handle.hello.options(concurrency_group="control").remote()
        self._when_done(hello, lambda future: self._greeted(actor, future))

    def _when_done(self, ref: Any, then: Callable[[Any], None]) -> None:
        ref.future().add_done_callback(lambda future: self.inbox.put(lambda: then(future)))

    def _greeted(self, actor: _Actor, future: Any) -> None:
        if future.exception() is not None:
            self._stillborn += 1
            self._bury(actor)
            if self._stillborn >= MOST_STILLBORN:
                why = str(future.exception()).strip().splitlines()[-1]
                self._refuse(Fault.of(WorkerUnusable(why=why)))
            return
        _, fault = future.result()
        if fault is not None:
            self._tell({"is": "fault", "fault": fault}, b"")
            return
        self._stillborn = 0
        actor.ready = True
        self._assign()

    def _bury(self, actor: _Actor) -> None:
        """Forget a worker that died, and have its blocks done by others, those it was given first in front."""
        if actor not in self._actors:
            return
        self._actors.remove(actor)
        left, actor.given, actor.refs = list(actor.given.values()), {}, {}
        for given in reversed(left):
            given.deaths += 1
            if self._stopped:
                self._tell({"is": "dropped", "key": given.block.key}, b"")
            elif given.deaths >= MOST_DEATHS:
                fault = fault_plain(Fault.of(WorkerLost(times=given.deaths)))
                self._tell({"is": "done", "key": given.block.key, "fault": fault}, b"")
            else:
                self._waiting.appendleft(given)
        self.grow(self._processors)
        self._assign()

    # -- blocks -------------------------------------------------------------------------------------------------

    def _assign(self) -> None:
        while self._waiting:
            given = self._waiting[0]
            free = [actor for actor in self._actors if self._takes(actor, given)]
            if not free:
                return
            self._give(min(free, key=lambda actor: len(actor.given)), self._waiting.popleft())

    def _takes(self, actor: _Actor, given: _Given) -> bool:
        if not actor.ready:
            return False
        if not actor.given:
            return True
        alone = given.deaths > 1 or any(other.deaths > 1 for other in actor.given.values())
        return not alone and len(actor.given) < self._at_once

    def _give(self, actor: _Actor, given: _Given) -> None:
        block = given.block
        actor.given[block.key] = given
        ref = actor.handle.perform.remote(block.key, dict(block.work), block.data)
        actor.refs[block.key] = ref
        self._when_done(ref, lambda future: self._ended(actor, given, future))

    def _ended(self, actor: _Actor, given: _Given, future: Any) -> None:
        if given.block.key not in actor.given:
            return  # it was taken from this worker before
        error = future.exception()
        if isinstance(error, self._ray.exceptions.RayActorError):
            self._bury(actor)
            return
        key = given.block.key
        del actor.given[key], actor.refs[key]
        if error is None:
            _, value, data, fault = future.result()
            self._tell({"is": "done", "key": key, "value": value, "fault": fault}, data)
        else:
            # What came of it cannot be sent, or was lost on its way.
            self._tell({"is": "done", "key": key, "fault": fault_plain(Fault.of(error))}, b"")
        self._assign()

    def _refuse(self, fault: Fault) -> None:
        self._tell({"is": "fault", "fault": fault_plain(fault)}, b"")
