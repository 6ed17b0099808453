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


class InvalidTag(RecordError):
    """A text cannot be a tag."""

    code = "WB507"

    @classmethod
    def blank(cls) -> Self:
        return cls("The tag is empty.", remedy="Type a word and add it again.", params={"field": "tag"})

    @classmethod
    def too_long(cls, length: int, limit: int) -> Self:
        return cls(
            f"The tag has {length} characters; the limit is {limit}.",
            remedy="Shorten the tag.",
            params={"field": "tag", "length": str(length), "limit": str(limit)},
        )

    @classmethod
    def control_characters(cls, found: str) -> Self:
        return cls(
            f"The tag contains control characters ({found}).",
            remedy="Type it on one line, in letters, digits and punctuation.",
            params={"field": "tag", "found": found},
        )


class ReadOnlyRun(RecordError):
    """A run that ships with the program cannot be changed."""

    code = "WB508"

    @classmethod
    def named(cls, run_id: str) -> Self:
        return cls(
            f"Run {run_id[:64]!r} ships with the workbench and cannot be changed.",
            remedy="Run its question yourself; your own run can be tagged and deleted.",
            params={"run": run_id[:64]},
        )


class ForkRefused(RecordError):
    """A run cannot be branched off as asked."""

    code = "WB509"

    @classmethod
    def round_out_of_range(cls, round_index: int, rounds: int) -> Self:
        if rounds == 0:
            return cls(
                "The run searched nothing, so there is nothing to branch off from.",
                remedy="Ask the question again.",
                params={"field": "round"},
            )
        return cls(
            f"The run has no round {round_index}; its last one is round {rounds - 1}.",
            remedy=f"Branch off at a round from 0 to {rounds - 1}.",
            params={"field": "round", "round": str(round_index), "last": str(rounds - 1)},
        )

    @classmethod
    def unseen_passage(cls, passage_id: str) -> Self:
        return cls(
            f"The run never saw a passage {passage_id[:120]!r}, so no verdict on it can be set.",
            remedy="Set verdicts only on passages that the run found.",
            params={"field": "verdicts", "passage": passage_id[:120]},
        )

    @classmethod
    def elsewhere(cls, name: str) -> Self:
        return cls(
            f"A branch cannot have another {name} than its run: nothing that was recorded would hold there.",
            remedy="Run the question with these settings instead.",
            params={"field": name, "setting": name},
        )

    @classmethod
    def other_workflow(cls, workflow: str) -> Self:
        return cls(
            f"A run of the workflow {workflow!r} cannot be branched off: only the four-node loop takes recorded rounds "
            "over.",
            remedy="Run the question with other settings instead.",
            params={"field": "workflow", "workflow": workflow},
        )

    @classmethod
    def query_too_long(cls, length: int, limit: int) -> Self:
        return cls(
            f"The query has {length} characters; the limit is {limit}.",
            remedy="Shorten the query.",
            params={"field": "query", "length": str(length), "limit": str(limit)},
        )


class RunNotOver(RecordError):
    """A run that is still running cannot be branched off."""

    code = "WB511"

    @classmethod
    def named(cls, run_id: str) -> Self:
        return cls(
            f"Run {run_id!r} is not over yet.",
            remedy="Wait for its end or stop it, then branch off.",
            params={"run": run_id},
        )


class CollectionChanged(RecordError):
    """The collection is another one than when the reused evidence was recorded."""

    code = "WB510"

    @classmethod
    def since(cls, collection: str, parent: str) -> Self:
        return cls(
            f"The content of {collection!r} has changed since run {parent[:8]} was made.",
            remedy="What is reused is as it was then; new searches see the new content. Ask again to see it in full.",
            params={"collection": collection, "run": parent[:8]},
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


class QualityLow(WorkbenchError):
    """An answer was given although its passages never reached the wanted quality; a warning, not a failure."""

    code = "WB601"

    @classmethod
    def below(cls, score: str, bar: str) -> Self:
        return cls(
            f"The answer is based on passages of low quality: their score is {score}, below {bar}.",
            remedy="Ask more specifically, add sources that cover the question, or check the answer yourself.",
            params={"score": score, "bar": bar},
        )


class BarOutOfReach(WorkbenchError):
    """The quality that a run is to reach is above what any of its rounds can come to; a warning, not a failure."""

    code = "WB602"

    @classmethod
    def above(cls, score: str, bar: str) -> Self:
        return cls(
            f"The score of a round is at most {score} here, below the {bar} that it needs: none can be good enough.",
            remedy="Raise top-k, lower the bar, grade on the best three, or add sources of a kind that is missing.",
            params={"score": score, "bar": bar},
        )


class BarNeedsRewrite(WorkbenchError):
    """Round 0 cannot reach the wanted quality, a later one may; a warning, not a failure."""

    code = "WB603"

    @classmethod
    def above(cls, score: str, bar: str) -> Self:
        return cls(
            f"The score of the first round is at most {score}, below the {bar} that it needs: the query will be "
            "rewritten.",
            remedy="Raise top-k or lower the bar to let the first round be enough.",
            params={"score": score, "bar": bar},
        )


class WeakPointsUnusable(WorkbenchError):
    """The file of the history of weak points cannot be read or written."""

    code = "WB604"

    @classmethod
    def because(cls, path: str, why: str) -> Self:
        return cls(
            f"The history of weak points in {path!r} cannot be used: {why}.",
            remedy="Check space and permissions of its folder; delete the file to begin a new history.",
            params={"path": path, "why": why},
        )


class UnknownWeakPoint(WorkbenchError):
    code = "WB605"

    @classmethod
    def named(cls, point_id: str) -> Self:
        return cls(
            f"There is no weak point {point_id[:64]!r}.",
            remedy="It may have been deleted; open the list again.",
            params={"point": point_id[:64]},
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
