"""How quick one chat model is on this host: warm-up, tokens a second, and how many gradings at once really pay."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from engine.errors import ModelError
from engine.host.values import MeasurePhase, ModelSpeed, SpeedStep
from engine.llm.chat import ChatModel
from engine.llm.connection import asking_ollama, keep_alive
from engine.llm.grader import ChatGrader
from engine.llm.parsing import VerdictReply
from engine.llm.prompts import VERDICT_SCHEMA, grader_messages
from engine.llm.pull import unload
from engine.llm.reply_size import of_reply
from engine.model.config import RoleModel
from engine.model.values import Message
from engine.roles import SILENT
from engine.settings import Settings

AT_ONCE = (1, 2, 4, 8)
CALLS = 8
"""Gradings of each step: as many as the widest step makes at once, and the same for all, so that times compare."""
REPEATS = 3
"""Times that a step is made where the budget allows it; its median counts."""
BUDGET_S = 60.0
_NEAR_BEST = 0.9
_SPOKEN_TOKENS = 96
_TELL = "Write about eighty words on how a tree takes up water. Plain sentences, no list."
_QUESTION = "At which temperature is an unopened pen of insulin kept?"
_PASSAGE = (
    "Sheet {number}. Unopened pens are kept in the refrigerator at two to eight degrees Celsius and must never freeze. "
    "A pen in use may stay at room temperature for four weeks, away from sunlight and heat."
)

Tell = Callable[[MeasurePhase, int, int, int], None]
"""Told of the phase, the calls at once, and the calls done of all."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    first_s: float
    """Until the first token."""
    prompt_tokens_per_s: float | None
    tokens_per_s: float | None


