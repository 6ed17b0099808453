"""What the stand-in saw: every request, how far its answer got, and how many were open at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Endpoint: TypeAlias = Literal["root", "version", "tags", "show", "ps", "pull", "chat", "embed", "unknown"]


@dataclass(slots=True, eq=False)
class RecordedRequest:
    """One request. The server fills in the lower half while it answers; tests only read."""

    endpoint: Endpoint
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    body: Mapping[str, Any] = field(default_factory=dict)
    """The JSON object that was sent; empty if there was none or it could not be read."""

    started: float = field(default_factory=time.monotonic)
    """Seconds on the monotonic clock."""
    finished: float | None = None
    """None while the answer is on its way."""
    status: int | None = None
    """HTTP status sent; None if the connection went before any was."""
    pieces_sent: int = 0
    """Lines of a stream written so far, the last one with ``done`` included."""
    aborted: bool = False
    """The client closed the connection before it had the whole answer."""

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        return list(self.body.get("messages") or [])

    @property
    def prompt(self) -> str:
        """The text of all messages, system message first, blank lines between."""
        return "\n\n".join(str(message.get("content", "")) for message in self.messages)

    @property
    def options(self) -> Mapping[str, Any]:
        return self.body.get("options") or {}

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema given as ``format``, if one was."""
        asked = self.body.get("format")
        return asked if isinstance(asked, dict) else None


class Recorder:
    """Keeps the requests in order of arrival and wakes whoever waits for something to happen to them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[RecordedRequest] = []
        self._in_flight = 0
        self._max_concurrent = 0

    @property
    def requests(self) -> list[RecordedRequest]:
        with self._changed:
            return list(self._requests)

    @property
    def in_flight(self) -> int:
        with self._changed:
            return self._in_flight

    @property
    def max_concurrent(self) -> int:
        with self._changed:
            return self._max_concurrent

    def begin(self, request: RecordedRequest) -> None:
        with self._changed:
            self._requests.append(request)
            self._in_flight += 1
            self._max_concurrent = max(self._max_concurrent, self._in_flight)
            self._changed.notify_all()

    def sent(self, request: RecordedRequest, status: int, *, pieces: int = 0) -> None:
        with self._changed:
            request.status = status
            request.pieces_sent += pieces
            self._changed.notify_all()

    def end(self, request: RecordedRequest, *, aborted: bool = False) -> None:
        """Close a request; only the first call counts."""
        with self._changed:
            if request.finished is not None:
                return
            request.finished = time.monotonic()
            request.aborted = aborted
            self._in_flight -= 1
            self._changed.notify_all()

    def wait_for(self, predicate: Callable[[], bool], timeout_s: float) -> bool:
        """Whether the predicate came true in time; it is asked again after every change."""
        with self._changed:
            return self._changed.wait_for(predicate, timeout_s)
