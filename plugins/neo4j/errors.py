"""A Neo4j server that does not do what was asked; addresses are shown without user name and password."""

from __future__ import annotations

from engine.errors import GraphStoreError
from engine.messages import N_

# The server or its driver did not do what was asked.
FAILED = GraphStoreError.row(
    N_("The Neo4j server at {address} could not do what was asked: {why}"),
    N_("Look at the log of Neo4j; if it names the workbench's own nodes, rebuild the graph."),
)
"""Any other failure; its code is that of the class of all graph stores."""
SERVER_UNREACHABLE = GraphStoreError.row(
    N_("The Neo4j server at {address} does not answer."),
    N_("Start it, or correct WORKBENCH_NEO4J_URI; leave it empty to keep graphs in the data folder."),
    code="WB231",
)
SERVER_REFUSES = GraphStoreError.row(
    N_("The Neo4j server at {address} refuses the user name, the password, or what that user asks for."),
    N_("Correct WORKBENCH_NEO4J_USER and WORKBENCH_NEO4J_PASSWORD, or let the user write to the database."),
    code="WB232",
)
"""The server answers, and does not let us in."""
DATABASE_MISSING = GraphStoreError.row(
    N_("The Neo4j server at {address} has no database {database!r}."),
    N_("Correct WORKBENCH_NEO4J_DATABASE; leave it empty for the server's own default."),
    code="WB233",
)
DRIVER_MISSING = GraphStoreError.row(
    N_("WORKBENCH_NEO4J_URI is set, but the Neo4j driver is not installed."),
    N_("Run `{command}` and start again, or leave WORKBENCH_NEO4J_URI empty."),
    code="WB234",
)
