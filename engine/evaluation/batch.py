"""Many questions run under one config: in the background, stopped and resumed at will, nothing finished lost.

Every run is an ordinary record. A batch is run by threads of this process, a large one by other processes where a
plug-in has these; ``case_runs`` says what both do with a case.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from engine.database.faults import UNUSABLE
from engine.database.owners import Membership
from engine.distributed import Block, Executor, LocalExecutor, Performed, Recipe
from engine.errors import EngineClosed, EvaluationError, InvalidConfig, WorkbenchError
from engine.evaluation.anytime import run_order
from engine.evaluation.case_runs import REPEATED, CaseEngine, CaseRuns
from engine.evaluation.cases import Case
from engine.evaluation.judgements import Judged, judged_answers
from engine.evaluation.judging import Judgings
from engine.evaluation.record_cache import RecordCache, stored_outcomes
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import Batch, BatchProgress, JudgingProgress
from engine.messages import N_
from engine.model.config import RoleModel, RunConfig
from engine.model.values import Fault, RunId, RunRecord
from engine.people.authorization import RESULT, authorized, internal, needs
from engine.people.current_user import current_user, with_current_user
from engine.people.readable import may_read
from engine.plugins import executor_of
from engine.records import faults

if TYPE_CHECKING:
    from engine.evaluation.evidence import Evidence

MOST_AT_ONCE = 32
_OURS_S = 5.0
"""Pause between looks whether a batch is still this process's own."""
_WINDOW_S = 30.0
"""The rate is that of the last half minute: long enough to be steady, short enough to follow the load."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Going:
    """The batch that is running in this process."""

    id: str
    executor: Executor
    over: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    looked: float = field(default_factory=time.monotonic)
    """When it was last looked whether the batch is still this process's own."""


