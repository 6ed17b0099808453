"""Agents that speak the Model Context Protocol."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class McpError(WorkbenchError):
    """The MCP server does not answer, or not with a result."""

    code = "WB970"


class McpOff(McpError):
    code = "WB973"
    status = 404
    fact = N_("The MCP server of this workbench is off.")
    remedy = N_("Set WORKBENCH_MCP to `read`, or to `write` to let agents change things, and restart the workbench.")


class McpMissing(McpError):
    code = "WB974"
    status = 503
    needed = Message(
        N_("The package mcp, which the MCP server needs, is not installed."),
        N_("Run `{command}`, then start the workbench again."),
        package="mcp",
    )


class HandoverRefused(McpError):
    code = "WB975"
    fact = N_("The running workbench at {address} does not let this command in.")
    remedy = N_("Run the command as the user who started the workbench, or close the workbench.")


class NoSuchTool(McpError):
    code = "WB971"
    fact = N_("There is no tool named {tool!r}.")
    remedy = N_("Choose one of: {known}. Those that change something are there only with WORKBENCH_MCP=write.")


class InvalidArguments(McpError):
    code = "WB972"
    fact = N_("The arguments of {tool} are not valid: {problems}.")
    remedy = N_("Correct them as the schema of the tool says, and call it again.")
