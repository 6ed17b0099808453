"""Settings that cannot leave as code."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class NotExportable(WorkbenchError):
    """Settings with which an exported program would decide differently, or could not run at all."""

    code = "WB122"
    status = 422
    graph_server = Message(
        N_("The workflow {workflow!r} cannot be exported as code where {address} keeps the knowledge graphs."),
        N_("Keep them in the data folder, or choose a workflow that searches no knowledge graph."),
    )
    no_passages = Message(
        N_("The collection {collection!r} has no passages that an exported program could find."),
        N_("Choose a collection of a Milvus store that has passages."),
    )
