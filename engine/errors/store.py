"""The stores of passages, memories and knowledge graphs."""

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
        N_("Collection {name!r} has no field of text with a float vector next to it."),
        N_("Choose a collection that holds passages, or ingest its sources into a new one."),
    )
    without_source = Message(
        N_("Collection {collection!r} has no source {source!r} that a summary could belong to."),
        N_("Ingest the source again."),
    )
    slow = Message(
        N_("The knowledge base gave no answer within the budget of {seconds} s."),
        N_("Raise the time budget of the run, or try again once the knowledge base is open."),
        code="WB214",
    )
    """The run's time budget ended while the knowledge base was still at work."""
    embedding_mismatch = Message(
        N_("Collection {collection!r} was built with {built_with}, but the vectors offered come from {offered}."),
        N_("Use {built_with} for this collection, or ingest its sources again into a new collection."),
        code="WB204",
        status=409,
    )
    model_not_recorded = Message(
        N_("Collection {name!r} was made by another program, which did not record its embedding model."),
        N_("Choose its model on the page Knowledge, view Connect, or ingest its sources into a new collection."),
        code="WB213",
        status=409,
    )
    """A collection that another program made: nothing says which model its vectors come from."""
    # The connect-time probe found that the store ranks unlike vectors first.
    ranks_unlike_first = Message(
        N_("The store at {address} ranks unlike vectors first."),
        N_("Upgrade it (Milvus Lite 3.2, Milvus 2.3 or newer), or point WORKBENCH_MILVUS_URI at another server."),
        code="WB205",
    )
    no_cosines = Message(
        N_("The scores of the store at {address} are not cosines."),
        N_("Upgrade it (Milvus Lite 3.2, Milvus 2.3 or newer), or point WORKBENCH_MILVUS_URI at another server."),
        code="WB205",
    )
    invalid_collection_name = Message(
        N_("{name!r} cannot be the name of a collection."),
        N_("Use 1 to 60 letters, digits and underscores, beginning with a letter."),
        code="WB206",
        status=422,
    )
    disk_full = Message(
        N_("The disk that holds the knowledge base {path!r} is full."),
        N_("Free some space, or point WORKBENCH_DATA_DIR at another disk."),
        code="WB207",
        status=507,
    )
    """The store could not write because its disk is full."""
    # Files of the embedded store hold something else than it wrote.
    damaged = Message(
        N_("The knowledge base {path!r} is damaged: {why}"),
        N_(
            "Close the workbench and restore the folder from a backup, or move it away: the samples come back by "
            "themselves, your own sources have to be ingested again."
        ),
        code="WB239",
    )
    taken_away = Message(
        N_(
            "The knowledge base {path!r} is damaged: it was deleted, moved or replaced while the workbench was running."
        ),
        N_(
            "Close the workbench and restore the folder from a backup, or move it away: the samples come back by "
            "themselves, your own sources have to be ingested again."
        ),
        code="WB239",
    )
    half_made = Message(
        N_("The knowledge base {path!r} is only half there: part of its files was deleted, or never written."),
        N_(
            "Close the workbench and restore the folder from a backup, or move it away: the samples come back by "
            "themselves, your own sources have to be ingested again."
        ),
        code="WB240",
    )
    """Files of the embedded store are missing that others of it need, as after its folder was deleted under it."""
    foreign_collection = Message(
        N_("Collection {name!r} was made by another program, so it is only read here."),
        N_("Ingest into a collection of your own, or change this one with the program that made it."),
        code="WB210",
    )
    """A collection that another program made can be searched, but not changed."""
    collection_exists = Message(
        N_("There is a collection named {name!r} already."),
        N_("Choose another name, or remove that collection first."),
        code="WB211",
    )
    unknown_memory = Message(
        N_("There is no memory with the id {memory!r}."),
        N_("It may have been deleted; open Knowledge → Memory to see what is remembered."),
        code="WB215",
        status=404,
    )
    memory_slow = Message(
        N_("Long-term memory gave no answer within {seconds} s, so the run continued without it."),
        N_("Look at the store of WORKBENCH_MILVUS_URI, or switch memory off."),
        code="WB216",
    )
    """Long-term memory is a help only: a run that has waited for it continues without."""
    alias_taken = Message(
        N_("{alias!r} is an alias of collection {collection!r}."),
        N_("Choose another name, or remove the alias first."),
        code="WB218",
    )
    """A name that is to be given to a collection already leads to one as its alias."""
    unknown_alias = Message(
        N_("There is no alias named {alias!r}."),
        N_("Open the page Knowledge to see which aliases a collection has."),
        code="WB219",
    )
    samples_stay = Message(
        N_("Collection {collection!r} holds the samples, which come back at the next start."),
        N_("Leave it, and choose a collection of your own for your questions."),
        code="WB220",
    )
    """The sample collection is made again at every start, so that changing its name or deleting it means nothing."""
    collection_busy = Message(
        N_("A job is writing into collection {collection!r}."),
        N_("Stop the job on the page Knowledge, or wait for its end."),
        code="WB229",
    )
    """An ingestion writes into the collection whose name or existence was to change."""
    nothing_to_switch = Message(
        N_("Collection {copy!r} has fewer sources than {collection!r}, so it does not take its place."),
        N_("Resume the re-embedding, then switch again."),
        code="WB221",
    )
    """The copy that was to take a collection's place is not whole."""
    locked = Message(
        N_("The knowledge base {path!r} is open in another process."),
        N_("Close the other workbench, or point WORKBENCH_MILVUS_URI at a server."),
        code="WB201",
        status=503,
    )
    unreachable = Message(
        N_("The Milvus server at {address} does not answer."),
        N_("Start it, or correct WORKBENCH_MILVUS_URI."),
        code="WB202",
        status=503,
    )
    refused = Message(
        N_("The Milvus server at {address} refused the credentials."),
        N_("Set WORKBENCH_MILVUS_TOKEN to `user:password` of an account that may read and write there."),
        code="WB208",
    )
    """The server answered, but did not let us in."""
    unreadable = Message(
        N_("The knowledge base {path!r} cannot be opened: {why}"),
        N_("Check the folder's permissions; if it is damaged, move it away and ingest the sources again."),
        code="WB209",
    )
    """The folder of the embedded store is damaged, or not ours to open."""
    database_missing = Message(
        N_("The Milvus server at {address} has no database {database!r}, and did not make one."),
        N_("Let whoever runs the server make it and grant this account access, or correct WORKBENCH_MILVUS_DATABASE."),
        code="WB243",
    )
    """The database of the settings is not there, and could not be made."""


