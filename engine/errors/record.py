"""Runs, their records, and what is derived from them."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class RecordError(WorkbenchError):
    """A stored run cannot be read or written."""

    code = "WB500"
    unwritable = Message(
        N_("The run records {path!r} cannot be written: {cause}."),
        N_("{advice}; runs continue, and are written as soon as it works again."),
    )
    unreadable = Message(N_("The run records {path!r} cannot be read: {cause}."), N_("{advice}."))
    lost = Message(
        N_("The newest events of {runs} runs could not be written to {path!r}."),
        N_(
            "Free some space on that disk or make the folder writable; these runs will be listed as interrupted or "
            "not at all."
        ),
    )
    moved_aside = Message(
        N_("The run records {path!r} were damaged; they are kept as {moved!r}, and a new file was begun."),
        N_("Restore the file from a backup if the former runs are needed; otherwise delete the damaged one."),
    )
    damaged_run = Message(
        N_("Run {run!r} is damaged: {cause}."),
        N_("The other runs are not affected; delete this one, or restore the file from a backup."),
    )
    damaged_event = Message(
        N_("A stored event cannot be read ({why})."),
        N_("The other runs are not affected; delete this one, or restore the file from a backup."),
    )
    unreadable_export = Message(N_("The record cannot be read ({why})."), N_("Export it again, or open another run."))


class DatabaseNewer(RecordError):
    code = "WB513"
    fact = N_("The database {path!r} has format {found}; this version knows formats up to {known}.")
    remedy = N_("Update the workbench, or use another WORKBENCH_DATA_DIR or WORKBENCH_DATABASE_URL.")


class MoveRefused(WorkbenchError):
    """Records were not copied from one database into another, or not to the end."""

    code = "WB517"
    same = Message(
        N_("Records are to be copied from {place!r} into itself."),
        N_("Name another database with --to or --from."),
    )
    in_use = Message(
        N_("A workbench is using {place!r}."),
        N_("Stop it, then run the command once more; one that was killed counts as stopped after 15 seconds."),
    )
    other_rows = Message(
        N_("The table {table} of {target!r} has rows that {source!r} does not have; nothing was copied into it."),
        N_("Name an empty database, or move the files of the target to another folder."),
    )
    differs = Message(
        N_("The table {table} of {target!r} is not equal to that of {source!r} after it was copied."),
        N_("Make sure that no program writes to either, then run the command once more."),
    )
    unusable = Message(
        N_("The database {place!r} cannot be used: {cause}."),
        N_("{advice}; then run the command once more: it copies what is missing."),
    )


class ObservationLost(RecordError):
    """A run passed, and what was observed could not be kept; the run itself is recorded all the same."""

    code = "WB512"
    because = Message(
        N_("No observation could be added to {path!r}: {why}"),
        N_("Free disk space, or make the folder of WORKBENCH_DATA_DIR writable; the run itself is recorded."),
    )
    slow = Message(
        N_("The observation of this run could not be written within {seconds} s."),
        N_("Look at the disk of WORKBENCH_DATA_DIR; the run itself is recorded."),
    )


class UnknownRun(RecordError):
    code = "WB501"
    status = 404
    fact = N_("There is no run {run!r}.")
    remedy = N_("It may have been deleted; open another one from the list of runs.")


class RunActive(RecordError):
    code = "WB502"
    status = 409
    fact = N_("Run {run!r} is still running.")
    remedy = N_("Cancel it first, then delete it.")


class InvalidTag(RecordError):
    """A text cannot be a tag."""

    code = "WB507"
    status = 422
    blank = Message(
        N_("The tag is empty."),
        N_("Type a word and add it again."),
        field="tag",
    )
    too_long = Message(
        N_("The tag has {length} characters; the limit is {limit}."),
        N_("Shorten the tag."),
        field="tag",
    )
    control_characters = Message(
        N_("The tag contains control characters ({found})."),
        N_("Type it on one line, in letters, digits and punctuation."),
        field="tag",
    )


class ReadOnlyRun(RecordError):
    """A run that ships with the program cannot be changed."""

    code = "WB508"
    status = 403
    fact = N_("Run {run!r} ships with the workbench and cannot be changed.")
    remedy = N_("Run its question yourself; your own run can be tagged and deleted.")


class ForkRefused(RecordError):
    """A run cannot be branched off as asked."""

    code = "WB509"
    status = 422
    imported = Message(
        N_("The run was imported from a trace of another program, whose models and documents are not here."),
        N_("Run the question in that program and import the new trace."),
        field="run",
    )
    nothing_searched = Message(
        N_("The run searched nothing, so there is nothing to branch off from."),
        N_("Ask the question again."),
        field="round",
    )
    no_such_round = Message(
        N_("The run has no round {round}; its last one is round {last}."),
        N_("Branch off at a round from 0 to {last}."),
        field="round",
    )
    unseen_passage = Message(
        N_("The run never saw a passage {passage!r}, so no verdict on it can be set."),
        N_("Set verdicts only on passages that the run found."),
        field="verdicts",
    )
    other_setting = Message(
        N_("A branch cannot have another {field} than its run: nothing that was recorded would hold there."),
        N_("Run the question with these settings instead."),
    )
    query_not_made = Message(
        N_("The query of round {round} was not made by a rewrite, so none can be set by hand in its place."),
        N_("Branch off without another query, or at a round that follows a rewrite."),
        field="query",
    )
    query_too_long = Message(
        N_("The query has {length} characters; the limit is {limit}."),
        N_("Shorten the query."),
        field="query",
    )


class RunNotOver(RecordError):
    """A run that is still running cannot be branched off, or sent to another program as a whole."""

    code = "WB511"
    status = 409
    fact = N_("Run {run!r} is not over yet.")
    remedy = N_("Wait for its end or stop it, then branch off.")
    sending = Message(
        N_("Run {run!r} is not over yet and cannot be exported."), N_("Wait for its end or stop it, then try again.")
    )


class CollectionChanged(RecordError):
    """The collection is another one than when the reused evidence was recorded."""

    code = "WB510"
    fact = N_("The content of {collection!r} has changed since run {run} was made.")
    remedy = N_("What is reused is as it was then; new searches see the new content. Ask again to see it in full.")


class LoopLimitReached(WorkbenchError):
    """The engine's own limit of steps stopped a workflow: a fault of the workflow, not of the question."""

    code = "WB600"
    fact = N_("The workflow went past its limit of {steps} steps.")
    remedy = N_("Report this with the record of the run; lowering max_rewrites avoids it.")


