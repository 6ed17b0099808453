"""The contract of :class:`engine.roles.Generator`, for every implementation."""

from __future__ import annotations

import asyncio
import re

import pytest

from engine.model.language import language_of
from engine.model.values import Passage, PassageId
from engine.retrieval.citations import resolve
from engine.roles import GenerationRequest, Generator
from tests.contracts.implementations import GENERATORS
from tests.support.listening import Listening


def passage(name: str, text: str, section: str = "") -> Passage:
    return Passage(PassageId(name), f"{name}.md", text, 0.5, 0.9, section=section)


ENGLISH = GenerationRequest(
    "How many edges does a tree with n vertices have, and what is Cayley's formula?",
    (
        passage("tree", "A tree is a connected graph without cycles. A tree with n vertices has exactly n − 1 edges."),
        passage("path", "Between any two vertices of a tree there is exactly one path."),
    ),
    "en",
)
CHINESE = GenerationRequest(
    "没开封的胰岛素应该怎样保存？",
    (passage("store", "没开封的胰岛素放在冰箱冷藏室，2–8 ℃，绝不能结冰。", "怎样保存"),),
    "zh",
)


@pytest.fixture(params=GENERATORS)
def generator(request: pytest.FixtureRequest) -> Generator:
    return GENERATORS[request.param]()


@pytest.mark.parametrize("request_", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_an_answer_is_in_the_question_s_language_and_cites_what_it_was_given(
    generator: Generator, request_: GenerationRequest
) -> None:
    """SC-07."""
    answer = asyncio.run(generator.generate(request_))
    assert language_of(re.sub(r"\[\d+\]", "", answer)) == request_.language
    resolved = resolve(answer, request_.passages)
    assert resolved.citations
    assert not resolved.removed


@pytest.mark.parametrize("request_", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_the_streamed_pieces_make_up_the_answer(generator: Generator, request_: GenerationRequest) -> None:
    """SC-07: tokens are streamed."""
    trace = Listening()
    answer = asyncio.run(generator.generate(request_, trace))
    assert len(trace.tokens) > 1
    assert "".join(trace.tokens) == answer


def test_the_invocation_is_reported_as_sent_and_received(generator: Generator) -> None:
    """SC-10."""
    trace = Listening()
    answer = asyncio.run(generator.generate(ENGLISH, trace))
    call = trace.calls[-1]
    assert call.role == "generator"
    sent = "".join(message.content for message in call.messages)
    assert ENGLISH.question in sent
    assert all(item.text in sent for item in ENGLISH.passages)
    assert call.reply == answer


def test_longer_text_counts_more_tokens_and_the_context_has_room(generator: Generator) -> None:
    """SC-07: the context is cut at the generator's token budget."""
    assert generator.count_tokens("") == 0
    assert 0 < generator.count_tokens("胰岛素") <= generator.count_tokens("胰岛素" * 50)
    assert generator.count_tokens("tree " * 10) < generator.count_tokens("tree " * 100)
    assert generator.context_tokens >= 500
