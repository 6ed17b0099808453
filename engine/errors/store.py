"""The store of passages and memories."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class StoreError(WorkbenchError):
    """The passage store failed."""

    code = "WB200"
    failed = Message(
        N_("The knowledge base {address!r} failed at the store: {why}"),
        N_("Try again; if it stays so, drop the collection and ingest its sources again."),
    )
    failed_at = Message(
        N_("The knowledge base {address!r} failed at collection {collection!r}: {why}"),
        N_("Try again; if it stays so, drop the collection and ingest its sources again."),
    )
    busy = Message(
        N_("The Milvus server at {address} turns requests away: it is overloaded or its memory is full."),
        N_("Wait a moment and try again; ask whoever runs the server if it stays so."),
    )
    old_server = Message(
        N_("The Milvus server at {address} is too old for this client."),
        N_("Use a Milvus server of version 2.3 or newer, or the embedded store (leave WORKBENCH_MILVUS_URI empty)."),
    )
    closed = Message(N_("The knowledge base {path!r} is closed."), N_("Open the engine again."))
    memory_closed = Message(N_("The memory in {path!r} is closed."), N_("Open the engine again."))
    connection_closed = Message(
        N_("The connection {name!r} is closed."), N_("Connect the collection again on the page Knowledge.")
    )
    query_not_finite = Message(
        N_("The vector to search collection {collection!r} with is not finite."),
        N_("Choose another embedding model: this one returned unusable numbers."),
    )
    vectors_not_finite = Message(
        N_("The vectors for collection {collection!r} are not one finite vector a passage."),
        N_("Choose another embedding model: this one returned unusable numbers."),
    )
    without_text = Message(
        N_("Collection {name!r} has no field of text with a float vector beside it."),
        N_("Choose a collection that holds passages, or ingest its sources into a new one."),
    )
    without_source = Message(
        N_("Collection {collection!r} has no source {source!r} that a summary could belong to."),
        N_("Ingest the source again."),
    )


class StoreLocked(StoreError):
    code = "WB201"
    status = 503
    fact = N_("The knowledge base {path!r} is open in another process.")
    remedy = N_("Close the other workbench, or point WORKBENCH_MILVUS_URI at a server.")


class StoreUnreachable(StoreError):
    code = "WB202"
    status = 503
    fact = N_("The Milvus server at {address} does not answer.")
    remedy = N_("Start it, or correct WORKBENCH_MILVUS_URI.")


class StoreSlow(StoreError):
    """The run's time budget ended while the knowledge base was still at work."""

    code = "WB214"
    fact = N_("The knowledge base gave no answer within the budget of {seconds} s.")
    remedy = N_("Raise the time budget of the run, or try again once the knowledge base is open.")


class UnknownCollection(StoreError):
    code = "WB203"
    status = 404
    fact = N_("There is no collection named {name!r}.")
    remedy = N_("Choose an existing collection, or make one with `{program} ingest PATH --collection NAME`.")


class EmbeddingMismatch(StoreError):
    code = "WB204"
    status = 409
    fact = N_("Collection {collection!r} was built with {built_with}, but the vectors offered come from {offered}.")
    remedy = N_("Use {built_with} for this collection, or ingest its sources again into a new collection.")


class ModelNotRecorded(StoreError):
    """A collection that another program made: nothing says which model its vectors come from."""

    code = "WB213"
    status = 409
    fact = N_("Collection {name!r} was made by another program, which did not record its embedding model.")
    remedy = N_("Choose its model on the page Knowledge, view Connect, or ingest its sources into a new collection.")


class ReversedStore(StoreError):
    """The connect-time probe found that the store ranks unlike vectors first."""

    code = "WB205"
    unlike_first = Message(
        N_("The store at {address} ranks unlike vectors first."),
        N_("Upgrade it (Milvus Lite 3.2, Milvus 2.3 or newer), or point WORKBENCH_MILVUS_URI at another server."),
    )
    no_cosines = Message(
        N_("The scores of the store at {address} are not cosines."),
        N_("Upgrade it (Milvus Lite 3.2, Milvus 2.3 or newer), or point WORKBENCH_MILVUS_URI at another server."),
    )


class InvalidCollectionName(StoreError):
    code = "WB206"
    status = 422
    fact = N_("{name!r} cannot be the name of a collection.")
    remedy = N_("Use 1 to 60 letters, digits and underscores, beginning with a letter.")


class StoreFull(StoreError):
    """The store could not write because its disk is full."""

    code = "WB207"
    status = 507
    fact = N_("The disk that holds the knowledge base {path!r} is full.")
    remedy = N_("Free some space, or point WORKBENCH_DATA_DIR at another disk.")


class StoreRefused(StoreError):
    """The server answered, but did not let us in."""

    code = "WB208"
    fact = N_("The Milvus server at {address} refused the credentials.")
    remedy = N_("Set WORKBENCH_MILVUS_TOKEN to `user:password` of an account that may read and write there.")


