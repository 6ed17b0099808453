"""Launcher: the MCP server on standard input and output, with the words of the pages."""

from engine.cli.jobs import app_with_the_store
from engine.mcp_server import stdio
from engine.records.data_folder import require_writable
from engine.settings import Settings
from pages.parts.common.telling import telling


def serve() -> int:
    """Serve the agent that started this process until it goes away."""
    settings = Settings.load()
    require_writable(settings.data_dir)
    return stdio.serve(settings, lambda: app_with_the_store(settings), telling())
