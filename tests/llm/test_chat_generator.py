"""The chat-model generator: streaming, repeating only what no one has seen, and its token budget."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from engine.errors import ModelError, ModelInterrupted, ModelTimeout, PromptTooLong
from engine.llm.generator import ChatGenerator
from engine.roles import GenerationRequest
from tests.llm.recording import RecordingTrace, passage, role_model, settings_for
from tests.support.errors import raises
from tests.support.ollama_stand_in import (
    DiesMidStream,
    EndsEarly,
    Gate,
    Hangs,
    NotFound,
    OllamaStandIn,
    Reply,
    ServerError,
    Slow,
)

REQUEST = GenerationRequest("What is a set?", (passage(1), passage(2)), "en")
ANSWER = "A set is a collection [1]."
# One that does not think first: pieces of thinking are no part of the answer.
MODEL = role_model("ollama:llama3.2:3b")


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["llama3.2:3b", "qwen3:8b"], reply=lambda request: ANSWER) as running:
        yield running


def generate(server: OllamaStandIn, trace: RecordingTrace, **settings: object) -> str:
    generator = ChatGenerator(MODEL, settings_for(server, **settings))
    return asyncio.run(generator.generate(REQUEST, trace))


def test_tokens_arrive_while_the_model_still_speaks(server: OllamaStandIn) -> None:
    """SC-07."""
    gate = Gate()
    gate.allow(2)
    server.script("chat", Slow(gate=gate))
    arrived = asyncio.Event()
    trace = RecordingTrace(heard=arrived.set)

    async def watch() -> tuple[str, str]:
        generator = ChatGenerator(MODEL, settings_for(server))
        generating = asyncio.create_task(generator.generate(REQUEST, trace))
        async with asyncio.timeout(10):
            await arrived.wait()
        early = trace.text
        gate.open()
        return early, await generating

    early, answer = asyncio.run(watch())
    assert answer == trace.text == ANSWER
    assert 0 < len(early) < len(ANSWER)


@pytest.mark.parametrize("fault", [DiesMidStream(0), EndsEarly(0), ServerError(503), Reply("  "), Reply("<think>hm")])
def test_a_call_that_said_nothing_is_repeated_once(server: OllamaStandIn, fault: DiesMidStream) -> None:
    server.script("chat", fault)
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == ANSWER
    assert [call.attempt for call in trace.calls] == [1, 2]


def test_a_call_that_broke_off_is_not_repeated_and_its_beginning_is_kept(server: OllamaStandIn) -> None:
    server.script("chat", DiesMidStream(3))
    trace = RecordingTrace()
    with pytest.raises(ModelInterrupted):
        generate(server, trace)
    assert trace.text == trace.calls[0].reply == "A set is"
    assert len(server.requests) == 1


def test_saying_nothing_twice_is_an_empty_reply(server: OllamaStandIn) -> None:
    server.script("chat", Reply(""), Reply("\n"))
    with raises(ModelError.empty_reply):
        generate(server, RecordingTrace())
    assert len(server.requests) == 2


def test_what_a_second_try_cannot_mend_is_not_repeated(server: OllamaStandIn) -> None:
    missing, slow = RecordingTrace(), RecordingTrace()
    server.script("chat", NotFound())
    with raises(ModelError.not_pulled):
        generate(server, missing)
    server.script("chat", Hangs())
    with pytest.raises(ModelTimeout):
        generate(server, slow, call_timeout_s=0.2)
    assert (len(missing.calls), len(slow.calls)) == (1, 1)


def test_thinking_is_neither_streamed_nor_part_of_the_answer(server: OllamaStandIn) -> None:
    server.script("chat", Reply(f"<think>\nSecret plan [9].\n</think>\n\n{ANSWER}", thinking="Deeper plan."))
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == ANSWER
    assert "Secret plan" in trace.calls[0].thinking and "Deeper plan." in trace.calls[0].thinking


@pytest.mark.parametrize("num_ctx", [4096, 8192, 32768])
def test_a_context_filled_to_its_budget_fits_the_model(server: OllamaStandIn, num_ctx: int) -> None:
    """SC-07: the context is cut at the generator's token budget."""
    generator = ChatGenerator(role_model(num_ctx=num_ctx), settings_for(server))
    each = generator.context_tokens // 20
    full = GenerationRequest("图" * 500, tuple(passage(n, "图" * each) for n in range(20)), "zh", verified=False)
    assert sum(generator.count_tokens(item.text) for item in full.passages) >= generator.context_tokens - 20
    assert asyncio.run(generator.generate(full)) == ANSWER
    assert server.requests[-1].options["num_predict"] + 500 < num_ctx - generator.context_tokens