class StoreUnreadable(StoreError):
    """The folder of the embedded store is damaged, or not ours to open."""

    code = "WB209"
    fact = N_("The knowledge base {path!r} cannot be opened: {why}")
    remedy = N_("Check the folder's permissions; if it is damaged, move it away and ingest the sources again.")


class StoreDamaged(StoreError):
    """Files of the embedded store hold something else than it wrote."""

    code = "WB239"
    fact = N_("The knowledge base {path!r} is damaged: {why}")
    remedy = N_(
        "Close the workbench and restore the folder from a backup, or move it away: the samples come back by "
        "themselves, your own sources have to be ingested again."
    )
    gone = Message(
        N_(
            "The knowledge base {path!r} is damaged: it was deleted, moved or replaced while the workbench was running."
        ),
        remedy,
    )


class StoreHalfMade(StoreError):
    """Files of the embedded store are missing that others of it need, as after its folder was deleted under it."""

    code = "WB240"
    fact = N_("The knowledge base {path!r} is only half there: part of its files was deleted, or never written.")
    remedy = N_(
        "Close the workbench and restore the folder from a backup, or move it away: the samples come back by "
        "themselves, your own sources have to be ingested again."
    )


class ForeignCollection(StoreError):
    """A collection that another program made can be searched, but not changed."""

    code = "WB210"
    fact = N_("Collection {name!r} was made by another program, so it is only read here.")
    remedy = N_("Ingest into a collection of your own, or change this one with the program that made it.")


class CollectionExists(StoreError):
    code = "WB211"
    fact = N_("There is a collection named {name!r} already.")
    remedy = N_("Choose another name, or remove that collection first.")


class FieldTooLong(StoreError):
    """A text is longer than the store's field holds."""

    code = "WB212"
    fact = N_("The {field} of a passage of {source!r} has {size} bytes; the store holds {limit}.")
    remedy = N_("Shorten the {field}, or split the source into smaller passages.")


class UnknownMemory(StoreError):
    code = "WB215"
    status = 404
    fact = N_("There is no memory with the id {memory!r}.")
    remedy = N_("It may have been deleted; open Knowledge → Memory to see what is remembered.")


class MemorySlow(StoreError):
    """Long-term memory is a help only: a run that has waited for it continues without."""

    code = "WB216"
    fact = N_("Long-term memory gave no answer within {seconds} s, so the run continued without it.")
    remedy = N_("Look at the store of WORKBENCH_MILVUS_URI, or switch memory off.")


class FullTextMissing(StoreError):
    """Passages were to be searched by words where only their vectors can be searched."""

    code = "WB217"
    status = 409
    of = Message(
        N_("Collection {collection!r} was made without full text: it cannot be searched by words."),
        N_("Add full text to it on the page Knowledge, where its store has it, or search by vectors."),
    )
    """A collection of an earlier version, or of another program."""
    at = Message(
        N_("The Milvus at {address} cannot search by words."),
        N_(
            "Search by vectors, or use Milvus Lite 3.2 (leave WORKBENCH_MILVUS_URI empty) or a server of version "
            "2.5 or newer."
        ),
    )
    """A store that has no full-text search at all."""


class AliasTaken(StoreError):
    """A name that is to be given to a collection already leads to one as its alias."""

    code = "WB218"
    fact = N_("{alias!r} is an alias of collection {collection!r}.")
    remedy = N_("Choose another name, or remove the alias first.")


class UnknownAlias(StoreError):
    code = "WB219"
    fact = N_("There is no alias named {alias!r}.")
    remedy = N_("Open the page Knowledge to see which aliases a collection has.")


class SamplesStay(StoreError):
    """The sample collection is made again at every start, so that changing its name or deleting it means nothing."""

    code = "WB220"
    fact = N_("Collection {collection!r} holds the samples, which come back at the next start.")
    remedy = N_("Leave it, and choose a collection of your own for your questions.")


class CollectionBusy(StoreError):
    """An ingestion writes into the collection whose name or existence was to change."""

    code = "WB229"
    fact = N_("A job is writing into collection {collection!r}.")
    remedy = N_("Stop the job on the page Knowledge, or wait for its end.")


class StoreDatabaseMissing(StoreError):
    """The database of the settings is not there, and could not be made."""

    code = "WB243"
    fact = N_("The Milvus server at {address} has no database {database!r}, and did not make one.")
    remedy = N_(
        "Let whoever runs the server make it and grant this account access, or correct WORKBENCH_MILVUS_DATABASE."
    )


class NothingToSwitch(StoreError):
    """The copy that was to take a collection's place is not whole."""

    code = "WB221"
    fact = N_("Collection {copy!r} has fewer sources than {collection!r}, so it does not take its place.")
    remedy = N_("Resume the re-embedding, then switch again.")
