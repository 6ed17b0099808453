"""What can go wrong with the store of knowledge graphs; addresses are shown without user name and password."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class GraphStoreError(WorkbenchError):
    """The graph store failed in a way that has no class of its own."""

    code = "WB230"

    @classmethod
    def answered(cls, address: str, why: str) -> Self:
        return cls(
            f"The Neo4j server at {address} could not do what was asked: {why}",
            remedy="Look at the log of Neo4j; if it names the workbench's own nodes, rebuild the graph.",
            params={"address": address, "why": why},
        )


class GraphUnreachable(GraphStoreError):
    code = "WB231"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Neo4j server at {address} does not answer.",
            remedy="Start it, or correct WORKBENCH_NEO4J_URI; leave it empty to keep graphs in the data folder.",
            params={"address": address},
        )


class GraphRefused(GraphStoreError):
    """The server answers, and does not let us in."""

    code = "WB232"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Neo4j server at {address} refuses the user name, the password, or what that user asks for.",
            remedy="Correct WORKBENCH_NEO4J_USER and WORKBENCH_NEO4J_PASSWORD, or let the user write to the database.",
            params={"address": address},
        )


class GraphDatabaseMissing(GraphStoreError):
    code = "WB233"

    @classmethod
    def named(cls, database: str, address: str) -> Self:
        return cls(
            f"The Neo4j server at {address} has no database {database!r}.",
            remedy="Correct WORKBENCH_NEO4J_DATABASE; leave it empty for the server's own default.",
            params={"database": database, "address": address},
        )


class GraphDriverMissing(GraphStoreError):
    """A server is set, and the package that speaks to it is not installed."""

    code = "WB234"

    @classmethod
    def now(cls) -> Self:
        return cls(
            "WORKBENCH_NEO4J_URI is set, but the Neo4j driver is not installed.",
            remedy="Install the extra `neo4j`, or leave WORKBENCH_NEO4J_URI empty.",
        )


class GraphDamaged(GraphStoreError):
    code = "WB235"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The file of knowledge graphs {path!r} is damaged.",
            remedy="Close the workbench, restore the file from a backup or delete it, and build what is missing again.",
            params={"path": path},
        )


class GraphFileUnusable(GraphStoreError):
    """The file is sound as far as anybody knows, and cannot be read or written at the moment."""

    code = "WB236"

    @classmethod
    def at(cls, path: str, cause: str) -> Self:
        return cls(
            f"The file of knowledge graphs {path!r} cannot be used: {cause}.",
            remedy="Free space or the lock on that file, or point WORKBENCH_DATA_DIR at a folder that can be written.",
            params={"path": path, "found": cause},
        )


class GraphFileNewer(GraphStoreError):
    code = "WB237"

    @classmethod
    def at(cls, path: str, found: int, known: int) -> Self:
        return cls(
            f"The file of knowledge graphs {path!r} has format {found}; this version knows formats up to {known}.",
            remedy="Update the workbench, or point WORKBENCH_DATA_DIR at another folder.",
            params={"path": path, "found": str(found), "known": str(known)},
        )


class GraphMissing(GraphStoreError):
    """Something was to be added to a graph that no one began."""

    code = "WB238"

    @classmethod
    def of(cls, collection: str) -> Self:
        return cls(
            f"Collection {collection!r} has no knowledge graph.",
            remedy="Build one on the page Knowledge, or with `python -m engine graph build COLLECTION`.",
            params={"collection": collection},
        )
