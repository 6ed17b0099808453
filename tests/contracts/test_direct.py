"""The contract of :class:`engine.roles.DirectAnswerer`, for every implementation: DL-02 and DL-06."""

from __future__ import annotations

import asyncio

import pytest

from engine.model.language import language_of
from engine.model.values import Memory
from engine.roles import DirectAnswerer, DirectRequest
from tests.contracts.implementations import DIRECT_ANSWERERS, UNSEARCHED
from tests.support.dual_fakes import memory
from tests.support.listening import Listening

EN = memory(
    "How is insulin stored?",
    "In the fridge at 2-8 °C [1]. A pen in use keeps four weeks [2].",
    sources=("dc-insulin.en.md", "log.en.md"),
)
ZH = memory("胰岛素怎样保存？", "放在冰箱冷藏室，2–8 ℃【1】。", sources=("dc-insulin.zh.md",))


@pytest.fixture(params=DIRECT_ANSWERERS)
def answerer(request: pytest.FixtureRequest) -> DirectAnswerer:
    return DIRECT_ANSWERERS[request.param]()


@pytest.fixture(params=[name for name in DIRECT_ANSWERERS if name != "fake"])
def reading(request: pytest.FixtureRequest) -> DirectAnswerer:
    """Those that look at the request."""
    return DIRECT_ANSWERERS[request.param]()


def answered(answerer: DirectAnswerer, question: str, *memories: Memory) -> tuple[str, Listening]:
    trace = Listening()
    text = asyncio.run(answerer.answer(DirectRequest(question, memories, language_of(question)), trace))
    return text, trace


@pytest.mark.parametrize(("question", "memories"), [("Hello!", ()), ("你好", ()), (EN.question, (EN,))])
def test_what_is_streamed_is_what_is_returned(
    answerer: DirectAnswerer, question: str, memories: tuple[Memory, ...]
) -> None:
    text, trace = answered(answerer, question, *memories)
    assert text.strip()
    assert "".join(trace.tokens) == text


@pytest.mark.parametrize("known", [EN, ZH])
def test_an_answer_from_memory_says_so_and_names_its_sources(reading: DirectAnswerer, known: Memory) -> None:
    """DL-06"""
    text, _ = answered(reading, known.question, known)
    assert ("记忆" if known is ZH else "From memory") in text
    assert "2026-01-01" in text
    assert all(source in text for source in known.sources)
    assert "[1]" not in text
    assert "【1】" not in text


def test_small_talk_is_answered_as_such_even_where_something_is_remembered(reading: DirectAnswerer) -> None:
    """DL-02"""
    text, _ = answered(reading, "Hello!", EN)
    assert "insulin" not in text


def test_an_answer_is_reported_as_one_call_of_the_generator(reading: DirectAnswerer) -> None:
    """SC-10"""
    _, trace = answered(reading, EN.question, EN)
    assert [call.role for call in trace.calls] == ["generator"]


@pytest.mark.parametrize("name", UNSEARCHED)
@pytest.mark.parametrize("question", ["What is a tree?", "什么是树？", "Hello!"])
def test_an_answer_of_mode_bypass_streams_what_it_returns_and_is_never_blank(name: str, question: str) -> None:
    """GH-02"""
    text, trace = answered(UNSEARCHED[name](), question)
    assert text.strip()
    assert "".join(trace.tokens) == text
    assert {call.role for call in trace.calls} == {"generator"}
