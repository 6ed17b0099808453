"""The contract of :class:`engine.roles.Splitter`, for every implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from engine.builtin.parts import BuiltinSplitter
from engine.llm.splitter import ChatSplitter, added
from engine.model.language import language_of
from engine.roles import MOST_PARTS, Splitter
from tests.contracts.chat_models import ollama
from tests.support.listening import Listening

SPLITTERS: Mapping[str, Callable[[], Splitter]] = {"builtin": BuiltinSplitter, "ollama": ollama(ChatSplitter)}
COMPOUND = (
    "Where is rapid insulin injected, and how is unopened insulin stored?",
    "血糖14、酮体阳性时为什么不能锻炼，硬练下去可能发展成什么急症？",
)


@pytest.fixture(params=SPLITTERS)
def splitter(request: pytest.FixtureRequest) -> Splitter:
    return SPLITTERS[request.param]()


@pytest.mark.parametrize("question", COMPOUND)
def test_it_splits_what_asks_several_things_and_adds_nothing(splitter: Splitter, question: str) -> None:
    trace = Listening()
    parts = asyncio.run(splitter.split(question, trace))
    assert 2 <= len(parts) <= MOST_PARTS and len(set(parts)) == len(parts)
    assert all(language_of(part) == language_of(question) and not added(part, question) for part in parts)
    (call,) = trace.calls
    assert call.role == "rewriter" and question in call.messages[-1].content and call.parsed


@pytest.mark.parametrize("question", ["Where is rapid insulin injected?", "胰岛素怎样保存？", "insulin", "？"])
def test_it_leaves_alone_what_asks_one_thing(splitter: Splitter, question: str) -> None:
    assert asyncio.run(splitter.split(question)) == ()