@authorized
class BatchRunner:
    """Runs batches one after the other on threads of its own; every method is safe from any thread.

    ``RunConfig.grade_probe`` gathers evidence: every probed candidate is judged, so that thresholds can be moved freely
    afterwards without a call. Its price is ``probe_k`` verdicts a round instead of ``top_k``: four times as many
    with the defaults, and with a chat model as grader about four times the seconds.
    """

    def __init__(self, engine: CaseEngine, store: EvaluationStore) -> None:
        self._engine = engine
        self._store = store
        self._guard = threading.Lock()
        self._instance: Membership | None = None
        self._going: _Going | None = None
        self._closed = False
        self._faults: dict[str, tuple[Fault, bool]] = {}
        """What ended batches, and whether they were not run in this process."""
        self._runs_db = engine.databases.runs
        self._cache = RecordCache(self._runs_db, engine.record)
        self._judgings = Judgings(engine.settings, store)
        self._evidence: tuple[tuple[str, tuple[RunId, ...], dict[str, Judged]], Evidence] | None = None
        self._runs_db.signals.listen(self._heard)

    @needs("editor", log=N_("Batch started"), on=("set_name", RESULT))
    def start(
        self, set_name: str, config: RunConfig, concurrency: int = 2, case_ids: Iterable[str] | None = None
    ) -> str:
        """Begin a batch over a set, or over the cases named, and return its id at once.

        The collection asked is that of ``config``, not that of the set. ``concurrency`` runs at a time;
        where the engine has no room for them they wait. Raises ``EvaluationError`` while another batch is running,
        ``UnknownQuerySet``, ``EvaluationError`` where no case is left, ``InvalidConfig`` for the concurrency, and what
        ``Plugin.executor`` does. Where other processes run the cases, each of them has ``concurrency`` runs.
        """
        if isinstance(concurrency, bool) or not 1 <= concurrency <= MOST_AT_ONCE:
            raise InvalidConfig.out_of_range(field="concurrency", low=1, high=MOST_AT_ONCE)
        wanted = None if case_ids is None else frozenset(case_ids)
        cases = [case for case in self._store.query_set(set_name).cases if wanted is None or case.id in wanted]
        if not cases:
            raise EvaluationError.set_empty(name=set_name)
        created_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        names = tuple(case.id for case in cases)
        batch = Batch(
            uuid.uuid4().hex, set_name, config, concurrency, created_at, names, {}, {}, author=current_user().author
        )
        executor = self._executor(batch, len(cases))
        with self._guard:
            self._require_room()
            self._store.add_batch(batch, cases, self._owner())
            self._launch(batch, cases, executor)
        return batch.id

    @needs("editor", log=N_("Batch resumed"))
    def resume(self, batch_id: str, *, failures: bool = False, here: bool = False) -> bool:
        """Run what is left of a batch: cases without a finished run, and failed ones where ``failures`` says so.

        ``here`` keeps it in this process where a plug-in would have others run it.

        False where nothing is left. Raises ``UnknownBatch``, and ``EvaluationError`` while it or another is running,
        here or in another process.
        """
        with self._guard:
            self._require_room()
            former = self._store.claim_batch(batch_id, self._owner(), self._lives)
            if former is None:
                raise EvaluationError.batch_active(batch=batch_id)
            try:
                batch = self._recovered(batch_id)
                again = {*batch.left, *(batch.failures if failures else ())}
                left = [case for case in self._store.batch_cases(batch_id) if case.id in again]
                executor = self._executor(batch, len(left), here=here)
                self._store.forget_cases(batch_id, again)
            except BaseException:
                # One whose process is gone stays so, and is taken over at a later look.
                self._store.release_batch(batch_id, self._owner(), former if former != self._owner() else "")
                raise
            if left:
                self._launch(batch, left, executor)
            else:
                self._store.release_batch(batch_id, self._owner())
            return bool(left)

    @internal
    def orphans(self) -> tuple[str, ...]:
        """Batches whose process is gone without having let them go, oldest first."""
        return self._store.orphans(self._lives)

    @needs("editor", log=N_("Batch stopped"))
    def stop(self, batch_id: str) -> bool:
        """Begin no further case and cancel the runs in progress, here or in another replica; False where none does.

        Returns at once; :meth:`wait` waits for the end of a batch of this process. Raises ``UnknownBatch``.
        """
        self._store.batch(batch_id)
        if self._stop_here(batch_id):
            return True
        signals = self._runs_db.signals
        return bool(self._owner_lives(batch_id)) and signals.send(f"stop-batch {batch_id}")

    def _stop_here(self, batch_id: str) -> bool:
        with self._guard:
            going = self._going
            if going is None or going.id != batch_id:
                return False
        going.executor.stop()
        return True

    def _heard(self, signal: str) -> None:
        kind, _, batch_id = signal.partition(" ")
        if kind == "stop-batch":
            self._stop_here(batch_id)

    @needs("viewer")
    def wait(self, batch_id: str, timeout_s: float | None = None) -> bool:
        """Block until the batch no longer continues in this process; False where ``timeout_s`` passed first."""
        with self._guard:
            going = self._going
        return True if going is None or going.id != batch_id else going.over.wait(timeout_s)

    @needs("viewer")
    def progress(self, batch_id: str) -> BatchProgress:
        """Return how far a batch is; raises ``UnknownBatch``."""
        return self._progress_of(self._store.batch(batch_id))

    @needs("viewer")
    def newest(self, most: int) -> tuple[tuple[Batch, BatchProgress], ...]:
        """The newest batches with how far each is, newest first."""
        return tuple((batch, self._progress_of(batch)) for batch in self._store.batches(most=most))

    def _progress_of(self, batch: Batch) -> BatchProgress:
        batch_id = batch.id
        with self._guard:
            going = self._going if self._going is not None and self._going.id == batch_id else None
        fault, elsewhere = self._faults.get(batch_id, (None, False))
        lives = self._owner_lives(batch_id) if going is None else True
        running = bool(lives)
        rate = _rate(batch, going) if running else 0.0
        return BatchProgress(
            done=len(batch.done),
            failed=len(batch.failures),
            total=batch.total,
            rate_per_s=rate,
            remaining_s=len(batch.left) / rate if rate else None,
            running=running,
            fault=fault,
            elsewhere=elsewhere,
            spent=batch.spent,
            workers=going.executor.workers if going is not None else None,
            gives_up_s=going.executor.gives_up_s if going is not None else None,
            interrupted=lives is False,
        )

    @property
    @internal
    def running(self) -> str | None:
        """The batch that is running in this process."""
        with self._guard:
            return self._going.id if self._going else None

    @needs("viewer")
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
            if case.id in batch.done and (run_id := batch.runs[case.id]) in records and may_read(records[run_id])
        ]

    @internal
    def renewed(self, record: RunRecord) -> None:
        """Read a run as it is now: verdicts were added to it after it had been read."""
        self._cache.keep(record)
        with self._guard:
            self._evidence = None

    @needs("viewer")
    def evidence(self, batch_id: str) -> Evidence:
        """Return the evidence for charts, with all other cases as failed; the same object while nothing changes.

        Raises ``UnknownBatch``.
        """
        from engine.evaluation.evidence import gather

        found = self.results(batch_id)
        answers = ((case.question, record.answer) for case, record in found if record.answer)
        judged = judged_answers(self._store.answer_judgements(*answers))
        key = (batch_id, tuple(record.id for _, record in found), judged)
        with self._guard:
            if self._evidence is not None and self._evidence[0] == key:
                return self._evidence[1]
        records = {case.id: record for case, record in found}
        evidence = gather(self._store.batch_cases(batch_id), records, judged=judged)
        with self._guard:
            self._evidence = (key, evidence)
        return evidence

    @needs("editor", log=N_("Judging of answers begun"), on=("batch_id", "model.model"))
    def judge(self, batch_id: str, model: RoleModel) -> bool:
        """Have a chat model judge the answers of a batch in the background; False where it has judged all of them.

        Each verdict is kept at once, and once an answer and model, so that it resumes where it was stopped. Raises
        ``UnknownBatch``, ``InvalidConfig`` for a model that cannot judge, ``EvaluationError`` while answers are judged.
        """
        return self._judgings.start(batch_id, self.results(batch_id), model)

    @needs("viewer")
    def judging(self, batch_id: str, judge: str) -> JudgingProgress:
        """Return a judge's progress on the answers of a batch; raises ``UnknownBatch``."""
        return self._judgings.progress(batch_id, self.results(batch_id), judge)

    @needs("viewer")
    def judge_at_work(self, batch_id: str) -> str | None:
        """The model that judges the answers of a batch in this process at the moment; raises ``UnknownBatch``."""
        self._store.batch(batch_id)
        return self._judgings.running(batch_id)

    @needs("editor", log=N_("Judging of answers stopped"))
    def stop_judging(self, batch_id: str) -> bool:
        """Ask the judge nothing further; False where it judges nothing here. Raises ``UnknownBatch``."""
        self._store.batch(batch_id)
        return self._judgings.stop(batch_id)

    @internal
    def close(self, timeout_s: float | None = None) -> None:
        """Stop what is running and wait for it; what had not ended can be resumed. A second call does nothing."""
        with self._guard:
            self._closed = True
            going = self._going
        if going is not None:
            self._stop_here(going.id)
            going.over.wait(timeout_s)
        self._judgings.close(timeout_s)
        with self._guard:
            if self._instance is not None:
                self._instance.end()
                self._instance = None

    # -- on the caller's thread, under the guard ----------------------------------------------------------------

    def _require_room(self) -> None:
        if self._closed:
            raise EngineClosed()
        if self._going is not None:
            raise EvaluationError.batch_active(batch=self._going.id)

    def _owner(self) -> str:
        if self._instance is None:
            owners = self._runs_db.owners
            try:
                self._instance = owners.join()
            except (sqlite3.Error, *UNUSABLE) as error:
                raise faults.unwritable(owners.place, error) from None
        return self._instance.id

    def _lives(self, owner: str) -> bool:
        return self._runs_db.owners.alive(owner)

    def _owner_lives(self, batch_id: str) -> bool | None:
        """Return whether the other process that has a batch still runs; None where none has it."""
        owner = self._store.owner_of(batch_id)
        own = self._instance.id if self._instance is not None else ""
        return None if owner in ("", own) else self._lives(owner)

    def _recovered(self, batch_id: str) -> Batch:
        """The batch after what its records say is noted: a process can be killed before it could note an end."""
        batch = self._store.batch(batch_id)
        runs = self._runs_of(batch)
        self._engine.flush()
        outcomes = stored_outcomes(self._runs_db, batch.runs.values())
        for case_id, run_id in batch.runs.items():
            ended = outcomes.get(run_id) not in REPEATED
            if ended and case_id not in batch.done and case_id not in batch.failures:
                runs.take_over(case_id, run_id)
            elif not ended and case_id in batch.done:
                # Its record was deleted, or the disk never took it.
                self._store.forget_cases(batch_id, [case_id], done=True)
        return self._store.batch(batch_id)

    def _launch(self, batch: Batch, cases: Sequence[Case], executor: Executor) -> None:
        by_id = {case.id: case for case in cases}
        order = [by_id[name] for name in run_order(batch.id, batch.case_ids) if name in by_id]
        self._going = going = _Going(batch.id, executor)
        self._faults.pop(batch.id, None)
        blocks = (Block(case.id, {"question": case.question}) for case in order)
        name = f"batch-{batch.id[:8]}"
        threading.Thread(target=with_current_user(self._work), args=(going, blocks), name=name, daemon=True).start()

    def _executor(self, batch: Batch, cases: int, *, here: bool = False) -> Executor:
        arguments = {"batch_id": batch.id, "config": asdict(batch.config)}
        recipe = Recipe("engine.evaluation.case_runs:of_batch", arguments)
        try:
            settings, at_once = self._engine.settings, batch.concurrency
            others: Executor | None = None if here else executor_of(settings, recipe, cases, at_once)
        except WorkbenchError as error:
            self._faults[batch.id] = Fault.of(error), True
            raise
        return others or LocalExecutor(self._runs_of(batch), min(batch.concurrency, cases), f"batch-{batch.id[:8]}")

    def _runs_of(self, batch: Batch) -> CaseRuns:
        return CaseRuns(self._engine, self._store, batch.id, batch.config, keep=self._cache.keep)

    # -- on the thread of a batch -------------------------------------------------------------------------------

    def _work(self, going: _Going, blocks: Iterator[Block]) -> None:
        try:
            for done in going.executor.perform(blocks):
                if done.fault is not None:
                    self._failed(going, done)
                elif not self._still_ours(going):
                    going.executor.stop()
        except WorkbenchError as error:
            self._note(going, Fault.of(error))
        except Exception as error:
            _log.exception("batch %s stops", going.id)
            self._note(going, Fault.of(error))
        finally:
            going.executor.close()
            self._leave(going)

    def _failed(self, going: _Going, done: Performed) -> None:
        """Handle a failed block with regard to the others."""
        fault = done.fault
        assert fault is not None
        if fault.code == EngineClosed.code:
            going.executor.stop()
            return
        self._note(going, fault)
        if not done.lost:
            # The database of evaluations is gone or full: no case can be recorded, so none is started.
            _log.error("batch %s stops: %s", going.id, fault.fact)
            going.executor.stop()

    def _note(self, going: _Going, fault: Fault) -> None:
        with self._guard:
            self._faults[going.id] = fault, going.executor.workers is not None

    def _still_ours(self, going: _Going) -> bool:
        """False where another replica took this process for dead and continues the batch."""
        if time.monotonic() - going.looked < _OURS_S or not self._runs_db.shared:
            return True
        going.looked = time.monotonic()
        try:
            return self._store.owner_of(going.id) == (self._instance.id if self._instance else "")
        except WorkbenchError:
            return True

    def _leave(self, going: _Going) -> None:
        with self._guard:
            # One that ends with this process stays its own: another one sees that it was left, and takes it over.
            with suppress(WorkbenchError):
                if not self._closed:
                    self._store.release_batch(going.id, self._instance.id if self._instance else "")
            self._going = None
        going.over.set()


def _rate(batch: Batch, going: _Going | None) -> float:
    """Cases that ended a second lately."""
    now = datetime.now(UTC)
    window_s = (now - datetime.fromisoformat(batch.created_at)).total_seconds()
    if going is not None:
        window_s = min(window_s, time.monotonic() - going.began)
    window_s = min(window_s, _WINDOW_S)
    since = (now - timedelta(seconds=window_s)).isoformat(timespec="milliseconds")
    return sum(ended >= since for ended in batch.ended_at.values()) / max(window_s, 1e-6)
