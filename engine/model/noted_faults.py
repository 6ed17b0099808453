"""Faults outside any run, with their start and end."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.errors import WorkbenchError
from engine.model.values import Fault

_KEPT = 50


@dataclass(frozen=True, slots=True)
class NotedFault(Fault):
    """A fault of this process with its times, as ISO 8601 in UTC."""

    since: str = ""
    over_since: str = ""
    """Empty while it lasts, and for what has no end of its own, such as a file that was moved aside."""


class NotedFaults:
    """The last fifty; safe from any thread."""

    def __init__(self) -> None:
        self._noted: deque[NotedFault] = deque(maxlen=_KEPT)
        self._guard = threading.Lock()

    def note(self, error: WorkbenchError) -> None:
        """It happened, or began, now."""
        with self._guard:
            self._noted.append(replace(NotedFault.of(error), since=_now()))

    def over(self, error: WorkbenchError) -> None:
        """It is over now."""
        with self._guard:
            for place, item in enumerate(self._noted):
                if (item.code, item.fact) == (error.code, error.fact) and not item.over_since:
                    self._noted[place] = replace(item, over_since=_now())

    def all(self) -> tuple[NotedFault, ...]:
        """List all faults, newest last, including those that are over."""
        with self._guard:
            return tuple(self._noted)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
