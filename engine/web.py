"""Web search through a SearXNG of the user's own, off unless an address is set; results are untrusted text (DL-07)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from html import unescape
from typing import Any
from urllib.parse import SplitResult, urlsplit

from engine.errors import WebSearchError
from engine.flow.context import Retrieval
from engine.llm.connection import tls
from engine.model.values import PassageId
from engine.model.values.names import WEB_ID
from engine.roles import StoredPassage, WebSearch

MOST_BYTES = 2_000_000
"""Largest answer that is read; SearXNG's are some 30 kB."""
_LONGEST_QUERY = 400
"""Beyond that, search engines refuse or ignore words, and addresses grow too long."""
_DIRECTIVE = re.compile(r"(?<!\S)[!:<]+(?=\w)")
"""What SearXNG takes for an order at the beginning of a word: an engine, a redirect, a language, a time limit."""
_LONGEST_TITLE = 300
_LONGEST_TEXT = 2_000
_LONGEST_ADDRESS = 1_000
_READ = 20_000
"""Characters of one field that are looked at."""
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, and characters that hide text or reorder what stands around them; tabs and line ends become spaces."""
_HIDDEN = re.compile(r"<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.I | re.S)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS = re.compile(r"https?://[!-~\u00a1-\ud7ff\ue000-\uffef]+", re.I)
Measured = Callable[[str, Sequence[StoredPassage]], Awaitable[Retrieval]]
"""Embeds texts with the collection's model and ranks them for a query, best first."""


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


def passages_of(results: Iterable[Any], limit: int) -> list[StoredPassage]:
    """Make at most ``limit`` passages in the order given; what has no web address or words is left out, and so is what
    is there already: the same address, or the same text under another one."""
    found: list[StoredPassage] = []
    seen: set[str] = set()
    for result in results:
        passage = _passage(result)
        if passage is None:
            continue
        marks = {_same_address(passage.source), passage.text.casefold()}
        if not marks & seen:
            seen |= marks
            found.append(passage)
        if len(found) == limit:
            break
    return found


def plain_text(value: Any, longest: int) -> str:
    """One line of words: markup and what it hides taken out, controls gone, cut at ``longest`` characters."""
    text = str(value)[:_READ] if isinstance(value, str) else ""
    # Escaped markup is markup again once it is read, and a tag may be hidden inside another one.
    for _ in range(4):
        read = _TAG.sub(" ", _HIDDEN.sub(" ", unescape(text)))
        if read == text:
            break
        text = read
    words = " ".join(_UNSEEN.sub("", text).split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def web_address(value: Any) -> str:
    """The address if it is one of the web, without a user name that could pose as a host; else nothing."""
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > _LONGEST_ADDRESS or not _ADDRESS.fullmatch(text):
        return ""
    parts = _split(text)
    return text if parts is not None and parts.hostname and "@" not in parts.netloc else ""


def _passage(result: Any) -> StoredPassage | None:
    if not isinstance(result, dict):
        return None
    address = web_address(result.get("url"))
    title = plain_text(result.get("title"), _LONGEST_TITLE)
    text = plain_text(result.get("content"), _LONGEST_TEXT) or title
    if not address or not text:
        return None
    # By text too: a page whose snippet changed between two searches is another passage, to be judged again.
    name = hashlib.sha256(f"{_same_address(address)}\n{text}".encode()).hexdigest()[:24]
    return StoredPassage(PassageId(f"{WEB_ID}{name}"), address, text, title=title or address, meta={"origin": "web"})


def _same_address(address: str) -> str:
    """Normalise an address, so that two spellings of it compare equal."""
    parts = _split(address)
    if parts is None:
        return address
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}:{parts.port or ''}{parts.path.rstrip('/')}?{parts.query}"


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        # Read here, for a port that is none shows itself only when it is asked for.
        _ = parts.port
    except ValueError:
        return None
    return parts


class SearchedWeb:
    """A ``WebRetriever`` over a search engine; ``measured`` is that of the collection's own retriever."""

    def __init__(self, web: WebSearch, measured: Measured) -> None:
        self._web = web
        self._measured = measured

    async def search(self, query: str, limit: int) -> Retrieval:
        """Return at most ``limit`` results, most similar first; raises ``WebSearchError``."""
        return await self._measured(query, await self._web.search(query, limit))
