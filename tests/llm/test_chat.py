"""The one place that calls a chat model, against every way in which a server can fail."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import (
    InvalidConfig,
    ModelError,
    ModelGarbled,
    ModelInterrupted,
    ModelRefused,
    ModelTimeout,
    PromptTooLong,
)
from engine.llm.chat import ChatModel, Said, _patience
from engine.llm.parsing import VerdictReply
from engine.llm.prompts import VERDICT_SCHEMA
from engine.model.values import Message
from engine.settings import Settings
from tests.llm.recording import RecordingTrace, role_model, settings_for, verdict_json
from tests.support.errors import raises
from tests.support.ollama_stand_in import (
    Behaviour,
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    Hangs,
    NotFound,
    OllamaStandIn,
    Reply,
    ServerError,
)

ASK = (Message("system", "Be short."), Message("user", "Who wrote it?"))


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b", "llama3.2:3b"], reply=lambda request: "Ada wrote it [1].") as running:
        yield running


def chat_model(server: OllamaStandIn | str, *, think: bool | None = False, **settings: object) -> ChatModel:
    return ChatModel(role_model(), settings_for(server, **settings), "generator", think=think, reply_tokens=100)


def say(chat: ChatModel, trace: RecordingTrace) -> Said:
    return asyncio.run(chat.say(ASK, trace, trace.token))


def test_a_reply_is_streamed_and_recorded_with_prompt_tokens_and_time(server: OllamaStandIn) -> None:
    """SC-10."""
    trace = RecordingTrace()
    said = say(chat_model(server), trace)
    assert said.text == trace.text == "Ada wrote it [1]."
    assert len(trace.pieces) > 1
    (call,) = trace.calls
    assert (call.model, call.messages, call.reply, call.error) == ("ollama:qwen3:8b", ASK, said.text, "")
    assert call.prompt_tokens and call.reply_tokens and call.duration_ms > 0 and not call.cached


def test_ollama_is_always_sent_context_keep_alive_seed_and_that_nothing_may_be_cut(server: OllamaStandIn) -> None:
    chat = ChatModel(
        role_model(num_ctx=2048, temperature=0.3, seed=5), settings_for(server), "grader", think=False, reply_tokens=64
    )
    asyncio.run(chat.ask(ASK, RecordingTrace(), shape=VerdictReply, schema=VERDICT_SCHEMA))
    body = server.requests[-1].body
    assert body["options"] == {"num_ctx": 2048, "num_predict": 64, "temperature": 0.3, "seed": 5}
    assert (body["keep_alive"], body["think"], body["truncate"], body["shift"]) == ("10m", False, False, False)
    assert body["format"] == VERDICT_SCHEMA


@pytest.mark.parametrize(("given", "sent"), [("-1", -1), ("300", 300), ("10m", "10m")])
def test_a_bare_number_as_keep_alive_is_sent_as_a_number(server: OllamaStandIn, given: str, sent: object) -> None:
    say(chat_model(server, ollama_keep_alive=given), RecordingTrace())
    assert server.requests[-1].body["keep_alive"] == sent


FAULTS: list[tuple[Behaviour, type[ModelError], str]] = [
    (NotFound(), ModelError, ""),
    (ServerError(500), ModelRefused, ""),
    (ServerError(503, "server busy, please try again"), ModelRefused, ""),
    (ServerError(400, '"qwen3:8b" does not support chat'), ModelRefused, ""),
    (Garbage("404 page not found", status=404), ModelRefused, ""),
    (DiesMidStream(0), ModelInterrupted, ""),
    (DiesMidStream(2), ModelInterrupted, "Ada wrote"),
    (DiesMidStream(2, reset=True), ModelInterrupted, "Ada wrote"),
    (ErrorMidStream(0), ModelRefused, ""),
    (ErrorMidStream(1), ModelInterrupted, "Ada"),
    (EndsEarly(0), ModelInterrupted, ""),
    (EndsEarly(1), ModelInterrupted, "Ada"),
    (Reply("", done_reason="load"), ModelInterrupted, ""),
    (Garbage("<html>It works!</html>"), ModelGarbled, ""),
    (Garbage("[]"), ModelGarbled, ""),
    (Garbage("null"), ModelGarbled, ""),
    (Garbage('{"message": 3}'), ModelGarbled, ""),
    (Garbage("oops", after_tokens=2), ModelGarbled, "Ada wrote"),
]


@pytest.mark.parametrize(("behaviour", "expected", "kept"), FAULTS, ids=lambda value: str(value)[:40])
def test_every_failure_becomes_an_error_of_ours_and_what_had_arrived_is_kept(
    server: OllamaStandIn, behaviour: Behaviour, expected: type[ModelError], kept: str
) -> None:
    server.script("chat", behaviour)
    trace = RecordingTrace()
    with pytest.raises(ModelError) as caught:
        say(chat_model(server), trace)
    assert type(caught.value) is expected
    (call,) = trace.calls
    assert call.reply == kept == trace.text
    assert call.error == f"{caught.value.code}: {caught.value.fact}"


def test_a_model_that_is_not_pulled_gets_the_exact_command(server: OllamaStandIn) -> None:
    chat = ChatModel(role_model("ollama:phi4:14b"), settings_for(server), "generator", think=None, reply_tokens=9)
    with raises(ModelError.not_pulled, match=r"`ollama pull phi4:14b`"):
        say(chat, RecordingTrace())


def test_a_crash_in_mid_stream_says_what_the_server_said(server: OllamaStandIn) -> None:
    server.script("chat", ErrorMidStream(1, message="CUDA error: out of memory"))
    with pytest.raises(ModelInterrupted, match="out of memory"):
        say(chat_model(server), RecordingTrace())


def test_an_unreachable_server_is_named_without_its_password() -> None:
    with OllamaStandIn() as gone:
        url = gone.url
    with raises(ModelError.ollama_unreachable) as caught:
        say(chat_model(url.replace("http://", "http://ada:secret@")), RecordingTrace())
    assert url in caught.value.fact
    assert "secret" not in str(caught.value)


def test_user_name_and_password_of_the_address_are_sent_as_a_header(server: OllamaStandIn) -> None:
    say(chat_model(server.url.replace("http://", "http://ada:se%40cret@")), RecordingTrace())
    assert server.requests[-1].headers["authorization"] == "Basic YWRhOnNlQGNyZXQ="


@pytest.mark.parametrize("hangs", [Hangs(), Hangs(after_tokens=1)])
def test_a_call_that_hangs_ends_at_its_own_limit(server: OllamaStandIn, hangs: Hangs) -> None:
    """SC-13."""
    server.script("chat", hangs)
    trace = RecordingTrace()
    with pytest.raises(ModelTimeout):
        say(chat_model(server, call_timeout_s=0.2), trace)
    server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].aborted)
    assert trace.errors == ["WB403"]


def test_a_call_that_hangs_ends_with_the_time_of_its_step(server: OllamaStandIn) -> None:
    """SC-13."""
    chat = chat_model(server)
    say(chat, RecordingTrace())
    server.script("chat", Hangs())
    trace = RecordingTrace(seconds=0.2)
    with pytest.raises(ModelTimeout):
        say(chat, trace)
    server.wait_for(lambda seen: seen.requests[1].aborted)
    assert trace.time_left_s() == 0


def test_replies_of_one_word_say_nothing_of_how_long_others_take(server: OllamaStandIn) -> None:
    """SC-13: a slow model keeps its time however many verdicts of one word came before."""
    _patience.cache_clear()
    settings = Settings.load(ollama_url=server.url, data_dir=Path("unused"))
    one_word, whole = (
        ChatModel(role_model(), settings, "grader", think=False, reply_tokens=tokens) for tokens in (1, 64)
    )
    for _ in range(9):
        asyncio.run(one_word.weigh(ASK, RecordingTrace()))
    trace = RecordingTrace(seconds=1e6)
    assert one_word._limit_s(trace) == settings.call_timeout_s
    assert whole._limit_s(trace) == 3 * settings.call_timeout_s
    assert len(server.requests) == 9


def test_nothing_is_sent_once_the_time_is_up(server: OllamaStandIn) -> None:
    """SC-13."""
    trace = RecordingTrace(seconds=0)
    with pytest.raises(ModelTimeout):
        say(chat_model(server), trace)
    assert (server.requests, trace.calls) == ([], [])


@pytest.mark.parametrize("after_tokens", [None, 2])
def test_cancelling_drops_the_connection_and_is_recorded(server: OllamaStandIn, after_tokens: int | None) -> None:
    """SC-13."""
    server.script("chat", Hangs(after_tokens))
    trace = RecordingTrace()
    pieces = after_tokens or 0

    async def ask_and_cancel() -> None:
        asking = asyncio.create_task(chat_model(server).say(ASK, trace, trace.token))
        await asyncio.to_thread(server.wait_for, lambda seen: any(r.pieces_sent == pieces for r in seen.requests))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(ask_and_cancel())
    server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].aborted)
    assert [call.error for call in trace.calls] == ["cancelled"]


def test_a_prompt_beyond_the_context_is_never_sent(server: OllamaStandIn) -> None:
    chat = ChatModel(role_model(num_ctx=512), settings_for(server), "grader", think=False, reply_tokens=64)
    long = (Message("user", "胰岛素" * 200),)
    with pytest.raises(PromptTooLong) as caught:
        asyncio.run(chat.say(long, RecordingTrace(), print))
    assert server.requests == []
    assert caught.value.params["num_ctx"] == "512"


@pytest.mark.parametrize(
    "reply",
    [
        Reply("Ada.", thinking="Let me see."),
        Reply("<think>\nLet me see.\n</think>\n\nAda.", thinking=""),
    ],
)
def test_thinking_is_kept_apart_from_the_reply(server: OllamaStandIn, reply: Reply) -> None:
    server.script("chat", reply)
    trace = RecordingTrace()
    said = say(chat_model(server, think=None), trace)
    assert said.text == trace.text == trace.calls[0].reply == "Ada."
    assert trace.calls[0].thinking == "Let me see."


def test_thinking_is_left_to_the_model_unless_it_is_forbidden(server: OllamaStandIn) -> None:
    for think, sent in ((None, False), (False, True)):
        say(chat_model(server, think=think), RecordingTrace())
        assert ("think" in server.requests[-1].body) is sent


def test_one_model_serves_several_event_loops(server: OllamaStandIn) -> None:
    chat = chat_model(server)
    assert [say(chat, RecordingTrace()).text for _ in range(2)] == ["Ada wrote it [1]."] * 2


def test_a_model_without_a_name_is_refused_at_once() -> None:
    with pytest.raises(InvalidConfig, match="names a provider and no model"):
        role_model("ollama:")


def test_a_reply_of_the_shape_asked_for_is_read_and_recorded(server: OllamaStandIn) -> None:
    """SC-10."""
    server.script("chat", Reply(f"Here you are:\n```json\n{verdict_json(False, '80%')}\n```"), Reply("I think so."))
    trace = RecordingTrace()
    chat = chat_model(server)
    read, _ = asyncio.run(chat.ask(ASK, trace, shape=VerdictReply, schema=VERDICT_SCHEMA))
    assert read == VerdictReply(relevant=False, confidence=0.8, reason="It says so.")
    assert trace.calls[0].parsed == {"relevant": False, "confidence": 0.8, "reason": "It says so."}
    nothing, said = asyncio.run(chat.ask(ASK, trace, shape=VerdictReply, schema=VERDICT_SCHEMA, attempt=2))
    assert (nothing, said.text) == (None, "I think so.")
    assert (trace.calls[1].parsed, trace.calls[1].error, trace.calls[1].attempt) == (None, "unreadable", 2)
