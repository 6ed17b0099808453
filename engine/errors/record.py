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
    database_newer = Message(
        N_("The database {path!r} has format {found}; this version knows formats up to {known}."),
        N_("Update the workbench, or use another WORKBENCH_DATA_DIR or WORKBENCH_DATABASE_URL."),
        code="WB513",
    )
    # A run passed, and what was observed could not be kept; the run itself is recorded all the same.
    observation_lost = Message(
        N_("No observation could be added to {path!r}: {why}"),
        N_("Free disk space, or make the folder of WORKBENCH_DATA_DIR writable; the run itself is recorded."),
        code="WB512",
    )
    observation_late = Message(
        N_("The observation of this run could not be written within {seconds} s."),
        N_("Look at the disk of WORKBENCH_DATA_DIR; the run itself is recorded."),
        code="WB512",
    )
    run_active = Message(
        N_("Run {run!r} is still running."),
        N_("Cancel it first, then delete it."),
        code="WB502",
        status=409,
    )
    run_ships_with_program = Message(
        N_("Run {run!r} ships with the workbench and cannot be changed."),
        N_("Run its question yourself; your own run can be tagged and deleted."),
        code="WB508",
        status=403,
    )
    # A run that is still running cannot be branched off, or sent to another program as a whole.
    run_not_over = Message(
        N_("Run {run!r} is not over yet."),
        N_("Wait for its end or stop it, then branch off."),
        code="WB511",
        status=409,
    )
    run_not_over_to_export = Message(
        N_("Run {run!r} is not over yet and cannot be exported."),
        N_("Wait for its end or stop it, then try again."),
        code="WB511",
        status=409,
    )
    collection_changed = Message(
        N_("The content of {collection!r} has changed since run {run} was made."),
        N_("What is reused is as it was then; new searches see the new content. Ask again to see it in full."),
        code="WB510",
    )
    # A run cannot be branched off as asked.
    fork_imported = Message(
        N_("The run was imported from a trace of another program, whose models and documents are not here."),
        N_("Run the question in that program and import the new trace."),
        code="WB509",
        status=422,
        field="run",
    )
    fork_nothing_searched = Message(
        N_("The run searched nothing, so there is nothing to branch off from."),
        N_("Ask the question again."),
        code="WB509",
        status=422,
        field="round",
    )
    fork_no_such_round = Message(
        N_("The run has no round {round}; its last one is round {last}."),
        N_("Branch off at a round from 0 to {last}."),
        code="WB509",
        status=422,
        field="round",
    )
    fork_unseen_passage = Message(
        N_("The run never saw a passage {passage!r}, so no verdict on it can be set."),
        N_("Set verdicts only on passages that the run found."),
        code="WB509",
        status=422,
        field="verdicts",
    )
    fork_other_setting = Message(
        N_("A branch cannot have another {field} than its run: nothing that was recorded would hold there."),
        N_("Run the question with these settings instead."),
        code="WB509",
        status=422,
    )
    fork_query_not_made = Message(
        N_("The query of round {round} was not made by a rewrite, so none can be set by hand in its place."),
        N_("Branch off without another query, or at a round that follows a rewrite."),
        code="WB509",
        status=422,
        field="query",
    )
    fork_query_too_long = Message(
        N_("The query has {length} characters; the limit is {limit}."),
        N_("Shorten the query."),
        code="WB509",
        status=422,
        field="query",
    )
    # A text cannot be a tag.
    tag_blank = Message(
        N_("The tag is empty."),
        N_("Type a word and add it again."),
        code="WB507",
        status=422,
        field="tag",
    )
    tag_too_long = Message(
        N_("The tag has {length} characters; the limit is {limit}."),
        N_("Shorten the tag."),
        code="WB507",
        status=422,
        field="tag",
    )
    tag_control_characters = Message(
        N_("The tag contains control characters ({found})."),
        N_("Type it on one line, in letters, digits and punctuation."),
        code="WB507",
        status=422,
        field="tag",
    )
    # Records were not copied from one database into another, or not to the end.
    move_same = Message(
        N_("Records are to be copied from {place!r} into itself."),
        N_("Name another database with --to or --from."),
        code="WB517",
    )
    move_in_use = Message(
        N_("A workbench is using {place!r}."),
        N_("Stop it, then run the command once more; one that was killed counts as stopped after 15 seconds."),
        code="WB517",
    )
    move_other_rows = Message(
        N_("The table {table} of {target!r} has rows that {source!r} does not have; nothing was copied into it."),
        N_("Name an empty database, or move the files of the target to another folder."),
        code="WB517",
    )
    move_differs = Message(
        N_("The table {table} of {target!r} is not equal to that of {source!r} after it was copied."),
        N_("Make sure that no program writes to either, then run the command once more."),
        code="WB517",
    )
    move_unusable = Message(
        N_("The database {place!r} cannot be used: {cause}."),
        N_("{advice}; then run the command once more: it copies what is missing."),
        code="WB517",
    )


