"""The contract of :class:`engine.roles.Embedder`, for every implementation."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from engine.errors import TextTooLong
from engine.roles import Embedder, Vector
from tests.contracts.implementations import EMBEDDERS

TEXTS = (
    "A tree with n vertices has n − 1 edges.",
    "糖尿病的主要症状是多饮、多尿、多食和体重下降。",
    "",
    "   \n\t",
    "?!。；",
    "😀",
    "before\x00after",
    "a lone surrogate \ud800 in the middle",
    "ありがとう 감사합니다 спасибо",
)


@pytest.fixture(params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return EMBEDDERS[request.param]()


def query(embedder: Embedder, text: str) -> Vector:
    return asyncio.run(embedder.embed_query(text))


def passages(embedder: Embedder, *texts: str) -> Vector:
    return asyncio.run(embedder.embed_passages(texts))


def test_vectors_are_float32_of_unit_length_whatever_the_text(embedder: Embedder) -> None:
    """SC-02."""
    rows = passages(embedder, *TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dim)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)
    for text in TEXTS:
        vector = query(embedder, text)
        assert vector.shape == (embedder.dim,)
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-3)


def test_nothing_gives_no_rows(embedder: Embedder) -> None:
    rows = passages(embedder)
    assert rows.shape == (0, embedder.dim)
    assert rows.dtype == np.float32


def test_rows_keep_the_order_of_the_texts_across_batches(embedder: Embedder) -> None:
    texts = [f"passage number {number}" for number in range(10)]
    together = passages(embedder, *texts)
    alone = np.concatenate([passages(embedder, text) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert len({row.tobytes() for row in together}) == len(texts)


def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    assert np.array_equal(query(embedder, "集合的幂集"), query(embedder, "集合的幂集"))


def test_a_nul_character_does_not_end_the_text(embedder: Embedder) -> None:
    rows = passages(embedder, "before\x00after the storm", "before")
    assert not np.allclose(rows[0], rows[1], atol=1e-3)


def test_very_long_text_is_embedded_or_refused_in_our_words(embedder: Embedder) -> None:
    answer: tuple[int, ...] | str
    try:
        answer = passages(embedder, "graph theory " * 20_000).shape
    except TextTooLong as refused:
        # A server that would cut the text without a word is asked not to.
        answer = refused.params["model"]
    assert answer in ((1, embedder.dim), embedder.model_id)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "How many edges does a tree have?",
            "A tree with n vertices has n − 1 edges.",
            "Insulin is injected under the skin of the abdomen.",
        ),
        ("胰岛素应该怎样保存？", "没开封的胰岛素放在冰箱冷藏室保存。", "欧拉回路要求每个顶点的度数都是偶数。"),
    ],
)
def test_a_passage_on_the_subject_is_nearer_than_one_off_it(
    embedder: Embedder, question: str, right: str, wrong: str
) -> None:
    """SC-02."""
    near, far = passages(embedder, right, wrong) @ query(embedder, question)
    assert near > far


def test_identity_names_model_and_prefixes(embedder: Embedder) -> None:
    """SC-02: what a collection records is what the embedder says of itself."""
    provider, _, model = embedder.model_id.partition(":")
    assert provider
    assert model
    assert isinstance(embedder.query_prefix, str)
    assert isinstance(embedder.passage_prefix, str)


def test_two_loops_can_use_one_embedder_one_after_the_other(embedder: Embedder) -> None:
    assert query(embedder, "first loop").shape == query(embedder, "second loop").shape
