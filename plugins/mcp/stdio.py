"""The server on standard input and output, for agents that start it themselves.

It works alone on the data folder; where an app has the folder open, it hands each call over to that app, looked for at
every call, for an app may come and go while an agent keeps its server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp_types import BlobResourceContents, CallToolResult, InputRequiredResult, Resource
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import AnyUrl

from engine.cli.jobs import app_with_the_store
from engine.errors import AppUnreachable, WorkbenchError
from engine.running.running_app import RunningApp
from engine.settings import Settings
from plugins.mcp.declared import Bench, Mode
from plugins.mcp.door import MODE_HEADER
from plugins.mcp.errors import HANDOVER_REFUSED
from plugins.mcp.own_engine import OwnEngine
from plugins.mcp.server import WorkbenchServer
from plugins.mcp.settings import PATH, McpSettings

_T = TypeVar("_T")
_TIMEOUT: Final = httpx2.Timeout(30.0, read=120.0)
"""The app sends a sign of life every few seconds while a call lasts."""
FindApp = Callable[[], RunningApp | None]


class Bridge(WorkbenchServer):
    """The same tools: through the app that has the folder open, else on an engine of its own."""

    def __init__(self, own: OwnEngine, find_app: FindApp, mode: Mode) -> None:
        super().__init__(Bench(own.get, mode))
        self._own = own
        self._find_app = find_app

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, there or here."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            if context is not None:
                await context.report_progress(progress, total, message)

        app = await self._app()
        if app is None:
            async with self._own.used():
                return await super().call_tool(name, arguments, context)
        try:
            return await self._there(app, lambda client: client.call_tool(name, arguments, progress_callback=report))
        except WorkbenchError as error:
            return self._failed(name, error, arguments)
        except MCPError:
            # Every fault of a tool is a result: this is one of the door.
            return self._failed(name, HANDOVER_REFUSED(address=app.url), arguments)

    async def list_resources(self) -> list[Resource]:
        """The newest runs and the collections."""
        app = await self._app()
        if app is not None:
            return list((await self._there(app, lambda client: client.list_resources())).resources)
        async with self._own.used():
            return await super().list_resources()

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource, there or here."""
        app = await self._app()
        if app is None:
            async with self._own.used():
                return await super().read_resource(uri, context)
        found = await self._there(app, lambda client: client.read_resource(str(uri)))
        return [
            ReadResourceContents(
                content=item.blob if isinstance(item, BlobResourceContents) else item.text, mime_type=item.mime_type
            )
            for item in found.contents
        ]

    async def _app(self) -> RunningApp | None:
        """The app that has the folder open; an engine of ours lets go of it first."""
        app = await asyncio.to_thread(self._find_app)
        if app is not None:
            await asyncio.to_thread(self._own.let_go)
        return app

    async def _there(self, app: RunningApp, work: Callable[[Client], Awaitable[_T]]) -> _T:
        """Return a running app's answer; raises ``AppUnreachable`` if it went away, and the app's own refusals."""
        fault: MCPError | None = None
        try:
            async with self._client(app) as client:
                try:
                    return await work(client)
                except MCPError as error:
                    fault = error
        except (OSError, httpx2.HTTPError, ExceptionGroup) as error:
            raise AppUnreachable(address=app.url) from error
        raise fault

    @asynccontextmanager
    async def _client(self, app: RunningApp) -> AsyncIterator[Client]:
        secret = {"authorization": f"Bearer {app.key}"} if app.key else {}
        headers = {**secret, MODE_HEADER: self.bench.mode}
        # Loopback only: a proxy from the environment must not see it.
        async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT, trust_env=False) as http:
            transport = streamable_http_client(app.url + PATH, http_client=http)
            async with Client(transport, mode=MODERN_PROTOCOL_VERSIONS[-1]) as client:
                yield client


def serve(settings: Settings) -> int:
    """Serve the user who started this process, until they close its standard input; nothing else may print there."""
    own = OwnEngine(settings)
    chosen = settings.of(McpSettings).mcp
    mode: Mode = "read" if chosen == "off" else chosen
    try:
        Bridge(own, lambda: app_with_the_store(settings), mode).run("stdio")
    finally:
        own.close()
    return 0
