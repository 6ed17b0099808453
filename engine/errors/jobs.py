"""Ingestions and the building of knowledge graphs as jobs, without the files and stores that they work on."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class JobsUnreachable(WorkbenchError):
    """The database where replicas share their jobs cannot be used."""

    code = "WB334"
    fact = N_("The jobs in {path!r} cannot be read or written: {cause}.")
    remedy = N_("{advice}; jobs that are running continue.")


class UnknownJob(WorkbenchError):
    code = "WB321"
    status = 404
    fact = N_("There is no ingestion {job!r}.")
    remedy = N_("It may have been discarded; open the page Knowledge to see those that there are.")


class JobDamaged(WorkbenchError):
    """Files of an ingestion on disk are unreadable."""

    code = "WB324"
    status = 409
    fact = N_("What ingestion {job!r} left behind cannot be read: {why}")
    remedy = N_("Discard it and ingest its files again; those that are in the collection already will be skipped.")


class JobError(WorkbenchError):
    """An ingestion, or the building of a knowledge graph, cannot be started, resumed or kept."""

    graph_replaced = Message(
        N_("Collection {collection!r} has a knowledge graph read by {has}; building with {wanted} replaces it."),
        N_("Build it on its own and say so (`graph build --replace`), or let the same one read what is new."),
        code="WB329",
        status=409,
    )
    """Another extractor has read the collection: rebuilding would throw its graph away."""
    graph_busy = Message(
        N_("A job is at work on the knowledge graph of collection {collection!r}."),
        N_("Wait for its end, or stop it first."),
        code="WB330",
        status=409,
    )
    nothing_to_read = Message(
        N_("Collection {collection!r} has no passages, so there is nothing to build a knowledge graph of."),
        N_("Put files into it first."),
        code="WB332",
        status=409,
    )
    extractor_failed = Message(
        N_("None of the replies of {model} to {passages} passages could be read."),
        N_("Choose another model as extractor, or the built-in one."),
        code="WB333",
    )
    """Every reply was unreadable: a graph of nothing would say that the passages name nothing."""
    active = Message(
        N_("Ingestion {job!r} is still running."),
        N_("Stop it first."),
        code="WB322",
        status=409,
    )
    over = Message(
        N_("Ingestion {job!r} is done, so there is nothing left to resume."),
        N_("Begin a new one."),
        code="WB323",
        status=409,
    )
    disk_full = Message(
        N_("The disk that holds {path!r} is full, so the ingestion cannot note how far it is."),
        N_("Free some space, or point WORKBENCH_DATA_DIR at another disk; then resume the ingestion."),
        code="WB325",
        status=507,
    )
    """Nothing is lost: what was written into the collection stays, and the job can be resumed."""
    too_many_files = Message(
        N_("There are more than {most} files to ingest below {folder!r}."),
        N_("Choose a folder further down, and ingest the others after it."),
        code="WB326",
    )
    folder_unusable = Message(
        N_("The ingestion cannot keep its notes in {path!r}: {why}"),
        N_("Check the folder's permissions, or point WORKBENCH_DATA_DIR at another place."),
        code="WB327",
    )
