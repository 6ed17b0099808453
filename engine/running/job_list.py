"""Every job in one list, of whatever kind: running, waiting, interrupted, and the last ones that ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.library.values import Job
from engine.messages import N_
from engine.people.authorization import authorized, needs
from engine.running.ingestions import Ingestions

if TYPE_CHECKING:
    from engine.evaluation.batch import BatchRunner
    from engine.evaluation.values import Batch, BatchProgress

_BATCHES = 20
"""The newest batches of which the list tells."""


@authorized
class JobList:
    """Safe to call from any thread; every method blocks until it is done."""

    def __init__(self, ingestions: Ingestions, batches: Callable[[], BatchRunner]) -> None:
        self._ingestions = ingestions
        self._batches = batches

    @needs("viewer")
    def all(self) -> tuple[Job, ...]:
        """Every job, newest first: all that are not done, the last twenty that are, and the last twenty batches."""
        found = [
            *(Job.of(status) for status in self._ingestions.every()),
            *(_line(batch, progress) for batch, progress in self._batches().newest(_BATCHES)),
        ]
        return tuple(sorted(found, key=lambda job: job.started_at, reverse=True))

    @needs("editor", log=N_("Job stopped"))
    def stop(self, job_id: str) -> None:
        """End a job; what it did stays, and it can be resumed. Raises ``UnknownJob``, ``UnknownBatch``."""
        if self._is_batch(job_id):
            self._batches().stop(job_id)
        else:
            self._ingestions.stop(job_id)

    @needs("editor", log=N_("Job resumed"))
    def resume(self, job_id: str) -> None:
        """Continue a job that was stopped, failed or interrupted; raises what its kind does."""
        if self._is_batch(job_id):
            self._batches().resume(job_id)
        else:
            self._ingestions.resume(job_id)

    def _is_batch(self, job_id: str) -> bool:
        return any(job.id == job_id and job.kind == "batch" for job in self.all())


def _line(batch: Batch, now: BatchProgress) -> Job:
    counts = (now.done + now.failed, now.total, now.rate_per_s, now.remaining_s)
    return Job(batch.id, "batch", batch.set_name, now.state, *counts, batch.created_at, batch.author, now.fault)