class UnknownRun(RecordError):
    code = "WB501"
    status = 404
    fact = N_("There is no run {run!r}.")
    remedy = N_("It may have been deleted; open another one from the list of runs.")


class TooManyRuns(WorkbenchError):
    code = "WB503"
    status = 503
    fact = N_("{limit} runs are under way already.")
    remedy = N_("Wait for one to end or stop one, or raise WORKBENCH_MAX_CONCURRENT_RUNS.")

    # What one person may have, where the process itself has room for more.
    person_under_way = Message(
        N_("You have {limit} runs under way, as many as one person may have."),
        N_("Wait for one to end or stop one; WORKBENCH_RUNS_PER_PERSON sets how many."),
        code="WB519",
        status=429,
    )
    person_in_an_hour = Message(
        N_("You have begun {limit} runs within an hour, as many as one person may."),
        N_("Ask again in {minutes} min; WORKBENCH_RUNS_PER_PERSON_HOUR sets how many."),
        code="WB519",
        status=429,
    )

    @property
    def retry_after_s(self) -> int:
        """After how many seconds it is worth another try."""
        return 60 * int(self.params.get("minutes", 0)) or 1


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


class EngineClosed(WorkbenchError):
    code = "WB504"
    status = 503
    fact = N_("The engine is closed.")
    remedy = N_("Open a new one with Engine.open().")


