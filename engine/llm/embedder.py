"""Embedding with a model that Ollama serves, or that llama.cpp runs here."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from engine.errors import ModelError, ModelGarbled, ModelRefused, TextTooLong
from engine.errors.base import BoundMessage
from engine.llm.connection import asking_ollama, http_options, keep_alive
from engine.llm.faults import LOCAL_FILE, translate
from engine.llm.local import serving
from engine.llm.role import tries
from engine.llm.sizes import Most, estimate_tokens, of_vectors
from engine.roles import Embedder, Vector
from engine.settings import Settings

_BATCH = 16
_NUM_CTX = 8192
_TOO_LONG = ("context length", "too large to process", "exceeds the available context size")
"""What servers say of a text beyond their window: Ollama, and llama.cpp in two ways."""
_SEARCH_EN = "Represent this sentence for searching relevant passages: "

_PREFIXES: tuple[tuple[str, str, str], ...] = (
    # From the models' own cards; the first name that occurs in the model's name counts.
    ("nomic-embed", "search_query: ", "search_document: "),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("qwen3-embedding", "Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""),
    ("mxbai-embed", _SEARCH_EN, ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("snowflake-arctic-embed", _SEARCH_EN, ""),
    ("bge-m3", "", ""),
    ("-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-", _SEARCH_EN, ""),
    ("e5-", "query: ", "passage: "),
)


def known_prefixes(model: str) -> tuple[str, str]:
    """Query and passage prefix that a model was trained with, by its name; empty where none is known."""
    name = model.casefold()
    for part, query, passage in _PREFIXES:
        # "-zh" is the Chinese BGE alone, whose instruction is in Chinese.
        if part in name and (part != "-zh" or "bge" in name):
            return query, passage
    return "", ""


class ServedEmbedder(ABC):
    """Embeds through a server (contract: :class:`engine.roles.Embedder`), sixteen texts a call.

    Nothing is cut: a text beyond the model's window is ``TextTooLong``. A call that the server fails at is repeated
    once. ``dim`` is 0 until known from the first call, unless it is given; vectors of another width are then a
    ``ModelError``.
    """

    provider: ClassVar[str]
    other_width: ClassVar[BoundMessage[ModelError]]

    def __init__(
        self,
        model: str,
        settings: Settings,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        dim: int = 0,
    ) -> None:
        """``model`` without its provider; a prefix of None takes the one known for the model."""
        query, passage = known_prefixes(model)
        self._model = model
        self._settings = settings
        self.model_id = f"{self.provider}:{model}"
        self.query_prefix = query if query_prefix is None else query_prefix
        self.passage_prefix = passage if passage_prefix is None else passage_prefix
        self.dim = dim

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, of shape (dim,)."""
        rows = await self._embed([self.query_prefix + text])
        first: Vector = rows[0]
        return first

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return one vector a passage, of shape (n, dim).

        For no texts the model is asked once for its width, where that is not known.
        """
        if not texts:
            if not self.dim:
                await self._embed(["width"])
            return np.empty((0, self.dim), dtype=np.float32)
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([await self._embed([self.passage_prefix + text for text in part]) for part in batches])

    async def _embed(self, texts: list[str]) -> Vector:
        sendable = [text.encode(errors="replace").decode() for text in texts]
        for attempt in tries():
            with attempt:
                return self._checked(await self._asked(sendable), len(texts))
        raise AssertionError("each try returns or raises")

    async def _asked(self, texts: list[str]) -> Sequence[Sequence[float]]:
        try:
            return await self._vectors(texts, of_vectors(len(texts), self.dim))
        except ModelRefused as refused:
            if any(said in refused.fact for said in _TOO_LONG):
                tokens = max(map(estimate_tokens, texts))
                raise TextTooLong(model=self.model_id, tokens=tokens) from refused.__cause__
            raise

    @abstractmethod
    async def _vectors(self, texts: list[str], most: Most) -> Sequence[Sequence[float]]:
        """One vector a text, as the server gives them in at most so many bytes; raises ``ModelError``."""

    def _checked(self, vectors: Sequence[Sequence[float]], wanted: int) -> Vector:
        """The vectors at length 1; ``ModelError`` where number, width or values are not what a model gives."""
        widths = {len(vector) for vector in vectors}
        if len(vectors) != wanted or len(widths) != 1 or 0 in widths:
            raise ModelGarbled(model=self.model_id)
        rows = np.asarray(vectors, dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or (lengths == 0).any():
            raise ModelGarbled(model=self.model_id)
        width = rows.shape[1]
        if self.dim and width != self.dim:
            raise self.other_width(model=self.model_id, dim=self.dim, given=width, name=self._model)
        self.dim = width
        unit: Vector = (rows / lengths).astype(np.float32)
        return unit


class OllamaEmbedder(ServedEmbedder):
    """Embeds through Ollama's ``/api/embed``."""

    provider = "ollama"
    other_width = ModelError.other_width

    async def _vectors(self, texts: list[str], most: Most) -> Sequence[Sequence[float]]:
        settings, limit_s = self._settings, self._settings.call_timeout_s
        async with (
            asking_ollama(settings, self.model_id, timeout_s=limit_s, most=most) as client,
            asyncio.timeout(limit_s),
        ):
            options = {"num_ctx": _NUM_CTX}
            answer = await client.embed(
                self._model, texts, truncate=False, options=options, keep_alive=keep_alive(settings)
            )
        return answer.embeddings


class LocalEmbedder(ServedEmbedder):
    """Embeds with a GGUF file, through ``/v1/embeddings`` of its process."""

    provider = LOCAL_FILE
    other_width = ModelError.local_other_width

    async def _vectors(self, texts: list[str], most: Most) -> Sequence[Sequence[float]]:
        import httpx

        limit_s = self._settings.call_timeout_s
        async with serving(self.model_id, self._settings, "embedding") as server:
            headers = {"Authorization": f"Bearer {server.key}"}
            options = http_options(server.address, timeout_s=limit_s, most=most)
            try:
                async with asyncio.timeout(limit_s), httpx.AsyncClient(headers=headers, **options) as client:
                    answer = await client.post(f"{server.address}/embeddings", json={"input": texts})
                    answer.raise_for_status()
                    rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
                    return [row["embedding"] for row in rows]
            except Exception as foreign:
                raise await asyncio.to_thread(
                    translate, foreign, self.model_id, address=server.address, seconds=limit_s
                ) from foreign


_EMBEDDERS: tuple[type[ServedEmbedder], ...] = (OllamaEmbedder, LocalEmbedder)


def make_embedder(
    model_id: str, settings: Settings, query_prefix: str | None = None, passage_prefix: str | None = None
) -> Embedder:
    """Make an embedder on ``ollama:MODEL`` or ``local:FILE``; a prefix of None takes the one known for the model.

    Raises ``ModelError`` for any other id: built-in embedders are made where they live.
    """
    provider, _, name = model_id.partition(":")
    for kind in _EMBEDDERS:
        if provider == kind.provider and name:
            return kind(name, settings, query_prefix, passage_prefix)
    raise ModelError.unknown_embedding(model=model_id)
