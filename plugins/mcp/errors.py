"""Agents that speak the Model Context Protocol."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class McpError(WorkbenchError):
    """The MCP server does not answer, or not with a result."""

    code = "WB970"
    off = Message(
        N_("The MCP server of this workbench is off."),
        N_("Set WORKBENCH_MCP to `read`, or to `write` to let agents change things, and restart the workbench."),
        code="WB973",
        status=404,
    )
    not_installed = Message(
        N_("The package mcp, which the MCP server needs, is not installed."),
        N_("Run `{command}`, then start the workbench again."),
        code="WB974",
        status=503,
        package="mcp",
    )
    handover_refused = Message(
        N_("The running workbench at {address} does not let this command in."),
        N_("Run the command as the user who started the workbench, or close the workbench."),
        code="WB975",
    )
    no_such_tool = Message(
        N_("There is no tool named {tool!r}."),
        N_("Choose one of: {known}. Those that change something are there only with WORKBENCH_MCP=write."),
        code="WB971",
    )
    invalid_arguments = Message(
        N_("The arguments of {tool} are not valid: {problems}."),
        N_("Correct them as the schema of the tool says, and call it again."),
        code="WB972",
    )