class UnknownCollection(StoreError):
    code = "WB203"
    status = 404
    fact = N_("There is no collection named {name!r}.")
    remedy = N_("Choose an existing collection, or make one with `{program} ingest PATH --collection NAME`.")


class FieldTooLong(StoreError):
    """A text is longer than the store's field holds."""

    code = "WB212"
    fact = N_("The {field} of a passage of {source!r} has {size} bytes; the store holds {limit}.")
    remedy = N_("Shorten the {field}, or split the source into smaller passages.")


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


class GraphStoreError(WorkbenchError):
    """The store did not do what was asked; searches continue without the graph."""

    code = "WB230"
    damaged = Message(
        N_("The file of knowledge graphs {path!r} is damaged."),
        N_("Close the workbench, restore the file from a backup or delete it, and build what is missing again."),
        code="WB235",
    )
    file_unusable = Message(
        N_("The file of knowledge graphs {path!r} cannot be used: {found}."),
        N_("Free space or the lock on that file, or point WORKBENCH_DATA_DIR at a folder that can be written."),
        code="WB236",
    )
    """The file may be sound, and cannot be read or written at the moment."""
    file_newer = Message(
        N_("The file of knowledge graphs {path!r} has format {found}; this version knows formats up to {known}."),
        N_("Update the workbench, or point WORKBENCH_DATA_DIR at another folder."),
        code="WB237",
    )
    missing = Message(
        N_("Collection {collection!r} has no knowledge graph."),
        N_("Build one on the page Knowledge, or with `{program} graph build COLLECTION`."),
        code="WB238",
        status=404,
    )
    """Something was to be added to a graph that no one began."""


class UnknownEntity(GraphStoreError):
    code = "WB331"
    status = 404
    fact = N_("The knowledge graph of collection {collection!r} has no entity {entity!r}.")
    remedy = N_("Correct the name, or look for it among the entities on the page Knowledge.")
