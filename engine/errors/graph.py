"""The store of knowledge graphs."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_


class GraphStoreError(WorkbenchError):
    """The store did not do what was asked; searches go on without the graph."""

    code = "WB230"


class GraphDamaged(GraphStoreError):
    code = "WB235"
    fact = N_("The file of knowledge graphs {path!r} is damaged.")
    remedy = N_("Close the workbench, restore the file from a backup or delete it, and build what is missing again.")


class GraphFileUnusable(GraphStoreError):
    """The file may be sound, and cannot be read or written at the moment."""

    code = "WB236"
    fact = N_("The file of knowledge graphs {path!r} cannot be used: {found}.")
    remedy = N_("Free space or the lock on that file, or point WORKBENCH_DATA_DIR at a folder that can be written.")


class GraphFileNewer(GraphStoreError):
    code = "WB237"
    fact = N_("The file of knowledge graphs {path!r} has format {found}; this version knows formats up to {known}.")
    remedy = N_("Update the workbench, or point WORKBENCH_DATA_DIR at another folder.")


class GraphMissing(GraphStoreError):
    """Something was to be added to a graph that no one began."""

    code = "WB238"
    status = 404
    fact = N_("Collection {collection!r} has no knowledge graph.")
    remedy = N_("Build one on the page Knowledge, or with `{program} graph build COLLECTION`.")
