"""A server that gives scores for question and passage: llama.cpp, Infinity, Text Embeddings Inference."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from engine.errors import ModelError
from engine.llm.connection import PerLoop, http_options, lane, turns_of, without_userinfo
from engine.llm.faults import translate
from engine.llm.scoring import Scorer
from engine.model.config import RoleModel
from engine.settings import Settings

if TYPE_CHECKING:
    import httpx

_ELSEWHERE: Final = frozenset({400, 404, 405, 422})
"""Answers of a server that has another path, or wants the texts under another name."""
Way = tuple[str, str]
"""An address, and the field of the body that holds the texts."""


def server_scorer(model: RoleModel, settings: Settings) -> Scorer:
    """A scorer on ``rerank:MODEL``; raises ``ModelError.rerank_server_unset`` where no address is set."""
    if not settings.rerank_url:
        raise ModelError.rerank_server_unset(model=model.model)
    server = RerankServer(model.model, settings)
    return Scorer(model.model, server.scores, settings.rerank_scores, in_process=False, place=server.turn)


class RerankServer:
    """Asks the server at ``WORKBENCH_RERANK_URL``.

    Servers differ in path and form: llama.cpp has ``/v1/rerank`` and Infinity ``/rerank``, both with ``documents`` and
    ``results`` of ``relevance_score``; Text Embeddings Inference has ``/rerank`` with ``texts`` and a bare list of
    ``score``. What a server takes is found at the first call and kept. Results come best first, so that each names the
    place of its text. Some send the best few only, unless ``top_n`` says how many; some refuse a field that they do not
    know.
    """

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self._settings = settings
        self.address = without_userinfo(settings.rerank_url)
        self._clients: PerLoop[httpx.AsyncClient] = PerLoop()
        self._way: Way | None = None
        self._without_top_n = False

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A place among the calls that this process, and all that share its database, give the server."""
        async with AsyncExitStack() as held:
            await held.enter_async_context(lane(self._settings, self.name))
            turns = turns_of(self._settings)
            if turns is not None:
                await held.enter_async_context(turns.turn(self.address))
            yield

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """The score of each text, NaN for those that the server leaves out; raises ``ModelError``."""
        limit_s = self._settings.call_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._answer(question, texts)
        except Exception as foreign:
            raise await asyncio.to_thread(
                translate, foreign, self.name, address=self.address, seconds=limit_s
            ) from foreign
        found = _read(answer, len(texts))
        if found is None:
            raise ModelError.rerank_without_score(model=self.name, address=self.address)
        return found

    async def _answer(self, question: str, texts: Sequence[str]) -> Any:
        client = await self._client()
        refused: httpx.Response | None = None
        for address, field in (self._way,) if self._way else ways(self._settings.rerank_url):
            body = {"model": self.name.partition(":")[2], "query": question, field: texts}
            most = {"top_n": len(texts)} if field == "documents" and not self._without_top_n else {}
            response = await client.post(address, json=body | most)
            if most and response.status_code in (400, 422) and "top_n" in response.text:
                response = await client.post(address, json=body)
                self._without_top_n = response.is_success
            if response.status_code not in _ELSEWHERE:
                response.raise_for_status()
                self._way = (address, field)
                return _json(response)
            # What a server says that knows the path tells more than that another path is not there.
            if refused is None or refused.status_code in (404, 405):
                refused = response
        assert refused is not None
        refused.raise_for_status()
        return None

    async def _client(self) -> httpx.AsyncClient:
        import httpx

        known = self._clients.find()
        if known is not None:
            return known
        key = self._settings.rerank_api_key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        options = http_options(self.address, timeout_s=self._settings.call_timeout_s)
        return self._clients.keep(await asyncio.to_thread(lambda: httpx.AsyncClient(headers=headers, **options)))


def ways(address: str) -> tuple[Way, ...]:
    """List the paths to try at an address, in order; one that ends in ``/rerank`` is taken as it is."""
    if address.endswith("/rerank"):
        return (address, "documents"), (address, "texts")
    if address.endswith("/v1"):
        return ((f"{address}/rerank", "documents"),)
    plain = f"{address}/rerank"
    return (f"{address}/v1/rerank", "documents"), (plain, "documents"), (plain, "texts")


def _read(answer: Any, count: int) -> list[float] | None:
    """The scores in the order of the texts, NaN where there is none; None where there is no finite number at all."""
    entries = answer.get("results") if isinstance(answer, Mapping) else answer
    if not isinstance(entries, list):
        return None
    found: dict[int, float] = {}
    for entry in entries:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("index"), int):
            return None
        score = entry.get("relevance_score", entry.get("score"))
        if not 0 <= entry["index"] < count:
            return None
        if not isinstance(score, bool) and isinstance(score, int | float) and math.isfinite(score):
            found[entry["index"]] = float(score)
    return [found.get(place, math.nan) for place in range(count)] if found else None


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None
