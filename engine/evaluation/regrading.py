"""Judging again on a Ray cluster: each grading of a run's passages is a block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter

from engine.errors import EngineClosed
from engine.evaluation.noise import MOST_TIMES, GraderSource, Regraded, judged_passages, regrade
from engine.executing.blocks import Block, Executor, Performer, Recipe, fault_of, fault_plain
from engine.executing.choosing import place_for
from engine.executing.cluster import ClusterExecutor, Place
from engine.executing.engines import WorkerEngine, acting_for, plain_person, plain_settings
from engine.model.loop_thread import LoopThread
from engine.model.values import Fault, PassageId, RunId, RunRecord, Verdict
from engine.people.acting import carried
from engine.settings import Settings

AT_ONCE = 2
"""Gradings that one worker makes at the same time; each of them asks for several verdicts at once."""


class Grading(GraderSource, Protocol):
    """What of an engine's resources judging again needs."""

    settings: Settings


def begin_regrade(
    loop: LoopThread,
    resources: Grading,
    records: Sequence[RunRecord],
    times: int,
    note: Callable[[int], None] | None = None,
) -> Future[Regraded]:
    """Judge the passages of runs again in the background; many gradings by the workers of a cluster, where one is set.

    Raises ``ClusterError`` where that cannot be used.
    """
    place = place_for(resources.settings, len(records) * min(times, MOST_TIMES), AT_ONCE)
    if place is not None:
        return regrade_on_cluster(place, resources.settings, records, times, note)
    return loop.submit(regrade(resources, records, times, note))


def regrade_on_cluster(
    place: Place, settings: Settings, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None
) -> Future[Regraded]:
    """What ``engine.evaluation.noise.regrade`` does, by the workers of a cluster; the records must be stored.

    Cancelling the future stops it. A block that was done twice counts once, for its result has a key.
    """
    executor = ClusterExecutor(place, recipe_of(settings))
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

    threading.Thread(target=carried(work), name="regrading", daemon=True).start()
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


def recipe_of(settings: Settings) -> Recipe:
    """How a worker makes the performer."""
    arguments = {"settings": plain_settings(settings), "person": plain_person()}
    return Recipe("engine.evaluation.regrading:in_a_worker", arguments)


def in_a_worker(*, settings: Mapping[str, Any], person: Mapping[str, Any] | None) -> Performer:
    """A performer with an engine of its own."""
    return acting_for(person, _Gradings(WorkerEngine(settings, AT_ONCE)))


class _Gradings:
    def __init__(self, own: WorkerEngine) -> None:
        self._own = own
        self._guard = threading.Lock()
        self._stopped = False
        self._active: set[Future[Regraded]] = set()

    def perform(self, block: Block) -> tuple[Any, bytes]:
        run = RunId(block.work["run"])
        record = self._own.engine.record(run)
        with self._guard:
            if self._stopped:
                raise EngineClosed()
            future: Future[Regraded] = self._own.engine.start_regrade([record], 1)
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
        self._own.close()


@cache
def _adapter() -> TypeAdapter[Verdict]:
    return TypeAdapter(Verdict)
