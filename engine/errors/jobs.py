"""What can go wrong with ingestions as jobs, apart from the files themselves."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class JobError(WorkbenchError):
    """An ingestion cannot be begun, gone on with or given up."""

    code = "WB320"


class UnknownJob(JobError):
    code = "WB321"

    @classmethod
    def named(cls, job_id: str) -> Self:
        return cls(
            f"There is no ingestion {job_id[:64]!r}.",
            remedy="It may have been discarded; open the page Knowledge to see those that there are.",
            params={"job": job_id[:64]},
        )


class JobActive(JobError):
    code = "WB322"

    @classmethod
    def named(cls, job_id: str) -> Self:
        return cls(
            f"Ingestion {job_id[:64]!r} is still going on.",
            remedy="Stop it first.",
            params={"job": job_id[:64]},
        )


class JobOver(JobError):
    code = "WB323"

    @classmethod
    def named(cls, job_id: str) -> Self:
        return cls(
            f"Ingestion {job_id[:64]!r} is done, so there is nothing to go on with.",
            remedy="Begin a new one.",
            params={"job": job_id[:64]},
        )


class JobDamaged(JobError):
    """What an ingestion left on the disk cannot be read."""

    code = "WB324"

    @classmethod
    def named(cls, job_id: str, why: str) -> Self:
        return cls(
            f"What ingestion {job_id[:64]!r} left behind cannot be read: {why[:200]}",
            remedy="Discard it and ingest its files again; those that are in the collection already will be skipped.",
            params={"job": job_id[:64], "why": why[:200]},
        )


class JobDiskFull(JobError):
    """Nothing is lost: what was written into the collection stays, and the job can be resumed."""

    code = "WB325"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The disk that holds {path!r} is full, so the ingestion cannot note how far it is.",
            remedy="Free some space, or point WORKBENCH_DATA_DIR at another disk; then resume the ingestion.",
            params={"path": path},
        )


class TooManyFiles(JobError):
    code = "WB326"

    @classmethod
    def below(cls, folder: str, most: int) -> Self:
        return cls(
            f"There are more than {most} files to ingest below {folder[:200]!r}.",
            remedy="Choose a folder further down, and ingest the others after it.",
            params={"folder": folder[:200], "most": str(most)},
        )


class JobFolderUnusable(JobError):
    code = "WB327"

    @classmethod
    def at(cls, path: str, why: str) -> Self:
        return cls(
            f"The ingestion cannot keep its notes in {path!r}: {why[:200]}",
            remedy="Check the folder's permissions, or point WORKBENCH_DATA_DIR at another place.",
            params={"path": path, "why": why[:200]},
        )
