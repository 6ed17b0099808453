"""Jobs of replicas that share a database: listed in all of them, and continued by another when their process dies."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import delete, insert, select, update

from engine.database.base import Database, put
from engine.database.faults import UNUSABLE, cause_of
from engine.database.owners import Membership
from engine.database.tables import JOB_FILES, JOBS
from engine.errors import EngineClosed, JobError, JobsUnreachable, UnknownJob, WorkbenchError
from engine.knowledge import manifest as manifests
from engine.knowledge.jobs import Jobs
from engine.knowledge.manifest import Manifest
from engine.library.values import JobStatus
from engine.model.ending import joined
from engine.model.values import Fault

LOOK_S = 0.5
"""How far the status of a job may lag behind in other replicas."""
_BLOCK = 1 << 20
_KEPT_DONE = 20
_log = logging.getLogger(__name__)


class JobRow(NamedTuple):
    """A job as its row tells of it."""

    owner: str
    status: JobStatus


class JobTable:
    """Jobs in a database: what they were asked to do, their uploads, who works on them and how far they are.

    Every method blocks, and raises ``JobsUnreachable`` where the database cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._member: Membership | None = None
        self._guard = threading.Lock()

    @property
    def own(self) -> str:
        """This process as an owner of jobs."""
        with self._guard, self._translated():
            if self._member is None:
                self._member = self._database.owners.join()
            return self._member.id

    def add(self, manifest: Manifest, status: JobStatus, folder: Path, *, owner: str | None = None) -> None:
        """Keep a new job with its uploads, which are in its folder; its owner is this process where none is named."""
        row = {
            "id": manifest.id,
            "owner": self.own if owner is None else owner,
            "started_at": manifest.started_at,
            "manifest": manifests.text_of(manifest),
            "status": _adapter().dump_json(status).decode(),
        }
        with self._translated(), self._database.writing() as connection:
            put(connection, JOBS, row)
            for path in manifests.uploads_of(manifest, folder):
                with path.open("rb") as file:
                    for block, content in enumerate(_blocks(file)):
                        upload = {"job_id": manifest.id, "name": path.name, "block": block, "content": content}
                        connection.execute(insert(JOB_FILES), upload)

    @contextmanager
    def turn(self, collection: str) -> Iterator[bool]:
        """The only turn of a collection among the replicas; false where another one has it."""
        with self._translated(), self._database.turn(f"collection {collection}") as held:
            yield held

    def rows(self) -> dict[str, JobRow]:
        """Every job by its id, newest first."""
        query = select(JOBS.c.id, JOBS.c.owner, JOBS.c.status).order_by(JOBS.c.started_at.desc(), JOBS.c.id)
        with self._translated(), self._database.reading() as connection:
            found = connection.execute(query).all()
        return {row.id: JobRow(row.owner, _adapter().validate_json(row.status)) for row in found}

    def note(self, status: JobStatus) -> bool:
        """Keep how far a job of this process is; false for one that another process has taken over."""
        values, own = {"status": _adapter().dump_json(status).decode()}, self.own
        with self._translated(), self._database.writing() as connection:
            ours = update(JOBS).where(JOBS.c.id == status.id, JOBS.c.owner == own).values(**values)
            kept = connection.execute(ours).rowcount > 0
            if kept and status.state == "done":
                connection.execute(delete(JOB_FILES).where(JOB_FILES.c.job_id == status.id))
        return kept

    def claim(self, job_id: str, owner: str) -> bool:
        """Become the owner of a job in the place of another; false where a third one was quicker."""
        own = self.own
        ours = update(JOBS).where(JOBS.c.id == job_id, JOBS.c.owner == owner).values(owner=own)
        with self._translated(), self._database.writing() as connection:
            return connection.execute(ours).rowcount > 0

    def fetch(self, job_id: str, folder: Path) -> None:
        """Make the folder of a job here; what an earlier process of this machine left of it, as its vectors, stays."""
        with self._translated(), self._database.reading() as connection:
            text = connection.scalar(select(JOBS.c.manifest).where(JOBS.c.id == job_id))
            if text is None:
                raise UnknownJob(job=job_id)
            blocks = select(JOB_FILES.c.name, JOB_FILES.c.block, JOB_FILES.c.content)
            blocks = blocks.where(JOB_FILES.c.job_id == job_id).order_by(JOB_FILES.c.name, JOB_FILES.c.block)
            manifests.put_uploads(folder, connection.execute(blocks.execution_options(yield_per=8)))
        manifests.rewrite(folder, manifests.moved(manifests.from_text(folder, text), folder))

    def remove(self, job_id: str) -> None:
        """Forget a job and its uploads."""
        with self._translated(), self._database.writing() as connection:
            connection.execute(delete(JOBS).where(JOBS.c.id == job_id))

    def alive(self, owner: str) -> bool:
        return owner == self.own or self._database.owners.alive(owner)

    def tell(self, signal: str) -> None:
        """Tell the other replicas something."""
        self._database.signals.send(signal)

    def hear(self, listener: Callable[[str], None]) -> None:
        self._database.signals.listen(listener)

    def leave(self) -> None:
        """Let the others take over what this process has not done."""
        if self._member is not None:
            self._member.end()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UNUSABLE as error:
            cause, advice = cause_of(error)
            raise JobsUnreachable(path=self._database.place, cause=cause, advice=advice) from None


