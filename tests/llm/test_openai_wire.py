"""``openai:MODEL`` on the wire of an OpenAI-compatible server: replies, schemas, keys, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

# Imported at collection: the first import takes seconds, which would count against the limits below.
import langchain_openai
import pytest

from engine.errors import ModelError, ModelInterrupted, ModelRefused, ModelTimeout, ThoughtTooLong
from engine.llm.generator import ChatGenerator
from engine.llm.grader import ChatGrader
from engine.llm.providers import offered_models, openai_address, provider_states, shown_openai_address
from engine.model.values import Verdict
from engine.roles import GenerationRequest
from engine.settings import Settings
from tests.llm.recording import RecordingTrace, passage, role_model, settings_for, verdict_json
from tests.support.errors import raises
from tests.support.openai_stand_in import Behaviour, Cut, Events, Garbage, Hangs, OpenAIStandIn, Status, TooLong

MODEL = "openai:qwen2.5-7b-instruct"
NOWHERE = "http://127.0.0.1:1"
assert callable(langchain_openai.ChatOpenAI)


@pytest.fixture(autouse=True)
def no_key_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def settings_at(server: OpenAIStandIn | str, **more: Any) -> Settings:
    return settings_for(NOWHERE, openai_url=server if isinstance(server, str) else server.url, **more)


def grade(settings: Settings, trace: RecordingTrace, model: str = MODEL, passages: int = 1) -> list[Verdict]:
    grader = ChatGrader(role_model(model), settings)
    return asyncio.run(grader.grade("Why?", [passage(number) for number in range(passages)], trace))


def generate(settings: Settings, trace: RecordingTrace, model: str = MODEL) -> str:
    request = GenerationRequest("Why?", (passage(1),), "en")
    return asyncio.run(ChatGenerator(role_model(model), settings).generate(request, trace))


def test_a_grading_asks_for_its_schema_and_is_recorded_with_its_tokens() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: verdict_json(True, 0.8)) as server:
        (verdict,) = grade(settings_at(server), trace)
    (body,) = server.requests
    assert (verdict.relevant, verdict.confidence, verdict.grader) == (True, 0.8, MODEL)
    asked = body["response_format"]["json_schema"]
    assert asked["name"] == "verdict" and set(asked["schema"]["required"]) == {"finding", "relevant", "sure", "why"}
    assert body["max_tokens"] == body["max_completion_tokens"] > 0
    assert trace.errors == [""]
    assert trace.calls[0].prompt_tokens and trace.calls[0].reply_tokens


def test_an_answer_is_streamed_piece_by_piece() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: "It says so [1].") as server:
        answer = generate(settings_at(server), trace)
    assert answer == trace.text == "It says so [1]."
    assert len(trace.pieces) > 1
    assert "response_format" not in server.requests[0]


def test_the_time_of_a_call_is_the_one_that_was_set_no_matter_how_long_the_first_token_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LangChain's client has a limit of its own, of two minutes unless its variable says otherwise."""
    monkeypatch.setenv("LANGCHAIN_OPENAI_STREAM_CHUNK_TIMEOUT_S", "0.05")

    with OpenAIStandIn() as server:
        server.script(Events([{"content": "It says so [1]."}], finish="stop", first_after_s=0.5))
        assert generate(settings_at(server), RecordingTrace()) == "It says so [1]."


def test_a_server_without_schemas_is_asked_in_the_prompt_alone() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: verdict_json(False, 0.9), takes_schema=False) as server:
        (verdict,) = grade(settings_at(server), trace)
    assert verdict.relevant is False
    assert [("response_format" in body) for body in server.requests] == [True, False]
    assert trace.errors == ["WB405", ""]


def test_a_reply_that_was_cut_off_is_kept_and_marked() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: verdict_json()) as server:
        server.script(TooLong(after_pieces=2), TooLong(after_pieces=2))
        (verdict,) = grade(settings_at(server), trace)
    assert verdict.relevant is None
    assert trace.calls[0].truncated and trace.calls[0].reply


@pytest.mark.parametrize(
    ("behaviour", "expected", "code"),
    [
        (Status(401), ModelError.key_refused, "WB415"),
        (Status(403), ModelError.key_refused, "WB415"),
        (Status(404), ModelError.not_served, "WB416"),
        (Status(500), ModelRefused, "WB405"),
        (Hangs(), ModelTimeout, "WB403"),
    ],
    ids=lambda item: str(getattr(item, "code", item)),
)
def test_what_goes_wrong_is_said_in_our_words(behaviour: Behaviour, expected: type[ModelError], code: str) -> None:
    trace = RecordingTrace()
    with OpenAIStandIn() as server:
        server.script(behaviour, behaviour, behaviour, behaviour)
        with raises(expected) as caught:
            generate(settings_at(server, call_timeout_s=0.5), trace)
    assert caught.value.code == code


