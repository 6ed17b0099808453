"""What the stand-in can be asked to do with one request: answer, dawdle, stall, or fail in a named way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

RUNNER_GONE = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)
STREAM_BROKEN = "an error was encountered while running the model: unexpected EOF"


class Gate:
    """Lets a test decide when each piece of a ``Slow`` answer leaves, so that it never sleeps.

    Starts closed. ``allow(n)`` lets n more pieces through; ``open()`` lets everything through from then on. May be
    called from any thread, before or after the request arrives.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._permits = 0
        self._opened = False
        self._wakers: list[Callable[[], object]] = []

    def allow(self, pieces: int = 1) -> None:
        with self._lock:
            self._permits += pieces
            self._wake()

    def open(self) -> None:
        with self._lock:
            self._opened = True
            self._wake()

    async def passage(self) -> None:
        """Wait on the server's event loop until one more piece may leave."""
        loop = asyncio.get_running_loop()
        while True:
            woken = asyncio.Event()

            def wake(event: asyncio.Event = woken) -> object:
                return loop.call_soon_threadsafe(event.set)

            with self._lock:
                if self._opened or self._permits > 0:
                    self._permits = max(0, self._permits - 1)
                    return
                self._wakers.append(wake)
            try:
                await woken.wait()
            finally:
                # A waiter whose client has gone must not be called once the loop is closed.
                with self._lock:
                    if wake in self._wakers:
                        self._wakers.remove(wake)

    def _wake(self) -> None:
        for waker in self._wakers:
            waker()


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer with this text, no matter what ``format`` asked for.

    ``thinking`` None means a short stock thought where the model thinks and the request does not forbid it.
    ``Reply("", done_reason="load")`` is what Ollama sends when it has loaded the model and generated nothing.
    """

    content: str
    thinking: str | None = None
    done_reason: Literal["stop", "length", "load"] = "stop"


@dataclass(frozen=True, slots=True)
class Slow:
    """Answer late: wait before each piece for the gate, for ``per_token_s`` seconds, or for both.

    An answer that is one JSON object (``stream: false``, and every endpoint but chat) counts as a single piece.
    """

    per_token_s: float = 0.0
    gate: Gate | None = None
    reply: Reply | None = None
    """None means the default reply."""


@dataclass(frozen=True, slots=True)
class Hangs:
    """Fall silent until the client gives up or the stand-in closes.

    ``after_tokens`` None sends not even the status line; a number sends the head and that many pieces first.
    """

    after_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class DiesMidStream:
    """Drop the connection after this many pieces, as a killed server does; ``reset`` sends RST instead of FIN."""

    after_tokens: int = 1
    reset: bool = False


@dataclass(frozen=True, slots=True)
class ErrorMidStream:
    """Send this many pieces and then an ``{"error": …}`` line, as Ollama does when the model runner crashes.

    With no piece sent, or with ``stream: false``, it is a plain answer of status 500, as in Ollama.
    """

    after_tokens: int = 1
    message: str = STREAM_BROKEN


@dataclass(frozen=True, slots=True)
class EndsEarly:
    """End the stream in good order after this many pieces, but without the line that says ``done``."""

    after_tokens: int = 1


@dataclass(frozen=True, slots=True)
class Garbage:
    """Answer with this text as it stands; after ``after_tokens`` good pieces if the answer is a stream.

    This breaks the wire format. For a model that talks nonsense inside a valid answer use ``Reply``.
    """

    text: str
    after_tokens: int = 0
    status: int = 200


@dataclass(frozen=True, slots=True)
class NotFound:
    """Say that the model is not installed, in the endpoint's own words."""


@dataclass(frozen=True, slots=True)
class ServerError:
    """Answer ``{"error": message}`` with this status."""

    status: int = 500
    message: str = RUNNER_GONE


@dataclass(frozen=True, slots=True)
class Vectors:
    """Answer an embed request with these vectors, regardless of their number, length or norm."""

    vectors: tuple[tuple[float, ...], ...]


Behaviour: TypeAlias = (
    Reply | Slow | Hangs | DiesMidStream | ErrorMidStream | EndsEarly | Garbage | NotFound | ServerError | Vectors
)
