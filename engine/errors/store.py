"""What can go wrong with the passage store."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class StoreError(WorkbenchError):
    """The passage store failed in a way that has no class of its own."""

    code = "WB200"


class StoreLocked(StoreError):
    code = "WB201"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The knowledge base {path!r} is open in another process.",
            remedy="Close the other workbench, or point WORKBENCH_MILVUS_URI at a server.",
            params={"path": path},
        )


class StoreUnreachable(StoreError):
    code = "WB202"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Milvus server at {address} does not answer.",
            remedy="Start it, or correct WORKBENCH_MILVUS_URI.",
            params={"address": address},
        )


class StoreSlow(StoreError):
    """The run's time budget ended while the knowledge base was still at work."""

    code = "WB214"

    @classmethod
    def within(cls, budget_s: float) -> Self:
        return cls(
            f"The knowledge base gave no answer within the budget of {budget_s:g} s.",
            remedy="Raise the time budget of the run, or try again once the knowledge base is open.",
            params={"seconds": f"{budget_s:g}"},
        )


class UnknownCollection(StoreError):
    code = "WB203"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"There is no collection named {name!r}.",
            remedy="Choose an existing collection, or make one with `python -m engine ingest PATH --collection NAME`.",
            params={"name": name},
        )


class EmbeddingMismatch(StoreError):
    code = "WB204"

    @classmethod
    def between(cls, collection: str, built_with: str, offered: str) -> Self:
        return cls(
            f"Collection {collection!r} was built with {built_with}, but the vectors offered come from {offered}.",
            remedy=f"Use {built_with} for this collection, or ingest its sources again into a new collection.",
            params={"collection": collection, "built_with": built_with, "offered": offered},
        )


class ModelNotRecorded(StoreError):
    """A collection that another program made: nothing says which model its vectors come from."""

    code = "WB213"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"Collection {name!r} was made by another program, which did not record its embedding model.",
            remedy="Choose its model on the page Knowledge, view Connect, or ingest its sources into a new collection.",
            params={"name": name},
        )


class ReversedStore(StoreError):
    """The connect-time probe found that the store ranks unlike vectors first."""

    code = "WB205"


class InvalidCollectionName(StoreError):
    code = "WB206"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"{name[:80]!r} cannot be the name of a collection.",
            remedy="Use 1 to 60 letters, digits and underscores, beginning with a letter.",
            params={"name": name[:80]},
        )


class StoreFull(StoreError):
    """The store could not write because its disk is full."""

    code = "WB207"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The disk that holds the knowledge base {path!r} is full.",
            remedy="Free some space, or point WORKBENCH_DATA_DIR at another disk.",
            params={"path": path},
        )


class StoreRefused(StoreError):
    """The server answered, but did not let us in."""

    code = "WB208"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Milvus server at {address} refused the credentials.",
            remedy="Set WORKBENCH_MILVUS_TOKEN to `user:password` of an account that may read and write there.",
            params={"address": address},
        )


class StoreUnreadable(StoreError):
    """The folder of the embedded store is damaged, or not ours to open."""

    code = "WB209"

    @classmethod
    def at(cls, path: str, why: str) -> Self:
        return cls(
            f"The knowledge base {path!r} cannot be opened: {why[:200]}",
            remedy="Check the folder's permissions; if it is damaged, move it away and ingest the sources again.",
            params={"path": path, "why": why[:200]},
        )


_MOVE_AWAY = (
    "Close the workbench and restore the folder from a backup, or move it away: the samples come back by themselves, "
    "your own sources have to be ingested again."
)


class StoreDamaged(StoreError):
    """Files of the embedded store hold something else than it wrote."""

    code = "WB239"

    @classmethod
    def at(cls, path: str, why: str) -> Self:
        return cls(
            f"The knowledge base {path!r} is damaged: {why[:200]}",
            remedy=_MOVE_AWAY,
            params={"path": path, "why": why[:200]},
        )


class StoreHalfMade(StoreError):
    """Files of the embedded store are missing that others of it need, as after its folder was deleted under it."""

    code = "WB240"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The knowledge base {path!r} is only half there: part of its files was deleted, or never written.",
            remedy=_MOVE_AWAY,
            params={"path": path},
        )


