"""``POST /api/pull``: a download in lines, every way in which it breaks, and going on where it was."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.ollama_stand_in.behaviours import (
    Behaviour,
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    Hangs,
)
from tests.support.ollama_stand_in.chat import pace
from tests.support.ollama_stand_in.models import ModelCard, find, well_formed
from tests.support.ollama_stand_in.refusals import RefusalError
from tests.support.ollama_stand_in.wire import Exchange

UNKNOWN = "pull model manifest: file does not exist"
NO_SPACE = "write /root/.ollama/models/blobs/sha256-1f2e-partial: no space left on device"
_STEPS = 4
"""Lines of progress for the layer of weights; the small one next to it has one."""
_SMALL = 11_356


class Registry:
    """What can be pulled, and how much of it is there already."""

    def __init__(self, offered: Sequence[ModelCard]) -> None:
        self.offered = list(offered)
        self._there: dict[str, int] = {}

    def lines(self, card: ModelCard) -> Iterator[dict[str, Any]]:
        """Each line is what has been brought by then; one that is taken is never brought again."""
        yield {"status": "pulling manifest"}
        for digest, size, steps in ((card.digest, card.size_bytes, _STEPS), (_license(card), _SMALL, 1)):
            name = f"sha256:{digest}"
            at = {"status": f"pulling {digest[:12]}", "digest": name, "total": size}
            done = self._there.get(name, 0)
            # The first line of a layer has no ``completed`` yet, unless there was something of it.
            yield {**at, "completed": done} if done else at
            while done < size:
                done = min(size, done + -(-size // steps))
                self._there[name] = done
                yield {**at, "completed": done}
        for status in ("verifying sha256 digest", "writing manifest", "success"):
            yield {"status": status}


async def answer_pull(
    exchange: Exchange,
    registry: Registry,
    installed: list[ModelCard],
    behaviour: Behaviour | None,
) -> None:
    """Answer one request; a stream that had begun tells of errors in a line, as Ollama does.

    Raises:
        RefusalError: the request is one Ollama would not serve.
    """
    body = exchange.request.body
    name = str(body.get("model") or body.get("name") or "")
    if not name or not well_formed(name):
        raise RefusalError(400, "invalid model name")
    card = find(registry.offered, name)
    if card is None:
        await exchange.line({"status": "pulling manifest"})
        await exchange.line({"error": UNKNOWN})
        await exchange.end_stream()
        return
    stops = isinstance(behaviour, Hangs | DiesMidStream | ErrorMidStream | EndsEarly | Garbage)
    after = (behaviour.after_tokens or 0) if stops else None  # type: ignore[union-attr]
    for number, line in enumerate(registry.lines(card)):
        if number == after:
            await _break(exchange, behaviour)
            return
        await pace(behaviour)
        await exchange.line(line)
    if find(installed, name) is None:
        installed.append(card)
    await exchange.end_stream()


async def _break(exchange: Exchange, behaviour: Behaviour | None) -> None:
    match behaviour:
        case Hangs():
            exchange.start_stream()
            await asyncio.Event().wait()
        case DiesMidStream(reset=reset):
            await exchange.drop(reset=reset)
        case ErrorMidStream(message=message):
            await exchange.line({"error": message})
            await exchange.end_stream()
        case Garbage(text=text):
            await exchange.raw_line(text)
            await exchange.end_stream()
        case _:
            await exchange.end_stream()


def _license(card: ModelCard) -> str:
    return hashlib.sha256(f"{card.full_name} license".encode()).hexdigest()
