"""Embedding through Ollama: shapes, prefixes, batches, and vectors that are none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from engine.errors import ModelError, ModelGarbled, ModelRefused, ModelTimeout, TextTooLong
from engine.llm.embedder import OllamaEmbedder, known_prefixes
from tests.llm.recording import settings_for
from tests.support.errors import raises
from tests.support.ollama_stand_in import (
    Behaviour,
    DiesMidStream,
    Garbage,
    Hangs,
    NotFound,
    OllamaStandIn,
    ServerError,
    Vectors,
)


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["nomic-embed-text", "all-minilm", "qwen3:8b"]) as running:
        yield running


def embedder(server: OllamaStandIn | str, model: str = "nomic-embed-text", **settings: object) -> OllamaEmbedder:
    return OllamaEmbedder(model, settings_for(server, **settings))


def test_queries_and_passages_get_the_prefixes_of_the_model(server: OllamaStandIn) -> None:
    """SC-02: prefixes belong to the model."""
    nomic = embedder(server)
    asyncio.run(nomic.embed_query("tree"))
    asyncio.run(nomic.embed_passages(["graph"]))
    assert [request.body["input"] for request in server.requests] == [
        ["search_query: tree"],
        ["search_document: graph"],
    ]
    assert (nomic.model_id, nomic.query_prefix, nomic.dim) == ("ollama:nomic-embed-text", "search_query: ", 768)


def test_prefixes_can_be_given_and_an_empty_one_means_none(server: OllamaStandIn) -> None:
    plain = OllamaEmbedder("nomic-embed-text", settings_for(server), "", "doc: ")
    asyncio.run(plain.embed_query("tree"))
    asyncio.run(plain.embed_passages(["graph"]))
    assert [request.body["input"] for request in server.requests] == [["tree"], ["doc: graph"]]


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("jeffh/intfloat-multilingual-e5-large:f16", "query: ", "passage: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("quentinz/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("bge-large", "Represent this sentence for searching relevant passages: ", ""),
        ("all-minilm", "", ""),
    ],
)
def test_prefixes_of_well_known_models_are_known(model: str, query: str, passage: str) -> None:
    assert known_prefixes(model) == (query, passage)


def test_long_lists_go_in_batches_and_keep_their_order(server: OllamaStandIn) -> None:
    texts = [f"text number {number}" for number in range(40)]
    rows = asyncio.run(embedder(server).embed_passages(texts))
    assert [len(request.body["input"]) for request in server.requests] == [16, 16, 8]
    assert rows.shape == (40, 768) and rows.dtype == np.float32
    again = asyncio.run(embedder(server).embed_passages(texts[20:21]))
    np.testing.assert_allclose(rows[20], again[0], atol=1e-6)


def test_ollama_is_asked_to_cut_nothing(server: OllamaStandIn) -> None:
    asyncio.run(embedder(server).embed_query("tree"))
    body = server.requests[0].body
    assert (body["truncate"], body["keep_alive"], body["options"]) == (False, "10m", {"num_ctx": 8192})
    with pytest.raises(TextTooLong, match="all-minilm"):
        asyncio.run(embedder(server, "all-minilm").embed_passages(["tree " * 600]))


def test_the_width_is_learnt_from_the_first_call_even_for_no_texts(server: OllamaStandIn) -> None:
    learning = embedder(server)
    assert learning.dim == 0
    assert asyncio.run(learning.embed_passages([])).shape == (0, 768)
    assert learning.dim == 768
    asyncio.run(learning.embed_passages([]))
    assert len(server.requests) == 1


def test_vectors_are_brought_to_length_one(server: OllamaStandIn) -> None:
    server.script("embed", Vectors(((3.0, 4.0),)))
    assert np.allclose(asyncio.run(embedder(server).embed_query("a")), [0.6, 0.8])


@pytest.mark.parametrize(
    "vectors", [(), ((1.0, 0.0), (1.0, 0.0)), ((0.0, 0.0),), ((),), ((float("nan"), 1.0),)], ids=str
)
def test_vectors_that_cannot_be_compared_are_an_error(server: OllamaStandIn, vectors: tuple[tuple[float, ...]]) -> None:
    server.script("embed", Vectors(vectors), Vectors(vectors))
    with pytest.raises(ModelGarbled):
        asyncio.run(embedder(server).embed_query("a"))
    assert len(server.requests) == 2


def test_another_width_than_before_is_an_error_naming_both(server: OllamaStandIn) -> None:
    """SC-02."""
    server.script("embed", Vectors(((1.0, 0.0),)))
    with pytest.raises(ModelError, match=r"2 numbers where 768"):
        asyncio.run(OllamaEmbedder("nomic-embed-text", settings_for(server), dim=768).embed_query("a"))


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (NotFound(), ModelError.not_pulled),
        (ServerError(400, "no"), ModelRefused),
        (Hangs(), ModelTimeout),
        (Garbage("{}"), ModelGarbled),
        (Garbage("<html>"), ModelGarbled),
    ],
    ids=str,
)
def test_failures_become_errors_of_ours(
    server: OllamaStandIn, behaviour: Behaviour, expected: type[ModelError]
) -> None:
    server.script("embed", behaviour, behaviour)
    with raises(expected):
        asyncio.run(embedder(server, call_timeout_s=0.3).embed_query("a"))


def test_a_call_that_broke_off_is_repeated_once(server: OllamaStandIn) -> None:
    server.script("embed", DiesMidStream())
    assert asyncio.run(embedder(server).embed_query("a")).shape == (768,)
    assert len(server.requests) == 2


def test_a_chat_model_that_cannot_embed_is_refused_in_its_server_s_words(server: OllamaStandIn) -> None:
    with pytest.raises(ModelRefused, match="does not support embeddings"):
        asyncio.run(embedder(server, "qwen3:8b").embed_query("a"))


def test_an_unreachable_server_is_a_model_error() -> None:
    with OllamaStandIn() as gone:
        url = gone.url
    with raises(ModelError.ollama_unreachable):
        asyncio.run(embedder(url).embed_query("a"))


def test_cancelling_drops_the_connection(server: OllamaStandIn) -> None:
    server.script("embed", Hangs())

    async def embed_and_cancel() -> None:
        embedding = asyncio.create_task(embedder(server).embed_query("a"))
        await asyncio.to_thread(server.wait_for, lambda seen: seen.in_flight == 1)
        embedding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await embedding

    asyncio.run(embed_and_cancel())
    server.wait_for(lambda seen: seen.in_flight == 0)
    assert server.requests[0].aborted