class ForeignCollection(StoreError):
    """A collection that another program made can be searched, but not changed."""

    code = "WB210"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"Collection {name!r} was made by another program, so it is only read here.",
            remedy="Ingest into a collection of your own, or change this one with the program that made it.",
            params={"name": name},
        )


class CollectionExists(StoreError):
    code = "WB211"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"There is a collection named {name!r} already.",
            remedy="Choose another name, or remove that collection first.",
            params={"name": name},
        )


class FieldTooLong(StoreError):
    """A text is longer than the store's field holds."""

    code = "WB212"

    @classmethod
    def of(cls, field: str, source: str, size: int, limit: int) -> Self:
        return cls(
            f"The {field} of a passage of {source[:80]!r} has {size} bytes; the store holds {limit}.",
            remedy=f"Shorten the {field}, or split the source into smaller passages.",
            params={"field": field, "source": source[:80], "size": str(size), "limit": str(limit)},
        )


class UnknownMemory(StoreError):
    code = "WB215"

    @classmethod
    def named(cls, memory_id: str) -> Self:
        return cls(
            f"There is no memory with the id {memory_id[:80]!r}.",
            remedy="It may have been deleted; open Knowledge → Memory to see what is remembered.",
            params={"memory": memory_id[:80]},
        )


class MemorySlow(StoreError):
    """Long-term memory is a help only: a run that has waited for it continues without."""

    code = "WB216"

    @classmethod
    def within(cls, seconds: float) -> Self:
        return cls(
            f"Long-term memory gave no answer within {seconds:.3g} s, so the run went on without it.",
            remedy="Look at the store of WORKBENCH_MILVUS_URI, or switch memory off.",
            params={"seconds": f"{seconds:.3g}"},
        )


class FullTextMissing(StoreError):
    """Passages were to be searched by words where only their vectors can be searched."""

    code = "WB217"

    @classmethod
    def of(cls, collection: str) -> Self:
        """A collection of an earlier version, or of another program."""
        return cls(
            f"Collection {collection!r} was made without full text: it cannot be searched by words.",
            remedy="Add full text to it on the page Knowledge, where its store has it, or search by vectors.",
            params={"collection": collection},
        )

    @classmethod
    def at(cls, address: str) -> Self:
        """A store that has no full-text search at all."""
        return cls(
            f"The Milvus at {address} cannot search by words.",
            remedy="Search by vectors, or use Milvus Lite 3.2 (leave WORKBENCH_MILVUS_URI empty) or a server of "
            "version 2.5 or newer.",
            params={"address": address},
        )


class AliasTaken(StoreError):
    """A name that is to be given to a collection already leads to one as its alias."""

    code = "WB218"

    @classmethod
    def named(cls, alias: str, collection: str) -> Self:
        return cls(
            f"{alias!r} is an alias of collection {collection!r}.",
            remedy="Choose another name, or remove the alias first.",
            params={"alias": alias, "collection": collection},
        )


class UnknownAlias(StoreError):
    code = "WB219"

    @classmethod
    def named(cls, alias: str) -> Self:
        return cls(
            f"There is no alias named {alias[:80]!r}.",
            remedy="Open the page Knowledge to see which aliases a collection has.",
            params={"alias": alias[:80]},
        )


class SamplesStay(StoreError):
    """The sample collection is made again at every start, so that changing its name or deleting it means nothing."""

    code = "WB220"

    @classmethod
    def named(cls, collection: str) -> Self:
        return cls(
            f"Collection {collection!r} holds the samples, which come back at the next start.",
            remedy="Leave it, and choose a collection of your own for your questions.",
            params={"collection": collection},
        )


class CollectionBusy(StoreError):
    """An ingestion writes into the collection whose name or existence was to change."""

    code = "WB229"

    @classmethod
    def named(cls, collection: str) -> Self:
        return cls(
            f"A job is writing into collection {collection!r}.",
            remedy="Stop the job on the page Knowledge, or wait for its end.",
            params={"collection": collection},
        )


class NothingToSwitch(StoreError):
    """The copy that was to take a collection's place is not whole."""

    code = "WB221"

    @classmethod
    def between(cls, collection: str, copy: str) -> Self:
        return cls(
            f"Collection {copy!r} has fewer sources than {collection!r}, so it does not take its place.",
            remedy="Resume the re-embedding, then switch again.",
            params={"collection": collection, "copy": copy},
        )
