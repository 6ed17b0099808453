"""Grading by a chat model that takes 100 ms a passage, played by the Ollama stand-in."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Sequence

from engine.config import RoleModel
from engine.llm.grader import ChatGrader
from engine.settings import Settings
from engine.values import Passage, PassageId
from tests.benchmarks.harness import Bench, Row, in_turn_async, ratio
from tests.support.ollama_stand_in import OllamaStandIn, Reply, Slow
from tests.support.ollama_stand_in.text import pieces

_MODEL_S = 0.1
_REPLY = json.dumps({"relevant": True, "confidence": 0.9, "reason": "It says so."}, separators=(",", ":"))
_PAUSE_S = _MODEL_S / len(pieces(_REPLY))


def concurrent_grading(bench: Bench) -> Iterator[Row]:
    """Wall time of grading all passages at concurrency 10 and 4, and against what the model alone would take."""
    given = [
        Passage(PassageId(f"p{place}"), "source.md", f"Text {place}.", 0.5, 0.8) for place in range(bench.sizes.graded)
    ]
    for lanes in (10, 4):
        ideal_ms = _MODEL_S * 1000.0 * math.ceil(len(given) / lanes)
        taken = asyncio.run(_graded(bench, given, lanes))
        budget = "< 150 ms" if ideal_ms <= _MODEL_S * 1000.0 else ""
        name = f"{len(given)} passages graded by a 100 ms model, concurrency {lanes}"
        yield Row(name, "ms", taken, budget)
        yield ratio(f"{name} / the model alone", taken, [ideal_ms] * len(taken))


async def _graded(bench: Bench, given: Sequence[Passage], lanes: int) -> tuple[float, ...]:
    with OllamaStandIn(["qwen3:8b"]) as server:
        settings = Settings(data_dir=bench.folder, ollama_url=server.url, grader_concurrency=lanes)
        grader = ChatGrader(RoleModel("ollama:qwen3:8b"), settings)

        async def grade() -> None:
            server.script("chat", *[Slow(per_token_s=_PAUSE_S, reply=Reply(_REPLY))] * len(given))
            verdicts = await grader.grade("What is it?", given)
            assert all(verdict.relevant for verdict in verdicts), "the stand-in's replies were not read"

        (taken,) = await in_turn_async(grade, repeats=bench.sizes.repeats)
        return taken
