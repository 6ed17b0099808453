"""Jobs of every kind: started, stopped and resumed at will, and found again after a crash.

A job's folder holds its manifest, its uploads and its journal until it is done. Two that write into collections would
only fight over the processor and the store's single writer, so one waits for the other, no matter what collection it is
for.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from engine.database.instance import Instance, alive, sweep
from engine.errors import JobDamaged, JobError, JobsUnreachable, RunError, UnknownJob, WorkbenchError
from engine.knowledge import manifest as manifests
from engine.knowledge.job_folder import as_left, begun, take_over, with_report
from engine.knowledge.journal import disk_fault
from engine.knowledge.manifest import Manifest
from engine.knowledge.progress import IngestReport, Progress
from engine.library.values import IN_COLLECTIONS, JobKind, JobState, JobStatus
from engine.model.ending import ENDING_S
from engine.model.values import Fault
from engine.people import WORKBENCH, acting_as, current_user

_KEPT_DONE = 20
_TURN_S = 1.0
"""Pause between looks whether another replica has ended its work on a collection."""
_ABANDONED_S = 86_400.0
"""A folder without a manifest that is this old is no job that is just being written down."""
_log = logging.getLogger(__name__)

Note = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """How the jobs of a kind are done."""

    step: Callable[[Manifest, Path, Note], Awaitable[IngestReport]]
    """Does a job, or what is left of it, given its folder; what it paid for is kept there or where it belongs."""
    after: Callable[[Manifest], Awaitable[Manifest | None]] | None = None
    """The job that one that is done leads to."""


@dataclass(slots=True)
class _Job:
    status: JobStatus
    manifest: Manifest | None
    """None where it is damaged."""
    task: asyncio.Task[None] | None = None
    over: threading.Event = field(default_factory=threading.Event)


class SharedJobs(Protocol):
    """The jobs of all processes that share the records; each does its own. Methods block.

    They raise what those of :class:`Jobs` do, and ``JobsUnreachable``.
    """

    def add(self, manifest: Manifest, status: JobStatus, folder: Path) -> None:
        """Keep a new job where the others find it, with its uploads."""

    def remove(self, job_id: str) -> None:
        """Forget a job and its uploads."""

    def turn(self, collection: str) -> AbstractContextManager[bool]:
        """The only turn of a collection among the processes; false where another one has it."""

    def all(self) -> tuple[JobStatus, ...]:
        """Those of every process, newest first."""

    def status(self, job_id: str) -> JobStatus: ...

    def wait(self, job_id: str, timeout_s: float | None = None) -> JobStatus: ...

    def stop(self, job_id: str) -> JobStatus:
        """End a job in the process that does it."""

    def resume(self, job_id: str) -> JobStatus:
        """Continue a job that no process does any more, here."""

    def discard(self, job_id: str) -> bool:
        """Forget a job of another process that is over; false for one of this process."""

    def close(self) -> None:
        """Let other processes take over what is not done here."""


class Jobs:
    """Coroutines are for the engine's event loop; the other methods may be called from any thread, and block."""

    def __init__(self, data_dir: Path, kinds: Mapping[JobKind, Kind]) -> None:
        self.shared: SharedJobs | None = None
        """Where other processes find these jobs; None where this is the only one."""
        self._kinds = kinds
        self._folder = data_dir / "ingest"
        self._owners = self._folder / "owners"
        self._guard = threading.Lock()
        self._jobs: dict[str, _Job] | None = None
        """By id, oldest first; None until the folder was looked at."""
        self._instance: Instance | None = None
        self._turn = asyncio.Lock()
        self._closing = False

    # -- from any thread ------------------------------------------------------------------------------------------

    def all(self) -> tuple[JobStatus, ...]:
        """List jobs, newest first: all that are not done, and the last twenty that this process has done."""
        return tuple(reversed([job.status for job in self._listed()]))

    def status(self, job_id: str) -> JobStatus:
        return self._job(job_id).status

    def wait(self, job_id: str, timeout_s: float | None = None) -> JobStatus:
        """Block until a job is over, or ``timeout_s`` passed."""
        job = self._job(job_id)
        job.over.wait(timeout_s)
        return job.status

    def kept(self, wanted: Manifest) -> Manifest:
        """Write down a new job, with an id of its own where it has none; raises what its folder meets with.

        What an unfinished job for the very same files has embedded is taken over, and that job given up.
        """
        job_id = wanted.id or new_id()
        place = self._folder / job_id
        author = wanted.author or current_user().author
        named = replace(wanted, id=job_id, started_at=_now(), owner=self._owner(), author=author)
        kept = manifests.keep(place, named)
        same = [
            job.status.id
            for job in self._listed()
            if job.status.resumable and job.manifest is not None and job.manifest.same_work(kept)
        ]
        for earlier in same:
            take_over(self._folder / earlier, place, kept)
        if self.shared is not None:
            try:
                self.shared.add(kept, begun(kept, "waiting"), place)
            except BaseException:
                manifests.forget(place)
                raise
        for earlier in same:
            self._forget(earlier)
        return kept

    def folder_of(self, job_id: str) -> Path:
        """Return where a job's manifest, uploads and journal are."""
        return self._folder / job_id

    def adopt(self, job_id: str) -> None:
        """Take a job whose folder has just been made here, to be resumed; one that is known already stays."""
        known = self._known()
        manifest = manifests.read(self._folder / job_id)
        job = _Job(as_left(manifest, manifests.journal_of(self._folder / job_id)), manifest)
        job.over.set()
        with self._guard:
            known.setdefault(job_id, job)

    # -- on the loop ----------------------------------------------------------------------------------------------

    async def begin(self, kept: Manifest) -> str:
        """Let a job that was written down wait for its turn; returns its id."""
        job = _Job(replace(begun(kept, "waiting"), failed=kept.failed), kept)
        known = self._known()
        with self._guard:
            known[kept.id] = job
        self._start(job, kept)
        return kept.id

    async def stop(self, job_id: str) -> JobStatus:
        """End a job between two batches; what it did stays, and it can be resumed."""
        job = self._job(job_id)
        if job.task is not None and not job.task.done():
            job.task.cancel()
            await asyncio.wait([job.task], timeout=ENDING_S)
            if not job.task.done():
                raise RunError.waited_too_long(what=f"stop {job_id}", seconds=ENDING_S)
        if not job.status.over:  # cancelled before its first step
            self._end(job, "stopped")
        return job.status

    async def resume(self, job_id: str) -> JobStatus:
        """Continue a job that was stopped, failed or cut off; raises ``JobError``, ``JobDamaged``."""
        job = self._job(job_id)
        if not job.status.over:
            raise JobError.active(job=job_id)
        if not job.status.resumable:
            raise JobError.over(job=job_id)
        if job.manifest is None:
            manifests.read(self._folder / job_id)  # raises what is wrong with it
            raise JobDamaged(job=job_id, why="it was damaged when it was found")
        owned = replace(job.manifest, owner=await asyncio.to_thread(self._owner), ended="", fault=None)
        await asyncio.to_thread(manifests.rewrite, self._folder / job_id, owned)
        if not job.status.over:  # another call was quicker
            raise JobError.active(job=job_id)
        job.manifest = owned
        job.over.clear()
        job.status = replace(job.status, state="waiting", fault=None, per_second=0.0, remaining_s=None, source="")
        self._start(job, owned)
        return job.status

    async def discard(self, job_id: str) -> None:
        """Forget a job that is over; what it put into the collection stays. Raises ``JobError.active``."""
        if not self._job(job_id).status.over:
            raise JobError.active(job=job_id)
        await asyncio.to_thread(self._forget, job_id)

    async def close(self) -> None:
        """Stop what is running; it is found as interrupted by the next process."""
        self._closing = True
        for job in self._listed() if self._jobs is not None else ():
            if not job.status.over:
                await self.stop(job.status.id)
        if self._instance is not None:
            self._instance.end()
            self._instance = None

    # -- the work -------------------------------------------------------------------------------------------------

    def _start(self, job: _Job, manifest: Manifest) -> None:
        # The person who started it was allowed to; it may continue in another process, which knows no more of them.
        with acting_as(WORKBENCH):
            job.task = asyncio.get_running_loop().create_task(self._run(job, manifest))

    async def _run(self, job: _Job, manifest: Manifest) -> None:
        try:
            async with AsyncExitStack() as turns:
                if manifest.kind in IN_COLLECTIONS:
                    await turns.enter_async_context(self._turn)
                    await turns.enter_async_context(self._turn_of_all(manifest.collection))
                # A job that is running has taken the time of its earlier stretches too.
                began = time.monotonic() - job.status.seconds
                job.status = replace(job.status, state="reading")
                kind = self._kinds[manifest.kind]
                report = await kind.step(
                    manifest, self._folder / manifest.id, lambda progress: _note(job, progress, began)
                )
                if kind.after is not None and (wanted := await kind.after(manifest)) is not None:
                    # Written down before this job is forgotten: a process that dies in between loses nothing.
                    job.status = replace(job.status, follow_up=await self._follow_up(wanted))
                with suppress(OSError):  # it would be found as interrupted, and be done at once
                    manifests.forget(self._folder / job.status.id)
        except asyncio.CancelledError:
            self._end(job, "stopped")
            raise
        except WorkbenchError as error:
            self._end(job, "failed", Fault.of(error))
        except Exception as error:
            _log.exception("a job of the knowledge base failed")
            self._end(job, "failed", Fault.of(error))
        else:
            job.status = replace(with_report(job.status, report), files_done=job.status.files)
            self._end(job, "done")

    @asynccontextmanager
    async def _turn_of_all(self, collection: str) -> AsyncIterator[None]:
        """Wait until no replica works on the collection; a server takes others at the same time."""
        if self.shared is None:
            yield
            return
        while True:
            turn = self.shared.turn(collection)
            # A database that is away is waited for like another replica.
            with suppress(JobsUnreachable):
                if await _entered(turn):
                    break
                await asyncio.to_thread(turn.__exit__, None, None, None)
            await asyncio.sleep(_TURN_S)
        try:
            yield
        finally:
            await asyncio.to_thread(turn.__exit__, None, None, None)

    async def _follow_up(self, wanted: Manifest) -> str:
        """The id of a job that another one led to: of one that waits already, or of a new one."""
        for status in self.all():
            if (status.state, status.kind, status.collection) == ("waiting", wanted.kind, wanted.collection):
                return status.id  # it will read what has just gone in
        return await self.begin(await asyncio.to_thread(self.kept, wanted))

    def _end(self, job: _Job, state: JobState, fault: Fault | None = None) -> None:
        job.status = replace(job.status, state=state, fault=fault, source="", per_second=0.0, remaining_s=None)
        if job.manifest is not None and not self._closing and state in ("stopped", "failed"):
            job.manifest = replace(job.manifest, ended=state, fault=fault)
            with suppress(JobError):  # it would be found as interrupted
                manifests.rewrite(self._folder / job.status.id, job.manifest)
        job.over.set()
        if state == "done":
            known = self._known()
            with self._guard:
                done = [job_id for job_id, other in known.items() if other.status.state == "done"]
                for job_id in done[:-_KEPT_DONE]:
                    del known[job_id]

    # -- what is known --------------------------------------------------------------------------------------------

    def _known(self) -> dict[str, _Job]:
        with self._guard:
            if self._jobs is None:
                self._jobs = {job.status.id: job for job in self._found()}
            return self._jobs

    def _listed(self) -> list[_Job]:
        """Every job, oldest first, as of now: pages list them while others begin, end and are forgotten."""
        known = self._known()
        with self._guard:
            return list(known.values())

    def _job(self, job_id: str) -> _Job:
        job = self._known().get(job_id)
        if job is None:
            raise UnknownJob(job=job_id)
        return job

    def _forget(self, job_id: str) -> None:
        known = self._known()
        try:
            manifests.forget(self._folder / job_id)
        except OSError as error:
            raise disk_fault(error, str(self._folder / job_id)) from error
        if self.shared is not None:
            self.shared.remove(job_id)
        with self._guard:
            known.pop(job_id, None)

    def _owner(self) -> str:
        with self._guard:
            if self._instance is None:
                try:
                    self._instance = Instance(self._owners)
                except OSError as error:
                    raise disk_fault(error, str(self._owners)) from error
                except sqlite3.Error as error:
                    raise disk_fault(OSError(0, str(error)), str(self._owners)) from error
            return self._instance.id

    def _found(self) -> list[_Job]:
        """Jobs that a process which is gone has left, oldest first; what is wrong with one harms no other."""
        found: list[_Job] = []
        try:
            folders = [path for path in self._folder.iterdir() if path.is_dir() and path != self._owners]
        except OSError:
            return []
        with suppress(OSError):
            sweep(self._owners)
        for folder in folders:
            try:
                job = self._left(folder)
            except Exception:
                _log.exception("what an ingestion left in %s cannot be looked at", folder)
                continue
            if job is not None:
                found.append(job)
        return sorted(found, key=lambda job: job.status.started_at)

    def _left(self, folder: Path) -> _Job | None:
        """The job of a folder; None where a living process is at work on it, or where none was started."""
        if not manifests.is_job(folder):
            if time.time() - folder.stat().st_mtime > _ABANDONED_S:
                manifests.forget(folder)
            return None
        try:
            manifest = manifests.read(folder)
        except JobDamaged as error:
            since = datetime.fromtimestamp(folder.stat().st_mtime, UTC).isoformat(timespec="seconds")
            job = _Job(JobStatus(folder.name, "ingest", "", "failed", since, 0, fault=Fault.of(error)), None)
        else:
            if alive(self._owners, manifest.owner):
                return None
            job = _Job(as_left(manifest, manifests.journal_of(folder)), manifest)
        job.over.set()
        return job


async def _entered(turn: AbstractContextManager[bool]) -> bool:
    """Return whether a turn is had; one that comes after it is not wanted any more is given back."""
    entering = asyncio.ensure_future(asyncio.to_thread(turn.__enter__))
    try:
        return await asyncio.shield(entering)
    except asyncio.CancelledError:
        await asyncio.wait([entering])
        if entering.exception() is None:
            await asyncio.to_thread(turn.__exit__, None, None, None)
        raise


def _note(job: _Job, progress: Progress, began: float) -> None:
    job.status = replace(
        with_report(job.status, progress.report),
        state=progress.state,
        files=progress.files or job.status.files,
        files_done=progress.files_done,
        done=progress.done,
        total=progress.total,
        per_second=progress.per_second,
        remaining_s=progress.remaining_s,
        source=progress.source,
        seconds=time.monotonic() - began,
    )
    if progress.graph is not None:
        job.status = replace(job.status, **asdict(progress.graph))


def new_id() -> str:
    """An id that no job has."""
    return uuid.uuid4().hex[:12]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
