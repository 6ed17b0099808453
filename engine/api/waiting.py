"""Waiting on behalf of a caller: until a run ends, until the caller hangs up, and event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, Final, TypeVar

from fastapi import Request

from engine.api.encoding import as_json, event_json
from engine.api.errors import CallerLeft
from engine.engine import Engine
from engine.errors import EngineClosed
from engine.model.events import Event
from engine.model.values import RunRecord

_T = TypeVar("_T")
RunView = Callable[[RunRecord], Mapping[str, Any]]
"""What a page shows of a run, derived from its record as flat values; the engine streams it and does not read it."""
VIEWS_A_SECOND = 20
SILENCE: Final = b": waiting\n\n"
STREAM: Final[dict[str, Any]] = {
    "media_type": "text/event-stream",
    "headers": {"cache-control": "no-store", "x-accel-buffering": "no"},
}
"""Of every response that streams: no proxy is to keep it, nor to hold it back."""
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


async def started(begin: Callable[[], _T], end: Callable[[_T], object]) -> _T:
    """Return the result of ``begin``, run in a thread that cannot be cancelled; on cancellation, ``end`` gets it."""
    starting = asyncio.ensure_future(asyncio.to_thread(begin))

    def ended(done: asyncio.Task[_T]) -> None:
        if not done.cancelled() and done.exception() is None:
            end(done.result())

    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(ended)
        raise


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
    async with aclosing(bursts(engine, run_id, after, heartbeat_s)) as arriving:
        async for burst in arriving:
            for event in burst:
                yield b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), event_json(event))
            if not burst:
                yield SILENCE


async def view_stream(engine: Engine, run_id: str, view: RunView, heartbeat_s: float) -> AsyncIterator[bytes]:
    """Stream ``view`` of a run: whole at first, then the changes, and for growing strings only the added part.

    A burst of events is one message of the newest view; a reader gets at most :data:`VIEWS_A_SECOND` of them.
    """
    loop = asyncio.get_running_loop()
    sent: Mapping[str, Any] = {}
    async with aclosing(bursts(engine, run_id, 0, heartbeat_s)) as arriving:
        async for burst in arriving:
            if not burst:
                yield SILENCE
                continue
            record = await asyncio.to_thread(engine.record, run_id)
            now = view(record)
            yield b"id: %d\ndata: %s\n\n" % (record.last_seq, _changes(sent, now))
            if record.outcome is not None:
                return
            sent = now
            # At the same moments for all, so that those who follow the same view share what was derived.
            await asyncio.sleep(1 / VIEWS_A_SECOND - loop.time() % (1 / VIEWS_A_SECOND))


def _changes(sent: Mapping[str, Any], now: Mapping[str, Any]) -> bytes:
    changed, grown = {}, {}
    for name, value in now.items():
        before = sent.get(name)
        if before == value:
            continue
        if isinstance(value, str) and isinstance(before, str) and before and value.startswith(before):
            grown[name] = value[len(before) :]
        else:
            changed[name] = value
    return as_json({"now": changed, "grown": grown})


async def bursts(engine: Engine, run_id: str, after: int, heartbeat_s: float) -> AsyncGenerator[list[Event]]:
    """Events above ``after``, those that came together in one list; an empty one after each silent ``heartbeat_s``."""
    waiting: asyncio.Queue[Event | None] = asyncio.Queue()
    # A task of its own, because a time limit on the iterator itself would end it, and because cancelling the task
    # frees the listener at once, whereas an abandoned iterator would wait for the garbage collector.
    pump = asyncio.create_task(_pump(engine, run_id, after, waiting))
    try:
        while True:
            try:
                arrived = [await asyncio.wait_for(waiting.get(), heartbeat_s)]
            except TimeoutError:
                yield []
                continue
            while not waiting.empty():
                arrived.append(waiting.get_nowait())
            if burst := [event for event in arrived if event is not None]:
                yield burst
            if len(burst) < len(arrived):
                break
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
