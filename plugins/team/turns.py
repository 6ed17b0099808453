"""Taking turns at a model server with every other process that shares the database.

A process borrows slots and gives its own calls turns on them, so that a call costs no question to the database. Where
all slots of a server are lent, each goes back after ``TURN_S``, and who had it looks for one no sooner than the others.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from engine.database.base import Database
from engine.database.faults import UNUSABLE
from engine.model.ending import joined
from plugins.team.slot_table import LEASE_S, SlotTable

TURN_S = 2.0
"""How long a process keeps a slot that it needs all the time, where others may be waiting."""
LOOK_S = 0.05
"""Pause between looks for a free slot. With turns of two seconds, a slot is idle for some hundredths of the time."""
IDLE_S = 0.5
"""How long a slot is kept for the next call of its process."""
_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Waiting:
    """A call that waits for its turn, on an event loop of its own."""

    loop: asyncio.AbstractEventLoop
    turn: asyncio.Future[int]
    refuse: Callable[[int], None]
    """Gives back a slot that came too late."""

    def give(self, slot: int) -> bool:
        """Hand it a slot; false where its loop is gone."""
        try:
            self.loop.call_soon_threadsafe(self._take, slot)
        except RuntimeError:
            return False
        return True

    def _take(self, slot: int) -> None:
        if self.turn.done():
            self.refuse(slot)
        else:
            self.turn.set_result(slot)


@dataclass(slots=True)
class _Server:
    """This process's state of one server."""

    since: dict[int, float] = field(default_factory=dict)
    """Slots borrowed, and when their turn began."""
    idle: dict[int, float] = field(default_factory=dict)
    """Those of them that no call uses, and since when."""
    waiting: deque[_Waiting] = field(default_factory=deque)

    def over(self, slot: int) -> bool:
        """Return whether a slot is due to go back."""
        return time.monotonic() - self.since.get(slot, 0.0) >= TURN_S

    def take(self) -> int | None:
        """A slot for a call; None where there is none whose turn is not over."""
        slot = next((slot for slot in self.idle if not self.over(slot)), None)
        if slot is not None:
            del self.idle[slot]
        return slot


class Turns:
    """The turns of this process; made once for each database, on first use."""

    def __init__(self, database: Database, at_once: int, per_second: float, lease_s: float = LEASE_S) -> None:
        self._table = SlotTable(database, lease_s)
        self._at_once = at_once
        self._per_second = per_second
        self._guard = threading.Lock()
        self._wake = threading.Event()
        """Set where the keeper has something to do at once."""
        self._closed = False
        self._servers: dict[str, _Server] = {}
        self._keeper: threading.Thread | None = None

    @asynccontextmanager
    async def turn(self, server: str) -> AsyncIterator[None]:
        """Wait until a server may be given one more call, and hold that place meanwhile."""
        slot = await self._slot(server)
        try:
            if self._per_second:
                await asyncio.sleep(await self._pause_s(server))
            yield
        finally:
            self._free(server, slot)

    def close(self) -> None:
        """Give everything back."""
        with self._guard:
            self._closed = True
            keeper, self._keeper = self._keeper, None
        self._wake.set()
        if keeper is not None:
            joined(keeper)

    # -- on the event loop of a call ----------------------------------------------------------------------------

    async def _slot(self, server: str) -> int:
        loop = asyncio.get_running_loop()
        waiting = _Waiting(loop, loop.create_future(), partial(self._free, server))
        with self._guard:
            own = self._servers.setdefault(server, _Server())
            if not own.waiting:
                if (slot := own.take()) is not None:
                    return slot
                self._wake.set()
            own.waiting.append(waiting)
            if self._keeper is None and not self._closed:
                self._keeper = threading.Thread(target=self._keep, name="model-turns", daemon=True)
                self._keeper.start()
        try:
            return await waiting.turn
        except BaseException:
            with self._guard:
                if waiting in own.waiting:
                    own.waiting.remove(waiting)
            # Who was given a turn and does not take it must not lose it for the others.
            if waiting.turn.done() and not waiting.turn.cancelled():
                self._free(server, waiting.turn.result())
            raise

    async def _pause_s(self, server: str) -> float:
        try:
            return await asyncio.to_thread(self._table.wait_s, server, self._per_second)
        except UNUSABLE as error:
            _log.warning("the pace of %s cannot be kept at the moment: %s", server, error)
            return 1.0 / self._per_second

    def _free(self, server: str, slot: int) -> None:
        """A call is over: the next one of this process has its slot, unless others had to wait for it long enough."""
        with self._guard:
            own = self._servers[server]
            own.idle[slot] = time.monotonic()
            self._hand_out(own)
            if own.over(slot):
                self._wake.set()

    def _hand_out(self, own: _Server) -> None:
        while own.waiting and (slot := own.take()) is not None:
            if not own.waiting.popleft().give(slot):
                own.idle[slot] = time.monotonic()

    # -- on a thread of its own ---------------------------------------------------------------------------------

    def _keep(self) -> None:
        renewed = time.monotonic()
        while not self._closed:
            self._wake.clear()
            try:
                if time.monotonic() - renewed > self._table.lease_s / 4:
                    self._table.renew()
                    renewed = time.monotonic()
                busy = self._look()
            except UNUSABLE as error:
                _log.warning("no further turns at model servers at the moment: %s", error)
                busy = False
            # Not all at the same moment: who looks first would always have what is free.
            self._wake.wait(LOOK_S * random.uniform(0.5, 1.5) if busy else IDLE_S)  # noqa: S311
        self._give_back(everything=True)

    def _look(self) -> bool:
        """Give back what is due, and borrow for those that wait; whether any still waits."""
        self._keep_on()
        due = self._give_back()
        busy = False
        with self._guard:
            wanted = {name: len(own.waiting) for name, own in self._servers.items() if own.waiting}
        for server, count in wanted.items():
            # What has just gone back is for others, who look as often as this process does.
            taken = [] if server in due else self._table.take(server, count, self._at_once)
            with self._guard:
                own = self._servers[server]
                for slot in taken:
                    own.since[slot] = own.idle[slot] = time.monotonic()
                self._hand_out(own)
                busy = busy or bool(own.waiting)
        return busy

    def _keep_on(self) -> None:
        """Restart the turns of this process at servers with a free slot: no one waits for one there."""
        now = time.monotonic()
        with self._guard:
            late = [
                name
                for name, own in self._servers.items()
                if not own.waiting and any(now - since >= TURN_S / 2 for since in own.since.values())
            ]
        for server in late:
            if not self._table.lent_out(server, self._at_once):
                with self._guard:
                    self._servers[server].since = dict.fromkeys(self._servers[server].since, now)

    def _give_back(self, *, everything: bool = False) -> set[str]:
        """Return slots that are due or idle; the servers of them."""
        now = time.monotonic()
        due: dict[str, list[int]] = {}
        with self._guard:
            for server, own in self._servers.items():
                found = [
                    slot for slot, since in own.idle.items() if everything or now - since > IDLE_S or own.over(slot)
                ]
                for slot in found:
                    del own.idle[slot], own.since[slot]
                if found:
                    due[server] = found
        for server, slots in due.items():
            try:
                self._table.give_back(server, slots)
            except UNUSABLE as error:
                _log.warning("turns at %s go back when their lease is over: %s", server, error)
        return set(due)