class RunWarning(WorkbenchError):
    """Warnings, not failures: of a run that continues, or of its settings before it begins."""

    # The gate cannot be met: by any run, by its first round, or by the one passage that answers (SC-05).
    gate_out_of_reach = Message(
        N_(
            "The gate asks for {wanted} passages, and a run with these settings grades at most {most}: it cannot "
            "be met."
        ),
        N_("Ask for fewer passages (min_relevant), or raise top_k."),
        code="WB121",
    )
    nothing_screened = Message(
        N_("Nothing is screened: grader and screener are the same, or the grader is built in and costs nothing."),
        N_("Choose a chat model or another model that gives scores as grader, or leave cascade off."),
        code="WB129",
    )
    gate_needs_rewrite = Message(
        N_(
            "The gate asks for {wanted} passages, and a round keeps at most {top_k}: it cannot be met without a "
            "rewrite."
        ),
        N_("Ask for fewer passages (min_relevant), or raise top_k."),
        code="WB121",
    )
    gate_needs_passages = Message(
        N_(
            "With {kept} passages kept, a pass rate of {threshold} asks that {needed} of them pass: where one "
            "passage alone holds the answer, the gate cannot be met."
        ),
        N_("Let a number of passages be the gate (min_relevant), or lower the pass rate."),
        code="WB121",
    )
    not_translated = Message(
        N_("{model} gave no usable translation of the query {query!r}; it was searched as it is."),
        N_("Try again, or choose another model for the rewriter."),
        code="WB123",
    )
    translator_missing = Message(
        N_("The query was not translated: the built-in rewriter cannot translate."),
        N_("Choose a chat model as rewriter, or switch `translate` off."),
        code="WB123",
    )
    mode_fell_back = Message(
        N_("The mode {mode!r} could not do its own work in the collection {collection!r}; vectors were searched."),
        N_(
            "Build the knowledge graph of the collection, name an entity of it in the question, or choose another mode."
        ),
        code="WB120",
    )
    """No list of a mode could do its work, and vectors were searched in their place (GH-02)."""
    quality_low = Message(
        N_("The answer is based on passages of low quality: their score is {score}, below {bar}."),
        N_("Ask more specifically, add sources that cover the question, or check the answer yourself."),
        code="WB601",
    )
    bar_out_of_reach = Message(
        N_("The score of a round is at most {score} here, below the {bar} that it needs: none can be good enough."),
        N_("Raise top-k, lower the bar, grade on the best three, or add sources of a kind that is missing."),
        code="WB602",
    )
    bar_needs_rewrite = Message(
        N_(
            "The score of the first round is at most {score}, below the {bar} that it needs: the query will be "
            "rewritten."
        ),
        N_("Raise top-k or lower the bar to let the first round be enough."),
        code="WB603",
    )
    judges_its_own_answers = Message(
        N_("{model} judges answers that it wrote itself."),
        N_("Choose another model for evaluator or generator: a model seldom finds its own mistakes."),
        code="WB420",
    )
    """One chat model both writes the answers and judges them: allowed, and seldom severe (AE-05)."""
    # A chat model was to say what is worth remembering of an answer, and said something else (DL-06).
    claim_not_cited = Message(
        N_("{model} wanted to remember {what!r}, which no cited sentence of the answer says."),
        N_("The answer's own sentences are remembered instead; choose another generator if it happens often."),
        code="WB422",
    )
    claim_formless = Message(
        N_("What {model} wanted to remember is not one or two sentences with the numbers of their passages."),
        N_("The answer's own sentences are remembered instead; choose another generator if it happens often."),
        code="WB422",
    )
    answers_spent = Message(
        N_("The limit of {answers} answers is reached, and the last one still has suggestions ({suggestions})."),
        N_("Read the suggestions next to the answer, or raise gener_epoch."),
        code="WB421",
    )
    """The limit of answers was reached, and the last one was still criticised (AE-01)."""


class RunError(WorkbenchError):
    """A run ended without an answer, for a reason that is neither its question's nor a model's."""

    loop_limit_reached = Message(
        N_("The workflow went past its limit of {steps} steps."),
        N_("Report this with the record of the run; lowering max_rewrites avoids it."),
        code="WB600",
    )
    """The engine's own limit of steps stopped a workflow: a fault of the workflow, not of the question."""
    unknown_weak_point = Message(
        N_("There is no weak point {point!r}."),
        N_("It may have been deleted; open the list again."),
        code="WB605",
        status=404,
    )
    # A run of a batch ended without an answer and without an error of its own.
    failed = Message(
        N_("The run failed."),
        N_("Open its record to see why."),
    )
    cancelled = Message(
        N_("The run was cancelled."),
        N_("Run it again."),
    )
    interrupted = Message(
        N_("The run was interrupted."),
        N_("Run it again."),
    )
    waited_too_long = Message(
        N_("{what} was not over after {seconds} s."),
        N_("Try again; if it stays so, restart the workbench, and look at its log for what it waited for."),
        code="WB520",
        status=504,
    )
    """Something did not come to an end in a time in which anything does; it may still be going on."""
    foreign_run_failed = Message(
        N_("The other program ended with an error: {why}."),
        N_("Fix it there; what its trace holds up to that point is shown here."),
        code="WB962",
    )
    weak_points_unusable = Message(
        N_("The history of weak points in {path!r} cannot be used: {why}."),
        N_("Check space and permissions of its folder; delete the file to begin a new history."),
        code="WB604",
    )
    """The file of the history of weak points cannot be read or written."""
