"""Web search through a SearXNG of the user's own: one GET to the one address that the settings name."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from engine.errors import WebSearchError
from engine.llm.connection import tls
from engine.roles import StoredPassage
from engine.web.results import passages_of

MOST_BYTES = 2_000_000
"""Largest answer that is read; SearXNG's are some 30 kB."""
_LONGEST_QUERY = 400
"""Beyond that, search engines refuse or ignore words, and addresses grow too long."""
_DIRECTIVE = re.compile(r"(?<!\S)[!:<]+(?=\w)")
"""What SearXNG takes for an order at the beginning of a word: an engine, a redirect, a language, a time limit."""


class SearxngSearch:
    """A ``WebSearch`` over SearXNG's ``/search?format=json``.

    ``address`` may hold a path and, for a proxy in front of it, ``user:password@``; ``timeout_s`` bounds a search as a
    whole. No proxy of the environment is used, no redirect is followed, no result's own address is ever opened. The
    answer is taken uncompressed, so that its size is known while it arrives.
    """

    def __init__(self, address: str, timeout_s: float = 10.0) -> None:
        self._address = address.rstrip("/")
        self._timeout_s = timeout_s

    @property
    def address(self) -> str:
        """The address without user name and password, for messages."""
        parts = urlsplit(self._address)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    async def search(self, query: str, limit: int) -> list[StoredPassage]:
        """Return at most ``limit`` results in the engine's order; raises ``WebSearchError``."""
        wanted = searchable(query)
        if limit < 1 or not wanted:
            return []
        try:
            async with asyncio.timeout(self._timeout_s):
                content = await self._answer(wanted)
        except TimeoutError:
            raise WebSearchError.slow(address=self.address, seconds=self._timeout_s) from None
        return passages_of(self._results(content), limit)

    async def _answer(self, query: str) -> bytes:
        # Imported late, as everywhere: it takes 100 ms that most runs do not need.
        import httpx

        try:
            async with (
                httpx.AsyncClient(
                    timeout=self._timeout_s, verify=tls(), trust_env=False, follow_redirects=False
                ) as client,
                client.stream(
                    "GET",
                    f"{self._address}/search",
                    params={"q": query, "format": "json"},
                    headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                ) as response,
            ):
                self._check_status(response.status_code)
                return await self._body(response.aiter_raw())
        except httpx.TimeoutException:
            raise WebSearchError.slow(address=self.address, seconds=self._timeout_s) from None
        except (httpx.RemoteProtocolError, httpx.DecodingError, httpx.StreamError):
            raise WebSearchError.not_results(address=self.address) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise WebSearchError.unreachable(address=self.address) from error

    def _check_status(self, status: int) -> None:
        error: WebSearchError | None = None
        if status == 403:
            error = WebSearchError.json_disabled(address=self.address, status=status)
        elif 300 <= status < 400:
            error = WebSearchError.redirected(address=self.address, moved=status)
        elif status != 200:
            error = WebSearchError.refused(address=self.address, refused=status)
        if error is not None:
            raise error

    async def _body(self, pieces: Any) -> bytes:
        content = bytearray()
        async for piece in pieces:
            content += piece
            if len(content) > MOST_BYTES:
                raise WebSearchError.too_large(address=self.address, limit_mb=MOST_BYTES / 1e6)
        return bytes(content)

    def _results(self, content: bytes) -> Sequence[Any]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise WebSearchError.not_results(address=self.address) from None
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise WebSearchError.not_results(address=self.address)
        return results


def searchable(query: str) -> str:
    """A query as words alone: one line, of bounded length, and nothing in it that SearXNG would take for an order."""
    text = " ".join(query.encode("utf-8", "replace").decode().split())
    return _DIRECTIVE.sub("", text)[:_LONGEST_QUERY].strip()
