"""Grading by a chat model that takes 100 ms a passage, played by the Ollama stand-in in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence

import httpx

from engine.llm.grader import ChatGrader
from engine.model.config import RoleModel
from engine.model.values import Passage, PassageId
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row, in_turn_async, ratio
from tests.support.ollama_stand_in import OllamaStandIn, Reply, Slow
from tests.support.ollama_stand_in.text import pieces

_MODEL_S = 0.1
_REPLY = json.dumps({"relevant": True, "confidence": 0.9, "reason": "yes"}, separators=(",", ":"))
_PAUSE_S = _MODEL_S / len(pieces(_REPLY))


def concurrent_grading(bench: Bench) -> Iterator[Row]:
    """Wall time of grading all passages at concurrency 10 and 4, next to bare HTTP calls of the same number at once."""
    given = [
        Passage(PassageId(f"p{place}"), "source.md", f"Text {place}.", 0.5, 0.8) for place in range(bench.sizes.graded)
    ]
    for lanes in (10, 4):
        ours_ms, bare_ms = asyncio.run(_graded(bench, given, lanes))
        name = f"{len(given)} passages graded by a 100 ms model, concurrency {lanes}"
        yield Row(name, "ms", ours_ms, "< 150 ms" if len(given) <= lanes else "")
        yield ratio(f"{name} / bare HTTP calls", ours_ms, bare_ms)


async def _graded(bench: Bench, given: Sequence[Passage], lanes: int) -> list[tuple[float, ...]]:
    with OllamaStandIn(["qwen3:8b"]) as server:
        settings = Settings(data_dir=bench.folder, ollama_url=server.url, grader_concurrency=lanes)
        grader = ChatGrader(RoleModel("ollama:qwen3:8b"), settings)
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:

            async def ours() -> None:
                _script(server, len(given))
                verdicts = await grader.grade("What is it?", given)
                assert all(verdict.relevant for verdict in verdicts), "the stand-in's replies were not read"

            async def bare() -> None:
                _script(server, len(given))
                lane = asyncio.Semaphore(lanes)
                await asyncio.gather(*(_called(client, lane, passage.text) for passage in given))

            return await in_turn_async(ours, bare, repeats=bench.sizes.repeats)


def _script(server: OllamaStandIn, calls: int) -> None:
    server.script("chat", *[Slow(per_token_s=_PAUSE_S, reply=Reply(_REPLY))] * calls)


async def _called(client: httpx.AsyncClient, lane: asyncio.Semaphore, text: str) -> None:
    message = {"role": "user", "content": f"Does it help? {text}"}
    body = {"model": "qwen3:8b", "messages": [message], "think": False}
    async with lane, client.stream("POST", "/api/chat", json=body) as response:
        lines = [line async for line in response.aiter_lines()]
    assert json.loads(lines[-1])["done"], lines
