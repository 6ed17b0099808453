"""What can go wrong with a collection that lives somewhere else and was made by another program."""

from __future__ import annotations

from typing import Self

from engine.errors.store import StoreError


class InvalidAddress(StoreError):
    """What was given is no address of a Milvus, or no folder of Milvus Lite."""

    code = "WB222"

    @classmethod
    def given(cls, given: str) -> Self:
        return cls(
            f"{given[:120]!r} is not the address of a Milvus.",
            remedy="Write `http://host:19530`, `https://…`, or the path of a Milvus Lite folder that ends in `.db`.",
            params={"given": given[:120]},
        )

    @classmethod
    def no_folder(cls, path: str) -> Self:
        return cls(
            f"There is no Milvus Lite folder at {path!r}.",
            remedy="Correct the path; it is the one that the other program gives to its Milvus client.",
            params={"path": path},
        )

    @classmethod
    def single_file(cls, path: str) -> Self:
        return cls(
            f"{path!r} is one file, but Milvus Lite keeps a folder since version 3.",
            remedy="Open it once with the Milvus Lite that made it, and copy its collections to a newer one.",
            params={"file": path},
        )


class RemoteUnreachable(StoreError):
    code = "WB223"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Milvus at {address} does not answer.",
            remedy="Start it, or correct the address; a connection stays and works again once it answers.",
            params={"address": address},
        )


class RemoteRefused(StoreError):
    code = "WB224"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Milvus at {address} refused the token.",
            remedy="Connect again with a token (`user:password` or an API key) of an account that may read there.",
            params={"address": address},
        )


class UnknownDatabase(StoreError):
    code = "WB225"

    @classmethod
    def named(cls, database: str, address: str) -> Self:
        return cls(
            f"The Milvus at {address} has no database named {database[:80]!r}.",
            remedy="Correct the name of the database, or leave it empty for the one named `default`.",
            params={"database": database[:80], "address": address},
        )


class UnusableCollection(StoreError):
    """A collection that is there, but that questions cannot be answered from; each reason has its own parameter."""

    code = "WB226"

    @classmethod
    def other_vectors(cls, name: str, types: str) -> Self:
        return cls(
            f"Collection {name!r} has no vectors of 32-bit floats: its vectors are {types}.",
            remedy="Choose another collection, or have the other program store FLOAT_VECTOR as well.",
            params={"name": name, "types": types},
        )

    @classmethod
    def no_vectors(cls, name: str) -> Self:
        return cls(
            f"Collection {name!r} holds no vectors.",
            remedy="Choose a collection that holds passages with their vectors.",
            params={"name": name, "vectorless": name},
        )

    @classmethod
    def no_text(cls, name: str) -> Self:
        return cls(
            f"Collection {name!r} has no field with text beside its vectors.",
            remedy="Choose another collection: without their text, passages can be neither graded nor cited.",
            params={"name": name, "textless": name},
        )

    @classmethod
    def no_index(cls, name: str, vector: str) -> Self:
        return cls(
            f"The vectors {vector!r} of collection {name!r} have no index, so this server does not search them.",
            remedy="Have the other program create an index on that field; nothing is created from here.",
            params={"name": name, "unindexed": vector},
        )

    @classmethod
    def other_metric(cls, name: str, metric: str) -> Self:
        return cls(
            f"Collection {name!r} compares its vectors by {metric}, which says nothing about meaning.",
            remedy="Choose a collection with the metric COSINE, IP or L2.",
            params={"name": name, "metric": metric},
        )

    @classmethod
    def unreadable(cls, name: str, why: str) -> Self:
        return cls(
            f"Collection {name!r} cannot be read: {why[:200]}",
            remedy="Look at the log of the store, or choose another collection.",
            params={"name": name, "why": why[:200]},
        )

    @classmethod
    def gone(cls, name: str, address: str) -> Self:
        return cls(
            f"There is no collection {name!r} at {address} any more.",
            remedy="Disconnect it, or have the other program make it again.",
            params={"gone": name, "address": address},
        )

    @classmethod
    def changed(cls, name: str, field: str) -> Self:
        return cls(
            f"Collection {name!r} no longer has the field {field!r} as it was when it was connected.",
            remedy="Disconnect it and connect it again with the fields it has now.",
            params={"name": name, "field": field},
        )


class RemoteLocked(StoreError):
    code = "WB227"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The Milvus Lite folder {path!r} is open in another program.",
            remedy="Close that program and try again: such a folder can be open in one program at a time.",
            params={"path": path},
        )


class ConnectionsDamaged(StoreError):
    code = "WB228"

    @classmethod
    def kept_aside(cls, path: str, why: str) -> Self:
        return cls(
            f"The file of connections could not be read and was kept as {path!r}: {why[:200]}.",
            remedy="Connect the collections again on the page Knowledge, view Connect, or repair that file.",
            params={"path": path, "why": why[:200]},
        )

    @classmethod
    def not_written(cls, path: str, why: str) -> Self:
        return cls(
            f"The connections could not be written to {path!r}: {why[:200]}.",
            remedy="Free some space, or make the folder of WORKBENCH_DATA_DIR writable.",
            params={"unwritten": path, "why": why[:200]},
        )
