"""Extractive summaries of sources and sections: what they say, how long they are, and which need no vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.knowledge.summarise import (
    SECTION_TOKENS,
    SOURCE_TOKENS,
    Summary,
    summaries_of,
    to_embed,
    with_vectors,
)
from engine.model.language import tokens
from engine.model.values import PassageId
from engine.roles import StoredPassage

GRAPHS = b"""# Graphs

## Degrees
The weather was fine. The degree of a vertex is the number of edges that end there. Adding the degrees of every vertex
counts each edge twice. Degrees of vertices and edges are thus linked.

## Trees
A tree is a connected graph. It has no cycle.
"""
ZH = """# 图

## 度数
今天天气很好。与一个顶点相连的边数叫这个顶点的度数。把所有顶点的度数加起来，每条边正好算了两次。

## 树
树是连通而没有回路的图。
"""


def summarised(data: bytes, name: str = "a.md") -> list[Summary]:
    return summaries_of(chunk(load_bytes(name, data)))


def test_a_source_gives_one_summary_of_the_whole_and_one_of_each_section() -> None:
    """DL-03"""
    found = summarised(GRAPHS)
    assert [(item.row.id, item.row.source, item.row.section) for item in found] == [
        ("a.md#summary", "a.md", ""),
        ("a.md#summary-1", "a.md", "Degrees"),
        ("a.md#summary-2", "a.md", "Trees"),
    ]
    assert found[0].row.text.startswith("Graphs: Degrees; Trees. ")
    assert found[2].row.text == "Trees. A tree is a connected graph. It has no cycle."
    assert {item.row.title for item in found} == {"Graphs"}


def test_chinese_summaries_use_chinese_signs_and_central_sentences() -> None:
    """DL-03"""
    found = summarised(ZH.encode())
    assert found[0].row.text.startswith("图：度数；树。")
    assert "每条边正好算了两次。" in found[0].row.text
    assert found[2].row.text == "树。树是连通而没有回路的图。"


def test_a_short_summary_keeps_the_sentences_that_share_most_with_the_others() -> None:
    aside = "Gardens smell wonderful after warm summer rain showers, said somebody passing by quietly. "
    central = [f"Every insulin injection number {n} changes glucose before insulin meets glucose." for n in range(9)]
    text = f"# T\n\n## S\n{central[0]} {aside}{' '.join(central[1:])}\n\n## Other\nwords"
    section = summarised(text.encode())[1].row.text
    assert "Gardens" not in section
    assert section.startswith(f"S. {central[0]}")
    assert tokens(section) <= SECTION_TOKENS + 2


def test_the_same_text_gives_the_same_summaries_and_repeated_sentences_count_once() -> None:
    assert summarised(GRAPHS) == summarised(GRAPHS)
    piece = [StoredPassage(PassageId(f"a#{n}"), "a", "One sentence here.", ordinal=n) for n in (1, 2)]
    assert summaries_of(piece)[0].row.text == "One sentence here."


def test_only_what_is_longer_than_a_passage_needs_a_vector_of_its_own() -> None:
    """DL-03: ingestion stays as fast as it was."""
    long = " ".join(f"Sentence {n} tells of insulin and glucose and of the pancreas." for n in range(60))
    found = summarised(f"# T\n\n## Short\nwords\n\n## Long\n{long}".encode())
    assert [item.twin for item in found] == [None, "a.md#1", None]
    assert to_embed(found, "none") == [found[0].row.text, found[2].row.text]
    embedded = np.array([[1, 0], [0, 1]], dtype=np.float32)
    twin = np.array([0.6, 0.8], dtype=np.float32)
    made = with_vectors(found, embedded, {PassageId("a.md#1"): twin}, dim=2)
    assert made.rows == tuple(item.row for item in found)
    assert made.vectors is not None
    assert made.vectors.tolist() == np.array([embedded[0], twin, embedded[1]]).tolist()


def test_a_source_of_one_section_is_summed_up_once() -> None:
    assert [item.row.section for item in summarised(b"# T\n\n## Only\nwords here")] == [""]
    assert [item.twin for item in summarised(b"just words", "a.txt")] == ["a.txt#1"]
    assert summaries_of([]) == []
    empty = with_vectors([], np.empty((0, 3), dtype=np.float32), {}, dim=3)
    assert empty.vectors is not None
    assert empty.vectors.shape == (0, 3)


def test_a_summary_has_the_kind_of_its_source() -> None:
    """QL-03"""
    found = summarised(b"---\nkind: graph\n---\n" + GRAPHS)
    assert {item.row.kind for item in found} == {"graph"}
    assert {item.row.kind for item in summarised(GRAPHS)} == {"vector"}


@given(
    st.lists(st.text(alphabet="abc 图论的。.!?\n，,#", max_size=400), min_size=1, max_size=6),
    st.sampled_from(["## {}\n", "\n"]),
)
def test_any_text_gives_summaries_that_are_not_blank_and_within_their_size(pieces: list[str], heading: str) -> None:
    text = "# Title\n\n" + "\n".join(heading.format(f"S{n}") + piece for n, piece in enumerate(pieces))
    for item in summarised(text.encode()):
        assert item.row.text.strip()
        assert tokens(item.row.text) <= (SECTION_TOKENS if item.row.section else SOURCE_TOKENS) + 10


@pytest.mark.parametrize("text", ["字" * 5000, "word " * 5000, "x" * 20000])
def test_a_sentence_longer_than_a_summary_is_cut(text: str) -> None:
    source = summarised(f"# T\n\n{text}".encode())[0].row.text
    assert source.endswith("…")
    assert SOURCE_TOKENS / 2 < tokens(source) <= SOURCE_TOKENS + 2