class WeakPointsUnusable(WorkbenchError):
    """The file of the history of weak points cannot be read or written."""

    code = "WB604"
    fact = N_("The history of weak points in {path!r} cannot be used: {why}.")
    remedy = N_("Check space and permissions of its folder; delete the file to begin a new history.")


class UnknownWeakPoint(WorkbenchError):
    code = "WB605"
    status = 404
    fact = N_("There is no weak point {point!r}.")
    remedy = N_("It may have been deleted; open the list again.")


class RunEnded(WorkbenchError):
    """A run of a batch ended without an answer and without an error of its own."""

    failed = Message(N_("The run failed."), N_("Open its record to see why."))
    cancelled = Message(N_("The run was cancelled."), N_("Run it again."))
    interrupted = Message(N_("The run was interrupted."), N_("Run it again."))


class TooManyRuns(WorkbenchError):
    code = "WB503"
    status = 503
    fact = N_("{limit} runs are under way already.")
    remedy = N_("Wait for one to end or stop one, or raise WORKBENCH_MAX_CONCURRENT_RUNS.")

    @property
    def retry_after_s(self) -> int:
        """After how many seconds it is worth another try."""
        return 1


class PersonLimitReached(TooManyRuns):
    """What one person may have, where the process itself has room for more."""

    code = "WB519"
    status = 429
    under_way = Message(
        N_("You have {limit} runs under way, as many as one person may have."),
        N_("Wait for one to end or stop one; WORKBENCH_RUNS_PER_PERSON sets how many."),
    )
    in_an_hour = Message(
        N_("You have begun {limit} runs within an hour, as many as one person may."),
        N_("Ask again in {minutes} min; WORKBENCH_RUNS_PER_PERSON_HOUR sets how many."),
    )

    @property
    def retry_after_s(self) -> int:
        return 60 * int(self.params.get("minutes", 0)) or super().retry_after_s


class AppRefused(WorkbenchError):
    """The running app answered with an error: fact and remedy are its own, and so is the code in ``original_code``."""

    code = "WB506"
    fact = N_("The running workbench gave an answer that is not one of its own.")
    remedy = N_("Close what listens at its address, and run the command once more.")

    @property
    def original_code(self) -> str:
        """The code of the error in the running app; empty where it gave none."""
        return self.params.get("code", "")


class AppUnreachable(WorkbenchError):
    """Another process serves the workbench and has the knowledge base, but gave no usable answer."""

    code = "WB505"
    fact = N_("The workbench at {address} has the knowledge base open and gave no usable answer.")
    remedy = N_("Start it again, or close it, and run the command once more.")


class WaitedTooLong(WorkbenchError):
    """Something did not come to an end in a time in which anything does; it may still be going on."""

    code = "WB520"
    status = 504
    fact = N_("{what} was not over after {seconds} s.")
    remedy = N_("Try again; if it stays so, restart the workbench, and look at its log for what it waited for.")


class EngineClosed(WorkbenchError):
    code = "WB504"
    status = 503
    fact = N_("The engine is closed.")
    remedy = N_("Open a new one with Engine.open().")


class ForeignRunFailed(WorkbenchError):
    """The other program ended with an error, as its trace says."""

    code = "WB962"
    fact = N_("The other program ended with an error: {why}.")
    remedy = N_("Fix it there; what its trace holds up to that point is shown here.")
