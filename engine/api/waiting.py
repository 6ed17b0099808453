"""Waiting on behalf of a caller: until a run ends, until the caller hangs up, and event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import Request

from engine.api.encoding import event_json
from engine.api.errors import CallerLeft
from engine.engine import Engine
from engine.errors import EngineClosed
from engine.events import Event
from engine.values import RunRecord

_T = TypeVar("_T")
COMMIT_S = 5.0
"""Longest that an answer waits for its record to be written."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """The result of ``work``; where the caller hangs up first, ``work`` is cancelled and ``CallerLeft`` raised.

    Nothing else would tell: a handler that waits is not cancelled when its connection closes.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise CallerLeft
    finally:
        working.cancel()
        leaving.cancel()


async def finished(engine: Engine, run_id: str) -> tuple[RunRecord, bool]:
    """The record once the run has ended, and whether all of it is on the disk; being cancelled stops the run."""
    try:
        async for _ in engine.aevents(run_id):
            pass
    except asyncio.CancelledError:
        engine.cancel(run_id)
        raise
    return engine.record(run_id), await _kept(engine)


async def _kept(engine: Engine) -> bool:
    try:
        return await asyncio.wait_for(asyncio.to_thread(engine.flush), COMMIT_S)
    except (TimeoutError, EngineClosed):
        return False


async def event_stream(engine: Engine, run_id: str, after: int, heartbeat_s: float) -> AsyncIterator[bytes]:
    """A run as server-sent events above sequence number ``after``, with a comment after each silent ``heartbeat_s``.

    The comment keeps proxies from closing a stream that waits for a slow model, and shows a lost connection.
    """
    waiting: asyncio.Queue[Event | None] = asyncio.Queue()
    # A task of its own, because a time limit on the iterator itself would end it, and because cancelling the task
    # frees the listener at once, whereas an abandoned iterator would wait for the garbage collector.
    pump = asyncio.create_task(_pump(engine, run_id, after, waiting))
    try:
        while True:
            try:
                event = await asyncio.wait_for(waiting.get(), heartbeat_s)
            except TimeoutError:
                yield b": waiting\n\n"
                continue
            if event is None:
                break
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), event_json(event))
        await pump
    finally:
        pump.cancel()


async def _pump(engine: Engine, run_id: str, after: int, into: asyncio.Queue[Event | None]) -> None:
    try:
        async for event in engine.aevents(run_id, after):
            into.put_nowait(event)
    finally:
        into.put_nowait(None)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
