"""A Neo4j server that does not do what was asked; addresses are shown without user name and password."""

from __future__ import annotations

from engine.errors.graph import GraphStoreError
from engine.messages import N_


class GraphServerFailed(GraphStoreError):
    """The server or its driver failed in a way that has no class of its own."""

    fact = N_("The Neo4j server at {address} could not do what was asked: {why}")
    remedy = N_("Look at the log of Neo4j; if it names the workbench's own nodes, rebuild the graph.")


class GraphUnreachable(GraphStoreError):
    code = "WB231"
    fact = N_("The Neo4j server at {address} does not answer.")
    remedy = N_("Start it, or correct WORKBENCH_NEO4J_URI; leave it empty to keep graphs in the data folder.")


class GraphRefused(GraphStoreError):
    """The server answers, and does not let us in."""

    code = "WB232"
    fact = N_("The Neo4j server at {address} refuses the user name, the password, or what that user asks for.")
    remedy = N_("Correct WORKBENCH_NEO4J_USER and WORKBENCH_NEO4J_PASSWORD, or let the user write to the database.")


class GraphDatabaseMissing(GraphStoreError):
    code = "WB233"
    fact = N_("The Neo4j server at {address} has no database {database!r}.")
    remedy = N_("Correct WORKBENCH_NEO4J_DATABASE; leave it empty for the server's own default.")


class GraphDriverMissing(GraphStoreError):
    """A server is set, and the package that speaks to it is not installed."""

    code = "WB234"
    fact = N_("WORKBENCH_NEO4J_URI is set, but the Neo4j driver is not installed.")
    remedy = N_("Run `{command}` and start again, or leave WORKBENCH_NEO4J_URI empty.")
