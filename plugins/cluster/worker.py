"""A worker of a Ray cluster: one process of some node, with one performer of its own."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from engine.errors import WorkbenchError
from engine.executing.blocks import Block, Performer, fault_plain, performed
from engine.model.values import Fault
from engine.version import __version__
from plugins.cluster.errors import ClusterError

Answer = tuple[Any, bytes, dict[str, Any] | None]
"""Value, data and fault of one block."""


class Worker:
    """What Ray makes an actor of; several blocks at once run on threads of it."""

    def __init__(self, factory: str, arguments: dict[str, Any], version: str) -> None:
        self._performer: Performer | None = None
        self._fault: Fault | None = None
        if version != __version__:
            self._fault = Fault.of(ClusterError.worker_unusable(why=f"{__version__} != {version}"))
            return
        try:
            self._performer = resolve_name(factory)(**arguments)
        except WorkbenchError as error:
            self._fault = Fault.of(error)
        except Exception as error:
            # Said in words of ours: Ray would try again, and again, to make an actor that cannot be made.
            self._fault = Fault.of(ClusterError.worker_unusable(why=f"{type(error).__name__}: {error}"))

    def hello(self) -> dict[str, Any] | None:
        """What keeps it from working."""
        return fault_plain(self._fault)

    def perform(self, key: str, work: dict[str, Any], data: bytes) -> Answer:
        assert self._performer is not None
        done = performed(self._performer, Block(key, work, data))
        return done.value, done.data, fault_plain(done.fault)

    def stop(self) -> None:
        if self._performer is not None:
            self._performer.stop()

    def close(self) -> None:
        if self._performer is not None:
            self._performer.close()
