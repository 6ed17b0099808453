"""Large jobs in blocks, done anywhere and more than once with the effect of once: here by threads of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol

from engine.errors import WorkbenchError
from engine.model.values import Fault
from engine.people.current_user import with_current_user

Plain = Any
"""What JSON can say."""
_log = logging.getLogger(__name__)
_CLOSING_S = 10.0
"""How long the end of a block that was stopped is waited for."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a job, as plain values that travel to another process.

    The performer must expect that it was done before, or is being done by a worker that was given up: the
    result is kept under a key, and the second time changes nothing.
    """

    key: str
    """What names the block within its job."""
    work: Mapping[str, Plain] = field(default_factory=dict)
    data: bytes = b""
    """What is too large for JSON, such as a file."""


@dataclass(frozen=True, slots=True)
class Performed:
    """Result of one block."""

    key: str
    value: Plain = None
    data: bytes = b""
    fault: Fault | None = None
    """Why it could not be done; nothing of the other blocks changes by it."""
    lost: bool = False
    """Whether processes ended while they did it, which says nothing of other blocks."""


class Performer(Protocol):
    """Does the blocks of one job, several at the same time; every method is called from any thread."""

    def perform(self, block: Block) -> tuple[Plain, bytes]:
        """Do a block and return what is worth knowing of it; raises what keeps it from being done."""

    def stop(self) -> None:
        """Begin nothing more and end soon what is under way, kept or not; idempotent."""

    def close(self) -> None:
        """Let go of what it holds; nothing is under way any more."""


class Executor(Protocol):
    """Runs blocks, and yields each result; one job at a time."""

    @property
    def at_once(self) -> int:
        """Maximum number of blocks in hand: handed out and not yet taken back as done."""

    @property
    def workers(self) -> int | None:
        """Other processes that are ready; None where threads of this process do the work."""

    @property
    def gives_up_s(self) -> float | None:
        """Seconds until other processes that finish nothing are given up; None while they work, and without any."""

    def perform(self, blocks: Iterable[Block]) -> Iterator[Performed]:
        """Take blocks one by one as there is room for them, and yield each once it is done, in any order.

        The keys must differ. After :meth:`stop`, blocks not yet started are left out. Leaving the iteration early
        stops what is under way. Raises a ``WorkbenchError`` where no more can be done.
        """

    def stop(self) -> None:
        """Begin no further block and end those under way; from any thread, and for good."""

    def close(self) -> None:
        """Let go of performers and processes; a second call does nothing."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Instructions for building a performer in another process."""

    factory: str
    """``package.module:function``, which is given the ``Engine`` of that process and the arguments by name."""
    arguments: Mapping[str, Plain] = field(default_factory=dict)


def performed(performer: Performer, block: Block) -> Performed:
    """Return the result of a block, also if its performer raises."""
    try:
        value, data = performer.perform(block)
    except WorkbenchError as error:
        return Performed(block.key, fault=Fault.of(error))
    except Exception as error:
        _log.exception("a block could not be done")
        return Performed(block.key, fault=Fault.of(error))
    return Performed(block.key, value, data)


def fault_plain(fault: Fault | None) -> dict[str, Any] | None:
    """A fault as JSON-ready values, which :func:`fault_of` reads back."""
    return None if fault is None else {**asdict(fault), "params": dict(fault.params)}


def fault_of(plain: Mapping[str, Any] | None) -> Fault | None:
    return None if plain is None else Fault(**plain)


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
        thread = threading.Thread(target=with_current_user(work), name=f"{self._name}-{place}", daemon=True)
        self._threads.add(thread)
        thread.start()
