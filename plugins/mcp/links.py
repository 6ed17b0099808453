"""The page of a run as an address, where the workbench that answers serves pages."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from starlette.requests import Request

from engine.api.links import link_of
from engine.model.values import RunId


def page_of(ctx: Context, run_id: RunId) -> str:
    """At the address under which the request came; empty on standard input and output."""
    request = ctx.request_context.request
    return str(request.base_url).rstrip("/") + link_of(run_id) if isinstance(request, Request) else ""
