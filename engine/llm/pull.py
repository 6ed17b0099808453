"""Downloads of models by Ollama: progress with rate and remaining time, stopping, and what went wrong said plainly."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from engine.errors import (
    HostError,
    ModelError,
    ModelGarbled,
    ModelInterrupted,
    ModelRefused,
    ModelTimeout,
    WorkbenchError,
)
from engine.llm.connection import asking_ollama
from engine.llm.sizes import LINES
from engine.model.system import PullStatus
from engine.settings import Settings

_SILENCE_S = 300.0
"""Longest silence of a download: a checksum over a large model takes minutes, and Ollama says nothing meanwhile."""
_RATE_OVER_S = 10.0
_LONGEST_NAME = 200
_PART = r"[A-Za-z0-9_][\w.-]*"
_NAME = re.compile(rf"(?:{_PART}(?::\d{{1,5}})?/)?(?:{_PART}/)?{_PART}(?::{_PART})?", re.ASCII)
_UNKNOWN = ("file does not exist", "not found", "manifest unknown", "does not exist")
_NO_SPACE = ("no space left", "not enough space", "disk full", "enospc")
_CUT = ("unexpected eof", "connection reset", "eof")

Tell = Callable[[PullStatus], None]


def checked_name(name: str) -> str:
    """A model's name as it may be sent, white space around it cut off; raises ``HostError.invalid_model_name``."""
    bare = name.strip().removeprefix("ollama:")
    if len(bare) > _LONGEST_NAME or not _NAME.fullmatch(bare):
        raise HostError.invalid_model_name(name=bare[:80])
    return bare


@dataclass(slots=True)
class _Download:
    """Totals over the lines of a download."""

    name: str
    clock: Callable[[], float] = time.monotonic
    phase: str = ""
    complete: bool = False
    _layers: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Bytes there and bytes in all, by layer: Ollama names them as it comes to them."""
    _seen: deque[tuple[float, int]] = field(default_factory=deque)

    def take(self, line: Any) -> None:
        self.phase = str(line.status or "")
        self.complete = self.complete or self.phase == "success"
        if line.digest and line.total:
            there = min(int(line.completed or 0), int(line.total))
            known = line.digest in self._layers
            self._layers[line.digest] = (there, int(line.total))
            if not known:
                # What an earlier try had brought is no speed of this one.
                self._seen = deque((at, done + there) for at, done in self._seen)
        now = self.clock()
        self._seen.append((now, self.done))
        while now - self._seen[0][0] > _RATE_OVER_S and len(self._seen) > 2:
            self._seen.popleft()

    @property
    def done(self) -> int:
        return sum(there for there, _ in self._layers.values())

    def status(self) -> PullStatus:
        total = sum(size for _, size in self._layers.values())
        (began, before), (now, done) = self._seen[0], self._seen[-1]
        rate = (done - before) / (now - began) if now > began else 0.0
        remaining = (total - done) / rate if rate > 0 else None
        return PullStatus(self.name, "running", self.phase, done, total, max(rate, 0.0), remaining)


async def pull(name: str, settings: Settings, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
    """Let Ollama download a model, telling of every line; cancelling drops the connection, which stops Ollama too.

    Raises ``ModelError``, and ``HostError`` where Ollama could not download it.
    """
    download = _Download(name, clock)
    try:
        async with asking_ollama(settings, f"ollama:{name}", timeout_s=_SILENCE_S, most=LINES) as client:
            lines = cast("AsyncGenerator[Any, None]", await client.pull(name, stream=True))
            async with aclosing(lines):
                async for line in lines:
                    download.take(line)
                    tell(download.status())
    except WorkbenchError as ours:
        foreign = ours.__cause__
        raise _reason(name, str(getattr(foreign, "error", "") or ""), ours) from foreign
    if not download.complete:
        raise HostError.pull_interrupted(name=name)


async def unload(name: str, settings: Settings) -> None:
    """Let Ollama drop a model from memory; does nothing to one that is not loaded. Raises ``ModelError``."""
    timeout_s = settings.call_timeout_s
    async with (
        asking_ollama(settings, f"ollama:{name}", timeout_s=timeout_s) as client,
        asyncio.timeout(timeout_s),
    ):
        await client.chat(name, messages=[], keep_alive=0)


def _reason(name: str, message: str, ours: WorkbenchError) -> WorkbenchError:
    folded = message.casefold()
    if any(part in folded for part in _NO_SPACE):
        return HostError.disk_full(name=name)
    if ours.code == ModelError.not_pulled.code or any(part in folded for part in _UNKNOWN):
        return HostError.model_not_in_library(name=name)
    if message and not any(part in folded for part in _CUT):
        return HostError.pull_refused(name=name, message=message)
    if isinstance(ours, ModelInterrupted | ModelTimeout | ModelGarbled):
        return HostError.pull_interrupted(name=name)
    if isinstance(ours, ModelRefused):
        return HostError.pull_refused(name=name, message=ours.params.get("message", ours.fact))
    return ours