async def measure(
    model: RoleModel, settings: Settings, digest: str, tell: Tell, budget_s: float = BUDGET_S
) -> ModelSpeed:
    """Measure one chat model in about ``budget_s``; raises ``ModelError`` where it does not answer at all.

    A model of Ollama is unloaded first, so that its warm-up is that of a cold one. Steps that the time does not allow
    are left out.
    """
    deadline = time.perf_counter() + budget_s
    total = 4 + len(AT_ONCE) * CALLS * REPEATS
    tell("warm_up", 0, 0, total)
    ollama = model.model.startswith("ollama:")
    if ollama:
        await unload(model.model.partition(":")[2], settings)
    cold = await _speak(model, settings, "Cold.")
    tell("speed", 0, 1, total)
    warm = await _speak(model, settings, "Warm.")
    done = 2

    def count(at_once: int) -> None:
        nonlocal done
        done += 1
        tell("at_once", at_once, done, total)

    steps = await _steps(_Grading(model, settings, count), deadline)
    return ModelSpeed(
        model=model.model,
        digest=digest,
        warm_up_s=cold.first_s,
        prompt_tokens_per_s=warm.prompt_tokens_per_s,
        tokens_per_s=warm.tokens_per_s,
        steps=steps,
        best_at_once=best_at_once(steps),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def best_at_once(steps: Sequence[SpeedStep]) -> int:
    """The smallest number within 10 % of the quickest; steps in which calls failed count only where all have some."""
    sound = [step for step in steps if not step.failed] or list(steps)
    quickest = max(step.per_second for step in sound)
    return next(step.at_once for step in sound if step.per_second >= quickest * _NEAR_BEST)


class _Grading:
    """The same short structured grading, as often as it is asked for."""

    def __init__(self, model: RoleModel, settings: Settings, count: Callable[[int], None]) -> None:
        self._chat = ChatModel(model, settings, "grader", think=False, reply_tokens=ChatGrader.reply_tokens)
        self._count = count
        self._number = 0

    async def once(self, at_once: int) -> None:
        """Another number in each passage: a server that keeps replies to equal prompts must not look quick."""
        self._number += 1
        messages = grader_messages(_QUESTION, _PASSAGE.format(number=self._number), None)
        try:
            await self._chat.ask(messages, SILENT, shape=VerdictReply, schema=VERDICT_SCHEMA)
        finally:
            self._count(at_once)

    async def step(self, at_once: int, calls: int) -> SpeedStep:
        """Time gradings, ``at_once`` under way at a time; raises ``ModelError`` where every one failed."""
        gate = asyncio.Semaphore(at_once)
        faults: list[ModelError] = []

        async def call() -> None:
            async with gate:
                try:
                    await self.once(at_once)
                except ModelError as fault:
                    faults.append(fault)

        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(calls):
                group.create_task(call())
        if len(faults) == calls:
            raise faults[0]
        return SpeedStep(at_once, calls, time.perf_counter() - began, len(faults))


async def _steps(grading: _Grading, deadline: float) -> tuple[SpeedStep, ...]:
    """One round of all steps, then further ones in turn while time is left, so that a slow moment hits all alike."""
    # Pays for the first connection, and for a schema that the server has to compile.
    await grading.once(1)
    began = time.perf_counter()
    await grading.once(1)
    calls, widths = _plan(time.perf_counter() - began, deadline - time.perf_counter())
    made: dict[int, list[SpeedStep]] = {}
    for at_once in widths * REPEATS:
        left_s = deadline - time.perf_counter()
        if at_once in made and left_s < made[at_once][-1].wall_s:
            break
        try:
            # The first step is let through: without it there would be nothing to say.
            async with asyncio.timeout(max(left_s, 0.0) if made else None):
                made.setdefault(at_once, []).append(await grading.step(at_once, calls))
        except TimeoutError:
            break
    return tuple(_median(steps) for _, steps in sorted(made.items()) if steps)


def _plan(one_s: float, left_s: float) -> tuple[int, tuple[int, ...]]:
    """Calls of each step and how many at once, so that one round fits even where the server takes one at a time."""
    for calls in (CALLS, CALLS // 2, CALLS // 4):
        widths = tuple(width for width in AT_ONCE if width <= calls)
        if one_s * calls * len(widths) <= left_s:
            break
    return calls, widths


def _median(steps: Sequence[SpeedStep]) -> SpeedStep:
    middle = statistics.median(step.wall_s for step in steps)
    return replace(steps[0], wall_s=middle, failed=max(step.failed for step in steps))


async def _speak(model: RoleModel, settings: Settings, beginning: str) -> _Spoken:
    if model.model.startswith("ollama:"):
        return await _speak_ollama(model, settings, beginning)
    return await _speak_other(model, settings, beginning)


async def _speak_ollama(model: RoleModel, settings: Settings, beginning: str) -> _Spoken:
    """Timed by Ollama's own counters, which leave out the network and the queue."""
    limit_s = settings.call_timeout_s
    name = model.model.partition(":")[2]
    first_s, last = 0.0, None
    most = of_reply(_SPOKEN_TOKENS)
    async with asking_ollama(settings, model.model, timeout_s=limit_s, most=most) as client, asyncio.timeout(limit_s):
        began = time.perf_counter()
        stream = await client.chat(
            name,
            messages=[{"role": "user", "content": f"{beginning} {_TELL}"}],
            stream=True,
            options={"num_ctx": model.num_ctx, "num_predict": _SPOKEN_TOKENS, "temperature": 0},
            keep_alive=keep_alive(settings),
        )
        async for part in stream:
            first_s = first_s or time.perf_counter() - began
            last = part
    return _Spoken(
        first_s,
        _rate(last, "prompt_eval_count", "prompt_eval_duration"),
        _rate(last, "eval_count", "eval_duration"),
    )


async def _speak_other(model: RoleModel, settings: Settings, beginning: str) -> _Spoken:
    """Timed from outside: tokens after the first, over the time from the first to the last."""
    chat = ChatModel(model, settings, "generator", think=False, reply_tokens=_SPOKEN_TOKENS)
    heard: list[float] = []
    began = time.perf_counter()
    messages = (Message("user", f"{beginning} {_TELL}"),)
    said = await chat.say(messages, SILENT, lambda _: heard.append(time.perf_counter()))
    ended = time.perf_counter()
    first = heard[0] if heard else ended
    tokens = said.reply_tokens or len(heard)
    spent = (heard[-1] if heard else ended) - first
    return _Spoken(first - began, None, (tokens - 1) / spent if tokens > 1 and spent > 0 else None)


def _rate(last: Any, count: str, duration: str) -> float | None:
    """Tokens a second from a count and nanoseconds; None where Ollama left one of them out, as for a cached prompt."""
    tokens, spent_ns = getattr(last, count, None), getattr(last, duration, None)
    return tokens / (spent_ns / 1e9) if tokens and spent_ns else None
