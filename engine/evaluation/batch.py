"""Many questions run under one config: in the background, stopped and resumed at will, nothing finished lost.

Every run is an ordinary record. What a case is given to run is written before its run begins, and that it ended only
when its record is in the file of runs, so a process that is killed at any moment leaves enough to go on from.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from engine.errors import (
    BatchActive,
    EngineClosed,
    InvalidConfig,
    InvalidQuerySet,
    RecordError,
    RunEnded,
    UnknownRun,
    WorkbenchError,
)
from engine.evaluation.asking import AskedEngine, RunsHere, UnderWay
from engine.evaluation.cases import Case
from engine.evaluation.record_cache import RecordCache, stored_outcomes
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import Batch, BatchProgress
from engine.model.config import RunConfig
from engine.model.values import Fault, RunId, RunRecord
from engine.records import BATCH, faults
from engine.records.instance import Instance, alive
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.evaluation.evidence import Evidence

MOST_AT_ONCE = 32
_REPEATED = ("cancelled", "interrupted", None)
_log = logging.getLogger(__name__)


class BatchEngine(AskedEngine, Protocol):
    """What of an engine a batch needs."""

    settings: Settings

    def flush(self) -> bool: ...


@dataclass(slots=True)
class _Going:
    """The batch that is running in this process."""

    id: str
    config: RunConfig
    queue: deque[Case]
    workers: int
    runs: UnderWay
    over: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    ended: int = 0
    """Cases ended since it was started or resumed."""


class BatchRunner:
    """Runs batches one after the other on threads of its own; every method is safe from any thread.

    ``RunConfig.grade_probe`` gathers evidence: every probed candidate is judged, so that thresholds can be moved freely
    afterwards without a call. Its price is ``probe_k`` verdicts a round instead of ``top_k``: four times as many
    with the defaults, and with a chat model as grader about four times the seconds.
    """

    def __init__(self, engine: BatchEngine, store: EvaluationStore) -> None:
        self._engine = engine
        self._runner = RunsHere(engine)
        self._store = store
        self._locks = engine.settings.data_dir / "instances"
        self._guard = threading.Lock()
        self._instance: Instance | None = None
        self._going: _Going | None = None
        self._closed = False
        self._faults: dict[str, Fault] = {}
        self._runs_db = engine.settings.data_dir / "runs.db"
        self._cache = RecordCache(self._runs_db, engine.record)
        self._evidence: tuple[tuple[str, tuple[RunId, ...]], Evidence] | None = None

    def start(
        self, set_name: str, config: RunConfig, concurrency: int = 2, case_ids: Iterable[str] | None = None
    ) -> str:
        """Begin a batch over a set, or over the cases named, and return its id at once.

        The collection asked is that of ``config``, not that of the set. ``concurrency`` runs go on at the same time;
        where the engine has no room for them they wait. Raises ``BatchActive`` while another batch is running,
        ``UnknownQuerySet``, ``InvalidQuerySet`` where no case is left, ``InvalidConfig`` for the concurrency.
        """
        if isinstance(concurrency, bool) or not 1 <= concurrency <= MOST_AT_ONCE:
            raise InvalidConfig.out_of_range(field="concurrency", low=1, high=MOST_AT_ONCE)
        wanted = None if case_ids is None else frozenset(case_ids)
        cases = [case for case in self._store.query_set(set_name).cases if wanted is None or case.id in wanted]
        if not cases:
            raise InvalidQuerySet.empty(name=set_name)
        created_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        names = tuple(case.id for case in cases)
        batch = Batch(uuid.uuid4().hex, set_name, config, concurrency, created_at, names, {}, {})
        with self._guard:
            self._require_room()
            self._store.add_batch(batch, cases, self._owner())
            self._launch(batch, cases)
        return batch.id

    def resume(self, batch_id: str, *, failures: bool = False) -> bool:
        """Run what is left of a batch: cases without a finished run, and failed ones where ``failures`` says so.

        False where nothing is left. Raises ``UnknownBatch``, and ``BatchActive`` while it or another is running, here
        or in another process.
        """
        with self._guard:
            self._require_room()
            if not self._store.claim_batch(batch_id, self._owner(), self._lives):
                raise BatchActive(batch=batch_id)
            try:
                batch = self._recovered(batch_id)
                again = (*batch.left, *batch.failures) if failures else batch.left
                left = [case for case in self._store.batch_cases(batch_id) if case.id in again]
                for case in left:
                    self._store.forget_case(batch_id, case.id)
            except BaseException:
                self._store.release_batch(batch_id, self._owner())
                raise
            if left:
                self._launch(batch, left)
            else:
                self._store.release_batch(batch_id, self._owner())
            return bool(left)

    def stop(self, batch_id: str) -> bool:
        """Begin no further case and cancel the runs that go on; False where the batch does not go on in this process.

        Returns at once; :meth:`wait` waits for the end.
        """
        with self._guard:
            going = self._going
            if going is None or going.id != batch_id:
                return False
        going.runs.stop()
        return True

    def wait(self, batch_id: str, timeout_s: float | None = None) -> bool:
        """Block until the batch no longer continues in this process; False where ``timeout_s`` passed first."""
        with self._guard:
            going = self._going
        return True if going is None or going.id != batch_id else going.over.wait(timeout_s)

    def progress(self, batch_id: str) -> BatchProgress:
        """Return how far a batch is; raises ``UnknownBatch``."""
        with self._guard:
            going = self._going if self._going is not None and self._going.id == batch_id else None
        batch = self._store.batch(batch_id)
        rate = going.ended / max(time.monotonic() - going.began, 1e-6) if going else 0.0
        return BatchProgress(
            done=len(batch.done),
            failed=len(batch.failures),
            total=batch.total,
            rate_per_s=rate,
            remaining_s=len(batch.left) / rate if rate else None,
            running=going is not None or self._runs_elsewhere(batch_id),
            fault=self._faults.get(batch_id),
        )

    @property
    def running(self) -> str | None:
        """The batch that is running in this process."""
        with self._guard:
            return self._going.id if self._going else None

    def results(self, batch_id: str) -> list[tuple[Case, RunRecord]]:
        """Cases whose run ended by itself with their records, in the order of the set; failures are left out.

        A record that was deleted or is damaged is left out too; model calls come without the texts of prompts and
        replies. Records stay in memory once they were read. Raises ``UnknownBatch``.
        """
        batch = self._store.batch(batch_id)
        records = self._cache.records(batch.runs[name] for name in batch.case_ids if name in batch.done)
        cases = self._store.batch_cases(batch_id)
        return [
            (case, records[run_id])
            for case in cases
            if case.id in batch.done and (run_id := batch.runs[case.id]) in records
        ]

    def evidence(self, batch_id: str) -> Evidence:
        """What charts are made of, with all other cases as failed; the same object while nothing has changed.

        Raises ``UnknownBatch``.
        """
        from engine.evaluation.evidence import gather

        found = self.results(batch_id)
        key = (batch_id, tuple(record.id for _, record in found))
        with self._guard:
            if self._evidence is not None and self._evidence[0] == key:
                return self._evidence[1]
        evidence = gather(self._store.batch_cases(batch_id), {case.id: record for case, record in found})
        with self._guard:
            self._evidence = (key, evidence)
        return evidence

    def close(self, timeout_s: float | None = None) -> None:
        """Stop what is running and wait for it; what had not ended can be resumed. A second call does nothing."""
        with self._guard:
            self._closed = True
            going = self._going
        if going is not None:
            self.stop(going.id)
            going.over.wait(timeout_s)
        with self._guard:
            if self._instance is not None:
                self._instance.end()
                self._instance = None

    # -- on the caller's thread, under the guard ----------------------------------------------------------------

    def _require_room(self) -> None:
        if self._closed:
            raise EngineClosed()
        if self._going is not None:
            raise BatchActive(batch=self._going.id)

    def _owner(self) -> str:
        if self._instance is None:
            try:
                self._instance = Instance(self._locks)
            except (OSError, sqlite3.Error) as error:
                raise faults.unwritable(self._locks, error) from None
        return self._instance.id

    def _lives(self, owner: str) -> bool:
        return alive(self._locks, owner)

    def _runs_elsewhere(self, batch_id: str) -> bool:
        owner = self._store.owner_of(batch_id)
        own = self._instance.id if self._instance is not None else ""
        return owner not in ("", own) and self._lives(owner)

    def _recovered(self, batch_id: str) -> Batch:
        """The batch after what its records say is noted: a process can be killed before it could note an end."""
        batch = self._store.batch(batch_id)
        self._engine.flush()
        outcomes = stored_outcomes(self._runs_db, batch.runs.values())
        for case_id, run_id in batch.runs.items():
            ended = outcomes.get(run_id) not in _REPEATED
            if ended and case_id not in batch.done and case_id not in batch.failures:
                self._take_over(batch_id, case_id, run_id)
            elif not ended and case_id in batch.done:
                # Its record was deleted, or the disk never took it.
                self._store.forget_case(batch_id, case_id)
        return self._store.batch(batch_id)

    def _take_over(self, batch_id: str, case_id: str, run_id: RunId) -> None:
        """Note the end of a run that is in the file; a damaged one tells nothing, and its case is left to be run."""
        with suppress(RecordError):
            failure = _failure(self._engine.record(run_id))
            self._runner.tag(run_id, BATCH)
            self._store.end_case(batch_id, case_id, failure)

    def _launch(self, batch: Batch, cases: Sequence[Case]) -> None:
        workers = min(batch.concurrency, len(cases))
        going = _Going(batch.id, batch.config, deque(cases), workers, UnderWay(self._runner))
        self._going = going
        self._faults.pop(batch.id, None)
        for place in range(workers):
            name = f"batch-{batch.id[:8]}-{place}"
            threading.Thread(target=self._work, args=(going,), name=name, daemon=True).start()

    # -- on the threads of a batch ------------------------------------------------------------------------------

    def _work(self, going: _Going) -> None:
        try:
            while not going.runs.stopping.is_set():
                try:
                    case = going.queue.popleft()
                except IndexError:
                    break
                self._run_case(going, case)
        except EngineClosed:
            going.runs.stopping.set()
        except Exception as error:
            # The file of evaluations is gone or full: no case can be noted, so none is begun.
            _log.exception("batch %s stops", going.id)
            with self._guard:
                self._faults[going.id] = Fault.of(error)
            going.runs.stopping.set()
        finally:
            self._leave(going)

    def _leave(self, going: _Going) -> None:
        with self._guard:
            going.workers -= 1
            if going.workers:
                return
            with suppress(WorkbenchError):
                self._store.release_batch(going.id, self._instance.id if self._instance else "")
            self._going = None
        going.over.set()

    def _run_case(self, going: _Going, case: Case) -> None:
        run_id = RunId(uuid.uuid4().hex)
        self._store.begin_case(going.id, case.id, run_id)
        start = partial(self._engine.start, case.question, going.config, run_id=run_id, trial=True)
        try:
            going.runs.begin(start)
        except EngineClosed:
            raise
        except WorkbenchError as error:
            self._note_end(going, case, Fault.of(error))
            return
        try:
            record = going.runs.finished(run_id)
        except UnknownRun:
            # Somebody deleted it at once; the case is left for a resume.
            return
        if record.outcome not in _REPEATED:
            # Its record first: a case that is noted as ended must have one even if the process ends now.
            self._engine.flush()
            self._cache.keep(record)
            self._note_end(going, case, _failure(record))

    def _note_end(self, going: _Going, case: Case, fault: Fault | None) -> None:
        self._store.end_case(going.id, case.id, fault)
        with self._guard:
            going.ended += 1


def _failure(record: RunRecord) -> Fault | None:
    if record.outcome != "failed":
        return None
    return record.error or Fault.of(RunEnded.failed())