class TeamJobs:
    """The jobs of all replicas, in calls that block; those of this process are done by :class:`Jobs`."""

    def __init__(self, jobs: Jobs, table: JobTable, run: Callable[[str, str], JobStatus]) -> None:
        """``run`` does ``stop`` or ``resume`` with a job of this process, on its event loop."""
        self._jobs = jobs
        self._table = table
        self.add, self.remove, self.turn = table.add, table.remove, table.turn
        self._run = run
        self._noted: dict[str, JobStatus] = {}
        self._wanted: set[str] = set()
        self._unbegun: set[str] = set()
        """Jobs that this process has taken over and could not begin yet."""
        self._adopting: set[str] = set()
        self._closed = threading.Event()
        table.hear(self._heard)
        self._thread = threading.Thread(target=self._work, name="team-jobs", daemon=True)
        self._thread.start()

    def all(self) -> tuple[JobStatus, ...]:
        """Jobs of all replicas, newest first: all that are not done, and the last twenty that are."""
        return tuple(self._listed(job_id, row) for job_id, row in self._table.rows().items())

    def status(self, job_id: str) -> JobStatus:
        """Return a job by its id; raises ``UnknownJob``."""
        return self._listed(job_id, self._row(job_id))

    def wait(self, job_id: str, timeout_s: float | None = None) -> JobStatus:
        """The status once the job is over, wherever it is done, or after ``timeout_s``; raises ``UnknownJob``."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            status = self.status(job_id)
            left = LOOK_S if end is None else min(LOOK_S, end - time.monotonic())
            if status.over or left <= 0 or self._closed.wait(left):
                return status

    def stop(self, job_id: str) -> JobStatus:
        """End a job between two batches, in the replica that does it; raises ``UnknownJob``."""
        row = self._row(job_id)
        if self._is_here(job_id, row):
            status = self._run("stop", job_id)
            self._note(status)
            return status
        self._table.tell(f"stop-job {job_id}")
        return row.status

    def resume(self, job_id: str) -> JobStatus:
        """Continue here a job that is over and not done; raises ``UnknownJob``, ``JobError``."""
        row = self._row(job_id)
        if self._is_here(job_id, row):
            status = self._run("resume", job_id)
            self._note(status)
            return status
        if not row.status.over and self._table.alive(row.owner):
            raise JobError.active(job=job_id)
        if row.status.state == "done":
            raise JobError.over(job=job_id)
        return self._taken_over(job_id, row)

    def discard(self, job_id: str) -> bool:
        """Forget a job of another process that is over; false for one of this process.

        Raises ``UnknownJob`` and ``JobError.active``.
        """
        row = self._row(job_id)
        if self._is_here(job_id, row):
            return False
        if not row.status.over:
            raise JobError.active(job=job_id)
        self._table.remove(job_id)
        return True

    def close(self) -> None:
        """Report no more of the jobs here, so that others continue them once this process is gone."""
        self._closed.set()
        joined(self._thread)
        self._table.leave()

    # -- the jobs of this process -------------------------------------------------------------------------------

    def _row(self, job_id: str) -> JobRow:
        row = self._table.rows().get(job_id)
        if row is None:
            raise UnknownJob(job=job_id)
        return row

    def _is_here(self, job_id: str, row: JobRow) -> bool:
        """Return whether this process does a job, or has done it last."""
        return row.owner == self._table.own and job_id not in self._unbegun

    def _listed(self, job_id: str, row: JobRow) -> JobStatus:
        """A job of this process as it is now, another as it was when it was noted last."""
        if row.owner != self._table.own or job_id in self._adopting:
            return row.status
        try:
            return self._jobs.status(job_id)
        except UnknownJob:
            return row.status

    def _taken_over(self, job_id: str, row: JobRow) -> JobStatus:
        # Until it continues here it is what its row says, and not interrupted, as its folder says.
        self._adopting.add(job_id)
        try:
            if not self._table.claim(job_id, row.owner):
                raise JobError.active(job=job_id)
            self._unbegun.add(job_id)
            status = self._begun(job_id, row.status)
        finally:
            self._adopting.discard(job_id)
        self._note(status)
        return status

    def _begun(self, job_id: str, known: JobStatus) -> JobStatus:
        """Continue a job that is this process's own now; as failed where it cannot be.

        Raises ``JobsUnreachable`` and ``EngineClosed``: then it is started at a later look, or by another process.
        """
        try:
            self._table.fetch(job_id, self._jobs.folder_of(job_id))
            self._jobs.adopt(job_id)
            status = self._run("resume", job_id)
        except (JobsUnreachable, EngineClosed):
            raise
        except WorkbenchError as error:
            return replace(known, state="failed", fault=Fault.of(error))
        self._unbegun.discard(job_id)
        return status

    def _heard(self, signal: str) -> None:
        kind, _, job_id = signal.partition(" ")
        if kind == "stop-job":
            self._wanted.add(job_id)

    def _work(self) -> None:
        while not self._closed.wait(LOOK_S):
            try:
                self._stop_wanted()
                for status in self._jobs.all():
                    self._note(status)
                self._adopt_orphans()
            except WorkbenchError as error:
                _log.warning("the jobs of the replicas cannot be looked after at the moment: %s", error)
            except Exception:
                _log.exception("looking after the jobs of the replicas failed")

    def _note(self, status: JobStatus) -> None:
        if self._noted.get(status.id) == status or status.id in self._adopting:
            return
        kept = self._table.note(status)
        # Not before: what could not be written is written at the next look.
        self._noted[status.id] = status
        if not kept and not status.over:
            _log.warning("job %s was taken over by another replica, and is stopped here", status.id)
            self._run("stop", status.id)

    def _stop_wanted(self) -> None:
        while self._wanted:
            job_id = self._wanted.pop()
            if self._row(job_id).owner == self._table.own:
                self._run("stop", job_id)

    def _adopt_orphans(self) -> None:
        """Continue jobs whose process is gone, and forget those that were done long ago."""
        done = 0
        for job_id, row in self._table.rows().items():
            if row.status.state == "done":
                done += 1
                if done > _KEPT_DONE:
                    self._table.remove(job_id)
            elif not row.status.over and (job_id in self._unbegun or not self._table.alive(row.owner)):
                _log.info("job %s continues here: the process that did it is gone", job_id)
                self._taken_over(job_id, row)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """A file in blocks; an empty one has one of them, for it is there too."""
    yield file.read(_BLOCK)
    yield from iter(lambda: file.read(_BLOCK), b"")


@cache
def _adapter() -> TypeAdapter[JobStatus]:
    return TypeAdapter(JobStatus)
