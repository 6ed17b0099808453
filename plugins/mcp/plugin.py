"""Agents that speak the Model Context Protocol: a server at ``/mcp``, and the command ``mcp`` for clients to start."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from starlette.middleware import Middleware

from engine.errors import InvalidSettings
from engine.messages import N_
from engine.model.later import later
from engine.plugins import Front, Plugin
from plugins.mcp.errors import NOT_INSTALLED
from plugins.mcp.settings import McpSettings

if TYPE_CHECKING:
    from engine.settings import Settings


def _check(settings: Settings) -> None:
    if settings.of(McpSettings).mcp != "off" and find_spec("mcp") is None:
        why = N_("the package mcp is not installed; it comes with the extra `mcp`")
        raise InvalidSettings.unusable(name="WORKBENCH_MCP", why=why)


def _middleware(front: Front) -> list[Middleware]:
    from plugins.mcp.door import McpDoor, McpFirst

    return [Middleware(McpFirst, door=McpDoor(front), base=front.base)]


def _commands(commands: Any) -> None:
    meaning = "serve an agent over the Model Context Protocol"
    agents = commands.add_parser(
        "mcp",
        help=meaning,
        description=f"{meaning.capitalize()}, on standard input and output, alone or through the running workbench. "
        "It only reads and asks, unless WORKBENCH_MCP is `write`.",
    )
    agents.set_defaults(command=_serve)


def _serve(_: argparse.Namespace) -> int:
    """Serve the agent that started this process until it goes away."""
    if find_spec("mcp") is None:
        raise NOT_INSTALLED()
    from engine.records.data_folder import require_writable
    from engine.settings import Settings
    from plugins.mcp import stdio

    settings = Settings.load()
    require_writable(settings.data_dir)
    return stdio.serve(settings)


PLUGIN = Plugin(
    name="mcp",
    title=N_("Agents (MCP)"),
    modules=("mcp",),
    packages="mcp",
    settings=McpSettings,
    check=_check,
    middleware=_middleware,
    commands=_commands,
    panels={"programs": later("plugins.mcp.card:agents")},
)