def test_a_stream_that_is_cut_is_said_and_what_had_come_is_kept() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: "It says so [1].") as server:
        server.script(Cut(after_pieces=2))
        with pytest.raises(ModelInterrupted):
            generate(settings_at(server), trace)
    assert trace.text == "It says"


def test_a_page_in_place_of_the_protocol_is_no_answer() -> None:
    with OpenAIStandIn() as server:
        server.script(*[Garbage()] * 4)
        with pytest.raises(ModelError):
            generate(settings_at(server), RecordingTrace())


def test_a_busy_server_is_asked_once_more() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: verdict_json()) as server:
        server.script(Status(429, "Rate limit reached"))
        (verdict,) = grade(settings_at(server), trace)
    assert verdict.relevant is True
    assert trace.errors == ["WB405", ""]


def test_nobody_at_the_address_names_the_setting() -> None:
    with raises(ModelError.ollama_unreachable) as caught:
        grade(settings_at(NOWHERE), RecordingTrace())
    assert "WORKBENCH_OPENAI_URL" in caught.value.remedy
    assert caught.value.params["address"] == f"{NOWHERE}/v1"


def test_the_key_of_the_settings_is_sent_and_a_wrong_one_named() -> None:
    with OpenAIStandIn(reply=lambda _: verdict_json(), key="sk-right-key") as server:
        assert grade(settings_at(server, openai_api_key="sk-right-key"), RecordingTrace())[0].relevant
        with raises(ModelError.key_refused) as caught:
            grade(settings_at(server, openai_api_key="sk-wrong-key"), RecordingTrace(), passages=3)
    assert caught.value.params["variable"] == "WORKBENCH_OPENAI_API_KEY"
    assert "sk-wrong" not in str(caught.value)


def test_a_key_of_the_environment_never_reaches_a_server_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-itself")
    with OpenAIStandIn(reply=lambda _: verdict_json()) as server:
        grade(settings_at(server), RecordingTrace())
        asyncio.run(offered_models(settings_at(server)))
    assert server.keys == ["not-needed", "not-needed"]


def test_openai_itself_without_a_key_is_a_fault_that_names_the_variable() -> None:
    """QL-04: the provider is selectable, and what is missing is said."""
    with raises(ModelError.key_refused) as caught:
        grade(settings_for(NOWHERE), RecordingTrace(), "openai:gpt-3.5-turbo")
    assert caught.value.params == {"model": "openai:gpt-3.5-turbo", "variable": "OPENAI_API_KEY"}


def test_the_models_of_a_server_are_listed_for_pickers() -> None:
    with OpenAIStandIn(["b", "a"]) as server:
        offered = asyncio.run(offered_models(settings_at(server)))
    assert (offered.names, offered.fault) == (("openai:a", "openai:b"), None)
    assert asyncio.run(offered_models(settings_for(NOWHERE))).names == ()


@pytest.mark.parametrize(("key", "code"), [("sk-other-key", "WB415")])
def test_a_server_that_lists_nothing_says_why(key: str, code: str) -> None:
    with OpenAIStandIn(key="sk-right-key") as server:
        offered = asyncio.run(offered_models(settings_at(server, openai_api_key=key)))
    assert offered.fault is not None and offered.fault.code == code
    gone = asyncio.run(offered_models(settings_at(server)))
    assert gone.fault is not None and gone.fault.code == "WB401"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234/v1"),
        ("http://127.0.0.1:1234/v1/", "http://127.0.0.1:1234/v1"),
        ("http://me:pa@ss@127.0.0.1:1234/x", "http://127.0.0.1:1234/x"),
        ("", ""),
    ],
)
def test_an_address_is_completed_and_shown_without_its_password(given: str, used: str) -> None:
    settings = settings_for(NOWHERE, openai_url=given)
    assert shown_openai_address(settings) == used
    assert openai_address(settings).endswith(used.partition("://")[2])


def test_a_provider_is_set_up_by_a_key_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-planted")
    found = {item.name: item for item in provider_states(settings_for(NOWHERE, openai_url="http://127.0.0.1:9"))}
    openai = found["openai"]
    assert (openai.installed, openai.configured, openai.variable) == (True, True, "WORKBENCH_OPENAI_API_KEY")
    assert (openai.address, openai.key_set) == ("http://127.0.0.1:9/v1", False)
    assert (found["anthropic"].configured, found["anthropic"].variable) == (True, "ANTHROPIC_API_KEY")
    assert not found["groq"].configured
    assert "planted" not in json.dumps([str(item) for item in found.values()])


