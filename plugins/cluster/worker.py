"""A worker of a Ray cluster: one process of some node, with one performer of its own."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from engine.distributed import Block, Performer, fault_plain, performed
from engine.errors import WorkbenchError
from engine.model.values import Fault
from engine.version import __version__
from plugins.cluster.errors import WORKER_UNUSABLE

Answer = tuple[Any, bytes, dict[str, Any] | None]
"""Value, data and fault of one block."""


class Worker:
    """Ray actor; it runs several blocks at once on threads."""

    def __init__(self, factory: str, arguments: dict[str, Any], version: str) -> None:
        self._factory = factory
        self._arguments = arguments
        self._version = version
        self._performer: Performer

    def hello(self) -> dict[str, Any] | None:
        """Make the performer, before all else; returns what keeps it from working."""
        if self._version != __version__:
            return fault_plain(Fault.of(WORKER_UNUSABLE(why=f"{__version__} != {self._version}")))
        try:
            self._performer = resolve_name(self._factory)(**self._arguments)
        except WorkbenchError as error:
            return fault_plain(Fault.of(error))
        except Exception as error:
            return fault_plain(Fault.of(WORKER_UNUSABLE(why=f"{type(error).__name__}: {error}")))
        return None

    def perform(self, key: str, work: dict[str, Any], data: bytes) -> Answer:
        done = performed(self._performer, Block(key, work, data))
        return done.value, done.data, fault_plain(done.fault)

    def stop(self) -> None:
        self._performer.stop()

    def close(self) -> None:
        self._performer.close()