def test_a_passage_larger_than_the_model_s_context_is_an_error_with_both_numbers(server: OllamaStandIn) -> None:
    generator = ChatGenerator(role_model(num_ctx=1024), settings_for(server))
    huge = GenerationRequest("Why?", (passage(1, "图" * 2000),), "en")
    with pytest.raises(PromptTooLong, match="1024"):
        asyncio.run(generator.generate(huge))
    assert server.requests == []


@pytest.mark.parametrize(
    "first", ["[1][2]", "【1】。", "[1, 2]\n", "What is a set? [1]", "[2] what is a set", "A set is [1]."]
)
def test_markers_without_a_word_or_with_the_question_alone_are_asked_for_again_and_replaced(
    server: OllamaStandIn, first: str
) -> None:
    server.script("chat", Reply(first))
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == ANSWER
    assert trace.errors == ["wordless", ""]
    one, two = server.requests
    assert two.options["temperature"] > one.options["temperature"], "the same again would get the same again"
    assert two.messages[:2] == one.messages and "nothing but numbers" in str(two.messages[-1]["content"])
    assert [call.temperature for call in trace.calls] == [None, 0.5]


def test_markers_without_a_word_twice_are_a_fault_of_their_own(server: OllamaStandIn) -> None:
    server.script("chat", Reply("[1][2]"), Reply("[1]"))
    with raises(ModelError.wordless_reply, match="markers"):
        generate(server, RecordingTrace())
    assert len(server.requests) == 2


def test_a_second_try_gets_by_name_what_no_passage_says(server: OllamaStandIn) -> None:
    """SC-07: the sentence and what is missing of it; the second answer stands, whatever it is."""
    invented = "A set costs $10 [1]."
    server.script("chat", Reply(invented))
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == ANSWER
    assert trace.errors == ["unsupported", ""]
    prompt = server.requests[-1].messages[-1]["content"]
    assert invented in prompt and "(not there: $10)" in prompt
    server.script("chat", Reply(invented), Reply("A set costs $11 [1]."))
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == "A set costs $11 [1]."


def test_an_answer_without_a_marker_is_asked_for_again_once_and_then_taken(server: OllamaStandIn) -> None:
    bare = "A set is a collection of things."
    server.script("chat", Reply(bare))
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == ANSWER
    assert trace.errors == ["uncited", ""]
    server.script("chat", Reply(bare), Reply("A set holds things."))
    trace = RecordingTrace()
    assert generate(server, trace) == trace.text == "A set holds things."
    for nothing in (Reply("[1]"), Reply(""), ServerError(500)):
        server.script("chat", Reply(bare), nothing)
        trace = RecordingTrace()
        assert generate(server, trace) == trace.text == bare, "what was there is better than nothing"


def test_an_answer_that_says_it_cannot_tell_needs_no_marker(server: OllamaStandIn) -> None:
    server.script("chat", Reply("The passages do not say what a set is."))
    assert generate(server, RecordingTrace()) == "The passages do not say what a set is."
    assert len(server.requests) == 1


def test_a_second_try_that_has_no_time_leaves_the_first_answer(server: OllamaStandIn) -> None:
    bare = "A set is a collection of things."
    server.script("chat", Reply(bare), Hangs())
    trace = RecordingTrace(seconds=2.0)
    assert generate(server, trace, call_timeout_s=30.0) == trace.text == bare
