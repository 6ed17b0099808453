"""The contract of :class:`engine.roles.Writer`, for every implementation."""

from __future__ import annotations

import asyncio
import re

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from engine.llm.writer_prompts import first_messages, revision_message
from engine.model.language import language_of
from engine.model.values import Evaluation
from engine.model.wording import suggested
from engine.retrieval.citations import resolve
from engine.roles import GenerationRequest, Writer
from engine.roles.conversation import Revision
from tests.contracts.implementations import WRITERS
from tests.contracts.test_generator import CHINESE, ENGLISH
from tests.support.listening import Listening

BOTH = pytest.mark.parametrize("request_", [ENGLISH, CHINESE], ids=["english", "chinese"])


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> Writer:
    return WRITERS[request.param]()


def revising(request: GenerationRequest, answer: str) -> tuple[BaseMessage, ...]:
    evaluation = Evaluation(False, (suggested("uncited", answer, marker="1"),))
    asked = revision_message(Revision(answer, evaluation))
    return (*first_messages(request), AIMessage(answer), asked)


def bare(text: str) -> str:
    """The answer without its markers."""
    return re.sub(r"\s*\[\d+\]", "", text)


@BOTH
def test_a_first_answer_is_in_the_question_s_language_and_cites_what_it_was_given(
    writer: Writer, request_: GenerationRequest
) -> None:
    """AE-06, SC-07"""
    answer = asyncio.run(writer.write(first_messages(request_)))
    assert language_of(bare(answer)) == request_.language
    assert resolve(answer, request_.passages).citations
    assert not resolve(answer, request_.passages).removed


@BOTH
def test_a_revision_is_a_whole_answer_of_the_same_kind(writer: Writer, request_: GenerationRequest) -> None:
    """AE-07"""
    first = asyncio.run(writer.write(first_messages(request_)))
    answer = asyncio.run(writer.write(revising(request_, bare(first))))
    assert language_of(bare(answer)) == request_.language
    assert resolve(answer, request_.passages).citations
    assert not resolve(answer, request_.passages).removed


@BOTH
def test_the_streamed_pieces_make_up_the_answer(writer: Writer, request_: GenerationRequest) -> None:
    """SC-07: tokens are streamed, of a revision too."""
    for messages in (first_messages(request_), revising(request_, request_.passages[0].text)):
        trace = Listening()
        text = asyncio.run(writer.write(messages, trace))
        assert trace.tokens
        assert "".join(trace.tokens) == text


def test_the_invocation_is_reported_as_the_messages_were_sent(writer: Writer) -> None:
    """SC-10, AE-06: the text of the messages and nothing else."""
    trace = Listening()
    messages = revising(ENGLISH, "A tree has edges.")
    text = asyncio.run(writer.write(messages, trace))
    call = trace.calls[-1]
    assert call.role == "generator"
    assert [item.role for item in call.messages] == ["system", "user", "assistant", "user"]
    assert [item.content for item in call.messages] == [message.text for message in messages]
    assert call.reply == text


def test_longer_text_counts_more_tokens_and_the_context_has_room(writer: Writer) -> None:
    """SC-07"""
    assert writer.count_tokens("") == 0
    assert 0 < writer.count_tokens("胰岛素") <= writer.count_tokens("胰岛素" * 50)
    assert writer.context_tokens >= 500
