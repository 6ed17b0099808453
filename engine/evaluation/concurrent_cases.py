"""Cases run at the same time, by the engine of this process or by a workbench that runs already."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from typing import Protocol

from engine.errors import AppRefused, AppUnreachable, EngineClosed, RunError, TooManyRuns, UnknownRun, WorkbenchError
from engine.evaluation.cases import Case
from engine.model.config import RunConfig
from engine.model.values import Fault, RunId, RunRecord
from engine.people.current_user import with_current_user
from engine.records import BATCH

_FULL_PAUSE_S = 0.05
"""Pause before a run is tried again where there are as many as there may be."""
_LIMIT_PAUSE_S = 30.0
"""Longest pause where a person may begin no more: a run that is deleted makes room too."""
_ENDED = {"failed": RunError.failed, "cancelled": RunError.cancelled, "interrupted": RunError.interrupted}
"""What is said of a run that ended without an answer and without an error of its own, by its outcome."""


class Runner(Protocol):
    """Runs questions as trials: no case is answered by what another run of its question left."""

    def start(self, question: str, config: RunConfig, *, trial: bool) -> str: ...

    def finished(self, run_id: str) -> RunRecord: ...

    def cancel(self, run_id: str) -> None: ...

    def tag(self, run_id: str, tag: str) -> None: ...


class AskedEngine(Protocol):
    """Engine interface for running questions."""

    def start(
        self, question: str, config: RunConfig | None = None, *, run_id: str | None = None, trial: bool = False
    ) -> RunId: ...

    def wait(self, run_id: str, timeout_s: float | None = None) -> bool: ...

    def cancel(self, run_id: str) -> bool: ...

    def record(self, run_id: str) -> RunRecord: ...

    def tag_run(self, run_id: str, tag: str) -> tuple[str, ...]: ...


class RunsHere:
    """The engine of this process as a :class:`Runner`."""

    def __init__(self, engine: AskedEngine) -> None:
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
    under_way = UnderWay(runner)

    def ask(case: Case) -> RunRecord:
        run_id = under_way.begin(partial(runner.start, case.question, config, trial=True))
        return under_way.finished(run_id)

    records: dict[str, RunRecord] = {}
    failures: dict[str, Fault] = {}
    pool = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="eval")
    try:
        futures = {pool.submit(with_current_user(ask), case): case for case in cases}
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
        under_way.stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return records, failures


class UnderWay:
    """The runs that several threads have under way, until they are stopped together."""

    def __init__(self, runner: Runner) -> None:
        self.stopping = threading.Event()
        self._runner = runner
        self._guard = threading.Lock()
        self._active: set[str] = set()

    def begin(self, start: Callable[[], str]) -> str:
        """Start a run as soon as there is room for it; raises ``EngineClosed`` where all were stopped before."""
        while not self.stopping.is_set():
            try:
                run_id = start()
            except (TooManyRuns, AppRefused) as refused:
                self.stopping.wait(_pause_s(refused))
                continue
            with self._guard:
                self._active.add(run_id)
            if self.stopping.is_set():
                self._runner.cancel(run_id)
            self._runner.tag(run_id, BATCH)
            return run_id
        raise EngineClosed()

    def finished(self, run_id: str) -> RunRecord:
        """Wait for the end of a run started here."""
        try:
            return self._runner.finished(run_id)
        finally:
            with self._guard:
                self._active.discard(run_id)

    def stop(self) -> None:
        """Begin no further run and cancel those under way."""
        self.stopping.set()
        with self._guard:
            active = tuple(self._active)
        for run_id in active:
            self._runner.cancel(run_id)


def _pause_s(refused: TooManyRuns | AppRefused) -> float:
    """Return the wait for capacity in seconds; reraises other refusals."""
    of_person = TooManyRuns.person_under_way.code
    if isinstance(refused, AppRefused):
        if refused.original_code not in (TooManyRuns.code, of_person):
            raise refused
        return 1.0 if refused.original_code == of_person else _FULL_PAUSE_S
    # Each try asks the database.
    return min(float(refused.retry_after_s), _LIMIT_PAUSE_S) if refused.code == of_person else _FULL_PAUSE_S