def test_a_garbled_reply_is_never_taken_for_a_verdict() -> None:
    trace = RecordingTrace()
    with OpenAIStandIn(reply=lambda _: "I would rather not say.") as server:
        (verdict,) = grade(settings_at(server), trace)
    assert verdict.relevant is None
    assert trace.errors == ["unreadable", "unreadable"]


ANSWER = ({"role": "assistant", "content": "It says "}, {"content": "so [1]."})


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_next_to_the_content_is_kept_apart_with_the_answer_whole(field: str) -> None:
    trace = RecordingTrace()
    with OpenAIStandIn() as server:
        server.script(Events(({"role": "assistant", field: "Let me "}, {field: "see [2]."}, *ANSWER), "stop", usage=9))
        assert generate(settings_at(server), trace) == trace.text == "It says so [1]."
    (call,) = trace.calls
    assert (call.thinking, call.reply_tokens, call.error) == ("Let me see [2].", 9, "")


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_a_reply_that_thought_until_its_limit_is_a_fault_of_its_own(finish: str) -> None:
    thought = Events(
        ({"role": "assistant", "content": "", "reasoning_content": "Hm, let me see."},), finish, usage=2048
    )
    trace, graded = RecordingTrace(), RecordingTrace()
    with OpenAIStandIn() as server:
        server.script(thought, thought)
        with raises(ThoughtTooLong) as caught:
            generate(settings_at(server), trace)
        with raises(ThoughtTooLong):
            grade(settings_at(server), graded)
    assert caught.value.params == {"model": MODEL, "tokens": "2048"}
    assert "num_ctx" in caught.value.remedy
    assert [(call.thinking, call.error[:5]) for call in trace.calls] == [("Hm, let me see.", "WB424")]
    assert graded.errors == ["WB424"], "a second try would think as long"


def test_an_empty_answer_after_thinking_says_so() -> None:
    with OpenAIStandIn() as server:
        server.script(*[Events(({"role": "assistant", "reasoning_content": "It says so [1]."},), "stop", usage=9)] * 2)
        with raises(ModelError.empty_after_thinking, match="thought, and then") as caught:
            generate(settings_at(server), RecordingTrace())
    assert "reasoning parser" in caught.value.remedy


@pytest.mark.parametrize(
    ("finish", "done", "usage"), [(None, True, 0), (None, True, 9), ("stop", False, 0), ("eos", True, 0)]
)
def test_an_answer_is_whole_with_a_reason_to_finish_or_with_the_sign_of_the_end(
    finish: str | None, done: bool, usage: int
) -> None:
    trace = RecordingTrace()
    with OpenAIStandIn() as server:
        server.script(Events(ANSWER, finish, done, usage))
        assert generate(settings_at(server), trace) == "It says so [1]."
    assert trace.errors == [""]


def test_an_answer_with_neither_is_cut_even_where_it_speaks_of_the_sign() -> None:
    with OpenAIStandIn() as server:
        server.script(Events(({"role": "assistant", "content": "It ends\ndata: [DONE]\nso [1]."},), None, done=False))
        with pytest.raises(ModelInterrupted):
            generate(settings_at(server), RecordingTrace())


def test_a_verdict_that_comes_as_the_arguments_of_a_tool_is_read() -> None:
    written = verdict_json(True, 0.8)
    called = [{"index": 0, "id": "c1", "type": "function", "function": {"name": "verdict", "arguments": written[:9]}}]
    rest = [{"index": 0, "function": {"arguments": written[9:]}}]
    trace = RecordingTrace()
    with OpenAIStandIn() as server:
        server.script(
            Events(({"role": "assistant", "content": None, "tool_calls": called}, {"tool_calls": rest}), "tool_calls")
        )
        (verdict,) = grade(settings_at(server), trace)
    assert (verdict.relevant, verdict.confidence, trace.errors) == (True, 0.8, [""])


def test_thinking_that_only_its_end_shows_is_taken_back_and_the_next_one_is_never_shown() -> None:
    """SC-07: no thinking as the answer, and no citation out of it."""
    thought = Events(({"role": "assistant", "content": "Hm [2]"}, {"content": ".</think>\n\n"}, *ANSWER), "stop")
    first, second = RecordingTrace(), RecordingTrace()
    shown: list[str] = []
    second.heard = lambda: shown.append(second.text)
    with OpenAIStandIn() as server:
        server.script(thought, thought)
        generator = ChatGenerator(role_model(MODEL), settings_at(server))
        for trace in (first, second):
            request = GenerationRequest("Why?", (passage(1),), "en")
            assert asyncio.run(generator.generate(request, trace)) == trace.text == "It says so [1]."
            assert trace.calls[0].thinking == "Hm [2]."
    assert not any("Hm" in text for text in shown)
