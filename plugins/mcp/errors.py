"""Agents that speak the Model Context Protocol."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_

# The MCP server does not answer, or not with a result.
OFF = WorkbenchError.row(
    N_("The MCP server of this workbench is off."),
    N_("Set WORKBENCH_MCP to `read`, or to `write` to let agents change things, and restart the workbench."),
    code="WB973",
    status=404,
)
NOT_INSTALLED = WorkbenchError.row(
    N_("The package mcp, which the MCP server needs, is not installed."),
    N_("Run `{command}`, then start the workbench again."),
    code="WB974",
    status=503,
    package="mcp",
)
HANDOVER_REFUSED = WorkbenchError.row(
    N_("The running workbench at {address} does not let this command in."),
    N_("Run the command as the user who started the workbench, or close the workbench."),
    code="WB975",
)
NO_SUCH_TOOL = WorkbenchError.row(
    N_("There is no tool named {tool!r}."),
    N_("Choose one of: {known}. Those that change something are there only with WORKBENCH_MCP=write."),
    code="WB971",
)
INVALID_ARGUMENTS = WorkbenchError.row(
    N_("The arguments of {tool} are not valid: {problems}."),
    N_("Correct them as the schema of the tool says, and call it again."),
    code="WB972",
)
