"""Query sets, batches and their store."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class EvaluationError(WorkbenchError):
    """The store of query sets, batches, labels and saved settings cannot be read or written."""

    code = "WB800"
    unusable = Message(
        N_("The evaluations {path!r} cannot be used: {cause}."),
        N_("{advice}."),
    )
    nothing_gathered = Message(
        N_("No run of a query set has been gathered that a sweep could read."),
        N_("Gather evidence on the page Tune, or name another query set."),
        code="WB814",
    )
    batch_active = Message(
        N_("Batch {batch!r} is still running."),
        N_("Wait for its end, or stop it."),
        code="WB804",
    )
    """Batches go one after the other: two at once would spoil each other's measured times."""
    no_answer = Message(
        N_("Run {run!r} gave no answer that could be judged."),
        N_("Choose a run that ended with an answer."),
        code="WB827",
        status=409,
    )
    data_set_unusable = Message(
        N_("{name!r} cannot be read as a set of questions: {cause}."),
        N_("Give it the form of SQuAD JSON, a BEIR folder or zip, or CSV or JSONL with question and expected."),
        code="WB805",
    )
    data_set_too_large = Message(
        N_("{name!r} is too large: it has more than {limit} {what}."),
        N_("Take a part of it, e.g. with a limit of questions."),
        code="WB806",
    )
    unknown_measure = Message(
        N_("There is no measure named {measure!r}."),
        N_("Known measures: {known}."),
        code="WB807",
    )
    set_not_covered = Message(
        N_(
            "0 of {expected} expected sources exist in the collection {collection!r}: nothing right could be found "
            "there."
        ),
        N_("Ask the collection that holds them: choose it for the set, or name it with --collection."),
        code="WB808",
    )
    unknown_draft = Message(
        N_("There is no drafted question {draft!r}."),
        N_("It may have been removed; look at the list again."),
        code="WB809",
        status=404,
    )
    judgements_unusable = Message(
        N_("{name!r} cannot be read as judgements: {cause}."),
        N_("Give it the form of TREC qrels, of Quepid's CSV or of JSON lines, for questions of this set."),
        code="WB812",
        status=422,
    )
    judgements_too_large = Message(
        N_("{name!r} is too large: it has more than {limit} lines."),
        N_("Take a part of it."),
        code="WB812",
        status=422,
    )
    # A set cannot be kept under this name, or with these cases.
    set_reserved = Message(
        N_("The query set {name!r} comes with the program and stays as it is."),
        N_("Save the cases under another name."),
        code="WB802",
        status=422,
    )
    set_taken = Message(
        N_("A query set that you may not see is called {name!r}."),
        N_("Choose another name."),
        code="WB802",
        status=422,
    )
    settings_taken = Message(
        N_("Settings that you may not see are called {name!r}."),
        N_("Choose another name."),
        code="WB802",
        status=422,
    )
    other_readers = Message(
        N_("The query set {name!r} would show what collection {collection!r} keeps from some people."),
        N_("Use a set that is asked of a collection limited to the same groups."),
        code="WB802",
        status=422,
    )
    other_collection = Message(
        N_("The query set {name!r} is asked of the collection {bound!r}, and this question is about {collection!r}."),
        N_("Choose a set that is asked of the same collection, or a new name."),
        code="WB802",
        status=422,
    )
    bad_name = Message(
        N_("{name!r} cannot be the name of a query set or of settings."),
        N_("Use 1 to {longest} visible characters."),
        code="WB802",
        status=422,
    )
    case_twice = Message(
        N_("The query set {name!r} has the case {case!r} twice."),
        N_("Give every case an id of its own."),
        code="WB802",
        status=422,
    )
    set_empty = Message(
        N_("The query set {name!r} has no case to run."),
        N_("Add a question to it, or choose another one."),
        code="WB802",
        status=422,
    )


class UnknownQuerySet(EvaluationError):
    code = "WB801"
    status = 404
    fact = N_("There is no query set named {name!r}.")
    remedy = N_("Choose one from the list, or import it.")


class UnknownBatch(EvaluationError):
    code = "WB803"
    fact = N_("There is no batch {batch!r}.")
    remedy = N_("It may have been deleted; choose another one from the list.")
