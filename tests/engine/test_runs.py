"""Live runs, read from several threads and loops while they grow."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished, TokenStreamed, fold_all
from engine.model.values import RunId
from engine.running.runs import LiveRun
from tests.support.gates import PATIENCE_S

TOKENS = 300


def begun(stored: list[Event] | None = None) -> LiveRun:
    run = LiveRun(RunId("r"), lambda _, event: stored.append(event) if stored is not None else None)
    run.begin("first", RunConfig())
    return run


def speak(run: LiveRun, tokens: int = TOKENS) -> None:
    """Emit tokens and the end, all of which a reader must see."""
    for place in range(tokens):
        run.emit(TokenStreamed(text=f"{place} "))
    run.emit(RunFinished(outcome="answered", reason="passed"))


def collected(run: LiveRun, after: int = 0) -> list[int]:
    async def collect() -> list[int]:
        async with asyncio.timeout(PATIENCE_S):
            return [event.seq async for event in run.afollow(after)]

    return asyncio.run(collect())


def test_readers_in_threads_and_loops_all_see_every_event_in_order() -> None:
    for _ in range(20):
        stored: list[Event] = []
        run = begun(stored)
        together = threading.Barrier(5)

        def read(how: str, run: LiveRun = run, together: threading.Barrier = together) -> list[int]:
            together.wait(PATIENCE_S)
            return collected(run) if how == "loop" else [event.seq for event in run.follow()]

        with ThreadPoolExecutor(4) as pool:
            reading = [pool.submit(read, how) for how in ("loop", "thread", "loop", "thread")]
            together.wait(PATIENCE_S)
            speak(run)
            seen = [each.result(PATIENCE_S) for each in reading]
        assert seen == [list(range(1, TOKENS + 3))] * 4
        assert [event.seq for event in stored] == seen[0]
        assert not run._listeners


class EndingLock(threading.Condition):
    """Ends a run at the moment in which a reader lets go of the lock for the ``turn``-th time."""

    def __init__(self, run: LiveRun, turn: int) -> None:
        super().__init__()
        self._run = run
        self._turn = turn

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._turn -= 1
        if self._turn == 0:
            self._run.emit(RunFinished(outcome="answered", reason="passed"))


@pytest.mark.parametrize("turn", [1, 2])
def test_an_end_that_comes_between_reading_and_looking_for_more_is_not_lost(turn: int) -> None:
    run = begun()
    run._changed = run._over = EndingLock(run, turn)

    async def read() -> list[str]:
        return [event.kind async for event in run.afollow()]

    seen = asyncio.run(asyncio.wait_for(read(), PATIENCE_S))
    assert seen == ["run_started", "run_finished"]


@pytest.mark.parametrize(("after", "first"), [(-5, 1), (0, 1), (3, 4), (11, 12), (12, 13), (99, 13)])
def test_a_reader_may_begin_after_any_event(after: int, first: int) -> None:
    run = begun()
    speak(run, tokens=10)
    expected = list(range(first, 13))
    assert [event.seq for event in run.follow(after)] == expected
    assert collected(run, after) == expected
    assert [event.seq for event in run.since(after)] == expected


def test_a_reader_that_is_ahead_waits_for_what_it_has_not_seen() -> None:
    run = begun()
    with ThreadPoolExecutor(2) as pool:
        reading = [pool.submit(collected, run, 2), pool.submit(lambda: [event.seq for event in run.follow(2)])]
        speak(run, tokens=3)
        assert [each.result(PATIENCE_S) for each in reading] == [[3, 4, 5]] * 2


def test_a_reader_that_leaves_is_forgotten() -> None:
    run = begun()

    async def read_one_and_leave() -> None:
        events = run.afollow()
        assert (await anext(events)).kind == "run_started"
        assert len(run._listeners) == 1
        await events.aclose()  # type: ignore[attr-defined]
        waiting = asyncio.ensure_future(anext(run.afollow(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(read_one_and_leave())
    assert not run._listeners


def test_a_reader_whose_loop_has_closed_does_not_disturb_the_run() -> None:
    run = begun()
    loop = asyncio.new_event_loop()
    events = run.afollow()

    async def read_one() -> Event:
        return await anext(events)

    loop.run_until_complete(read_one())
    loop.close()
    assert run._listeners
    speak(run)
    assert run.record.outcome == "answered"
    with pytest.raises(StopIteration):
        events.aclose().send(None)  # type: ignore[attr-defined]


def test_nothing_is_added_after_the_end() -> None:
    stored: list[Event] = []
    run = begun(stored)
    run.emit(RunFinished(outcome="cancelled", reason="cancelled"))
    run.emit(TokenStreamed(text="late"))
    run.emit(RunFinished(outcome="failed", reason="WB000"))
    assert [event.kind for event in stored] == ["run_started", "run_finished"]
    assert (run.record.outcome, run.record.answer, run.active) == ("cancelled", "", False)


def test_whoever_sees_an_event_finds_it_stored() -> None:
    """No one can look at the run while an event is on its way into the store."""
    visible: list[bool] = []
    with ThreadPoolExecutor(1) as pool:

        def is_free() -> bool:
            free = run._changed.acquire(blocking=False)
            if free:
                run._changed.release()
            return free

        def store(run_id: RunId, event: Event) -> None:
            visible.append(pool.submit(is_free).result(PATIENCE_S))

        run = LiveRun(RunId("r"), store)
        run.begin("first", RunConfig())
        run.emit(RunFinished(outcome="answered", reason="passed"))
    assert visible == [False, False]


def test_the_picture_is_the_fold_of_the_events_and_times_never_go_back() -> None:
    stored: list[Event] = []
    run = begun(stored)
    speak(run)
    assert fold_all(stored) == run.record
    times = [event.t_ms for event in stored]
    assert times == sorted(times)


def test_waiting_gives_up_after_its_time() -> None:
    run = begun()
    assert run.wait(0.001) is False
    speak(run)
    assert run.wait(0) is True


def test_a_run_that_has_not_begun_has_no_picture() -> None:
    run = LiveRun(RunId("r"), lambda *_: None)
    assert run.active
    with pytest.raises(RuntimeError, match="has not begun"):
        _ = run.record


def test_stopping_without_a_task_or_twice_cancels_at_most_once() -> None:
    run = begun()
    run.stop()
    cancelled: list[str] = []

    async def tidy() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("first")
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                cancelled.append("second")

    async def scenario() -> None:
        run.task = asyncio.create_task(tidy())
        await asyncio.sleep(0)
        run.stop()
        await asyncio.sleep(0)
        run.stop()
        await asyncio.wait({run.task})

    asyncio.run(scenario())
    assert cancelled == ["first"]


def test_who_waits_for_the_end_is_woken_by_the_end_alone() -> None:
    """Each wake would take the interpreter from the run."""
    run = begun()
    looks: list[int] = []
    asked = run._finished

    def noted() -> bool:
        looks.append(threading.get_ident())
        return asked()

    run._finished = noted  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: (threading.get_ident(), run.wait(PATIENCE_S)))
        until = time.monotonic() + PATIENCE_S
        while not run._over._waiters and time.monotonic() < until:  # type: ignore[attr-defined]
            time.sleep(0.001)
        for place in range(TOKENS):
            run.emit(TokenStreamed(text=f"{place} "))
            # Whoever was woken gets its turn.
            time.sleep(0)
        run.emit(RunFinished(outcome="answered", reason="passed"))
        reader, over = waiting.result(PATIENCE_S)
    assert over
    assert looks.count(reader) == 2
