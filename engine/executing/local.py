"""Blocks done by threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import SimpleQueue

from engine.executing.blocks import Block, Performed, Performer, performed
from engine.people.acting import carried

_CLOSING_S = 10.0
"""How long the end of a block that was stopped is waited for."""


class LocalExecutor:
    """Has at most ``at_once`` blocks under way, each on a thread of its own; ends its performer when it is closed."""

    def __init__(self, performer: Performer, at_once: int, name: str = "block") -> None:
        """``name`` begins the names of the threads."""
        self._performer = performer
        self._at_once = at_once
        self._name = name
        self._stopping = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._closed = False

    @property
    def at_once(self) -> int:
        return self._at_once

    @property
    def workers(self) -> None:
        return None

    @property
    def gives_up_s(self) -> None:
        return None

    def perform(self, blocks: Iterable[Block]) -> Iterator[Performed]:
        source = iter(blocks)
        done: SimpleQueue[Performed] = SimpleQueue()
        under_way = 0
        try:
            while True:
                while under_way < self._at_once and not self._stopping.is_set():
                    block = next(source, None)
                    if block is None:
                        break
                    under_way += 1
                    self._begin(block, done, under_way)
                if not under_way:
                    return
                ended = done.get()
                yield ended
                # Only now is there room for another: a slow reader of results is not flooded with them.
                under_way -= 1
        finally:
            if under_way:
                self.stop()
                self._wait()

    def stop(self) -> None:
        self._stopping.set()
        self._performer.stop()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.stop()
            self._wait()
            self._performer.close()

    def _wait(self) -> None:
        for thread in tuple(self._threads):
            thread.join(_CLOSING_S)

    def _begin(self, block: Block, done: SimpleQueue[Performed], place: int) -> None:
        def work() -> None:
            done.put(performed(self._performer, block))
            self._threads.discard(threading.current_thread())

        # Daemons: what is under way when the process ends must not hold up its end.
        thread = threading.Thread(target=carried(work), name=f"{self._name}-{place}", daemon=True)
        self._threads.add(thread)
        thread.start()
