"""Settings that cannot leave as code."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_

# Settings with which an exported program would decide differently, or could not run at all.
GRAPH_SERVER = WorkbenchError.row(
    N_("The workflow {workflow!r} cannot be exported as code where {address} keeps the knowledge graphs."),
    N_("Keep them in the data folder, or choose a workflow that searches no knowledge graph."),
    code="WB122",
    status=422,
)
NO_PASSAGES = WorkbenchError.row(
    N_("The collection {collection!r} has no passages that an exported program could find."),
    N_("Choose a collection of a Milvus store that has passages."),
    code="WB122",
    status=422,
)
