"""A model server in a process of its own whose every verdict takes the same time, so that what is measured is not it.

It speaks as much of Ollama's protocol as a grader needs, gives each answer in one piece, works on so many at the same
time and lets the others wait, as under ``OLLAMA_NUM_PARALLEL``. ``GET /figures`` says what it was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.support.ollama_stand_in.models import card_for, show_body, tags_entry
from tests.support.ollama_stand_in.server import VERSION
from tests.support.ollama_stand_in.wire import read_request
from tests.support.server_process import server_process

MODEL = "steady:1b"
_VERDICT = json.dumps({"relevant": True, "confidence": 0.9, "reason": "It says so."})


@dataclass(slots=True)
class Figures:
    """What the server was asked for."""

    at_once: int = 0
    """Most answers that it worked on at the same time."""
    began: list[float] = field(default_factory=list)
    """When it began with each, in seconds of a clock of its own."""
    ended: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Steady:
    """A server that runs."""

    url: str

    def figures(self) -> Figures:
        """What it was asked since the last look."""
        with httpx.Client(trust_env=False) as client:
            return Figures(**client.get(f"{self.url}/figures").json())


@contextmanager
def running(folder: Path, *, seconds: float, at_once: int) -> Iterator[Steady]:
    """A server that takes so many seconds for each answer."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.support.steady_ollama", str(seconds), str(at_once)]
    with server_process("model", command, folder, stop_s=20) as port:
        yield Steady(f"http://127.0.0.1:{port}")


class _Server:
    def __init__(self, seconds: float, at_once: int) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(at_once)
        self._busy = 0
        self._figures = Figures()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                body = json.dumps(await self._answer(request.path, request.content)).encode() + b"\n"
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, content: bytes) -> Mapping[str, Any]:
        card = card_for(MODEL)
        match path:
            case "/api/chat":
                return await self._chat(json.loads(content)["model"])
            case "/api/show":
                return show_body(card)
            case "/api/tags":
                return {"models": [tags_entry(card)]}
            case "/figures":
                figures, self._figures = self._figures, Figures()
                return asdict(figures)
        return {"version": VERSION, "models": []}

    async def _chat(self, model: str) -> Mapping[str, Any]:
        async with self._places:
            self._busy += 1
            self._figures.at_once = max(self._figures.at_once, self._busy)
            self._figures.began.append(time.monotonic())
            await asyncio.sleep(self._seconds)
            self._figures.ended.append(time.monotonic())
            self._busy -= 1
        done = {"done": True, "done_reason": "stop", "prompt_eval_count": 300, "eval_count": 20}
        message = {"role": "assistant", "content": _VERDICT}
        return {"model": model, "created_at": "2026-01-01T00:00:00Z", "message": message, **done}


async def _serve(seconds: float, at_once: int) -> None:
    server = await asyncio.start_server(_Server(seconds, at_once).converse, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("at_once", type=int)
    given = parser.parse_args()
    asyncio.run(_serve(given.seconds, given.at_once))
