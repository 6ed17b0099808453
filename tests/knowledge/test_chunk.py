"""Cutting documents into passages: nothing lost, order kept, sentences whole."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.knowledge.chunk import MOST_TOKENS, chunk, split, tokens
from engine.knowledge.load import load_bytes

ENGLISH = "The pancreas makes insulin number {n}. "
CHINESE = "胰岛素由胰腺分泌，这是第{n}句话，用来检查切分。"

sentences = st.sampled_from(
    [
        "Insulin lowers glucose. ",
        "它能降低血糖。",
        "“真的吗？”他问。",
        "What does 3.5 mmol/L mean, e.g. in the morning? ",
        "No end here ",
        "- a list item\n",
        "1. first\n",
        "```\ncode = 1\n\nmore\n```\n",
        "```py\nunclosed\n",
        "| a | b |\n",
        "\n\n",
        "长" * 400 + "。",
        "word " * 500 + "\n",
        "x" * 1500,
    ]
)
texts = st.lists(sentences, max_size=30).map("".join)


@given(text=texts)
@example(text="长" * 900)
@example(text=CHINESE.format(n=1) * 40)
def test_nothing_is_lost_and_the_order_is_kept(text: str) -> None:
    pieces = split(text)
    bare = re.sub(r"\s+", "", text)
    place = 0
    for piece in pieces:
        words = re.sub(r"\s+", "", piece)
        # Each piece is a stretch of the text and begins no later than where the one before ended.
        assert any(bare.startswith(words, start) for start in range(place + 1)), piece[:80]
        found = max(start for start in range(place + 1) if bare.startswith(words, start))
        place = max(place, found + len(words))
    assert place == len(bare)


@given(text=texts)
def test_no_piece_is_longer_than_the_limit_or_blank(text: str) -> None:
    for piece in split(text):
        assert piece == piece.strip()
        assert piece
        assert tokens(piece) <= MOST_TOKENS


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_long_section_is_split_between_sentences_with_one_repeated(sentence: str) -> None:
    wanted = [sentence.format(n=n).strip() for n in range(60)]
    pieces = split("".join(sentence.format(n=n) for n in range(60)))
    assert len(pieces) > 2
    found = [re.findall(r"[^.。]+[.。]", piece) for piece in pieces]
    for before, after in pairwise(found):
        assert after[0].strip() == before[-1].strip()
    assert [item.strip() for group in [found[0], *(group[1:] for group in found[1:])] for item in group] == wanted
    assert all(100 <= tokens(piece) <= MOST_TOKENS for piece in pieces)


def test_chinese_closing_quotes_stay_with_their_sentence() -> None:
    text = "医生说：“先验血。”" * 60
    assert all(piece.startswith("医生说") and piece.endswith("。”") for piece in split(text))


def test_a_decimal_point_or_an_abbreviation_ends_no_sentence() -> None:
    text = "Fasting glucose of 7.0 mmol/L, e.g. before breakfast, is high. " * 40
    assert all(piece.startswith("Fasting") and piece.endswith("is high.") for piece in split(text))


def test_a_short_section_is_one_passage_word_for_word() -> None:
    text = "One  sentence.\n\n- item\n- item two\n\n```\ncode\n```"
    assert split(f"\n{text}\n") == [text]


def test_code_and_lists_are_cut_between_lines_only() -> None:
    code = "".join(f"    value_{n} = compute(value_{n - 1}, weight={n}.5)  # Step. Next\n" for n in range(60))
    items = "".join(f"- item {n}: Eat slowly. Drink water.\n" for n in range(60))
    pieces = split(f"Before.\n\n```python\n{code}```\n\n{items}")
    lines = {line.strip() for line in f"{code}\n{items}\nBefore.\n```python\n```".splitlines()}
    assert all(line.strip() in lines for piece in pieces for line in piece.splitlines())
    assert len(pieces) > 4


def test_a_sentence_longer_than_a_passage_is_cut_at_commas_or_spaces() -> None:
    pieces = split("，".join(f"第{n}个分句没有句号" for n in range(80)) + "。")
    assert all(piece.endswith(("，", "。")) for piece in pieces)
    words = split("unbroken " * 800)
    assert all(set(piece.split()) == {"unbroken"} for piece in words)


def test_each_section_of_a_sample_like_source_is_one_passage_numbered_from_1() -> None:
    paragraph = "About one in three people with diabetes has some retinopathy. " * 8
    document = load_bytes("eyes.en.md", f"# Eyes\n\n## First: one\n{paragraph}\n\n## Second\n{paragraph}\n".encode())
    passages = chunk(document, added_at="2026-01-01")
    assert [(item.id, item.ordinal, item.section, item.title) for item in passages] == [
        ("eyes.en.md#1", 1, "First: one", "Eyes"),
        ("eyes.en.md#2", 2, "Second", "Eyes"),
    ]
    assert passages[0].text == paragraph.strip()
    assert passages[0].meta == {"content_hash": document.content_hash, "language": "en", "added_at": "2026-01-01"}


def test_the_path_of_headings_is_the_section() -> None:
    document = load_bytes("a.md", "# T\n## 甲\n### 乙\n正文。".encode())
    assert [item.section for item in chunk(document)] == ["甲 > 乙"]


@given(text=texts)
def test_ids_are_the_source_and_a_running_number(text: str) -> None:
    if not text.strip():
        return
    passages = chunk(load_bytes("dir/a b.txt", text.encode()))
    assert [item.id for item in passages] == [f"dir/a b.txt#{n}" for n in range(1, len(passages) + 1)]
