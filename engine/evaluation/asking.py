"""Cases run at the same time, by the engine of this process or by a workbench that runs already."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from engine.errors import AppRefused, AppUnreachable, EngineClosed, RunEnded, TooManyRuns, UnknownRun, WorkbenchError
from engine.evaluation.cases import Case
from engine.model.config import RunConfig
from engine.model.values import Fault, RunRecord
from engine.records import BATCH

if TYPE_CHECKING:
    from engine.engine import Engine

_FULL_PAUSE_S = 0.1
_ENDED = {"failed": RunEnded.failed, "cancelled": RunEnded.cancelled, "interrupted": RunEnded.interrupted}
"""What is said of a run that ended without an answer and without an error of its own, by its outcome."""


class Runner(Protocol):
    """Where questions are run, as trials: no case is answered by what another run of its question left."""

    def start(self, question: str, config: RunConfig, *, trial: bool) -> str: ...

    def finished(self, run_id: str) -> RunRecord: ...

    def cancel(self, run_id: str) -> None: ...

    def tag(self, run_id: str, tag: str) -> None: ...


class RunsHere:
    """The engine of this process as a :class:`Runner`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def start(self, question: str, config: RunConfig, *, trial: bool) -> str:
        return self._engine.start(question, config, trial=trial)

    def finished(self, run_id: str) -> RunRecord:
        self._engine.wait(run_id)
        return self._engine.record(run_id)

    def cancel(self, run_id: str) -> None:
        with suppress(UnknownRun):
            self._engine.cancel(run_id)

    def tag(self, run_id: str, tag: str) -> None:
        with suppress(WorkbenchError):
            self._engine.tag_run(run_id, tag)


def ask_all(
    runner: Runner, cases: Sequence[Case], config: RunConfig, concurrency: int, ended: Callable[[], None]
) -> tuple[dict[str, RunRecord], dict[str, Fault]]:
    """Records by case id, and why the others have none; ``ended`` is called after each.

    A runner that is full is waited for. An interrupt cancels what is running before it continues itself. Raises
    ``AppUnreachable`` or ``EngineClosed`` where no more can be run.
    """
    asking = _Asking(runner, config)
    records: dict[str, RunRecord] = {}
    failures: dict[str, Fault] = {}
    pool = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="eval")
    try:
        futures = {pool.submit(asking.ask, case): case for case in cases}
        for future in as_completed(futures):
            case = futures[future]
            try:
                record = future.result()
            except (AppUnreachable, EngineClosed):
                raise
            except WorkbenchError as error:
                failures[case.id] = Fault.of(error)
            else:
                records[case.id] = record
                if record.outcome in _ENDED:
                    failures[case.id] = record.error or Fault.of(_ENDED[record.outcome]())
            ended()
    except BaseException:
        asking.stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return records, failures


class _Asking:
    """Asks one case on each of several threads, until it is stopped."""

    def __init__(self, runner: Runner, config: RunConfig) -> None:
        self._runner = runner
        self._config = config
        self._stopping = threading.Event()
        self._guard = threading.Lock()
        self._active: set[str] = set()

    def ask(self, case: Case) -> RunRecord:
        run_id = self._begun(case.question)
        with self._guard:
            self._active.add(run_id)
        if self._stopping.is_set():
            self._runner.cancel(run_id)
        self._runner.tag(run_id, BATCH)
        try:
            return self._runner.finished(run_id)
        finally:
            with self._guard:
                self._active.discard(run_id)

    def stop(self) -> None:
        self._stopping.set()
        with self._guard:
            active = tuple(self._active)
        for run_id in active:
            self._runner.cancel(run_id)

    def _begun(self, question: str) -> str:
        while not self._stopping.is_set():
            try:
                return self._runner.start(question, self._config, trial=True)
            except TooManyRuns:
                self._stopping.wait(_FULL_PAUSE_S)
            except AppRefused as refused:
                if refused.original_code != TooManyRuns.code:
                    raise
                self._stopping.wait(_FULL_PAUSE_S)
        raise EngineClosed()
