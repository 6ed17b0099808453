"""The card of the page System: whether agents come in, what they may do, and the configuration of their clients."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.url_state import base_path, own_origin
from engine.engine import Engine
from engine.people import signing_in
from engine.version import PROGRAM
from pages.parts.system.programs import Snippet, Way
from plugins.mcp.clients import by_command, over_http
from plugins.mcp.settings import PATH, McpSettings


def agents(engine: Engine, words: Words) -> Way:
    """The server for agents that speak the Model Context Protocol."""
    mode = engine.settings.of(McpSettings).mcp
    said = words(
        "Agents such as Claude Desktop, VS Code and Cursor ask, search, explain runs, try what-ifs and sweep settings "
        "over the Model Context Protocol."
    )
    facts = {
        "off": (),
        "read": (words("agents ask and look; what is there stays as it is"),),
        "write": (words("agents also change settings, tags, judgements and documents"),),
    }[mode]
    http = Snippet(
        words("Configuration of a client, over HTTP"),
        over_http(f"{own_origin()}{base_path()}{PATH}", signing_in=signing_in()),
    )
    if signing_in():
        # The command is let in as the owner of this machine's folder.
        return Way(words("Agents (MCP)"), mode != "off", said, "WORKBENCH_MCP=read", facts, (http,))
    own = words(
        "`{command}` serves an agent that starts it itself, whether this is on or off", command=f"{PROGRAM} mcp"
    )
    started = Snippet(
        words("Configuration of a client that starts the command itself"), by_command(engine.settings.data_dir)
    )
    return Way(words("Agents (MCP)"), mode != "off", said, "WORKBENCH_MCP=read", (*facts, own), (http, started))
