"""Thinking kept apart, in whole replies and in streams cut anywhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.thinking import ThinkingFilter, split_thinking


@pytest.mark.parametrize(
    ("reply", "text", "thinking"),
    [
        ("Ada.", "Ada.", ""),
        ("<think>hm</think>\n\nAda.", "Ada.", "hm"),
        ("\n<think></think>Ada.", "Ada.", ""),
        ("hm</think>\nAda.", "Ada.", "hm"),
        ("<think>hm, still at it", "", "hm, still at it"),
        ("The tag <think> opens it.", "The tag <think> opens it.", ""),
    ],
)
def test_thinking_is_split_off(reply: str, text: str, thinking: str) -> None:
    assert split_thinking(reply) == (text, thinking)


def streamed(pieces: list[str]) -> tuple[str, str, list[str]]:
    heard: list[str] = []
    stream = ThinkingFilter(heard.append)
    for piece in pieces:
        stream.feed(piece)
    stream.finish()
    return stream.text, stream.thinking, heard


REPLIES = st.sampled_from(
    ["Ada.", "  Ada wrote it.", "<think>hm\nhm</think>\n\nAda <b>.", "<think>hm", "<thin is no tag", "<th", "", " \n"]
)


@given(REPLIES, st.lists(st.integers(0, 30), max_size=8))
def test_a_stream_says_the_same_however_it_is_cut(reply: str, cuts: list[int]) -> None:
    places = sorted({0, len(reply), *(cut for cut in cuts if cut < len(reply))})
    pieces = [reply[start:end] for start, end in pairwise(places)]
    text, thinking, heard = streamed(pieces)
    assert "".join(heard) == text
    assert (text, thinking) == (split_thinking(reply)[0].lstrip(), split_thinking(reply)[1])


def test_an_answer_is_passed_on_as_soon_as_it_is_clear_that_it_is_one() -> None:
    heard: list[str] = []
    stream = ThinkingFilter(heard.append)
    for piece in ["<", "b", "> bold", " text "]:
        stream.feed(piece)
    assert heard == ["<b", "> bold", " text "]
