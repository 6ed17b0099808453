"""The chat-model answerer without a search: what it sends, streams, and never leaves to the model: DL-02, DL-06."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from engine.errors import ModelError, ModelInterrupted
from engine.llm.direct import ChatDirectAnswerer
from engine.roles import DirectRequest
from tests.llm.recording import RecordingTrace, role_model, settings_for
from tests.support.dual_fakes import memory
from tests.support.errors import raises
from tests.support.ollama_stand_in import EndsEarly, OllamaStandIn, Reply, ServerError

KNOWN = memory("How is insulin stored?", "In the fridge [1].", sources=("insulin.md",))
REMEMBERED = DirectRequest(KNOWN.question, (KNOWN,), "en")
GREETING = DirectRequest("Hello!", (), "en")


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=lambda _: "In the fridge, at two to eight degrees.") as running:
        yield running


def answer(server: OllamaStandIn, request: DirectRequest, trace: RecordingTrace) -> str:
    return asyncio.run(ChatDirectAnswerer(role_model(), settings_for(server)).answer(request, trace))


def test_the_frame_of_a_remembered_answer_is_not_left_to_the_model(server: OllamaStandIn) -> None:
    """DL-06"""
    server.script("chat", Reply("It belongs in the fridge."))
    trace = RecordingTrace()
    text = answer(server, REMEMBERED, trace)
    assert text == (
        "From memory, without a new search: this question was answered on 2026-01-01.\n\n"
        "It belongs in the fridge.\n\nThe sources then were: insulin.md."
    )
    assert trace.text == text
    asked = trace.calls[0].messages[-1].content
    assert "In the fridge." in asked
    assert "[1]" not in asked, "markers point to passages of another run"


def test_small_talk_is_the_models_own_and_sees_no_memory(server: OllamaStandIn) -> None:
    """DL-02"""
    server.script("chat", Reply("Hello! Ask me about the sources."))
    trace = RecordingTrace()
    text = answer(server, DirectRequest("Hello!", (KNOWN,), "en"), trace)
    assert text == trace.text == "Hello! Ask me about the sources."
    assert "fridge" not in trace.calls[0].messages[-1].content


def test_a_server_that_stumbles_before_the_first_word_is_asked_again(server: OllamaStandIn) -> None:
    server.script("chat", ServerError(), Reply("Hello!"))
    trace = RecordingTrace()
    assert answer(server, GREETING, trace) == "Hello!"
    assert [call.attempt for call in trace.calls] == [1, 2]


def test_an_answer_that_breaks_off_is_not_begun_again(server: OllamaStandIn) -> None:
    """SC-13"""
    server.script("chat", EndsEarly(14))
    trace = RecordingTrace()
    with pytest.raises(ModelInterrupted):
        answer(server, REMEMBERED, trace)
    assert trace.text.startswith("From memory")
    assert len(trace.calls) == 1


def test_nothing_said_twice_is_an_empty_reply(server: OllamaStandIn) -> None:
    server.script("chat", Reply(""), Reply(" "))
    with raises(ModelError.empty_reply):
        answer(server, GREETING, RecordingTrace())
