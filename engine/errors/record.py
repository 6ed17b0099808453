"""What can go wrong with runs and their records."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class RecordError(WorkbenchError):
    """A stored run cannot be read or written."""

    code = "WB500"


class UnknownRun(RecordError):
    code = "WB501"

    @classmethod
    def named(cls, run_id: str) -> Self:
        return cls(
            f"There is no run {run_id[:64]!r}.",
            remedy="It may have been deleted; open another one from the list of runs.",
            params={"run": run_id[:64]},
        )


class RunActive(RecordError):
    code = "WB502"

    @classmethod
    def named(cls, run_id: str) -> Self:
        return cls(
            f"Run {run_id!r} is still going on.",
            remedy="Cancel it first, then delete it.",
            params={"run": run_id},
        )


class LoopLimitReached(WorkbenchError):
    """The engine's own limit of steps stopped a workflow: a fault of the workflow, not of the question."""

    code = "WB600"

    @classmethod
    def after(cls, steps: int) -> Self:
        return cls(
            f"The workflow went past its limit of {steps} steps.",
            remedy="Report this with the record of the run; lowering max_rewrites avoids it.",
            params={"steps": str(steps)},
        )


class TooManyRuns(WorkbenchError):
    code = "WB503"

    @classmethod
    def limit(cls, limit: int) -> Self:
        return cls(
            f"{limit} runs are going on already.",
            remedy="Wait for one to end or stop one, or raise WORKBENCH_MAX_CONCURRENT_RUNS.",
            params={"limit": str(limit)},
        )


class AppUnreachable(WorkbenchError):
    """Another process serves the workbench and has the knowledge base, but gave no usable answer."""

    code = "WB505"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The workbench at {address} has the knowledge base open and gave no usable answer.",
            remedy="Start it again, or close it, and run the command once more.",
            params={"address": address},
        )


class EngineClosed(WorkbenchError):
    code = "WB504"

    @classmethod
    def now(cls) -> Self:
        return cls("The engine is closed.", remedy="Open a new one with Engine.open().")
