"""The cases of a batch as blocks: run by the engine of this process, or by that of another one.

What a case is given to run is written before its run begins, and that it ended only when its record is in the database
of runs. So a process killed at any moment leaves enough to resume, and a case that two workers run counts once:
the end of a run that is not the one noted last is not taken, and its record goes.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

from engine.database.databases import Databases
from engine.distributed import Block, Performer
from engine.errors import EngineClosed, EvaluationError, RecordError, RunError, UnknownRun, WorkbenchError
from engine.evaluation.concurrent_cases import AskedEngine, RunsHere, UnderWay
from engine.evaluation.record_cache import stored_outcomes
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import Spent
from engine.messages import N_
from engine.model.config import RunConfig, config_from_stored
from engine.model.values import Fault, RunId, RunRecord
from engine.records import BATCH
from engine.settings import Settings

REPEATED = ("cancelled", "interrupted", None)
"""Outcomes after which a case is run again."""
PATIENCE_S = 120.0
"""How long a database that others share may be away, as for a restart, before the job ends with what it has."""
_AGAIN_S = 0.5
T = TypeVar("T")


class CaseEngine(AskedEngine, Protocol):
    """Engine interface for the cases of a batch."""

    settings: Settings
    databases: Databases

    def flush(self) -> bool: ...

    def delete_run(self, run_id: str) -> None: ...


class CaseRuns:
    """A performer of the blocks of one batch."""

    def __init__(
        self,
        engine: CaseEngine,
        store: EvaluationStore,
        batch_id: str,
        config: RunConfig,
        *,
        keep: Callable[[RunRecord], object] = lambda record: None,
    ) -> None:
        """``keep`` is given each finished record."""
        self._engine = engine
        self._store = store
        self._batch = batch_id
        self._config = config
        self._keep = keep
        self._runner = RunsHere(engine)
        self._runs = UnderWay(self._runner)
        self._patience_s = PATIENCE_S if engine.databases.evaluation.shared else 0.0

    def perform(self, block: Block) -> tuple[bool, bytes]:
        """Run the case that the block is named after; whether it ended. Raises ``EngineClosed`` once it was stopped."""
        if self._runs.stopping.is_set():
            raise EngineClosed()
        return self._run(block.key, block.work["question"]), b""

    def stop(self) -> None:
        self._runs.stop()

    def close(self) -> None:
        """It holds nothing."""

    def _run(self, case_id: str, question: str) -> bool:
        former = self._patiently(lambda: self._store.run_of(self._batch, case_id))
        if former is not None and self.take_over(case_id, former):
            return True
        run_id = RunId(uuid.uuid4().hex)
        if not self._patiently(lambda: self._store.begin_case(self._batch, case_id, run_id)):
            return False
        start = partial(self._engine.start, question, self._config, run_id=run_id, trial=True)
        try:
            self._runs.begin(start)
        except EngineClosed:
            raise
        except WorkbenchError as error:
            fault = Fault.of(error)
            return self._patiently(lambda: self._store.end_case(self._batch, case_id, run_id, fault))
        try:
            record = self._runs.finished(run_id)
        except UnknownRun:
            # It was deleted at once; the case is left for a resume.
            return False
        return record.outcome not in REPEATED and self._noted(case_id, record)

    def _noted(self, case_id: str, record: RunRecord) -> bool:
        # Its record first: a case that is noted as ended must have one even if the process ends now.
        self._patiently(self._flushed)
        noted = self._patiently(
            lambda: self._store.end_case(self._batch, case_id, record.id, failure_of(record), spent_by(record))
        )
        if noted:
            self._keep(record)
        else:
            # Another worker was given this case, for this one was taken for dead.
            with suppress(WorkbenchError):
                self._engine.delete_run(record.id)
        return noted

    def _flushed(self) -> None:
        if not self._engine.flush() and self._patience_s:
            place = self._engine.databases.runs.place
            raise RecordError.unwritable(path=place, cause=N_("it does not answer"), advice=N_("Start it again"))

    def take_over(self, case_id: str, run_id: RunId) -> bool:
        """Note the end of a run that has one in the database; a damaged record tells nothing, and its case is run."""
        outcomes = self._patiently(lambda: stored_outcomes(self._engine.databases.runs, [run_id]))
        if outcomes.get(run_id) in REPEATED:
            return False
        with suppress(RecordError):
            record = self._engine.record(run_id)
            self._runner.tag(run_id, BATCH)
            return self._patiently(
                lambda: self._store.end_case(self._batch, case_id, run_id, failure_of(record), spent_by(record))
            )
        return False

    def _patiently(self, work: Callable[[], T]) -> T:
        """Retry work while a shared database is unavailable."""
        until = time.monotonic() + self._patience_s
        while True:
            try:
                return work()
            except (EvaluationError, RecordError):
                if time.monotonic() >= until or self._runs.stopping.wait(_AGAIN_S):
                    raise


def failure_of(record: RunRecord) -> Fault | None:
    """Explain why a run has no answer; None if it ended by itself."""
    if record.outcome != "failed":
        return None
    return record.error or Fault.of(RunError.failed())


def spent_by(record: RunRecord) -> Spent:
    """Add up the cost of a run: calls answered by a server, not those from the cache."""
    calls = [call for call in record.model_calls if not call.built_in and not call.cached]
    return Spent(len(calls), sum((call.prompt_tokens or 0) + (call.reply_tokens or 0) for call in calls))


def of_batch(engine: CaseEngine, batch_id: str, config: Mapping[str, Any]) -> Performer:
    """The performer of a batch in another process."""
    store = EvaluationStore(engine.databases.evaluation)
    return CaseRuns(engine, store, batch_id, config_from_stored(config))
