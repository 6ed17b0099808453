"""Judging again, by other processes where there are many gradings and a plug-in has these: each grading is a block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter

from engine.distributed import Block, Executor, Recipe, fault_of, fault_plain
from engine.errors import EngineClosed
from engine.evaluation.noise import MOST_TIMES, GraderSource, Regraded, judged_passages, regrade
from engine.model.loop_thread import LoopThread
from engine.model.values import Fault, PassageId, RunId, RunRecord, Verdict
from engine.people.current_user import with_current_user
from engine.plugins import executor_of
from engine.settings import Settings

AT_ONCE = 2
"""Gradings that one process makes at the same time; each of them asks for several verdicts at once."""
_RECIPE = Recipe("engine.evaluation.regrading:Gradings")


class Grading(GraderSource, Protocol):
    """Engine resources for grading again."""

    settings: Settings


def begin_regrade(
    loop: LoopThread,
    resources: Grading,
    records: Sequence[RunRecord],
    times: int,
    note: Callable[[int], None] | None = None,
) -> Future[Regraded]:
    """Judge the passages of runs again in the background; raises what ``Plugin.executor`` does."""
    executor = executor_of(resources.settings, _RECIPE, len(records) * min(times, MOST_TIMES), AT_ONCE)
    if executor is not None:
        return regrade_by(executor, records, times, note)
    return loop.submit(regrade(resources, records, times, note))


def regrade_by(
    executor: Executor, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None
) -> Future[Regraded]:
    """Run ``engine.evaluation.noise.regrade`` in other processes; the records must be stored.

    Cancelling the future stops it. A block that was done twice counts once, for its result has a key.
    """
    future: Future[Regraded] = Future()
    future.add_done_callback(lambda done: executor.stop() if done.cancelled() else None)

    def work() -> None:
        try:
            found = gathered(executor, records, min(times, MOST_TIMES), note)
        except BaseException as error:
            with suppress(InvalidStateError):
                future.set_exception(error)
        else:
            with suppress(InvalidStateError):
                future.set_result(found)
        finally:
            executor.close()

    threading.Thread(target=with_current_user(work), name="regrading", daemon=True).start()
    return future


def gathered(
    executor: Executor, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None
) -> Regraded:
    """The verdicts of every grading, by run and passage; a grader that cannot be reached ends it with a fault."""
    passages = {record.id: judged_passages(record) for record in records}
    found: dict[RunId, dict[PassageId, list[Verdict]]] = {
        run: {passage.id: [] for passage in judged} for run, judged in passages.items()
    }
    fault: Fault | None = None
    for done, item in enumerate(executor.perform(blocks_of(records, times)), 1):
        problem = item.fault or fault_of(item.value["fault"])
        if problem is not None and fault is None:
            fault = problem
            executor.stop()
        if problem is None:
            run = RunId(item.value["run"])
            for passage, verdict in item.value["verdicts"].items():
                found[run][PassageId(passage)].append(_adapter().validate_python(verdict))
        if note is not None:
            note(done)
    # What was stopped because of the first fault says nothing.
    return Regraded(found, fault)


def blocks_of(records: Sequence[RunRecord], times: int) -> Iterator[Block]:
    """One block for each grading of each run."""
    for record in records:
        for place in range(times):
            yield Block(f"{record.id}/{place}", {"run": record.id})


class GradingEngine(Protocol):
    """Engine interface for gradings in another process."""

    def record(self, run_id: RunId) -> RunRecord: ...

    def start_regrade(self, records: Sequence[RunRecord], times: int) -> Future[Regraded]: ...


class Gradings:
    """The performer of gradings in another process."""

    def __init__(self, engine: GradingEngine) -> None:
        self._engine = engine
        self._guard = threading.Lock()
        self._stopped = False
        self._active: set[Future[Regraded]] = set()

    def perform(self, block: Block) -> tuple[Any, bytes]:
        run = RunId(block.work["run"])
        record = self._engine.record(run)
        with self._guard:
            if self._stopped:
                raise EngineClosed()
            future = self._engine.start_regrade([record], 1)
            self._active.add(future)
        try:
            regraded = future.result()
        finally:
            with self._guard:
                self._active.discard(future)
        verdicts = {passage: asdict(given[0]) for passage, given in regraded.verdicts[run].items() if given}
        return {"run": run, "verdicts": verdicts, "fault": fault_plain(regraded.fault)}, b""

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            active = tuple(self._active)
        for future in active:
            future.cancel()

    def close(self) -> None:
        """It holds nothing."""


@cache
def _adapter() -> TypeAdapter[Verdict]:
    return TypeAdapter(Verdict)
