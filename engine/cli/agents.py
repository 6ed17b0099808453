"""``python -m engine mcp``: the MCP server on standard input and output, for an agent that starts it."""

from __future__ import annotations

import argparse
import runpy
from importlib.util import find_spec
from typing import Any

from engine.errors import McpMissing
from engine.model.version import ROOT


def add_agents(commands: Any) -> None:
    """The command ``mcp``."""
    meaning = "serve an agent over the Model Context Protocol"
    agents = commands.add_parser(
        "mcp",
        help=meaning,
        description=f"{meaning.capitalize()}, on standard input and output, alone or through the running workbench. "
        "It only reads and asks, unless WORKBENCH_MCP is `write`.",
    )
    agents.set_defaults(command=_mcp)


def _mcp(_: argparse.Namespace) -> int:
    if find_spec("mcp") is None:
        raise McpMissing.needed()
    # Run as the app is: it brings the words of the pages, which nothing here knows.
    return int(runpy.run_path(str(ROOT / "agents.py"))["serve"]())
