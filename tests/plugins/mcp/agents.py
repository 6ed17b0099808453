"""An agent: the official client, in calls that block."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_T = TypeVar("_T")
HELLO: Mapping[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "an agent", "version": "1"},
    },
}
"""The first message of a client."""


@dataclass(frozen=True)
class Agent:
    """Who uses the server at an address, or one that a command starts."""

    server: str | StdioServerParameters
    headers: Mapping[str, str] = field(default_factory=dict)
    mode: str = MODERN_PROTOCOL_VERSIONS[-1]
    """``legacy`` for a client of the protocol before 2026, ``auto`` for one that asks first."""

    def working(self, work: Callable[[Client], Awaitable[_T]]) -> _T:
        """What comes of some calls within one connection."""
        return asyncio.run(self._working(work))

    async def _working(self, work: Callable[[Client], Awaitable[_T]]) -> _T:
        if isinstance(self.server, StdioServerParameters):
            async with Client(self.server, mode=self.mode) as client:
                return await work(client)
        async with httpx2.AsyncClient(headers=dict(self.headers), timeout=60) as http:
            transport = streamable_http_client(self.server, http_client=http)
            async with Client(transport, mode=self.mode) as client:
                return await work(client)

    def tools(self) -> dict[str, Tool]:
        """The tools that it is offered, by name."""

        async def listed(client: Client) -> dict[str, Tool]:
            return {item.name: item for item in (await client.list_tools()).tools}

        return self.working(listed)

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return self.working(lambda client: client.call_tool(tool, arguments))

    def result(self, tool: str, /, **arguments: Any) -> Any:
        """What a tool gives back; the text says no other than the structured result."""
        found = self.call(tool, **arguments)
        assert not found.is_error, said(found)
        assert found.structured_content is not None
        assert full(json.loads(said(found))) == full(found.structured_content)
        return found.structured_content

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """What is said of a call that comes to nothing."""
        found = self.call(tool, **arguments)
        assert found.is_error
        return said(found)


def said(found: CallToolResult) -> str:
    """The text of a result."""
    (text,) = found.content
    return str(getattr(text, "text", ""))


def full(value: Any) -> Any:
    """A value without what is empty in it."""
    if isinstance(value, dict):
        return {name: full(item) for name, item in value.items() if item not in (None, "", [], {})}
    return [full(item) for item in value] if isinstance(value, list) else value
