"""Bodies of HTTP answers, counted while they arrive: what is too large is neither kept nor read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx

from engine.llm.sizes import REFUSAL, Most, TooLarge, watched


class Oversized(TooLarge, httpx.RequestError):
    """A server sent more than a reply can be."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} bytes")
        self.most = most


def counted(most: Most) -> Mapping[str, list[Callable[[Any], Any]]]:
    """Hooks of an HTTP client, with or without an event loop, under which no body is read beyond ``most``.

    Bodies are asked for uncompressed, since a small one could hold any amount.
    """

    def ask(request: httpx.Request) -> _Done:
        request.headers["accept-encoding"] = "identity"
        return _DONE

    def count(response: httpx.Response) -> _Done:
        if response.headers.get("content-encoding", "identity").strip() not in ("", "identity"):
            raise httpx.DecodingError("a compressed answer, which was not asked for", request=response.request)
        limit = most if response.status_code < 400 else replace(most, total=min(most.total, REFUSAL))
        response.stream = _Counted(response.stream, limit)
        return _DONE

    return {"request": [ask], "response": [count]}


class _Done:
    """Return value of a hook: clients with an event loop await it, others do not."""

    def __await__(self) -> Iterator[None]:
        return iter(())


_DONE = _Done()


class _Counted(httpx.AsyncByteStream, httpx.SyncByteStream):
    def __init__(self, stream: Any, most: Most) -> None:
        self._stream = stream
        self._most = most
        self._total = 0
        self._open = 0
        """Bytes since a piece ended last, the tail among them."""
        self._tail = b""
        """The end of what came last, which may be half of a sign that ends a piece."""
        self._ending = watched()
        if self._ending is not None:
            self._ending.started = True

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield self._taken(part)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield self._taken(part)
            if self._ending is not None and self._ending.left:
                return

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _taken(self, part: bytes) -> bytes:
        self._total += len(part)
        if self._total > self._most.total:
            raise Oversized(self._most.total)
        seen = self._tail + part
        first = min((place for end in self._most.ends if (place := seen.find(end)) >= 0), default=None)
        last = max((seen.rfind(end) + len(end) for end in self._most.ends if end in seen), default=0)
        longest = self._open + (len(seen) if first is None else first) - len(self._tail)
        if longest > self._most.piece:
            raise Oversized(self._most.piece)
        self._open = longest if first is None else len(seen) - last
        if self._ending is not None:
            self._ending.look(part)
        self._tail = seen[max(last, len(seen) + 1 - max(map(len, self._most.ends))) :]
        return part
